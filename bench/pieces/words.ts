/** What the bench, its servers and its players say to each other, beside the words of objects. */

import type { Wire } from '../objects/words.ts'

/** Players of one table, and pieces on it. */
export const PLAYERS = 50
/** See PLAYERS. */
export const PIECES = 200
/** Moves that a player keeps under way. */
export const UNDER_WAY = 16
/** Width of a bin of times, in ms. */
export const BIN = 0.25
/** How many bins there are; the last holds what is beyond. */
export const BINS = 16_000

/** From a process of players to the bench. */
export type PlayersSaid =
  | { kind: 'stands' }
  | { kind: 'joined' }
  | {
      kind: 'moved'
      /** Moves that were confirmed, and others that have an outcome. */
      moves: number
      others: number
      /** From the move to its outcome, and to its being seen by another player. */
      told: number[]
      seen: number[]
      down: Wire
      up: Wire
      cpuMs: number
    }

/** Empty bins. */
export function bins(): number[] {
  return Array.from({ length: BINS }, () => 0)
}

/** Puts a time into its bin. */
export function put(into: number[], ms: number): void {
  into[Math.min(BINS - 1, Math.max(0, Math.floor(ms / BIN)))]!++
}
