/** Many seeds, and what was reached over all of them. */

import { FAULT_KINDS } from '../packages/sim/src/faults.ts'
import type { Millis } from '../packages/holdfast/src/machine.ts'
import { draw } from './seeds.ts'
import { type Result, run } from './trial.ts'

/** What some seed of a batch must reach, or the batch says less than one thinks. */
export const SOMETIMES: readonly string[] = [
  'takeover',
  'backup dropped',
  'backup replaced',
  'primary deposed',
  'deposed primary returned',
  'hub outage survived in the same epoch',
  'session recovered',
  'hand-over',
  'server and backup died at once',
  'the same player in a new process',
  'a mesh',
  'a call answered',
  'all others told',
  'a call of unknown fate that ran',
  'a call of unknown fate that did not run',
  'a turn recorded',
  'a turn late',
  'a turn refused',
  'a loose grab recorded',
  'a loose grab late',
  ...['granted', 'denied', 'busy', 'late', 'held', 'gone'].map((word) => `take prize: ${word}`),
  ...['take prize: no-answer', 'give prize: granted', 'give prize: away', 'take relic: granted'],
  'take ghost: granted',
]

/** Counts over the seeds that have run so far. */
export interface Tallies {
  seeds: number
  failed: Result[]
  /** By seed: how it went and how it ended, in one text. */
  digests: Record<number, string>
  /** In how many runs each thing happened. */
  reached: Record<string, number>
  /** How often each fault befell somebody. */
  faults: Record<string, number>
  /** From peace until all is in order, of each run. */
  settled: Millis[]
  events: number
  virtualMs: number
}

/** What came of many seeds. */
export interface Batch extends Omit<Tallies, 'settled'> {
  /** Of SOMETIMES and the faults, what was never met. */
  missing: string[]
  /** From peace until all is in order: half of the runs, and the slowest. */
  settledMs: { median: number; max: number }
}

/** Nothing yet. */
export function createTallies(): Tallies {
  return {
    seeds: 0,
    failed: [],
    digests: {},
    reached: Object.fromEntries(SOMETIMES.map((name) => [name, 0])),
    faults: Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])),
    settled: [],
    events: 0,
    virtualMs: 0,
  }
}

/** Counts one run; they may come in any order. */
export function take(tallies: Tallies, result: Result): void {
  const { reached, faults } = tallies
  tallies.seeds++
  if (result.wrong.length > 0) tallies.failed.push(result)
  tallies.digests[result.seed] = `${result.digests.course} ${result.digests.ending}`
  for (const name of Object.keys(result.reached)) reached[name] = (reached[name] ?? 0) + 1
  for (const [kind, times] of Object.entries(result.faults)) faults[kind]! += times
  tallies.settled.push(result.settledMs)
  tallies.events += result.events
  tallies.virtualMs += result.virtualMs
}

/** What came of the runs that were counted. */
export function sumUp(tallies: Tallies): Batch {
  const { settled, ...sums } = tallies
  const met = Object.entries({ ...sums.reached, ...sums.faults })
  const ordered = settled.toSorted((one, other) => one - other)
  return {
    ...sums,
    failed: sums.failed.toSorted((one, other) => one.seed - other.seed),
    missing: met.filter(([, times]) => times === 0).map(([name]) => name),
    settledMs: { median: ordered[ordered.length >> 1] ?? 0, max: ordered.at(-1) ?? 0 },
  }
}

/** Runs seeds, one after the other. */
export async function runSeeds(first: number, count: number): Promise<Batch> {
  const tallies = createTallies()
  for (let seed = first; seed < first + count; seed++) take(tallies, await run(draw(seed)))
  return sumUp(tallies)
}
