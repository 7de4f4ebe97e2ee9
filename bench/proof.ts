/**
 * How fast proofs are: states a second of the checker on shipped machines and, on a model that
 * both can read, beside Spin; virtual seconds a second of the simulator with its judge. All in
 * processor time of one core. With `BEFORE=FOLDER`, the build of another checkout, both are
 * measured, one after the other.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { check } from '../packages/sim/src/checker/checker.ts'
import { atLeast, type BenchReport, type Goal, type Table, unjudged } from './report.ts'
import { promela, replication } from './proof/replication.ts'
import type { Line } from './proof/side.ts'
import { verify } from './proof/spin.ts'

/** For the list of benches. */
export const about = 'states a second beside Spin, virtual seconds a second; BEFORE=BUILD beside it'

const SIDE = fileURLToPath(new URL('proof/side.js', import.meta.url))
const BUILD = fileURLToPath(new URL('..', import.meta.url))
// Small ones are mostly first meetings, each of which runs shipped code; the last of each is large.
const SCOPES = [
  ...['session:F2', 'session:F4', 'session:F1', 'session:F1-deep'],
  ...['objects:G1', 'objects:G3', 'objects:S7', 'objects:G4'],
]
const QUICK_SCOPES = ['session:F2', 'objects:G1']
const SEEDS = 40
const QUICK_SEEDS = 8
const GOAL = 10

/** Measures. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const before = process.env['BEFORE'] ?? null
  const scopes = quick ? QUICK_SCOPES : SCOPES
  const seeds = quick ? QUICK_SEEDS : SEEDS
  const then = before === null ? [] : await measure(before, scopes, seeds)
  const now = await measure(BUILD, scopes, seeds)
  const goals = before === null ? [] : goalsOf(now, then)
  return {
    tables: [table(now, then), besideSpin()],
    goals: quick ? goals.map(unjudged) : goals,
    notes: [
      'processor seconds of one core, garbage collection included',
      'Spin tries one order of steps that commute; here all are one process, so it has none',
    ],
  }
}

async function measure(build: string, scopes: string[], seeds: number): Promise<Line[]> {
  const args = ['--max-semi-space-size=128', SIDE, build, scopes.join(), String(seeds)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: Line[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line) as Line)
  }
  // Where it ends while we read its last line, the event is gone.
  const code = child.exitCode ?? ((await once(child, 'exit')) as [number])[0]
  if (code !== 0) throw new Error(`what measures ${build} ended with ${code}`)
  return lines
}

const speedOf = ({ amount, seconds }: Line): number => amount / seconds

function table(now: readonly Line[], then: readonly Line[]): Table {
  const beside = then.length > 0 ? ['before, a second', 'times'] : []
  return {
    title: 'shipped machines, one core',
    columns: ['what', 'how much', 'of', 'processor s', 'a second', ...beside],
    rows: now.map((line) => {
      const { what, unit, amount, seconds } = line
      const own = [what, Math.round(amount), unit, seconds.toFixed(1), Math.round(speedOf(line))]
      const old = then.find((other) => other.what === what)
      if (then.length === 0) return own
      if (!old) return [...own, '–', '–']
      const times = (speedOf(line) / speedOf(old)).toFixed(1)
      return [...own, Math.round(speedOf(old)), times]
    }),
  }
}

function besideSpin(): Table {
  const began = process.cpuUsage()
  const { states, edges } = check(replication(), { statesMax: 10_000_000 })
  const { user, system } = process.cpuUsage(began)
  const seconds = (user + system) / 1e6
  const spin = verify(promela())
  const row = (who: string, count: number, of: number, took: number): (string | number)[] => {
    return [who, count, of, took.toFixed(2), Math.round(count / took)]
  }
  return {
    title: 'the same small model (bench/proof/replication.ts)',
    columns: ['checker', 'states', 'edges', 's', 'states a second'],
    rows: [
      row('ours', states, edges, seconds),
      spin
        ? row(`Spin ${spin.version}`, spin.states, spin.edges, spin.seconds)
        : ['Spin', 'not here: apt-get install spin gcc', '', '', ''],
    ],
  }
}

function goalsOf(now: readonly Line[], then: readonly Line[]): Goal[] {
  return now.map((line) => {
    const old = then.find(({ what }) => what === line.what)
    const times = old ? speedOf(line) / speedOf(old) : null
    return atLeast(`${line.what}: a second, of before`, times, GOAL, 'x')
  })
}
