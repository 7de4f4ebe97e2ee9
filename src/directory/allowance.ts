/**
 * How much one stream may cost the hub.
 *
 * Anybody may open a stream, so each has an allowance that fills up with time. A message costs one;
 * for a stranger, who is no member yet, also one for each kilobyte, because a stranger's messages
 * are handed to a primary; a list costs by its length. A stream that overdraws is closed: an honest
 * member dials again. Relayed datagrams are paid for in bytes, from an allowance of their own, and
 * are lost beyond it, as datagrams may be.
 */

import { type Bucket, type Rate, take } from '../bucket.ts'
import type { Millis } from '../machine.ts'

/** A stream that has not sent HELLO after this is closed. */
export const HELLO_MS: Millis = 5_000
/** Most that a stream may spend at once; a join of MEMBERS_MAX players costs its primary half. */
export const ALLOWANCE_MAX = 1024
/** How much comes back each second. */
export const ALLOWANCE_PER_SECOND = 256
/** Most sessions that one stream creates. */
export const SESSIONS_PER_STREAM = 64

/** Entries of a list that cost as much as a message. */
export const ENTRIES_PER_MESSAGE = 4
/** What one relayed datagram costs at least, in bytes. */
export const RELAY_COST_MIN = 64

/** The allowance for messages. */
export const MESSAGES: Rate = { max: ALLOWANCE_MAX, perSecond: ALLOWANCE_PER_SECOND }
/** The allowance for relayed bytes: 255 members at 20 packets of 1,200 bytes a second are 6 MB. */
export const RELAY: Rate = { max: 16 * 1024 * 1024, perSecond: 8 * 1024 * 1024 }

/** Spends for one message. @returns false if the allowance is too small */
export function spend(allowance: Bucket, now: Millis, bytes: number, isMember: boolean): boolean {
  return take(allowance, MESSAGES, now, isMember ? 1 : 1 + bytes / 1024)
}

/** Spends for one relayed datagram. @returns false if the allowance is too small */
export function spendRelay(allowance: Bucket, now: Millis, bytes: number): boolean {
  return take(allowance, RELAY, now, Math.max(RELAY_COST_MIN, bytes))
}
