/**
 * What came of inputs, all in one list of numbers, so that to look up what a member does is to read
 * two places of memory.
 */

import * as pairs from '../../packages/sim/src/checker/pairs.ts'

/** All that came of inputs. */
export interface Outcomes {
  /** By peer and input: where in the rows it begins. */
  readonly known: pairs.Pairs
  rows: Int32Array
  size: number
}

const ROWS_FIRST = 1_024

/** Nothing so far. */
export function create(): Outcomes {
  return { known: pairs.create(), rows: new Int32Array(ROWS_FIRST), size: 0 }
}

/** Adds what came of one. @returns where it begins */
export function add(outcomes: Outcomes, row: readonly number[]): number {
  const at = outcomes.size
  outcomes.size += row.length
  while (outcomes.size > outcomes.rows.length) {
    const grown = new Int32Array(outcomes.rows.length * 2)
    grown.set(outcomes.rows)
    outcomes.rows = grown
  }
  outcomes.rows.set(row, at)
  return at
}
