/**
 * One slot of the maze: the world before it, what was done in it, and so the world after it. No
 * clock, and no chance but the one that is given, so whoever knows the same acts has the same
 * world. The acts come in the order of the session's tie-break: the first gets the cell.
 *
 * In a slot, first the missiles fly and hit; then the steps are made, one rat a cell; then rats
 * turn, cloak and shoot; and last they are born. A rat that is hit does nothing more in that slot,
 * and is born anew far from others.
 *
 * Rats and missiles pass each other in no way: whoever walks into the cell of a missile is hit
 * when it flies on, and whoever stands in the cell that it comes to is hit at once. Nobody is hit
 * by what they shot themselves, for who runs is as fast as a missile.
 */

import type { RatAct } from './acts.ts'
import { back, beyond, CELLS, columnOf, type Facing, FACINGS, lineOf, widest } from './maze.ts'
import {
  FRESH_SLOTS,
  type Hit,
  HITS_MAX,
  HITS_SLOTS,
  LAWS,
  type Laws,
  type Missile,
  MISSILE_IDS,
  MISSILES_MAX,
  type Past,
  PAST_MAX,
  PAST_SLOTS,
  type Rat,
  RATS_MAX,
  RATS_OF_ONE_MAX,
  type World,
} from './world.ts'

/** An act, and the number of the player who says so. */
export interface Deed {
  readonly by: number
  readonly act: RatAct
}

/** A slot. */
export interface Turn {
  readonly slot: number
  /** Numbers of players who went. */
  readonly left: readonly number[]
  /** From 0 up to but not including 1: the same for everybody. */
  random(): number
}

/** How many places are tried for who is born anew: the one far from all others is taken. */
const PLACES_TRIED = 6
/** A score is 32 bits on the classic wire. */
const SCORE_MAX = 2 ** 31 - 1

type Changing<T> = { -readonly [Name in keyof T]: T[Name] }
type Slot = {
  readonly laws: Laws
  readonly turn: Turn
  readonly rats: Map<number, Changing<Rat>>
  /** Which rat is in a cell: its id. */
  readonly cells: Map<number, number>
  readonly hits: Hit[]
  /** Of who went, by the id of the rat. */
  readonly past: Map<number, Past>
  /** Hit in this slot: they are nowhere. */
  readonly out: Set<number>
  /** Shot in this slot: once is all. */
  readonly shot: Set<number>
}

/** The world after a slot. Never throws: an act that cannot be is passed over. */
export function step(world: World, deeds: readonly Deed[], turn: Turn, laws: Laws = LAWS): World {
  const slot = open(world, turn, laws)
  fly(slot)
  walk(slot, deeds)
  for (const deed of deeds) settle(slot, deed)
  for (const deed of deeds) bear(slot, deed)
  for (const id of slot.out) bearAnew(slot, id)
  const rats = [...slot.rats.values()].toSorted((one, other) => one.id - other.id)
  const past = [...slot.past.values()].slice(-PAST_MAX)
  return { slot: turn.slot, rats, hits: slot.hits.slice(-HITS_MAX), past }
}

function open(world: World, turn: Turn, laws: Laws): Slot {
  const rats = new Map<number, Changing<Rat>>()
  const cells = new Map<number, number>()
  const past = new Map<number, Past>()
  for (const one of world.past ?? []) {
    if (turn.slot - one.slot < PAST_SLOTS) past.set(one.id, one)
  }
  for (const rat of world.rats) {
    const { id, owner, score } = rat
    if (turn.left.includes(owner)) {
      past.set(id, { id, owner, score, slot: turn.slot })
      continue
    }
    rats.set(rat.id, { ...rat })
    cells.set(rat.at, rat.id)
  }
  const hits = world.hits.filter((hit) => turn.slot - hit.slot < HITS_SLOTS)
  return { laws, turn, rats, cells, hits, past, out: new Set(), shot: new Set() }
}

function fly(slot: Slot): void {
  for (const rat of slot.rats.values()) {
    if (rat.missiles.length > 0) {
      rat.missiles = rat.missiles.flatMap((missile) => flown(slot, rat, missile) ?? [])
    }
  }
}

// Where a missile is after this slot; null when it ended.
function flown(slot: Slot, rat: Changing<Rat>, missile: Missile): Missile | null {
  let { at } = missile
  if (strike(slot, rat, at)) return null
  for (let cells = 0; cells < slot.laws.missileCells; cells++) {
    const next = beyond(at, missile.facing)
    if (next === null) return null
    at = next
    if (strike(slot, rat, at)) return null
  }
  return { ...missile, at }
}

function strike(slot: Slot, by: Changing<Rat>, at: number): boolean {
  const id = slot.cells.get(at)
  const whom = id === undefined || id === by.id ? undefined : slot.rats.get(id)
  if (!whom) return false
  slot.cells.delete(at)
  slot.out.add(whom.id)
  slot.hits.push({ slot: slot.turn.slot, by: by.id, whom: whom.id })
  give(by, slot.laws.hit)
  give(whom, slot.laws.beHit)
  return true
}

function give(rat: Changing<Rat>, points: number): void {
  rat.score = Math.max(-SCORE_MAX, Math.min(SCORE_MAX, rat.score + points))
}

// The rat that this act is of, if it is there and theirs.
function actor(slot: Slot, { by, act }: Deed): Changing<Rat> | null {
  const rat = slot.rats.get(act.rat)
  return rat && rat.owner === by && !slot.out.has(rat.id) ? rat : null
}

function walk(slot: Slot, deeds: readonly Deed[]): void {
  const walked = new Set<number>()
  for (const deed of deeds) {
    if (deed.act.kind !== 'step') continue
    const rat = actor(slot, deed)
    if (!rat || walked.has(rat.id)) continue
    const next = beyond(rat.at, deed.act.speed === 1 ? rat.facing : back(rat.facing))
    if (next === null || slot.cells.has(next)) continue
    walked.add(rat.id)
    move(slot, rat, next)
  }
}

function move(slot: Slot, rat: Changing<Rat>, at: number): void {
  if (slot.cells.get(rat.at) === rat.id) slot.cells.delete(rat.at)
  slot.cells.set(at, rat.id)
  rat.at = at
}

function settle(slot: Slot, deed: Deed): void {
  const rat = actor(slot, deed)
  if (!rat) return
  const { act } = deed
  if (act.kind === 'turn' && FACINGS.includes(act.facing)) rat.facing = act.facing
  else if (act.kind === 'cloak') rat.cloaked = act.on
  else if (act.kind === 'fire') fire(slot, rat)
  else if (act.kind === 'leave') {
    slot.cells.delete(rat.at)
    slot.rats.delete(rat.id)
  }
}

// Who shoots is seen: a cloak is for hiding, not for hunting.
function fire(slot: Slot, rat: Changing<Rat>): void {
  if (rat.missiles.length >= MISSILES_MAX || slot.shot.has(rat.id)) return
  slot.shot.add(rat.id)
  const missile: Missile = { id: rat.nextMissile, at: rat.at, facing: rat.facing }
  rat.missiles = [...rat.missiles, missile]
  rat.nextMissile = (rat.nextMissile + 1) % MISSILE_IDS
  rat.cloaked = false
  give(rat, slot.laws.shot)
}

function bear(slot: Slot, { by, act }: Deed): void {
  if (act.kind !== 'born' || !isPlace(act.at) || !FACINGS.includes(act.facing)) return
  const there = slot.rats.get(act.rat)
  if (there) return moveFresh(slot, by, there, act)
  if (slot.rats.size >= RATS_MAX || countOf(slot, by) >= RATS_OF_ONE_MAX) return
  const at = freeFrom(slot, act.at)
  const before = slot.past.get(act.rat)
  slot.past.delete(act.rat)
  slot.cells.set(at, act.rat)
  slot.rats.set(act.rat, {
    id: act.rat,
    owner: by,
    at,
    facing: act.facing,
    cloaked: false,
    score: before?.owner === by ? before.score : 0,
    missiles: [],
    nextMissile: 0,
    born: slot.turn.slot,
  })
}

// Who was just born may say where. So may, at any time, a bridge whose rat it is: what its model
// does in the other maze is not for this one to allow.
function moveFresh(
  slot: Slot,
  by: number,
  rat: Changing<Rat>,
  { at, facing }: { at: number; facing: Facing },
): void {
  if (rat.owner !== by || slot.out.has(rat.id) || rat.at === at) return
  const isCopy = rat.id !== rat.owner
  if (!isCopy && slot.turn.slot - rat.born > FRESH_SLOTS) return
  move(slot, rat, freeFrom(slot, at))
  rat.facing = facing
  // Once: whoever has said where it is born stays there.
  rat.born = slot.turn.slot - FRESH_SLOTS - 1
}

function isPlace(at: number): boolean {
  return Number.isInteger(at) && at >= 0 && at < CELLS
}

function countOf(slot: Slot, owner: number): number {
  let count = 0
  for (const rat of slot.rats.values()) if (rat.owner === owner) count++
  return count
}

// The fixed scan: on from there, line by line, and round. There is one: RATS_MAX is less than all.
function freeFrom(slot: Slot, at: number): number {
  let free = at
  while (slot.cells.has(free)) free = (free + 1) % CELLS
  return free
}

function bearAnew(slot: Slot, id: number): void {
  const rat = slot.rats.get(id)
  if (!rat) return
  rat.at = lonely(slot)
  rat.facing = widest(rat.at)
  rat.cloaked = false
  rat.born = slot.turn.slot
  slot.cells.set(rat.at, id)
}

function lonely(slot: Slot): number {
  let [best, room] = [0, -1]
  for (let tries = 0; tries < PLACES_TRIED; tries++) {
    const at = freeFrom(slot, Math.floor(slot.turn.random() * CELLS) % CELLS)
    const found = roomAround(slot, at, room)
    if (found > room) [best, room] = [at, found]
  }
  return best
}

// Cells to the nearest rat, as if there were no walls; where it is no more than `least`, what it is
// does not matter.
function roomAround(slot: Slot, at: number, least: number): number {
  let room = CELLS
  for (const other of slot.cells.keys()) {
    if (room <= least) break
    const across = Math.abs(columnOf(other) - columnOf(at))
    room = Math.min(room, across + Math.abs(lineOf(other) - lineOf(at)))
  }
  return room
}
