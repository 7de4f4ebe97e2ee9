/**
 * What goes from a session that is lost into the next one: the world that we had, which goes on if
 * nobody has one there, and our own acts on which nobody had agreed. Each of these counts in the
 * world that we have there, or is told to be void.
 *
 * Whoever else comes from the same session may have them in its world, and that may be the one that
 * goes on. So tallies of what was folded go along, under names that no member of the next session
 * has: numbers of members are of one session alone.
 */

import type { PeerId } from '../machine.ts'
import type { SlotEvent, Slots, Tally } from './state.ts'
import { tally } from './tally.ts'

/** Before all slots of the next session: it is known there as soon as anything is agreed on. */
const BEFORE = -1
/** Numbers of members are below it. */
const NAMES: number = 2 ** 32
/** Sessions are told apart by so many numbers. */
const SESSIONS: number = 2 ** 20

/** What is kept. The state is of the session that is lost. */
export function leave(slots: Slots): Pick<Slots, 'worlds' | 'sound' | 'tallies' | 'unsure'> {
  const worlds = slots.worlds.slice(0, slots.sound).slice(-1)
  const unsure = slots.unsure.map((event) => renamed(slots, event))
  return { worlds, sound: worlds.length, tallies: folded(slots), unsure }
}

// What is in the world that goes on. What was left over from a session before this is agreed on.
function folded(slots: Slots): Map<PeerId, Tally> {
  const last = slots.base + slots.sound - 1
  const numbers = [...slots.bySlot.keys()].filter((number) => number <= last)
  for (const number of numbers.toSorted((one, other) => one - other)) {
    for (const event of slots.bySlot.get(number)!.events.values()) tally(slots, event)
  }
  const own = [...slots.tallies].filter(([inc]) => inc < NAMES || isOwed(slots, inc))
  return new Map(own.map(([inc, known]) => [nameOf(slots, inc), known]))
}

function isOwed({ unsure }: Slots, inc: PeerId): boolean {
  return unsure.some((event) => event.inc === inc)
}

function renamed(slots: Slots, event: SlotEvent): SlotEvent {
  return { ...event, inc: nameOf(slots, event.inc), slot: BEFORE }
}

function nameOf({ seed }: Slots, inc: PeerId): number {
  return inc < NAMES ? NAMES * (1 + (seed % SESSIONS)) + inc : inc
}
