/**
 * A maze as views and keys have it, whatever is behind: a session, the LAN, or nobody else at all.
 */

import type { Act } from './rules/acts.ts'
import type { World } from './rules/world.ts'

/** How long a slot is, in milliseconds. */
export const SLOT_MS = 200

/** See the head of this file. */
export interface MazeClient {
  /** The id of our rat. */
  readonly me: number
  /** The world up to the last whole slot. */
  readonly state: World
  /** The same with what is known of the slots under way: our own acts at once. */
  readonly ahead: World
  /** The slot under way: what is done now is done in it. */
  readonly slot: number
  /** Whether anything can be done. */
  readonly live: boolean
  /** Our rat does that, if it can be. @returns whether it was told */
  act(act: Act): boolean
  nameOf(rat: number): string
  /** The map has all on it: an option of a room. */
  readonly showsAll?: boolean
}
