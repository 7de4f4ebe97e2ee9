/**
 * What the objects' model has around its members, as a number: whether the object was created, who
 * is up, who was removed, and who leads whom. What becomes of it is looked up.
 *
 * Members are many in few bits: `1 << inc` for each.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import * as interned from './interned.ts'
import * as pairs from '../../packages/sim/src/checker/pairs.ts'

/** Who leads, in which epoch, and whom. */
export interface Term {
  readonly primary: PeerId
  readonly epoch: number
  readonly members: number
}

/** All of that. */
export interface World {
  readonly created: boolean
  readonly up: number
  /** Removed by some primary, in order. */
  readonly gone: readonly PeerId[]
  /** Who believes that it leads, its epoch and members. */
  readonly terms: readonly Term[]
  /** The last of these, which does. */
  readonly term: Term
}

/** All worlds that there were. */
export interface Worlds {
  readonly kept: interned.Interned<World>
  /** By world, and what happened. */
  readonly after: pairs.Pairs
  /** Whether who is removed, or followed as primary, is dead. */
  readonly dies: boolean
}

const FOUNDER: PeerId = 1
/** What happens, above the bits of members. */
const HAPPENS = { created: 1 << 16, removed: 2 << 16, joined: 3 << 16, led: 4 << 16 } as const

/** All of them are up, and the founder leads them. */
export function create(members: number, dies: boolean): Worlds {
  const worlds: Worlds = { kept: interned.create(), after: pairs.create(), dies }
  const term = { primary: FOUNDER, epoch: 1, members }
  interned.numberOf(worlds.kept, { created: false, up: members, gone: [], terms: [term], term })
  return worlds
}

/** As it is. */
export function worldOf(worlds: Worlds, number: number): World {
  return worlds.kept.values[number]!
}

/** Whether that is one of them. */
export function has(members: number, inc: PeerId): boolean {
  return ((members >> inc) & 1) === 1
}

/** Each of them, in order. */
export function incsOf(members: number): PeerId[] {
  const incs: PeerId[] = []
  for (let inc = 1; members >> inc !== 0; inc++) if (has(members, inc)) incs.push(inc)
  return incs
}

/** All of these. */
export function membersOf(incs: Iterable<PeerId>): number {
  let members = 0
  for (const inc of incs) members |= 1 << inc
  return members
}

/** The object is there. */
export function afterCreated(worlds: Worlds, number: number): number {
  return after(worlds, number, HAPPENS.created, (world) => ({ ...world, created: true }))
}

/** The primary removes a member. */
export function afterRemoved(worlds: Worlds, number: number, inc: PeerId): number {
  return after(worlds, number, HAPPENS.removed + inc, ({ created, up, gone, terms, term }) => {
    const now = { ...term, members: term.members & ~(1 << inc) }
    const alive = worlds.dies ? up & ~(1 << inc) : up
    return { created, up: alive, gone: [...gone, inc], terms: [...terms.slice(0, -1), now] }
  })
}

/** A member is let in. */
export function afterJoined(worlds: Worlds, number: number, inc: PeerId): number {
  return after(worlds, number, HAPPENS.joined + inc, ({ created, up, gone, terms, term }) => {
    const now = { ...term, members: term.members | (1 << inc) }
    return { created, up: up | (1 << inc), gone, terms: [...terms.slice(0, -1), now] }
  })
}

/** Another leads them from now on; the one before may not know. */
export function afterLed(worlds: Worlds, number: number, primary: PeerId, members: number): number {
  return after(worlds, number, HAPPENS.led + members, ({ created, up, gone, terms, term }) => {
    const now = { primary, epoch: term.epoch + 1, members }
    const alive = worlds.dies ? up & ~(1 << term.primary) : up
    return { created, up: alive, gone: [...gone, term.primary], terms: [...terms, now] }
  })
}

function after(
  { kept, after: known }: Worlds,
  number: number,
  happens: number,
  change: (world: World) => Omit<World, 'term'>,
): number {
  const found = pairs.find(known, number, happens)
  if (found >= 0) return found
  const { created, up, gone, terms } = change(kept.values[number]!)
  const made = { created, up, gone, terms, term: terms.at(-1)! }
  return pairs.keep(known, number, happens, interned.numberOf(kept, made))
}
