/** Updates of pieces without a network: how many a second, how long, and what stays in memory. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Card, Rival } from './rivals.ts'
import { holdfast, others } from './rivals.ts'

/** What one of them does. */
export interface Figures {
  name: string
  says: string
  /** Updates a second of processor. */
  updates: number
  /** Of one update as its player sends it. */
  bytes: number
}

/** What a million updates leave behind. */
export interface Memory {
  name: string
  updates: number
  /** Of the heap, in MB. */
  before: number
  after: number
}

const PIECES = 200
const BATCH = 2_000

/** All rivals, in turns. @param rounds of 2,000 updates each */
export async function speeds(rounds: number): Promise<Figures[]> {
  const rivals: Rival[] = [holdfast(PIECES), ...(await others(PIECES))]
  const scores = rivals.map((): { ms: number; bytes: number }[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, rival] of rivals.entries()) {
      const score = measured(rival, round)
      // The first half of the rounds warms them.
      if (round >= rounds / 2) scores[at]!.push(score)
    }
  }
  return rivals.map(({ name, says }, at) => {
    const quarter = scores[at]!.toSorted((a, b) => a.ms - b.ms)[scores[at]!.length >> 2]!
    const bytes = scores[at]!.reduce((sum, score) => sum + score.bytes, 0)
    return {
      name,
      says,
      updates: (1_000 * BATCH) / quarter.ms,
      bytes: bytes / BATCH / scores[at]!.length,
    }
  })
}

function measured(rival: Rival, round: number): { ms: number; bytes: number } {
  let bytes = 0
  const start = processorTime()
  for (let n = 0; n < BATCH; n++) bytes += rival.move(n % PIECES, cardOf(round * BATCH + n))
  const ms = processorTime() - start
  for (const at of [0, PIECES >> 1, PIECES - 1]) check(rival, at, round)
  return { ms, bytes }
}

function cardOf(n: number): Card {
  return { x: (n * 7) % 1_000, y: ((n * 13) % 1_999) / 2, up: n % 3 === 0 }
}

// What came out is what went in, or the figures are of something else.
function check(rival: Rival, at: number, round: number): void {
  const wanted = cardOf((round + 1) * BATCH - PIECES + at)
  const { x, y, up } = rival.seen(at)
  if (x === wanted.x && y === wanted.y && up === wanted.up) return
  throw new Error(`${rival.name} shows ${x} ${y} ${String(up)} as piece ${at}`)
}

// In ms, with what the collector of garbage takes.
function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** What so many updates leave in memory, ours and those of Yjs. */
export async function memories(updates: number): Promise<Memory[]> {
  const [yjs] = await others(PIECES)
  // Yjs a tenth of it: it keeps a mark of each.
  return [memory(holdfast(PIECES), updates), memory(yjs!, updates / 10)]
}

function memory(rival: Rival, updates: number): Memory {
  for (let n = 0; n < 20_000; n++) rival.move(n % PIECES, cardOf(n))
  const before = heap()
  for (let n = 0; n < updates; n++) rival.move(n % PIECES, cardOf(n))
  const after = heap()
  rival.seen(0)
  return { name: rival.name, updates, before, after }
}

function heap(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let n = 0; n < 4; n++) collect()
  return process.memoryUsage().heapUsed / 2 ** 20
}
