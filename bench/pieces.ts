/**
 * Pieces that several players move at once, beside Yjs.
 *
 * Alone: an update from its player by way of the primary's decision and log to another member, all
 * in one process; the rivals take turns, what counts is the time on processors, and of all rounds
 * the best quarter. Memory: what a million updates leave on the heap once it is swept.
 *
 * At a table: 50 players in three processes (or two) over real sockets, each moving four pieces of
 * its own and keeping 16 moves under way; all are whole members and see all. A move of ours is over
 * with its outcome; y-websocket has none, so one of its is over when all players of its process
 * have it. So moves a second are not one event on both sides, and what is judged is another that
 * is: how soon one other player sees a move. Bytes are counted as `objects` counts them, headers
 * included.
 */

import { type Figures, memories, type Memory, speeds } from './pieces/alone.ts'
import { type Found, holdfast, type Length, yjs } from './pieces/contest.ts'
import { PIECES, PLAYERS } from './pieces/words.ts'
import { endAll, mayPin } from './processes/children.ts'
import { installPeers, version } from './processes/peers.ts'
import { atLeast, atMost, unjudged } from './report.ts'
import type { BenchReport, Goal, Table } from './report.ts'

/** For the list of benches. */
export const about = 'pieces that several players move at once, beside Yjs'

const ROUNDS = 300
const ROUNDS_QUICK = 40
const UPDATES = 1_000_000
const UPDATES_QUICK = 50_000
/** Of updates a second. */
const YJS_TIMES = 25
const BYTES = 12
const GROWTH = 1.05
const QUICK: Length = { warmMs: 2_500, ms: 2_000 }
const FULL: Length = { warmMs: 5_000, ms: 12_000 }
/** Goal: Yjs takes so many times as long as we until another player sees a move. */
const SEEN_TIMES = 2

/** Measures; `quick` takes less of everything and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  await installPeers()
  const stopped = (): void => void endAll().then(() => process.exit(130))
  process.once('SIGINT', stopped)
  try {
    const figures = await speeds(quick ? ROUNDS_QUICK : ROUNDS)
    const memory = await memories(quick ? UPDATES_QUICK : UPDATES)
    const found = await contests(quick)
    const goals = [...goalsAlone(figures), goalOfMemory(memory), ...goalsOfSight(found)]
    return {
      tables: [alone(figures), kept(memory), moved(found)],
      goals: quick ? goals.map(unjudged) : goals,
      notes: notes(),
    }
  } finally {
    process.off('SIGINT', stopped)
    await endAll()
  }
}

// One after the other, so that each has the machine.
async function contests(quick: boolean): Promise<Found[]> {
  const length = quick ? QUICK : FULL
  const found = [await yjs(length), await holdfast(length, true)]
  return quick ? found : [...found, await holdfast(length, false)]
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

function moved(found: readonly Found[]): Table {
  const short = (value: number): number => Number(value.toPrecision(3))
  return {
    title: `${PLAYERS} players at a table of ${PIECES} pieces; times in ms`,
    columns: [
      ...['who', 'moves/s', 'not done', 'told p50', 'p99', 'seen p50', 'p99'],
      ...['server us a move', 'players’ load', 'down B a move', 'up B'],
    ],
    rows: found.map(({ who, moves, others, told, seen, cpu, load, down, up }) => [
      ...[who, Math.round(moves), short(others), told.p50, told.p99, seen.p50, seen.p99],
      ...[short(cpu), short(load), short(down), short(up)],
    ]),
  }
}

function goalsOfSight([beside, ...ours]: readonly Found[]): Goal[] {
  return ours.map(({ who, seen }) => {
    const name = `${who}: y-websocket's median until another sees a move / ours`
    return atLeast(name, times(beside!.seen.p50, seen.p50), SEEN_TIMES, 'x')
  })
}

// A machine that is busy with others may let nobody move.
function times(theirs: number, ours: number): number | null {
  return theirs > 0 && ours > 0 ? theirs / ours : null
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
    'An update goes to a primary or server and to one other, and is shown there. Yjs merges: it',
    'has no outcome and refuses nothing. msgpackr stands there for what bytes alone cost.',
    'At the table `told` is from a move to its outcome (of Yjs: to the last player of its',
    'process), `seen` to another player; one that a newer one overtakes is not counted as seen.',
    'Moves a second are two events: ours have an outcome, of Yjs all of a process have them.',
    mayPin()
      ? 'Servers and players had processors of their own.'
      : 'taskset is missing: not pinned.',
  ]
}
