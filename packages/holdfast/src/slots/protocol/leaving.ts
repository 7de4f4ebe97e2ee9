/**
 * What goes from a session that is lost into the next one: our world, which goes on if nobody has
 * one there, and our own acts that were not agreed on. Each of these acts either counts in the
 * world that we have there, or is reported to be void.
 *
 * Another member of the lost session may have these acts in its world, and that may be the world
 * that goes on. So tallies of folded acts go along, under names that no member of the next session
 * has, because members' numbers hold within one session only.
 */

import type { PeerId } from '../../machine.ts'
import type { SlotEvent, Slots, Tally } from './state.ts'
import { tally } from './tally.ts'

/** A slot before all of the next session: its first agreement decides on these acts. */
const BEFORE = -1
/** Members' numbers are below this. */
const NAMES: number = 2 ** 32
/** Sessions are distinguished by so many numbers. */
const SESSIONS: number = 2 ** 20

/** What the next session keeps; `slots` is the state of the session that is lost. */
export function leave(slots: Slots): Pick<Slots, 'worlds' | 'sound' | 'tallies' | 'unsure'> {
  const worlds = slots.worlds.slice(0, slots.sound).slice(-1)
  const unsure = slots.unsure.map((event) => renamed(slots, event))
  return { worlds, sound: worlds.length, tallies: folded(slots), unsure }
}

// The tallies of the world that goes on. Acts left over from an even earlier session are agreed on.
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
