/**
 * Which acts are in the settled world, member by member. Ids rise with the slots, so when an act is
 * settled, earlier acts of the same member that are not settled will never be.
 */

import type { PeerId } from '../../machine.ts'
import { GAPS_MAX, type SlotEvent, type Slots, TALLIES_MAX, type Tally } from './state.ts'

/** Notes that an event is settled. A forged id harms nobody else. */
export function tally(slots: Slots, { inc, id }: SlotEvent): void {
  const known = slots.tallies.get(inc) ?? { upTo: 0, gaps: [] }
  if (id > known.upTo) {
    if (id > known.upTo + 1) known.gaps.push({ from: known.upTo + 1, to: id - 1 })
    known.upTo = id
  } else known.gaps = known.gaps.flatMap((gap) => without(gap, id))
  known.gaps = known.gaps.slice(-GAPS_MAX)
  slots.tallies.set(inc, known)
  if (slots.tallies.size > TALLIES_MAX) forgetOne(slots)
}

type Gap = Tally['gaps'][number]

function without({ from, to }: Gap, id: number): Gap[] {
  if (id < from || id > to) return [{ from, to }]
  const parts = [
    { from, to: id - 1 },
    { from: id + 1, to },
  ]
  return parts.filter((part) => part.from <= part.to)
}

// Forgets a tally of a member that is not here any more.
function forgetOne(slots: Slots): void {
  for (const inc of slots.tallies.keys()) {
    if (!slots.here.has(inc)) return void slots.tallies.delete(inc)
  }
}

/** Own acts up to a slot that the settled world has left out; each is returned only once. */
export function takeDiscarded(slots: Slots, upTo: number): SlotEvent[] {
  const end = Math.min(upTo, slots.base)
  const known = slots.unsure.filter(({ slot }) => slot <= end)
  slots.unsure = slots.unsure.filter(({ slot }) => slot > end)
  return known.filter(({ inc, id }) => !isSettled(slots, inc, id))
}

/** Whether an act is in the settled world. */
export function isSettled({ tallies }: Slots, inc: PeerId, id: number): boolean {
  const known = tallies.get(inc)
  return (
    known !== undefined &&
    id <= known.upTo &&
    known.gaps.every(({ from, to }) => id < from || id > to)
  )
}

// From a lost session the next one takes our world, which goes on if nobody has one there, and our
// own acts that were not agreed on. Each of these acts either counts in the world that we have
// there, or is reported as discarded.
//
// Another member of the lost session may have these acts in its world, and that may be the world
// that goes on. So tallies of folded acts go along, under names that no member of the next session
// has, because members' numbers hold within one session only.

/** A slot before all of the next session: its first agreement decides on these acts. */
const BEFORE = -1
/** Members' numbers are below this. */
const NAMES: number = 2 ** 32
/** Sessions are distinguished by so many numbers. */
const SESSIONS: number = 2 ** 20

/** What the next session keeps; `slots` is the state of the session that is lost. */
export function carryOver(
  slots: Slots,
): Pick<Slots, 'worlds' | 'validWorlds' | 'tallies' | 'unsure'> {
  const worlds = slots.worlds.slice(0, slots.validWorlds).slice(-1)
  const unsure = slots.unsure.map((event) => {
    return { ...event, inc: nameOf(slots, event.inc), slot: BEFORE }
  })
  return { worlds, validWorlds: worlds.length, tallies: folded(slots), unsure }
}

// The tallies of the world that goes on. Acts left over from an even earlier session are agreed on.
function folded(slots: Slots): Map<PeerId, Tally> {
  const last = slots.base + slots.validWorlds - 1
  const numbers = [...slots.bySlot.keys()].filter((number) => number <= last)
  for (const number of numbers.toSorted((one, other) => one - other)) {
    for (const event of slots.bySlot.get(number)!.events.values()) tally(slots, event)
  }
  const owed = new Set(slots.unsure.map(({ inc }) => inc))
  const own = [...slots.tallies].filter(([inc]) => inc < NAMES || owed.has(inc))
  return new Map(own.map(([inc, known]) => [nameOf(slots, inc), known]))
}

function nameOf({ seed }: Slots, inc: PeerId): number {
  return inc < NAMES ? NAMES * (1 + (seed % SESSIONS)) + inc : inc
}
