/** Kept rooms at a hub: what an operation of who is alone costs, and what rooms weigh. */

import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startHubIn } from '../../test/conformance/hub-process.ts'
import { end, heard, start } from '../processes/children.ts'
import { atMost, type Goal, type Table } from '../report.ts'
import { unbound } from './bystander.ts'
import { type Scale, type Weighed, weigh } from './weights.ts'
import type { BesideSync, LoneAsked, Together } from './words.ts'

const READY_MS = 120_000
const DONE_MS = 120_000
const ROOMS = [1, 16, 64, 256]

/** As the goals of kept rooms say. */
const ROOM_GOAL_KB = 4
const MEMBER_GOAL_KB = 12

/** The costs of kept rooms, as measured: a lone operation, many together, memory. */
export interface KeptRooms {
  beside: BesideSync
  together: Together[]
  weighed: Weighed[]
}

/** How much of it; rooms, members and streams are weighed. */
export interface Much extends Scale {
  /** How often an operation is measured beside syncs of as many bytes. */
  turns: number
  /** For each number of players. */
  ms: number
}

/** Measures. */
export async function keepRooms(within: string, { turns, ms, ...scale }: Much): Promise<KeptRooms> {
  const folder = mkdtempSync(join(within, 'kept-'))
  const limits = join(folder, 'limits.json')
  writeFileSync(limits, JSON.stringify(unbound()))
  const hub = await startHubIn(folder, ['--limits', limits])
  const child = start(new URL('./lone.js', import.meta.url), [hub.url, folder, hub.pid])
  const ask = async <Found>(asked: LoneAsked): Promise<Found> => {
    const isFound = (said: unknown): said is { found: Found } => 'found' in (said as object)
    const told = heard(child, isFound, 'lone players', DONE_MS)
    child.send(asked)
    return (await told).found
  }
  try {
    const isReady = (said: unknown): said is { ready: true } => 'ready' in (said as object)
    await heard(child, isReady, 'lone players', READY_MS)
    const beside = await ask<BesideSync>({ turns })
    const together: Together[] = []
    for (const rooms of ROOMS) together.push(await ask<Together>({ rooms, ms }))
    await end(child)
    return { beside, together, weighed: await weigh(within, scale) }
  } finally {
    await hub.kill('SIGKILL')
  }
}

/** For people. */
export function keptRoomsTables({ beside, together, weighed }: KeptRooms): Table[] {
  const { bytes, turns } = beside
  const row = (what: string, of: keyof BesideSync['turns'][number]): (string | number)[] => {
    const times = turns.map((turn) => turn[of])
    const [middle, least, most] = [median(times), Math.min(...times), Math.max(...times)]
    const ratio = (to: 'append' | 'overwrite'): number =>
      round(median(turns.map((turn) => turn[of] / turn[to])))
    return [what, ...[middle, least, most].map(round), ratio('append'), ratio('overwrite')]
  }
  return [
    {
      title: `an operation of who is alone, in turns with syncs of ${bytes} B; middles of turns`,
      columns: ['what', 'ms', 'least', 'most', 'of an append', 'of an overwrite'],
      rows: [
        row('append, fdatasync', 'append'),
        row('overwrite, fdatasync', 'overwrite'),
        row('an acknowledged operation', 'operation'),
      ],
    },
    {
      title: 'lone players at one hub, each with one operation under way',
      columns: ['rooms', 'operations a second'],
      rows: together.map(({ rooms, each }) => [rooms, Math.round(each)]),
    },
    {
      title: 'what it weighs, once garbage is collected',
      columns: ['what', 'of so many', 'memory each, kB', 'heap each, kB'],
      rows: weighed.map(({ what, count, each }) => {
        return [what, count, round(each.rss / 1_024), round(each.heap / 1_024)]
      }),
    },
  ]
}

/** Judged as the system counts memory; of a room both, as it was left and after a start. */
export function keptRoomsGoals({ weighed: [left, again, member] }: KeptRooms): Goal[] {
  const room = Math.max(left!.each.rss, again!.each.rss) / 1_024
  return [
    atMost('memory of a kept room that nobody is in', room, ROOM_GOAL_KB, 'kB'),
    atMost('memory of a member, with its stream', member!.each.rss / 1_024, MEMBER_GOAL_KB, 'kB'),
  ]
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
