/**
 * The entry point for workers without a page, such as Cloudflare's.
 *
 * @module
 */

import { workerEnvironment } from './drivers/worker.ts'
import { joinIn, type JoinOptions } from './join/join.ts'
import type { Session } from './join/session.ts'

export * from './index.ts'

/**
 * Joins a session, or creates it if there is none; `server` is required. A session ends with the
 * request in which it was joined.
 *
 * @throws HoldfastError, see its `code`
 */
export async function join(options: JoinOptions): Promise<Session> {
  return joinIn(workerEnvironment(), options)
}
