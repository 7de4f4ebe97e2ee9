/**
 * How to treat a report of the system that nobody listens at a peer's address. The report comes
 * within a round trip of a death, but anybody on the path may forge it: so it is a reason to ask
 * the peer, and only silence after that counts (T32, T39).
 */

import type { Millis } from '../machine.ts'

/** Time that a living peer has for its loop, besides round trips. */
export const CHECK_MS: Millis = 15
/** No peer is waited for any longer. */
export const CHECK_MAX_MS: Millis = 1_000
/** The peer is asked so often, for questions and answers may be lost. */
export const ASK_AGAIN_MS: Millis = 10
// One for a question, one for its repetition, one for the answer.
const ROUND_TRIPS = 3

/** A peer of whom the system reported that nobody listens there. */
export interface ReachabilityCheck {
  address: string
  askAt: Millis
  /** A peer that is silent until then counts as gone. */
  until: Millis
  /** The time is over, and the sockets are read once more. */
  last: boolean
}

/** Begins now. @param rtt  the round trip to the peer, 0 if it is not known */
export function begin(now: Millis, address: string, rtt: Millis): ReachabilityCheck {
  const wait = Math.min(CHECK_MAX_MS, CHECK_MS + ROUND_TRIPS * rtt)
  return { address, askAt: now + ASK_AGAIN_MS, until: now + wait, last: false }
}

/** Decides what to do about the peer now. */
export function look(doubt: ReachabilityCheck, now: Millis): 'ask' | 'believe' | 'wait' {
  if (now >= doubt.until) {
    if (doubt.last) return 'believe'
    // Timers run before sockets are read: the answer may have arrived long ago.
    doubt.last = true
    return 'wait'
  }
  if (now < doubt.askAt) return 'wait'
  doubt.askAt = now + ASK_AGAIN_MS
  return 'ask'
}

/** When to look. */
export function deadline({ askAt, until }: ReachabilityCheck): Millis {
  return Math.min(askAt, until)
}
