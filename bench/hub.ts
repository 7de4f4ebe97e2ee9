/**
 * How much one hub holds and does, and what a room that plays through it notices.
 *
 * A hub as `holdfast serve` runs it, on loopback, is measured from outside: memory as the system
 * counts it for streams and rooms that do nothing; rooms, lists and relayed packets a second, by
 * clients that spend as little as they can; and each attack of the suite. Beside all of it a room
 * of two members plays on through the same hub: every 50 ms a move is acknowledged.
 *
 * For the attacks the hub has the limits that it has by default; for all else none that bite.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Outcome } from '../test/attack/siege.ts'
import type { Beside } from './hub/bystander.ts'
import { floods } from './hub/floods.ts'
import { type KeptRooms, keepRooms, keptRoomsGoals, keptRoomsTables } from './hub/kept.ts'
import { keep, type Kept } from './hub/memory.ts'
import { pace, type Pace, plain, SIZES } from './hub/pace.ts'
import { endAll } from './processes/children.ts'
import { atLeast, atMost, type BenchReport, type Goal, type Table, unjudged } from './report.ts'

/** For the list of benches. */
export const about = 'what one hub holds and does, and what a room beside it notices'

/** What is kept, in the order in which it is. */
const KEPT = [
  { kind: 'streams', count: 1_000 },
  { kind: 'streams', count: 5_000 },
  { kind: 'streams', count: 10_000, looks: 5 },
  { kind: 'rooms', count: 1_000 },
  { kind: 'rooms', count: 5_000 },
] as const
const LOOKS = 12
const PACE_MS = 3_000
const FLOOD_MS = 3_000
const ADDRESSES = [1, 100, 1_000]
/** A quick run keeps a thousand of each, and is attacked from a hundred addresses alone. */
const QUICK_KEPT = KEPT.filter(({ count }) => count === 1_000)
const QUICK_LOOKS = 4
const QUICK_PACE_MS = 1_000
const QUICK_FLOOD_MS = 1_000
const KEPT_ROOMS = { turns: 20, ms: 3_000, count: 10_000, looks: 5 }
const QUICK_KEPT_ROOMS = { turns: 2, ms: 200, count: 500, looks: 1 }

/** As packages/hub/src/machine/limits.ts says that it is. */
const STREAM_GOAL_KB = 20
const ROOM_GOAL_KB = 10
const RELAY_GOAL = 0.5
/** As in the soak of the attacks. */
const PAUSE_GOAL_MS = 1_500
const LATE_GOAL_MS = 500

/** All that was measured. */
interface Found {
  kept: Kept[]
  paces: Pace[]
  /** Of the plain server, by size. */
  plain: number[]
  outcomes: Outcome[]
  keptRooms: KeptRooms
}

/** Measures; `quick` takes little of each, and judges no times. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  try {
    const keptRooms = await keepRooms(folder, quick ? QUICK_KEPT_ROOMS : KEPT_ROOMS)
    const found: Found = { kept: [], paces: [], plain: [], outcomes: [], keptRooms }
    for (const { kind, count } of quick ? QUICK_KEPT : KEPT) {
      found.kept.push(await keep(folder, kind, count, quick ? QUICK_LOOKS : LOOKS))
    }
    const ms = quick ? QUICK_PACE_MS : PACE_MS
    found.paces = await pace(folder, ms)
    for (const bytes of SIZES) found.plain.push(await plain(bytes, ms))
    const addresses = quick ? [100] : ADDRESSES
    found.outcomes = await floods(folder, addresses, quick ? QUICK_FLOOD_MS : FLOOD_MS)
    return report(found, quick)
  } finally {
    await endAll()
    rmSync(folder, { recursive: true, force: true })
  }
}

function report(found: Found, quick: boolean): BenchReport {
  const own = [keptTable(found), besideTable(found), paceTable(found), floodTable(found)]
  const tables = [...keptRoomsTables(found.keptRooms), ...own]
  const goals = [...sure(found), ...timed(found).map((goal) => (quick ? unjudged(goal) : goal))]
  return { tables, goals, notes: [...NOTES, ...outsOf(found)] }
}

const NOTES = [
  'The room moves every 50 ms, so its pause is never less. The hub samples its loop by a timer of',
  '10 ms, so its delay is never less either. Whoever loads or attacks runs on the same processors.',
]

/** Newcomers who did not get in, and why. */
function outsOf({ outcomes }: Pick<Found, 'outcomes'>): string[] {
  return outcomes.flatMap(({ attack, addresses, lost }) => {
    return lost.map((why) => `not let in, ${attack} from ${addresses}: ${why}`)
  })
}

function sure({ kept, paces, outcomes }: Found): Goal[] {
  const besides = [...kept.flatMap((one) => [one.opening, one.keeping]), ...paces.map(besideOf)]
  const sum = (of: (one: { wrong: number; epochs: number }) => number): number =>
    [...besides, ...outcomes].reduce((total, one) => total + of(one), 0)
  const missing = kept.reduce((total, { wanted, count }) => total + wanted - count, 0)
  return [
    atMost(
      'moves with a wrong outcome',
      sum(({ wrong }) => wrong),
      0,
      'moves',
    ),
    atMost(
      'changes of roles',
      sum(({ epochs }) => epochs),
      0,
      'epochs',
    ),
    atMost('streams that did not stay open', missing, 0, 'streams'),
  ]
}

function timed({ kept, paces, plain: rates, outcomes, keptRooms }: Found): Goal[] {
  const [, ...attacked] = outcomes
  const most = (of: (one: Outcome) => number): number => Math.max(...attacked.map(of))
  const relays = paces.filter(({ what }) => what.startsWith('relayed'))
  const room = roomOf(kept)
  const outside = outsOf({ outcomes }).length
  return [
    ...keptRoomsGoals(keptRooms),
    atMost('memory of a stream', eachOf(kept, 'streams'), STREAM_GOAL_KB, 'kB'),
    atMost('memory of a room, beside its stream', room, ROOM_GOAL_KB, 'kB'),
    ...relays.map(({ what, rate }, at) => {
      return atLeast(`${what} / plain ws`, rate / rates[at]!, RELAY_GOAL, 'x')
    }),
    atMost('newcomers who did not get in', outside, 0, 'newcomers'),
    atMost(
      'longest pause of the room, attacked',
      most(({ pauseMs }) => pauseMs),
      PAUSE_GOAL_MS,
      'ms',
    ),
    atMost(
      "longest delay of the hub's loop, attacked",
      most(({ lateMs }) => lateMs),
      LATE_GOAL_MS,
      'ms',
    ),
  ]
}

const besideOf = ({ beside }: Pace): Beside => beside

/** Of the most that were kept of a kind, in kB. */
function eachOf(kept: readonly Kept[], kind: Kept['kind']): number {
  return kept.findLast((one) => one.kind === kind)!.each / 1_024
}

/** A room alone: what it has more than a stream, of as many. */
function roomOf(kept: readonly Kept[]): number {
  const rooms = kept.findLast(({ kind }) => kind === 'rooms')!
  const streams = kept.find(({ kind, wanted }) => kind === 'streams' && wanted === rooms.wanted)!
  return (rooms.each - streams.each) / 1_024
}

function keptTable({ kept }: Found): Table {
  const columns = ['what', 'open', 'opened a second', 'memory, MB', 'each, kB', 'processor']
  const rows = kept.map(({ kind, count, ms, memory, each, keeping }) => {
    const what = kind === 'streams' ? 'streams that ping' : 'rooms, each with a stream'
    const second = Math.round(count / (ms / 1_000))
    const sizes = [Math.round(memory / 2 ** 20), tenth(each / 1_024)]
    return [what, count, second, ...sizes, hundredth(keeping.processor)]
  })
  return { title: 'what a hub keeps that does nothing', columns, rows }
}

function besideTable({ kept, paces }: Found): Table {
  const row = (what: string, one: Beside): (string | number)[] => {
    return [what, tenth(one.moves), Math.round(one.pauseMs), Math.round(one.lateMs)]
  }
  const rows = kept.flatMap(({ kind, wanted, opening, keeping }) => {
    return [row(`${wanted} ${kind} are opened`, opening), row(`${wanted} ${kind}, kept`, keeping)]
  })
  const columns = ['meanwhile', 'moves a second', 'longest pause, ms', 'loop late, ms']
  rows.push(...paces.map(({ what, beside }) => row(what, beside)))
  return { title: 'the room beside it', columns, rows }
}

function paceTable({ paces, plain: rates }: Found): Table {
  const [, ...working] = paces
  const rows = working.map(({ what, rate, lost, beside }) => {
    return [what, Math.round(rate), `${tenth(100 * lost)} %`, hundredth(beside.processor)]
  })
  for (const [at, rate] of rates.entries()) {
    rows.push([`plain ws, ${SIZES[at]} B`, Math.round(rate), '-', '-'])
  }
  return { title: 'a second', columns: ['what', 'done', 'lost', 'processor'], rows }
}

function floodTable({ outcomes }: Found): Table {
  const rows = outcomes.map((one) => {
    const refused = Object.values(one.refused).reduce((sum, more) => sum + more, 0)
    return [
      ...[one.attack, one.addresses, one.tally.done, refused],
      ...[Math.round(one.pauseMs), Math.round(Math.max(0, ...one.joins)), one.lost.length],
      ...[Math.round(one.lateMs), Math.round(one.memory)],
    ]
  })
  const room = ['longest pause, ms', 'slowest newcomer, ms', 'not let in']
  const columns = [
    'attack',
    'addresses',
    'deeds',
    'refused',
    ...room,
    'loop late, ms',
    'memory, MB',
  ]
  return { title: 'attacked, with the limits of default', columns, rows }
}

const tenth = (value: number): number => Number(value.toFixed(1))
const hundredth = (value: number): number => Number(value.toFixed(2))
