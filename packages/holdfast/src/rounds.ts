/**
 * What is done now and then for each of many, in parts: one part in a turn, so that nobody who
 * comes between waits for all of them.
 */

import type { Millis } from './machine.ts'

/** Most of one part. */
export const PART_MAX = 100
/** So soon the next part of a round is due. */
export const PART_MS: Millis = 10

/** Rounds for ever, one after the other. */
export interface Rounds<One> {
  /** When the next part is due. */
  dueAt: Millis
  /** When the next round begins. */
  againAt: Millis
  /** Those of this round who have yet to come. */
  left: One[]
}

/** The first round begins then. */
export function create<One>(firstAt: Millis): Rounds<One> {
  return { dueAt: firstAt, againAt: firstAt, left: [] }
}

/** Whose turn it is now. A round has those who are there when it begins. */
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
