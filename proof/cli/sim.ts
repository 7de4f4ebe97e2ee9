/** `npm run sim`: whole sessions in virtual time, run from seeds. */

import type { CAC } from 'cac'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import type { Batch } from '../batch.ts'
import { draw, drawTwoHubs } from '../seeds.ts'
import { type Result, run } from '../trial.ts'
import { runInThreads, THREADS_MAX, threadsHere } from './seed-runs.ts'

const SEEDS_DEFAULT = 100
/** Most seeds of one call. */
export const SEEDS_MAX = 10_000_000

/** Adds the command. */
export function addSim(cli: CAC): void {
  cli
    .command('sim', 'Run whole sessions in a simulated network, with faults drawn from seeds')
    .option('--seeds <count>', 'How many seeds to run', { default: SEEDS_DEFAULT })
    .option('--from <seed>', 'The first of them', { default: 1 })
    .option('--threads <count>', 'How many threads to use; else one for each core')
    .option('--seed <seed>', 'Run one seed and tell its story')
    .option('--hubs <count>', 'How many hubs share a store: 1 or 2', { default: 1 })
    .example('npm run sim -- --seed 123')
    .action(async (given: Given) => {
      const good =
        given.seed === undefined ? await many(given) : await one(given.seed, hubsOf(given))
      if (!good) process.exitCode = 1
    })
}

interface Given {
  seeds: number | string
  from: number | string
  threads?: number | string
  seed?: number | string
  hubs: number | string
}

const hubsOf = ({ hubs }: Given): number => whole('hubs', hubs, 1, 2)

function whole(
  what: string,
  value: number | string,
  min = 0,
  max: number = Number.MAX_SAFE_INTEGER,
): number {
  const number = Number(value)
  if (Number.isInteger(number) && number >= min && number <= max) return number
  throw new HoldfastError(
    'bad-value',
    `--${what} is a whole number from ${min} to ${max}: ${value}`,
  )
}

async function one(given: number | string, hubs: number): Promise<boolean> {
  const seed = whole('seed', given)
  const result = await run(hubs > 1 ? drawTwoHubs(seed) : draw(seed))
  for (const line of result.story) console.log(line)
  console.log(tell(result))
  return result.wrong.length === 0
}

function tell({ seed, wrong, settledMs, events, virtualMs }: Result): string {
  const extent = `${events} events in ${(virtualMs / 1_000).toFixed(1)} virtual seconds`
  if (wrong.length === 0) {
    return `seed ${seed}: all is well, in order ${Math.round(settledMs)} ms after peace; ${extent}`
  }
  const lines = wrong.map((why) => `  ${why}`)
  return [`seed ${seed} FAILED; run it again: npm run sim -- --seed ${seed}`, ...lines].join('\n')
}

async function many(given: Given): Promise<boolean> {
  const count = whole('seeds', given.seeds, 1, SEEDS_MAX)
  const first = whole('from', given.from)
  const started = performance.now()
  const threads = whole('threads', given.threads ?? threadsHere(), 1, THREADS_MAX)
  const hubs = hubsOf(given)
  const after = (result: Result): void => {
    if (result.wrong.length > 0) console.log(tell(result))
  }
  const batch = await runInThreads(first, count, threads, after, { hubs })
  console.log(summary(batch, first, performance.now() - started))
  return batch.failed.length === 0
}

function summary(batch: Batch, first: number, ms: number): string {
  const { seeds, failed, reached, faults, missing, events, virtualMs, settledMs } = batch
  const rows = (of: Record<string, number>): string[] =>
    Object.entries(of).map(([name, times]) => `  ${String(times).padStart(7)}  ${name}`)
  return [
    `seeds ${first} to ${first + seeds - 1}: ${failed.length} failed; ${events} events, ` +
      `${Math.round(virtualMs / 1_000)} virtual seconds in ${(ms / 1_000).toFixed(1)} s`,
    `in order after peace: median ${Math.round(settledMs.median)} ms, ` +
      `longest ${Math.round(settledMs.max)} ms`,
    'faults that befell somebody:',
    ...rows(faults),
    'runs in which it happened:',
    ...rows(reached),
    ...(missing.length > 0 ? [`never met: ${missing.join(', ')} (more seeds may)`] : []),
  ].join('\n')
}
