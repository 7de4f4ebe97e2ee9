/**
 * Tallies: the acts of each member in the settled world. Ids rise with the slots, so once an act is
 * settled, the same member's earlier acts that are not settled never will be.
 */

import type { PeerId } from '../../machine.ts'
import { GAPS_MAX, type SlotEvent, type Slots, TALLIES_MAX, type Tally } from './state.ts'

/** Marks an event as settled. A forged id harms only its sender. */
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

function forgetOne(slots: Slots): void {
  for (const inc of slots.tallies.keys()) {
    if (!slots.here.has(inc)) return void slots.tallies.delete(inc)
  }
}

/** Own acts up to a slot that are not in the settled world; each is returned only once. */
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

// The next session takes over our world of a lost one, which continues if nobody there has a world,
// and our own acts that were not agreed on. Each of these acts either counts in the next session's
// world, or is reported as discarded.
//
// Another member's world of the lost session may contain these acts, and may be the one that
// continues. So tallies of folded acts are carried over too. They are renamed, because members'
// numbers are unique only within a session.

/** A slot before the next session: its first agreement decides on the carried acts. */
const BEFORE = -1
/** Members' numbers are below this. */
const NAMES: number = 2 ** 32
/** How many sessions the new names distinguish. */
const SESSIONS: number = 2 ** 20

/** The state that the next session takes over; `slots` is that of the lost session. */
export function carryOver(
  slots: Slots,
): Pick<Slots, 'worlds' | 'validWorlds' | 'tallies' | 'unsure'> {
  const worlds = slots.worlds.slice(0, slots.validWorlds).slice(-1)
  const unsure = slots.unsure.map((event) => {
    return { ...event, inc: nameOf(slots, event.inc), slot: BEFORE }
  })
  return { worlds, validWorlds: worlds.length, tallies: folded(slots), unsure }
}

// The tallies of the world that continues. Those of earlier sessions stay only for unsure acts.
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
