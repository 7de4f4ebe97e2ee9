/**
 * The entry point for browsers.
 *
 * @module
 */

import { browserEnvironment } from './drivers/browser.ts'
import { development } from './join/development.ts'
import { joinIn, type JoinOptions } from './join/join.ts'
import type { Session } from './join/session.ts'

export * from './index.ts'

/** Joins a session, or creates it if there is none. @throws HoldfastError, see its `code` */
export async function join(options: JoinOptions): Promise<Session> {
  const plain = (given: JoinOptions): Promise<Session> => joinIn(browserEnvironment(), given)
  return development.current ? development.current.join(plain, options) : plain(options)
}
