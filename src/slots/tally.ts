/**
 * Which acts are in the settled world, member by member. Ids rise with the slots, so when an act
 * is settled, those before it that are not will never be.
 */

import type { PeerId } from '../machine.ts'
import {
  GAPS_MAX,
  type SlotEvent,
  type Slots,
  TALLIES_MAX,
  type Tally,
  UNSURE_SLOTS,
} from './state.ts'

/** An event is settled. Whoever forges the number of one costs nothing, and undoes nothing. */
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

// Of those that are not here any more.
function forgetOne(slots: Slots): void {
  for (const inc of slots.tallies.keys()) {
    if (!slots.here.has(inc)) return void slots.tallies.delete(inc)
  }
}

/** Own acts that the settled world has left out; they are not told of again. */
export function takeVoid(slots: Slots): SlotEvent[] {
  const left: SlotEvent[] = []
  slots.unsure = slots.unsure.filter((event) => {
    if (event.slot > slots.base) return true
    if (!counts(slots, event.inc, event.id)) left.push(event)
    else if (event.slot > slots.base - UNSURE_SLOTS) return true
    return false
  })
  return left
}

function counts({ tallies }: Slots, inc: PeerId, id: number): boolean {
  const known = tallies.get(inc)
  return (
    known !== undefined &&
    id <= known.upTo &&
    known.gaps.every(({ from, to }) => id < from || id > to)
  )
}
