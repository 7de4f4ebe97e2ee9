/**
 * Which acts are in the settled world, member by member. Ids rise with the slots, so when an act
 * is settled, those before it that are not will never be.
 */

import type { PeerId } from '../machine.ts'
import { MISSING_MAX, type SlotEvent, type Slots, TALLIES_MAX, UNSURE_SLOTS } from './state.ts'

/** An event is settled. Those of one member come in the order of their ids. */
export function tally(slots: Slots, { inc, id }: SlotEvent): void {
  const known = slots.tallies.get(inc) ?? { upTo: 0, missing: [] }
  // An id may be any number: who forges one shall cost nothing, and undo nothing.
  const first = Math.max(known.upTo + 1, id - MISSING_MAX)
  for (let missing = first; missing < id; missing++) known.missing.push(missing)
  known.missing = known.missing.filter((missing) => missing !== id).slice(-MISSING_MAX)
  known.upTo = Math.max(known.upTo, id)
  slots.tallies.set(inc, known)
  if (slots.tallies.size > TALLIES_MAX) forgetOne(slots)
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
  return known !== undefined && id <= known.upTo && !known.missing.includes(id)
}
