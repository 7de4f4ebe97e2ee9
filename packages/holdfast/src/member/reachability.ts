/**
 * Reports of the system that no socket listens at a peer's address (ICMP port unreachable). A
 * report comes within a round trip of a death, but any host on the path may forge it. So the peer
 * is probed, and only silence after that counts (T32, T39).
 */

import type { Millis } from '../machine.ts'

/** Time that a live peer needs for its loop, besides round trips. */
export const CHECK_MS: Millis = 15
/** Longest check. */
export const CHECK_MAX_MS: Millis = 1_000
/** Interval between probes, for probes and acks may be lost. */
export const ASK_AGAIN_MS: Millis = 10
// For a probe, its repetition, and the ack.
const ROUND_TRIPS = 3

/** A running check of one peer. */
export interface ReachabilityCheck {
  address: string
  askAt: Millis
  /** A peer that is silent until then is gone. */
  until: Millis
  /** The time is up, and the sockets are read once more. */
  last: boolean
}

/** Begins a check. @param rtt  round trip to the peer; 0 while unknown */
export function begin(now: Millis, address: string, rtt: Millis): ReachabilityCheck {
  const wait = Math.min(CHECK_MAX_MS, CHECK_MS + ROUND_TRIPS * rtt)
  return { address, askAt: now + ASK_AGAIN_MS, until: now + wait, last: false }
}

/** Decides what is to be done now. */
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
