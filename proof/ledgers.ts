/**
 * Worlds of slots by seed, among processes that stand still: three to eight players write into a
 * ledger in which the order of all acts matters. Every 250 ms one of them stands still for 0.1 to
 * 3 s, so servers and roots change all the time; a clock is 5 % off, some die, some are cut off,
 * somebody comes late. When all is calm each act of whoever lives is in the ledger once or was
 * told to be void, never both; those of one player are in the order in which they were made; and
 * the ledger is that which one process makes of the same acts.
 */

import type { Session } from '../packages/holdfast/src/join/session.ts'
import { slots, type SlotsHandle } from '../packages/holdfast/src/slots/slots.ts'
import * as prng from '../packages/holdfast/src/faults/prng.ts'
import type { Millis } from '../packages/holdfast/src/machine.ts'
import { fingerprint } from '../packages/holdfast/src/wire/digest.ts'
import { u16, u8 } from '../packages/holdfast/src/wire/fields/schema.ts'
import { type SessionWorld, world } from '../packages/sim/src/session-world.ts'

/** An act: its number among those of its player, and what it does to which cell. */
export interface Entry {
  k: number
  cell: number
  does: number
}

/** Who has which cell, what each has, and what was folded in, by player. */
export interface Ledger {
  cells: Record<number, number>
  purses: Record<number, number>
  /** Of all acts in their order. */
  chain: number
  /** By player: the number of each act, and the slot in which it was folded. */
  log: Record<number, [k: number, slot: number][]>
}

type Done = readonly { by: number; act: Entry }[]

const EMPTY: Ledger = { cells: {}, purses: {}, chain: 0, log: {} }

/** Takes a free cell, frees one's own, or moves half of the purse of whoever has that cell. */
export function ledgerRule(before: Ledger, acts: Done, { slot }: { slot: number }): Ledger {
  if (acts.length === 0) return before
  const after = structuredClone(before)
  for (const { by, act } of acts) enter(after, by, act, slot)
  return after
}

function enter(ledger: Ledger, by: number, { k, cell, does }: Entry, slot: number): void {
  const { cells, purses, log } = ledger
  const owner = cells[cell]
  purses[by] ??= 1_000
  if (does === 0 && owner === undefined) cells[cell] = by
  else if (does === 1 && owner === by) delete cells[cell]
  else if (does === 2 && owner !== undefined) {
    const half = Math.floor(purses[owner]! / 2)
    purses[owner]! -= half
    purses[by] += half
  }
  ledger.chain = (Math.imul(ledger.chain ^ (by * 65_536 + k), 0x01000193) + slot) >>> 0
  const entries = (log[by] ??= [])
  entries.push([k, slot])
}

/** What a run showed. */
export interface LedgerReport {
  seed: number
  what: string
  /** Claims that did not hold; none is well. */
  faults: string[]
  acts: number
  void: number
  adopted: number
}

interface Writer {
  name: string
  session: Session
  ledger: SlotsHandle<Ledger, Entry>
  made: Entry[]
  void: number[]
  dead: boolean
  /** It stands still until then. */
  stands: Millis
}

interface Run {
  w: SessionWorld
  chance: prng.Prng
  topology: 'star' | 'mesh'
  order: 'highest' | 'fair'
  /** Who stands still acts too: its application runs before its timers when it goes on. */
  blind: boolean
  writers: Writer[]
}

const NAMES = ['Ada', 'Grace', 'Linus', 'Edsger', 'Barbara', 'Donald', 'Frances', 'Tony']
const STORM_MS: Millis = 20_000
const STEP_MS: Millis = 50
const STALL_EVERY = 5
const CALM_MS: Millis = 60_000
// The horizon, and three rounds of frames.
const TELL_MS: Millis = 8_000
const ACTS = { k: u16, cell: u8, does: u8 }
const OF_ALL = { ms: 200, start: EMPTY, rule: ledgerRule, act: ACTS }
const LEDGERS = {
  highest: slots('ledger', OF_ALL),
  fair: slots('ledger', { ...OF_ALL, order: 'fair' }),
}

/** Runs one seed. */
export async function runLedger(seed: number): Promise<LedgerReport> {
  const chance = prng.create(`ledger ${seed}`)
  const count = 3 + prng.below(chance, 6)
  const topology = prng.chance(chance, 0.5) ? 'mesh' : 'star'
  const order = prng.chance(chance, 0.7) ? 'highest' : 'fair'
  const loss = prng.chance(chance, 0.5) ? 0 : prng.below(chance, 11)
  const [rtt, jitter] = [10 + prng.below(chance, 60), prng.below(chance, 30)]
  const conditions = `rtt=${rtt},jitter=${jitter},loss=${loss}%`
  const w = world({ seed, conditions })
  const blind = prng.chance(chance, 0.3)
  const run: Run = { w, chance, topology, order, blind, writers: [] }
  for (const name of NAMES.slice(0, count)) await come(run, name)
  await w.runUntil(() => run.writers.every(({ ledger }) => ledger.status === 'live'), 20_000)
  await w.run(2_000)
  const says = await storm(run)
  const faults = await calm(run)
  const who = `${count} in a ${topology}, ${order}${blind ? ', blind' : ''}`
  const what = `${who}, ${conditions}, ${says}`
  return reportOf(run, seed, what, faults)
}

async function come({ w, topology, order, writers }: Run, name: string): Promise<void> {
  const types = [LEDGERS[order]]
  const session = await w.join({ game: 'ledger', name, topology, types }, { name })
  const ledger = session.part(LEDGERS[order])
  const writer: Writer = { name, session, ledger, made: [], void: [], dead: false, stands: 0 }
  ledger.on('void', (acts) => writer.void.push(...acts.map(({ k }) => k)))
  writers.push(writer)
}

// What befalls them besides standing still, by the time at which it does.
function plan({ w, chance, writers }: Run): { at: Millis; says: string; does: () => unknown }[] {
  const at = (): Millis => prng.below(chance, STORM_MS - 2_000)
  const events: { at: Millis; says: string; does: () => unknown }[] = []
  if (prng.chance(chance, 0.5)) {
    const { name } = prng.pick(chance, writers)
    const factor = prng.chance(chance, 0.5) ? 1.05 : 0.95
    events.push({ at: 0, says: `${name}'s clock ${factor}`, does: () => w.slowClock(name, factor) })
  }
  for (let kills = prng.below(chance, Math.min(3, writers.length - 1)); kills > 0; kills--) {
    const writer = prng.pick(chance, writers)
    const does = (): void => kill(w, writer)
    events.push({ at: at(), says: `${writer.name} dies`, does })
  }
  if (prng.chance(chance, 0.4)) {
    const { name } = prng.pick(chance, writers)
    const from = at()
    const span = 300 + prng.below(chance, 4_000)
    let mend = (): void => {}
    events.push({
      at: from,
      says: `${name} is cut off`,
      does: () => (mend = w.partition([[name]])),
    })
    events.push({ at: from + span, says: `for ${span}`, does: () => mend() })
  }
  return events
}

function kill(w: SessionWorld, writer: Writer): void {
  if (writer.dead) return
  writer.dead = true
  w.kill(writer.session)
}

async function storm(run: Run): Promise<string> {
  const { w, chance, writers } = run
  const events = plan(run)
  const lateAt = prng.chance(chance, 0.4) ? prng.below(chance, STORM_MS / STEP_MS) : -1
  let coming: Promise<void> | null = null
  for (let step = 0; step < STORM_MS / STEP_MS; step++) {
    const time = step * STEP_MS
    for (const { at, does } of events) if (at >= time && at < time + STEP_MS) does()
    // Nobody may be there to let it in: then it does not come.
    if (step === lateAt) coming = come(run, 'Late').catch(() => {})
    if (step % STALL_EVERY === 0) stand(run)
    for (const writer of [...writers]) if (prng.chance(chance, 0.12)) write(run, writer)
    await w.run(STEP_MS)
  }
  for (const { at, does } of events) if (at >= STORM_MS) does()
  await coming
  return events.map(({ at, says }) => `${says} at ${at}`).join(', ')
}

function stand({ w, chance, writers }: Run): void {
  const writer = prng.pick(chance, writers)
  const long = prng.chance(chance, 0.2) ? 3 : 1
  const span = (100 + prng.below(chance, 900)) * long
  if (writer.dead) return
  w.stall(writer.name, span)
  writer.stands = Math.max(writer.stands, w.now() + span)
}

function write({ w, chance, blind }: Run, writer: Writer): void {
  const act = {
    k: writer.made.length + 1,
    cell: prng.below(chance, 12),
    does: prng.below(chance, 3),
  }
  const { dead, ledger, session, stands } = writer
  if (dead || ledger.status !== 'live' || session.status === 'lost') return
  if (!blind && stands > w.now()) return
  try {
    ledger.act(act)
    writer.made.push(act)
  } catch (error) {
    if ((error as { code?: string }).code !== 'overloaded') throw error
  }
}

async function calm(run: Run): Promise<string[]> {
  const { w, writers } = run
  w.heal()
  const living = writers.filter(({ dead }) => !dead)
  const views = (): string[] =>
    living.map(({ ledger, session }) => `${ledger.status} ${session.status} ${text(ledger.state)}`)
  const isOne = (): boolean => new Set(views()).size === 1 && views()[0]!.startsWith('live live')
  await w.run(8_000)
  const became = await w.runUntil(isOne, CALM_MS)
  await w.runUntil(() => living.flatMap(told).length === 0, TELL_MS)
  await w.run(3_000)
  if (!became || !isOne()) return [`slot.converge: ${[...new Set(views())].join(' | ')}`]
  return [...living.flatMap(told), ...replayed(run, living[0]!)]
}

const text = (ledger: Ledger): string => JSON.stringify(ledger)

function told({ name, session, ledger, made, void: left }: Writer): string[] {
  const counted = (ledger.state.log[session.me.player] ?? []).map(([k]) => k)
  const faults: string[] = []
  const times = (list: readonly number[], k: number): number =>
    list.filter((one) => one === k).length
  for (const { k } of made) {
    const [counts, voids] = [times(counted, k), times(left, k)]
    if (counts + voids === 1) continue
    faults.push(`slot.told: act ${k} of ${name} counts ${counts} times and is void ${voids} times`)
  }
  if (counted.some((k, i) => i > 0 && k <= counted[i - 1]!)) {
    faults.push(`slot.order: the acts of ${name} are folded as ${counted.join()}`)
  }
  return faults
}

// One process that has all acts of the ledger folds them in the order that is documented.
function replayed({ writers, order }: Run, { ledger, session }: Writer): string[] {
  const acts = writers.flatMap((writer) =>
    (ledger.state.log[writer.session.me.player] ?? []).map(([k, slot]) => ({
      by: writer.session.me.player,
      act: writer.made[k - 1]!,
      slot,
    })),
  )
  const rank = (player: number, slot: number): number =>
    order === 'fair' ? drawn(idOf(session), slot, player) : player
  acts.sort(
    (a, b) => a.slot - b.slot || rank(b.by, a.slot) - rank(a.by, a.slot) || a.act.k - b.act.k,
  )
  const folded = structuredClone(EMPTY)
  for (const { by, act, slot } of acts) enter(folded, by, act, slot)
  const [want, seen] = [text(sortedLog(folded)), text(sortedLog(ledger.state))]
  return want === seen ? [] : [`slot.replay: one process makes ${want}, and they have ${seen}`]
}

const sortedLog = ({ cells, purses, chain }: Ledger): Ledger => ({ cells, purses, chain, log: {} })

const idOf = ({ token }: Session): string => token.split('.')[0]!

function drawn(session: string, slot: number, player: number): number {
  const seed = fingerprint(session) ^ Math.imul(slot, 0x9e3779b1) ^ Math.imul(player, 0x85ebca6b)
  return prng.word(prng.create(seed >>> 0))
}

function reportOf({ writers }: Run, seed: number, what: string, faults: string[]): LedgerReport {
  const sum = (of: (writer: Writer) => number): number =>
    writers.reduce((total, writer) => total + of(writer), 0)
  return {
    seed,
    what,
    faults,
    acts: sum(({ made }) => made.length),
    void: sum((writer) => writer.void.length),
    adopted: sum(({ ledger }) => ledger.counters.adopted),
  }
}
