/**
 * The entry point for Node.
 *
 * @module
 */

import { joinIn, type JoinOptions } from './join/join.ts'
import { defaultServer, nodeEnvironment } from './drivers/node.ts'
import { type ListenOptions, listenOf } from './join/listen.ts'
import type { Session } from './join/session.ts'
import type { UdpOptions } from './ports.ts'

export * from './index.ts'
export type { ListenOptions } from './join/listen.ts'

/** Further options of `join` and `host` on Node. */
export type NodeJoinOptions = JoinOptions & {
  /** Where to listen for UDP of Node members. Default 127.0.0.1, any port; null for none. */
  udp?: UdpOptions | null
  /** Where to take WebSockets of pages and Node members, so that play with them needs no hub. */
  listen?: ListenOptions
}

/** Joins a session, or creates it if there is none. @throws HoldfastError, see its `code` */
export async function join(options: NodeJoinOptions): Promise<Session> {
  // Missing options are reported by the code that reads them.
  const {
    udp,
    listen,
    webrtc,
    server = defaultServer(),
  } = (options as NodeJoinOptions | undefined) ?? {}
  return joinIn(nodeEnvironment(udp, listen ? listenOf(listen, server) : null, webrtc), options)
}

/** Joins as a member that only serves and does not play; its name is `host` by default. */
export async function host(options: NodeJoinOptions): Promise<Session> {
  return join({ name: 'host', ...options })
}
