/**
 * What each rat said of itself last, and who is where by all of that.
 *
 * An event has the state before the action (M47), so state and action together are all that a rat
 * says of itself: a rat state needs the newest event alone, and what was lost or came too late is
 * made good by the next one. Who is where is a function of the rats: two nodes that know the
 * same newest events have the same picture, in whatever slots these came (M38, M55).
 */

import { back, beyond, CELLS } from '../rules/maze.ts'
import { LAWS, MISSILE_IDS } from '../rules/world.ts'
import { type Absolute, type Action, type Missile, MISSILES_MAX } from './packets.ts'

/** A missile that ended: at a wall, or in somebody. */
export interface Over {
  id: number
  slot: number
  hit: boolean
}

/** A rat as it says that it is. */
export interface RatState {
  score: number
  cell: number
  /** Where it was before its last action. */
  before: number
  facing: Absolute['facing']
  cloaked: boolean
  /** In flight, oldest first. */
  missiles: Missile[]
  /** Those that ended a short while ago: what is said of them late does not bring them back. */
  over: Over[]
  /** The id of its next missile. */
  nextMissile: number
}

/** An event as it is worked into a rat state. */
export interface Said {
  absolute: Absolute
  action: Action
}

/** Slots for which an ended missile is remembered. */
export const OVER_SLOTS = 10

/** What an event says of its rat; null if there is no such thing in this maze. */
export function stateAfter({ absolute, action }: Said): RatState | null {
  const { score, cell, facing, cloaked, missiles } = absolute
  const twice = missiles.length > 1 && new Set(missiles.map(({ id }) => id)).size < missiles.length
  if (twice) return null
  const nextMissile = ((missiles.at(-1)?.id ?? -1) + 1) % MISSILE_IDS
  const flying = missiles.slice()
  const rat: RatState = {
    score,
    cell,
    before: cell,
    facing,
    cloaked,
    missiles: flying,
    over: [],
    nextMissile,
  }
  return act(rat, action) ? rat : null
}

// Does it, or says that it cannot be.
function act(rat: RatState, action: Action): boolean {
  switch (action.kind) {
    case 'born':
      rat.cell = action.cell
      rat.facing = action.facing
      rat.cloaked = false
      return true
    case 'movement':
      return move(rat, action)
    case 'cloak':
      rat.cloaked = action.on
      return true
    case 'projection':
      return shoot(rat, action.missile)
    case 'hit':
      rat.score = scoreOf(rat.score + LAWS.beHit)
      return true
    default:
      return action satisfies never
  }
}

/** A score stays at the ends of 32 bits, signed (M49). */
export function scoreOf(points: number): number {
  return Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, points))
}

function move(rat: RatState, action: Action & { kind: 'movement' }): boolean {
  if (action.step === 'none') {
    rat.facing = action.facing
    return true
  }
  const way = action.step === 'forward' ? action.facing : back(action.facing)
  const cell = beyond(rat.cell, way)
  if (cell === null || action.facing !== rat.facing) return false
  rat.cell = cell
  return true
}

function shoot(rat: RatState, missile: Missile): boolean {
  const { missiles } = rat
  if (missiles.length >= MISSILES_MAX || missiles.some(({ id }) => id === missile.id)) return false
  missiles.push(missile)
  rat.nextMissile = (missile.id + 1) % MISSILE_IDS
  // Who shoots is seen.
  rat.cloaked = false
  rat.score = scoreOf(rat.score + LAWS.shot)
  return true
}

/**
 * The rat after an event, from the one before it: a missile whose flight we follow flies on as
 * we see it, one that we learn of now has flown since it was told.
 *
 * @param age slots since the event
 */
export function update(
  known: RatState | undefined,
  said: Said,
  age: number,
  slot: number,
): RatState | null {
  const rat = stateAfter(said)
  if (!rat) return null
  const shot = said.action.kind === 'projection' ? said.action.missile.id : null
  rat.over = (known?.over ?? []).filter((over) => over.id !== shot)
  rat.missiles = rat.missiles.flatMap((missile) => {
    if (missile.id === shot) return [missile]
    if (rat.over.some(({ id }) => id === missile.id)) return []
    const flying = known?.missiles.find(({ id }) => id === missile.id)
    return flying ?? flown(rat, missile, age, slot) ?? []
  })
  // Its owner knows it no more.
  for (const { id } of known?.missiles ?? []) {
    if (id !== shot && !said.absolute.missiles.some((other) => other.id === id)) {
      rat.over.push({ id, slot, hit: false })
    }
  }
  if (known && rat.missiles.length === 0) rat.nextMissile = known.nextMissile
  return rat
}

// Where it is after so many slots; null if a wall ended it (M54).
function flown(rat: RatState, missile: Missile, slots: number, slot: number): Missile | null {
  let { cell } = missile
  for (let cells = 0; cells < slots * LAWS.missileCells; cells++) {
    const next = beyond(cell, missile.heading)
    if (next === null) {
      rat.over.push({ id: missile.id, slot, hit: false })
      return null
    }
    cell = next
  }
  return { ...missile, cell }
}

/** All missiles of a rat fly on for a slot, and what ended long ago is forgotten. */
export function fly(rat: RatState, slot: number): void {
  if (rat.over.length > 0) {
    rat.over = rat.over.filter((over) => slot - over.slot < OVER_SLOTS)
  }
  if (rat.missiles.length > 0) {
    rat.missiles = rat.missiles.flatMap((one) => flown(rat, one, 1, slot) ?? [])
  }
}

/** Ends a missile in somebody. @returns whether that is news */
export function end(rat: RatState, id: number, slot: number): boolean {
  const ended = rat.over.find((over) => over.id === id)
  if (ended?.hit === true) return false
  if (ended) ended.hit = true
  else if (!rat.missiles.some((missile) => missile.id === id)) return false
  else rat.over.push({ id, slot, hit: true })
  rat.missiles = rat.missiles.filter((missile) => missile.id !== id)
  return true
}

/**
 * Who is where, one rat a cell: the higher id has the cell that both say is theirs (M32), the
 * lower is where it was before, or in the next free cell by the scan of births.
 */
export function resolve(rats: ReadonlyMap<number, RatState>): Map<number, number> {
  const cells = new Map<number, number>()
  const taken = new Set<number>()
  const ids = [...rats.keys()].toSorted((one, other) => other - one)
  for (const id of ids) {
    const { cell, before } = rats.get(id)!
    const at = [cell, before].find((place) => !taken.has(place)) ?? freeFrom(taken, cell)
    taken.add(at)
    cells.set(id, at)
  }
  return cells
}

/** The first free cell from there on, line by line, and round. */
export function freeFrom(taken: ReadonlySet<number>, cell: number): number {
  let free = cell
  while (taken.has(free)) free = (free + 1) % CELLS
  return free
}
