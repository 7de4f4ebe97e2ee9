/** Runs many seeds over several threads, and collects what was reached over all of them. */

import { availableParallelism } from 'node:os'
import { type Batch, createTallies, sumUp, take } from '../batch.ts'
import type { Result } from '../trial.ts'
import { shareOut } from './pool.ts'

/** Most threads of one call. */
export const THREADS_MAX = 64

/** As many threads as there are cores. */
export function threadsHere(): number {
  return Math.min(THREADS_MAX, availableParallelism())
}

/**
 * Runs seeds from one on, until they end or `goesOn` returns false.
 *
 * @param after called with each run as it ends
 */
export async function runInThreads(
  first: number,
  count: number,
  threads: number,
  after: (result: Result) => void,
  goesOn: () => boolean = () => true,
): Promise<Batch> {
  const tallies = createTallies()
  const script = new URL('./seed-thread.js', import.meta.url)
  await shareOut<number, Result>(script, seeds(first, count, goesOn), threads, (result) => {
    take(tallies, result)
    after(result)
  })
  return sumUp(tallies)
}

function* seeds(first: number, count: number, goesOn: () => boolean): Generator<number, undefined> {
  for (let seed = first; seed < first + count && goesOn(); seed++) yield seed
}
