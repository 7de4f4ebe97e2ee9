/** Many seeds, one after the other, and what was reached over all of them. */

import { FAULT_KINDS } from '../faults/schedule.ts'
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
  'a turn conflict',
  'a turn refused',
  'a loose grab recorded',
  'a loose grab conflict',
  ...['granted', 'denied', 'busy', 'late', 'held', 'gone'].map((word) => `take prize: ${word}`),
  ...['take prize: no-answer', 'give prize: granted', 'give prize: away', 'take relic: granted'],
  'take ghost: granted',
]

/** What came of many seeds. */
export interface Batch {
  seeds: number
  failed: Result[]
  /** In how many runs each thing happened. */
  reached: Record<string, number>
  /** How often each fault befell somebody. */
  faults: Record<string, number>
  /** Of SOMETIMES and the faults, what was never met. */
  missing: string[]
  events: number
  virtualMs: number
  /** From peace until all is in order: half of the runs, and the slowest. */
  settledMs: { median: number; max: number }
}

/** Runs seeds. @param after hears of each run */
export async function runSeeds(
  first: number,
  count: number,
  after: (result: Result) => void = () => {},
): Promise<Batch> {
  const reached: Record<string, number> = Object.fromEntries(SOMETIMES.map((name) => [name, 0]))
  const faults: Record<string, number> = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0]))
  const failed: Result[] = []
  const settled: number[] = []
  let events = 0
  let virtualMs = 0
  for (let seed = first; seed < first + count; seed++) {
    const result = await run(draw(seed))
    if (result.wrong.length > 0) failed.push(result)
    for (const name of Object.keys(result.reached)) reached[name] = (reached[name] ?? 0) + 1
    for (const [kind, times] of Object.entries(result.faults)) faults[kind]! += times
    settled.push(result.settledMs)
    events += result.events
    virtualMs += result.virtualMs
    after(result)
  }
  const met = Object.entries({ ...reached, ...faults })
  settled.sort((one, other) => one - other)
  return {
    seeds: count,
    failed,
    reached,
    faults,
    missing: met.filter(([, times]) => times === 0).map(([name]) => name),
    events,
    virtualMs,
    settledMs: { median: settled[count >> 1] ?? 0, max: settled.at(-1) ?? 0 },
  }
}
