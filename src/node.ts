/**
 * The door for Node.
 *
 * @module
 */

import { joinIn, type JoinOptions } from './faces/join.ts'
import { nodeEnvironment } from './drivers/node.ts'
import type { Session } from './faces/session.ts'
import type { UdpOptions } from './drivers/net/udp.ts'

export * from './index.ts'
export * from './drivers/net/multicast.ts'

/** What `join` takes on Node besides. */
export type NodeJoinOptions = JoinOptions & {
  /** Where to listen for UDP from other Node members: 127.0.0.1, any port; null for none. */
  udp?: UdpOptions | null
}

/** Joins a session, or creates it if nobody is there. @throws HoldfastError, see its `code` */
export async function join(options: NodeJoinOptions): Promise<Session> {
  // Who gives nothing is told so by what reads it.
  return joinIn(nodeEnvironment((options as NodeJoinOptions | undefined)?.udp), options)
}

/** Joins as a member that plays no part itself but serves: named `host` unless told otherwise. */
export async function host(options: NodeJoinOptions): Promise<Session> {
  return join({ name: 'host', ...options })
}
