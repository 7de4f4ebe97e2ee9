/**
 * The entry point for Node.
 *
 * @module
 */

import type { NodeJoinOptions } from './join/hosting.ts'
import { joinIn } from './join/join.ts'
import { nodeEnvironment } from './drivers/node.ts'
import type { Session } from './join/session.ts'

export * from './index.ts'
export { host, type NodeJoinOptions } from './join/hosting.ts'

/** Joins a session, or creates it if there is none. @throws HoldfastError, see its `code` */
export async function join(options: NodeJoinOptions): Promise<Session> {
  // Missing options are reported by the code that reads them.
  return joinIn(nodeEnvironment((options as NodeJoinOptions | undefined)?.udp), options)
}
