/**
 * Worlds of slots by seed: two to eight players on a row of cells, in the worst of weathers. Pairs
 * are cut, somebody is cut from all for a moment or for long, somebody dies, somebody comes late.
 * When all is calm again all have one world, and each act of whoever lives counts once, or its
 * player was told that it is void.
 */

import type { Session } from '../packages/holdfast/src/join/session.ts'
import { slots, type SlotsHandle, type SlotsType } from '../packages/holdfast/src/slots/slots.ts'
import * as prng from '../packages/holdfast/src/faults/prng.ts'
import type { Millis } from '../packages/holdfast/src/machine.ts'
import { u8 } from '../packages/holdfast/src/wire/fields/schema.ts'
import { type SessionWorld, world } from '../packages/sim/src/session-world.ts'

/** Cells of the row: fewer than players want. */
export const CELLS = 10

/** By player: where it is, and how many of its acts counted. */
export interface Row {
  at: Record<number, number>
  count: Record<number, number>
}

/** Somebody wants a cell. */
export interface Step {
  to: number
}

/** A player, its row, and what it did. */
export interface RowPlayer {
  name: string
  session: Session
  row: SlotsHandle<Row, Step>
  made: number
  void: number
  dead: boolean
}

/** Nobody is there yet. */
export const EMPTY: Row = { at: {}, count: {} }

/** Who wants a cell has it if it is free; nobody stands on two. */
export function rowRule(
  row: Row,
  acts: readonly { by: number; act: Step }[],
  turn: { left: readonly number[] },
): Row {
  if (acts.length === 0 && turn.left.length === 0) return row
  const at = { ...row.at }
  const count = { ...row.count }
  for (const player of turn.left) delete at[player]
  for (const { by, act } of acts) {
    count[by] = (count[by] ?? 0) + 1
    if (!Object.values(at).includes(act.to)) at[by] = act.to
  }
  return { at, count }
}

/** The row of a session, by whose acts come first. */
export const ROWS: Readonly<Record<'highest' | 'fair', SlotsType<Row, Step>>> = {
  highest: slots('row', { ms: 200, start: EMPTY, rule: rowRule, act: { to: u8 } }),
  fair: slots('row', { ms: 200, start: EMPTY, rule: rowRule, order: 'fair', act: { to: u8 } }),
}

/** What a run showed. */
export interface RowReport {
  seed: number
  what: string
  /** Claims that did not hold; none is well. */
  faults: string[]
  acts: number
  late: number
  again: number
  adopted: number
  void: number
  /** All that happened in the world of the run, and a fingerprint of all that was sent. */
  events: number
  print: number
}

const NAMES = ['Ada', 'Grace', 'Linus', 'Edsger', 'Barbara', 'Donald', 'Frances', 'Tony']
const STORM_MS: Millis = 10_000
const CALM_MS: Millis = 40_000

interface Run {
  w: SessionWorld
  chance: prng.Prng
  topology: 'star' | 'mesh'
  order: 'highest' | 'fair'
  players: RowPlayer[]
  faults: Set<string>
}

/** Runs one seed. */
export async function runRow(seed: number): Promise<RowReport> {
  const chance = prng.create(seed)
  const count = 2 + prng.below(chance, 7)
  const topology = prng.chance(chance, 0.8) ? 'mesh' : 'star'
  const order = prng.chance(chance, 0.5) ? 'highest' : 'fair'
  const rtt = 10 + prng.below(chance, 100)
  const loss = prng.below(chance, 31)
  const jitter = prng.below(chance, 50)
  const conditions = `rtt=${rtt},jitter=${jitter},loss=${loss}%,dup=2%`
  const w = world({ seed, conditions })
  const run: Run = { w, chance, topology, order, players: [], faults: new Set() }
  for (const name of NAMES.slice(0, count)) await enter(run, name)
  await w.runUntil(() => run.players.every(({ row }) => row.status === 'live'), 20_000)
  const plan = planOf(run)
  await storm(run, plan.events)
  await calm(run)
  const what = `${count} in a ${topology}, ${conditions}, ${plan.says.join(', ') || 'no faults'}`
  return reportOf(run, seed, what)
}

async function enter({ w, topology, order, players }: Run, name: string): Promise<void> {
  const session = await w.join({ game: 'row', name, topology, types: [ROWS[order]] }, { name })
  const player = { name, session, row: session.part(ROWS[order]), made: 0, void: 0, dead: false }
  player.row.on('void', (acts) => (player.void += acts.length))
  players.push(player)
}

interface Plan {
  says: string[]
  events: { at: Millis; does: (run: Run) => void | Promise<void> }[]
}

function planOf({ chance, players }: Run): Plan {
  const plan: Plan = { says: [], events: [] }
  const add = (says: string, at: Millis, does: (run: Run) => void | Promise<void>): void => {
    plan.says.push(`${says} at ${at}`)
    plan.events.push({ at, does })
  }
  const one = prng.pick(chance, players)
  const other = prng.pick(
    chance,
    players.filter((player) => player !== one),
  )
  const long = prng.chance(chance, 0.5)
  const span = long ? 3_000 + prng.below(chance, 4_000) : 300 + prng.below(chance, 1_200)
  const at = 500 + prng.below(chance, 3_000)
  if (prng.chance(chance, 0.4)) {
    add(`${one.name} and ${other.name} do not hear each other for ${span} ms`, at, ({ w }) => {
      const mend = [w.deafen(one.name, other.name), w.deafen(other.name, one.name)]
      plan.events.push({ at: at + span, does: () => mend.forEach((stop) => stop()) })
    })
  } else if (prng.chance(chance, 0.6)) {
    add(`${one.name} is cut off for ${span} ms`, at, ({ w }) => {
      const mend = w.partition([[one.name]])
      plan.events.push({ at: at + span, does: mend })
    })
  }
  if (players.length > 2 && prng.chance(chance, 0.3)) {
    add(`${other.name} dies`, 1_000 + prng.below(chance, 7_000), ({ w }) => {
      other.dead = true
      w.kill(other.session)
    })
  }
  if (prng.chance(chance, 0.3)) {
    add('somebody comes', prng.below(chance, 9_000), (run) => enter(run, 'Late'))
  }
  return plan
}

async function storm(run: Run, events: Plan['events']): Promise<void> {
  const { w, chance } = run
  let coming: Promise<void> | null = null
  for (let time = 0; time < STORM_MS; time += 50) {
    for (const event of events.filter(({ at }) => at >= time && at < time + 50)) {
      coming = Promise.resolve(event.does(run))
    }
    for (const player of run.players) {
      if (prng.chance(chance, 0.15)) act(run, player)
    }
    await w.run(50)
    look(run)
  }
  for (const { at, does } of events) if (at >= STORM_MS) await does(run)
  await coming
}

function act({ chance }: Run, player: RowPlayer): void {
  const { dead, row, session } = player
  if (dead || row.status !== 'live' || session.status === 'lost') return
  try {
    row.act({ to: prng.below(chance, CELLS) })
    player.made++
  } catch (error) {
    if ((error as { code?: string }).code !== 'overloaded') throw error
  }
}

// What holds at every moment.
function look({ players, faults }: Run): void {
  for (const { dead, name, row } of players) {
    if (dead) continue
    const cells = Object.values(row.state.at)
    if (new Set(cells).size < cells.length) faults.add(`slot.excl: two in one cell at ${name}`)
  }
}

async function calm(run: Run): Promise<void> {
  const { w, players, faults } = run
  w.heal()
  const living = players.filter(({ dead }) => !dead)
  const views = (): Set<string> =>
    new Set(
      living.map(
        ({ row, session }) => `${row.status} ${session.status} ${JSON.stringify(row.state)}`,
      ),
    )
  const isOne = (): boolean => {
    const [view, ...others] = views()
    return others.length === 0 && view!.startsWith('live live')
  }
  await w.run(8_000)
  if (!(await w.runUntil(isOne, CALM_MS))) faults.add(`slot.converge: ${[...views()].join(' | ')}`)
  await w.run(3_000)
  if (!(await w.runUntil(isOne, 5_000)))
    faults.add(`slot.converge: it does not last: ${[...views()].join(' | ')}`)
  for (const { name, row, session, made, void: lost } of living) {
    const counts = row.state.count[session.me.player] ?? 0
    if (counts + lost !== made) {
      faults.add(`slot.told: of ${made} acts of ${name} ${counts} count and ${lost} are void`)
    }
  }
}

function reportOf({ w, players, faults }: Run, seed: number, what: string): RowReport {
  const sum = (of: (player: RowPlayer) => number): number =>
    players.reduce((total, player) => total + of(player), 0)
  return {
    seed,
    what,
    faults: [...faults],
    acts: sum(({ made }) => made),
    late: sum(({ row }) => row.counters.late),
    again: sum(({ row }) => row.counters.again),
    adopted: sum(({ row }) => row.counters.adopted),
    void: sum((player) => player.void),
    events: w.counters.events,
    print: w.counters.print,
  }
}
