/**
 * The entry point for Node.
 *
 * @module
 */

import { joinIn, type JoinOptions } from './join/join.ts'
import { nodeEnvironment } from './drivers/node.ts'
import type { Session } from './join/session.ts'
import type { UdpOptions } from './ports.ts'

export * from './index.ts'

/** Further options of `join` and `host` on Node. */
export type NodeJoinOptions = JoinOptions & {
  /** Where to listen for UDP of Node members. Default 127.0.0.1, any port; null for none. */
  udp?: UdpOptions | null
}

/** Joins a session, or creates it if there is none. @throws HoldfastError, see its `code` */
export async function join(options: NodeJoinOptions): Promise<Session> {
  // Missing options are reported by the code that reads them.
  const { udp, webrtc } = (options as NodeJoinOptions | undefined) ?? {}
  return joinIn(nodeEnvironment(udp, webrtc), options)
}

/** Joins as a member that only serves and does not play; its name is `host` by default. */
export async function host(options: NodeJoinOptions): Promise<Session> {
  return join({ name: 'host', ...options })
}
