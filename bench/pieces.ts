/**
 * Pieces that several players move at once, beside Yjs.
 *
 * Alone: an update from its player by way of the primary's decision and log to another member, all
 * in one process; the rivals take turns, what counts is the time on processors, and of all rounds
 * the best quarter. Memory: what a million updates leave on the heap once it is swept.
 */

import { loadavg } from 'node:os'
import { type Figures, memories, type Memory, speeds } from './pieces/alone.ts'
import { installPeers, version } from './processes/peers.ts'
import { atLeast, atMost, unjudged } from './report.ts'
import type { BenchReport, Goal, Table } from './report.ts'

/** For the list of benches. */
export const about = 'pieces that several players move at once, beside Yjs'

const ROUNDS = 300
const ROUNDS_QUICK = 60
const UPDATES = 1_000_000
const UPDATES_QUICK = 100_000
/** Of updates a second. */
const YJS_TIMES = 25
const BYTES = 12
const GROWTH = 1.05

/** Measures; `quick` takes a few seconds and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  await installPeers()
  const figures = await speeds(quick ? ROUNDS_QUICK : ROUNDS)
  const memory = await memories(quick ? UPDATES_QUICK : UPDATES)
  const goals = [...goalsAlone(figures), goalOfMemory(memory)]
  return {
    tables: [alone(figures), kept(memory)],
    goals: quick ? goals.map(unjudged) : goals,
    notes: notes(),
  }
}

function alone(figures: readonly Figures[]): Table {
  return {
    title:
      'an update of three fields from its player to another: thousands in a second of processor',
    columns: ['who', 'updates', 'bytes of one', 'what is done'],
    rows: figures.map(({ name, updates, bytes, says }) => [
      name,
      Number((updates / 1e3).toPrecision(3)),
      Number(bytes.toFixed(1)),
      says,
    ]),
  }
}

function kept(memory: readonly Memory[]): Table {
  return {
    title: 'the heap before and after, in MB',
    columns: ['who', 'updates', 'before', 'after', 'ratio'],
    rows: memory.map(({ name, updates, before, after }) => [
      name,
      updates,
      Number(before.toPrecision(4)),
      Number(after.toPrecision(4)),
      Number((after / before).toFixed(3)),
    ]),
  }
}

function goalsAlone([ours, yjs]: readonly Figures[]): Goal[] {
  return [
    atLeast('updates of a piece / Yjs', ours!.updates / yjs!.updates, YJS_TIMES, 'x'),
    atMost('bytes of an update', ours!.bytes, BYTES, 'B'),
  ]
}

function goalOfMemory([ours]: readonly Memory[]): Goal {
  const { updates, before, after } = ours!
  return atMost(`heap after ${updates} updates / before`, after / before, GROWTH, 'x')
}

function notes(): string[] {
  return [
    `Peers: ${['yjs', 'y-websocket', 'msgpackr'].map(version).join(', ')}.`,
    'An update goes to a primary or server and to another, and is shown there. Yjs merges: it has',
    'no outcome and refuses nothing. msgpackr stands there for what bytes alone cost.',
    `The load of the machine over the last minute was ${loadavg()[0]!.toFixed(1)}.`,
  ]
}
