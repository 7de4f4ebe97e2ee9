/**
 * A hub that runs is attacked in each way that strangers have, from one address and from a
 * thousand, while a room of members plays on beside it and newcomers come in.
 *
 * Judged is what others notice: moves of the room, its longest pause, newcomers who did not get
 * in; and what the hub spends: its memory and the delay of its loop. Attackers run in a process of
 * their own on the same machine, and take its processors too.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Attack, ATTACKS } from '../../test/attack/attacks.ts'
import { MORE } from '../../test/attack/reflecting.ts'
import { type Outcome, Siege } from '../../test/attack/siege.ts'
import { bundle } from '../../test/conformance/bundle.ts'
import { startHubIn } from '../../test/conformance/hub-process.ts'
import { atLeast, atMost } from '../report.ts'
import type { BenchReport, Goal, Table } from '../report.ts'

/** For the list of soaks. */
export const about = 'a hub that is attacked from up to 1,000 addresses, while a room plays on'

const MEMBERS = 8
const MANY = 1_000
/** The bounds of what other players notice, and of what an attack costs the hub. */
const BOUNDS = { pauseMs: 1_500, memory: 600, lateMs: 500, share: 0.5, freeMs: 15_000 }

/** Attacks. */
export async function run({ minutes }: { minutes: number }): Promise<BenchReport> {
  const attacks = Object.keys(ATTACKS) as Attack[]
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-attack-'))
  const script = await bundle('test/attack/attacker.ts', join(folder, 'attacker'))
  const hub = await startHubIn(folder)
  const siege = await Siege.begin(hub, script, MEMBERS)
  const ms = Math.max(3_000, (minutes * 60_000) / (2 * attacks.length + 1))
  const outcomes: Outcome[] = []
  try {
    outcomes.push(await siege.bear('quiet', 0, ms))
    for (const attack of attacks) {
      for (const addresses of [1, MANY]) outcomes.push(await siege.bear(attack, addresses, ms))
      console.error(`${attack}: ${JSON.stringify(outcomes.at(-1)!.refused)}`)
    }
    if (!hub.isRunning()) throw new Error(`the hub ended: ${hub.errors()}`)
  } finally {
    await siege.end()
    rmSync(folder, { recursive: true })
  }
  const notes = outcomes.flatMap(({ attack, addresses, lost }) => {
    return lost.map((why) => `not let in, ${attack} from ${addresses}: ${why}`)
  })
  const tables = [othersTable(outcomes), hubTable(outcomes)]
  return { tables, goals: goalsOf(outcomes), notes: notes.slice(0, 20) }
}

function goalsOf([quiet, ...outcomes]: readonly Outcome[]): Goal[] {
  const most = (of: (one: Outcome) => number): number => Math.max(...outcomes.map(of))
  const rate = (one: Outcome): number => one.acknowledged / one.ms
  const least = Math.min(...outcomes.map(rate)) / rate(quiet!)
  return [
    atMost(
      'moves with a wrong outcome',
      most(({ wrong }) => wrong),
      0,
      'moves',
    ),
    atMost(
      'changes of roles',
      most(({ epochs }) => epochs),
      0,
      'epochs',
    ),
    atMost('newcomers who did not get in', outOf(outcomes), 0, 'newcomers'),
    ...reflected(outcomes),
    atLeast('fewest moves, of those in quiet', least, BOUNDS.share, 'x'),
    atMost(
      'longest pause of the room',
      most(({ pauseMs }) => pauseMs),
      BOUNDS.pauseMs,
      'ms',
    ),
    atMost(
      'most memory of the hub',
      most(({ memory }) => memory),
      BOUNDS.memory,
      'MB',
    ),
    atMost(
      'longest delay of its loop',
      most(({ lateMs }) => lateMs),
      BOUNDS.lateMs,
      'ms',
    ),
  ]
}

const outOf = (outcomes: readonly Outcome[]): number =>
  outcomes.reduce((sum, { lost }) => sum + lost.length, 0)

// What attacks that name others, or fill seats, came to.
function reflected(outcomes: readonly Outcome[]): Goal[] {
  const tallies = outcomes.filter(({ tally }) => tally.sent > 0).map(({ tally }) => tally)
  const most = Math.max(...tallies.map(({ sent, got }) => got / sent))
  const more = tallies.reduce((sum, { befell }) => sum + (befell[MORE] ?? 0), 0)
  const freeMs = Math.max(...outcomes.map((one) => one.freeMs))
  return [
    atMost('until a seat is free after those who never attach', freeMs, BOUNDS.freeMs, 'ms'),
    atMost('bytes to whose address others named, of those they sent', most, 1, 'x'),
    atMost('sources of datagrams that got more bytes than they sent', more, 0, 'sources'),
  ]
}

function othersTable(outcomes: readonly Outcome[]): Table {
  const rows = outcomes.map((one) => {
    return [
      ...[one.attack, one.addresses, one.acknowledged, one.wrong, Math.round(one.pauseMs)],
      ...[
        one.joins.length + one.lost.length,
        one.lost.length,
        Math.round(Math.max(0, ...one.joins)),
        one.epochs,
      ],
    ]
  })
  const columns = ['attack', 'addresses', 'moves', 'wrong', 'longest pause, ms']
  return {
    title: 'the room beside it',
    columns: [...columns, 'newcomers', 'not let in', 'slowest, ms', 'epochs'],
    rows,
  }
}

function hubTable(outcomes: readonly Outcome[]): Table {
  const rows = outcomes.map((one) => {
    const refused = Object.values(one.refused).reduce((sum, more) => sum + more, 0)
    const [most = ''] = Object.entries(one.refused).toSorted(([, a], [, b]) => b - a)[0] ?? []
    return [
      ...[one.attack, one.addresses, one.tally.done, refused, most],
      ...[one.rooms, one.streams, Math.round(one.memory), Math.round(one.lateMs)],
    ]
  })
  const columns = ['attack', 'addresses', 'deeds', 'refused', 'most by']
  return {
    title: 'the hub',
    columns: [...columns, 'rooms', 'streams', 'memory, MB', 'loop late, ms'],
    rows,
  }
}
