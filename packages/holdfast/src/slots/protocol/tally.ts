/**
 * Which acts are in the settled world, member by member. Ids rise with the slots, so when an act is
 * settled, earlier acts of the same member that are not settled will never be.
 */

import type { PeerId } from '../../machine.ts'
import { GAPS_MAX, type SlotEvent, type Slots, TALLIES_MAX, type Tally } from './state.ts'

/** Notes that an event is settled. A forged number harms nobody, and undoes nothing. */
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
export function takeVoid(slots: Slots, upTo: number): SlotEvent[] {
  const end = Math.min(upTo, slots.base)
  const known = slots.unsure.filter(({ slot }) => slot <= end)
  slots.unsure = slots.unsure.filter(({ slot }) => slot > end)
  return known.filter(({ inc, id }) => !counts(slots, inc, id))
}

/** Whether an act is in the settled world. */
export function counts({ tallies }: Slots, inc: PeerId, id: number): boolean {
  const known = tallies.get(inc)
  return (
    known !== undefined &&
    id <= known.upTo &&
    known.gaps.every(({ from, to }) => id < from || id > to)
  )
}
