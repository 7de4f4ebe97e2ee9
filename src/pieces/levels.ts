/**
 * Levels: how near to the eye a piece is (O34-O38).
 *
 * A level is a text between which there is always another: the fractional indexing of Figma, as
 * `fractional-indexing` has it. The player who moves a piece chooses its level; two that chose at
 * once may choose the same, so of equal levels the newer generation is nearer (O37).
 */

import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing'
import type { Row } from './state.ts'

/** A level longer than this is spaced anew, with its neighbours. */
export const LEVEL_LONG = 24
// Neighbours whose levels are longer than this crowd together.
const CROWDED = 12

/** Order on the table, lowest first. */
export function byLevel(a: Row, b: Row): number {
  if (a.z !== b.z) return a.z < b.z ? -1 : 1
  return a.zg - b.zg
}

/** A level between two others; null stands for the table and for the eye. */
export function between(low: string | null, high: string | null): string {
  // Of two that are equal none is between: the newer generation decides.
  if (low !== null && high !== null && low >= high) return low
  return generateKeyBetween(low, high)
}

/** Whether that can be a level. */
export function isLevel(text: string): boolean {
  try {
    return generateKeyBetween(text, null) > text
  } catch {
    return false
  }
}

/** The level above all of them. */
export function above(rows: Iterable<Row>): string {
  let top: string | null = null
  for (const { z } of rows) if (top === null || z > top) top = z
  return generateKeyBetween(top, null)
}

/** The level below all of them. */
export function below(rows: Iterable<Row>): string {
  let bottom: string | null = null
  for (const { z } of rows) if (bottom === null || z < bottom) bottom = z
  return generateKeyBetween(null, bottom)
}

/** New levels for a piece whose level is too long, and for those that crowd round it: by id. */
export function spacedAnew(rows: readonly Row[], crowded: Row): Map<number, string> {
  const sorted = rows.toSorted(byLevel)
  const at = sorted.indexOf(crowded)
  let from = at
  let to = at + 1
  while (from > 0 && sorted[from - 1]!.z.length > CROWDED) from--
  while (to < sorted.length && sorted[to]!.z.length > CROWDED) to++
  const run = sorted.slice(from, to)
  const levels = generateNKeysBetween(sorted[from - 1]?.z ?? null, sorted[to]?.z ?? null, to - from)
  return new Map(run.map(({ id }, i) => [id, levels[i]!]))
}
