/** Runs many seeds over several threads, and collects what was reached over all of them. */

import { availableParallelism } from 'node:os'
import { type Batch, createTallies, sumUp, take } from '../batch.ts'
import type { Result } from '../trial.ts'
import { shareOut } from './pool.ts'

/** A run of a thread. */
export interface Task {
  readonly seed: number
  readonly hubs: number
}

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
 * @param how  whether the next one starts, and how many hubs there are: 1 or 2
 */
export async function runInThreads(
  first: number,
  count: number,
  threads: number,
  after: (result: Result) => void,
  { goesOn = () => true, hubs = 1 }: { goesOn?: () => boolean; hubs?: number } = {},
): Promise<Batch> {
  const tallies = createTallies()
  const script = new URL('./seed-thread.js', import.meta.url)
  await shareOut<Task, Result>(script, tasks(first, count, hubs, goesOn), threads, (result) => {
    take(tallies, result)
    after(result)
  })
  return sumUp(tallies)
}

function* tasks(
  first: number,
  count: number,
  hubs: number,
  goesOn: () => boolean,
): Generator<Task, undefined> {
  for (let seed = first; seed < first + count && goesOn(); seed++) yield { seed, hubs }
}
