/** Rooms that a hub keeps beyond their members, as far as hub and member have to agree. */

import { type Millis, NAME_MAX } from '../machine.ts'
import type { Entry } from './messages.ts'

/** Longest time for which a room is kept after its last member, in minutes: a year. */
export const KEEP_MINUTES_MAX: number = 365 * 24 * 60
/**
 * After so long without YES_I_AM of a primary that may acknowledge without the hub its room may be
 * opened again. By their promises its members go on for less (session/keeping.ts).
 */
export const SILENT_MS: Millis = 60_000
/** Most sheets of a room; then its primary writes the whole state anew. */
export const SHEETS_MAX = 1_024

/** As which room one is kept that was laid aside: it may be opened there. */
export function asideOf({ room, session }: Pick<Entry, 'room' | 'session'>): string {
  const mark = `~${session}`
  const bytes = new TextEncoder().encode(room).subarray(0, NAME_MAX - mark.length)
  // A sign of several bytes that was cut falls away.
  return new TextDecoder().decode(bytes).replace(/\uFFFD$/, '') + mark
}
