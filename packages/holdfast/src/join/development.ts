/**
 * The hook through which a development server wraps the `join` of a page. `holdfast/vite/client`
 * sets it; a production build does not load that module.
 */

import type { Definition } from '../kind/kind.ts'
import type { JoinOptions } from './join.ts'
import type { Session } from './session.ts'

/** Calls `join`, or returns a session that modules which ran before had joined. */
export interface Development {
  join(join: (options: JoinOptions) => Promise<Session>, options: JoinOptions): Promise<Session>
  /**
   * Loads the page again if a hot update changed the definitions of a session.
   *
   * @returns whether it does: until then nothing of that session may be shown
   */
  compare(before: readonly Definition[], now: readonly Definition[]): boolean
}

/** Null in production. */
export const development: { current: Development | null } = { current: null }

/** Joins with the same key are the same player in the same room. */
export function joinKey(options: JoinOptions): string {
  const { server = '', game, room = 'main', name = 'player' } = options
  const { watch = false, serves = true } = options
  return JSON.stringify([server, game, room, name, watch, serves])
}
