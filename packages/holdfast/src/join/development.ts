/**
 * What a development server adds to the `join` of a page: `holdfast/vite/client` sets it. Whoever
 * bundles the page for production leaves it out.
 */

import type { Definition } from '../kind/kind.ts'
import type { JoinOptions } from './join.ts'
import type { Session } from './session.ts'

/** Calls `join`, or returns a session that modules which ran before had joined. */
export interface Development {
  join(join: (options: JoinOptions) => Promise<Session>, options: JoinOptions): Promise<Session>
  /** Loads the page again if a hot update changed the definitions of a session. */
  compare(before: readonly Definition[], now: readonly Definition[]): void
}

/** Null in production. */
export const development: { current: Development | null } = { current: null }
