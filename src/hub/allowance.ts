/**
 * What one stream may cost the hub.
 *
 * Anybody may open a stream, so each has an allowance that fills up with time. A message costs
 * one; from a stranger, who is no member yet, also one for each kilobyte, for what strangers say
 * is handed to a primary. Datagrams that are relayed have their own limit, at their target's
 * stream. Who overdraws is shown the door: a member that meant well dials again.
 */

import type { Millis } from '../machine.ts'

/** A stream that has not said hello after this is closed. */
export const HELLO_MS: Millis = 5_000
/** What a stream may spend at once; a join of MEMBERS_MAX players costs its primary half. */
export const ALLOWANCE_MAX = 1024
/** What comes back each second. */
export const ALLOWANCE_PER_SECOND = 256
/** Most sessions that one stream creates. */
export const SESSIONS_PER_STREAM = 64

/** What is left of one stream's allowance. */
export interface Allowance {
  left: number
  at: Millis
}

/** A full one. */
export function create(now: Millis): Allowance {
  return { left: ALLOWANCE_MAX, at: now }
}

/** Spends for one message. @returns false if it was not to be had */
export function spend(
  allowance: Allowance,
  now: Millis,
  bytes: number,
  isMember: boolean,
): boolean {
  const back = ((now - allowance.at) * ALLOWANCE_PER_SECOND) / 1000
  allowance.left = Math.min(ALLOWANCE_MAX, allowance.left + Math.max(0, back))
  allowance.at = now
  const cost = isMember ? 1 : 1 + bytes / 1024
  if (allowance.left < cost) return false
  allowance.left -= cost
  return true
}
