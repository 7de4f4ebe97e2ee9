/**
 * What to do with a word of the system that nobody listens at a peer's address. It comes within a
 * round trip of a death, and anybody on the path may forge it: so it is a reason to ask the peer,
 * and its silence after that is what counts (T32, T39).
 */

import type { Millis } from '../machine.ts'

/** A peer that lives has so long for its loop, besides round trips. */
export const DOUBT_MS: Millis = 15
/** No peer is waited for any longer. */
export const DOUBT_MAX_MS: Millis = 1_000
/** It is asked so often, for questions and answers may be lost. */
export const ASK_AGAIN_MS: Millis = 10
// A question, one that is asked again, and the answer's own way.
const ROUND_TRIPS = 3

/** A peer of whom it was said that nobody is there. */
export interface Doubt {
  address: string
  askAt: Millis
  /** Silent until then it is believed to be gone. */
  until: Millis
  /** The time is over, and the sockets are read once more. */
  last: boolean
}

/** Begins now. @param rtt the round trip to the peer, 0 if it is not known */
export function begin(now: Millis, address: string, rtt: Millis): Doubt {
  const wait = Math.min(DOUBT_MAX_MS, DOUBT_MS + ROUND_TRIPS * rtt)
  return { address, askAt: now + ASK_AGAIN_MS, until: now + wait, last: false }
}

/** What is to be done now. */
export function look(doubt: Doubt, now: Millis): 'ask' | 'believe' | 'wait' {
  if (now >= doubt.until) {
    if (doubt.last) return 'believe'
    // Timers run before sockets are read: its answer may be there since long.
    doubt.last = true
    return 'wait'
  }
  if (now < doubt.askAt) return 'wait'
  doubt.askAt = now + ASK_AGAIN_MS
  return 'ask'
}

/** When to look. */
export function deadline({ askAt, until }: Doubt): Millis {
  return Math.min(askAt, until)
}
