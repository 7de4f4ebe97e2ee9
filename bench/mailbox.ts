/**
 * How many deliveries a second are durable: our mailbox beside an append with fdatasync (the
 * floor), a mailbox written by hand for SQLite, and Redis that syncs at every write, in turns on
 * one disk. And how long a store with a million letters takes to open after SIGKILL.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { RunningMailbox } from '../packages/mailbox/src/mailbox.ts'
import { nodeCurves } from '../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { createNodeLoop } from '../packages/holdfast/src/drivers/net/loop-node.ts'
import { openMailSqlite } from '../packages/mailbox/src/drivers/mail-sqlite.ts'
import { append, type Contender, ours, overwrite, sqlite } from './mailbox/contenders.ts'
import { redis, redisVersion } from './mailbox/redis.ts'
import { end, endAll, heard, start } from './processes/children.ts'
import { atLeast, atMost, unjudged } from './report.ts'
import type { BenchReport, Goal } from './report.ts'

/** For the list of benches. */
export const about = 'durable deliveries beside SQLite and Redis, and opening a million letters'

const GROUP = 2_000
const PLAIN = 50
/** Deliveries in one group, for us and for SQLite by hand. */
const SIZES = [1, PLAIN, GROUP]
const LETTERS = 1_000_000

interface Measured {
  contender: Contender
  /** Deliveries a second, by round. */
  rates: number[]
  /** How long a group took, in ms. */
  times: number[]
}

/** Measures; `quick` takes fewer and shorter rounds, and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  const version = redisVersion()
  const notes = [
    version === null
      ? 'Redis was not measured: redis-server is not installed (apt-get install redis-server)'
      : `Redis ${version}, over a Unix socket, as many deliveries at once as ours`,
    'a delivery: a number moved, a value of 128 B written, two letters of 128 B posted, two acked',
  ]
  try {
    const all = await contenders(folder, version !== null)
    for (let round = 0; round < (quick ? 4 : 12); round++) {
      for (const one of shuffled(all)) one.rates.push(await rate(one, quick ? 300 : 1_000))
    }
    for (const { contender } of all) await contender.close()
    const opened = await opening(folder, quick ? LETTERS / 5 : LETTERS)
    const goals = goalsOf(all, opened)
    return { tables: [tableOf(all)], goals: quick ? goals.map(unjudged) : goals, notes }
  } finally {
    await endAll()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function contenders(folder: string, withRedis: boolean): Promise<Measured[]> {
  const all = [
    append(folder),
    overwrite(folder),
    ...SIZES.flatMap((at) => [ours(folder, at), sqlite(folder, at)]),
  ]
  if (withRedis) all.push(await redis(folder, GROUP))
  return all.map((contender) => ({ contender, rates: [], times: [] }))
}

async function rate({ contender, times }: Measured, ms: number): Promise<number> {
  for (let i = 0; i < 3; i++) await contender.run()
  const begin = performance.now()
  let count = 0
  for (let now = begin; now - begin < ms;) {
    count += await contender.run()
    const after = performance.now()
    times.push(after - now)
    now = after
  }
  return (count / (performance.now() - begin)) * 1_000
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => [Math.random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)
}

/** Fills a store, kills who filled it, and opens it. @returns ms until a letter can be read */
async function opening(folder: string, letters: number): Promise<number> {
  const file = join(folder, 'million.db')
  const child = start(new URL('./mailbox/filler.js', import.meta.url), [file, letters])
  const isFull = (message: object): message is { full: true } => 'full' in message
  await heard<object, { full: true }>(child, isFull, 'filling', 120_000)
  await end(child)
  const begin = performance.now()
  const store = openMailSqlite(file)
  const seed = new Uint8Array(32)
  const key = nodeCurves.signer(seed) as Uint8Array
  const identity = { keys: [{ seed, key }], letter: null, curves: nodeCurves }
  const place = { loop: createNodeLoop(), connect: () => null!, store, identity }
  const box = new RunningMailbox(place, { id: 'bench' })
  const [first] = store.letters('peer', 0, 1).letters
  const ms = performance.now() - begin
  const [queue] = box.queues()
  if (first?.n !== 1 || queue?.waiting !== letters) throw new Error('the store is not whole')
  await box.close()
  return ms
}

/** The time that so large a part of groups did not exceed. */
function share(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}

function middle(rates: readonly number[]): number {
  return rates.toSorted((a, b) => a - b)[rates.length >> 1]!
}

/** The middle of the ratios of two in the same rounds. */
function ratio(all: readonly Measured[], one: string, other: string): number | null {
  const find = (begin: string): number[] | undefined =>
    all.find(({ contender }) => contender.name.startsWith(begin))?.rates
  const [top, bottom] = [find(one), find(other)]
  return top && bottom ? middle(top.map((value, round) => value / bottom[round]!)) : null
}

function goalsOf(all: readonly Measured[], opened: number): Goal[] {
  const group = `Holdfast, ${GROUP.toLocaleString('en')}`
  const one = 'Holdfast, one'
  return [
    atLeast('one delivery / append with fdatasync', ratio(all, one, 'append'), 0.9, 'x'),
    unjudged(atLeast('one delivery / preallocated', ratio(all, one, 'preallocated'), 0.9, 'x')),
    ...SIZES.map((at) => sameSize(all, at)),
    atLeast('group commit / Redis', ratio(all, group, 'Redis'), 3, 'x'),
    atMost('a store with 1,000,000 letters opens after SIGKILL', opened, 1_000, 'ms'),
  ]
}

/** Beside SQLite by hand at the same size; of the smaller sizes it is a goal of the log to come. */
function sameSize(all: readonly Measured[], at: number): Goal {
  const size = at === 1 ? 'one' : at.toLocaleString('en')
  const value = ratio(all, `Holdfast, ${size}`, `SQLite, ${size}`)
  const goal = atLeast(`a group of ${size} / SQLite at the same size`, value, 3, 'x')
  return at === GROUP ? goal : unjudged(goal)
}

function tableOf(all: readonly Measured[]): BenchReport['tables'][number] {
  return {
    title: 'durable deliveries a second, in turns',
    columns: ['contender', 'sync', 'median', 'min', 'max', 'group p50 ms', 'group p99 ms'],
    rows: all.map(({ contender: { name, sync }, rates, times }) => [
      name,
      sync,
      Math.round(middle(rates)),
      Math.round(Math.min(...rates)),
      Math.round(Math.max(...rates)),
      ...[0.5, 0.99].map((part) => Number(share(times, part).toFixed(3))),
    ]),
  }
}
