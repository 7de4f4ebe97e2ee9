/** Hosts on Node. */

import type { UdpOptions } from '../drivers/net/udp.ts'
import { nodeEnvironment } from '../drivers/node.ts'
import { joinIn, type JoinOptions } from './join.ts'
import type { Session } from './session.ts'

/** The further options of `join` on Node. */
export type NodeJoinOptions = JoinOptions & {
  /** Where to listen for UDP from other Node members: 127.0.0.1, any port; null for none. */
  udp?: UdpOptions | null
}

/** Joins as a member that only serves and does not play; its name is `host` by default. */
export async function host(options: NodeJoinOptions): Promise<Session> {
  // Missing options are reported by the code that reads them.
  const given = (options as NodeJoinOptions | undefined) ?? ({} as NodeJoinOptions)
  return joinIn(nodeEnvironment(given.udp), { name: 'host', ...given })
}
