/** Periodic work over many items, a part per turn, so no other work waits for a whole round. */

import type { Millis } from './machine.ts'

/** Most items of one part. */
export const PART_MAX = 100
/** Delay of the next part of a round. */
export const PART_MS: Millis = 10

/** Endless rounds, one after the other. */
export interface Rounds<One> {
  /** When the next part is due. */
  dueAt: Millis
  /** When the next round begins. */
  againAt: Millis
  /** Items of this round still to come. */
  left: One[]
}

/** Creates rounds; the first begins at `firstAt`. */
export function create<One>(firstAt: Millis): Rounds<One> {
  return { dueAt: firstAt, againAt: firstAt, left: [] }
}

/** The items due now. A round takes the items that exist when it begins. */
export function next<One>(
  rounds: Rounds<One>,
  now: Millis,
  everyMs: Millis,
  all: () => Iterable<One>,
): One[] {
  if (now < rounds.dueAt) return []
  if (rounds.left.length === 0) {
    rounds.againAt = now + everyMs
    rounds.left = [...all()]
  }
  const part = rounds.left.splice(0, PART_MAX)
  rounds.dueAt = rounds.left.length === 0 ? rounds.againAt : now + PART_MS
  return part
}
