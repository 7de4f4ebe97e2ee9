/**
 * Objects with one owner each, which may change (B1, B5, B25): what the application does with them.
 *
 * The newest state wins, and nobody waits. An owner creates, changes and destroys; anybody may ask
 * for an object and its owner may give it away; the primary decides (owning.ts). Everything goes
 * to the others by fan-out (fan-out.ts) and by updates (updates.ts), and what comes counts by four
 * rules (accept.ts, requests.ts). docs/protocols/objects.md says why that converges.
 */

import { assert, type Millis } from '../machine.ts'
import type { Quantised } from '../wire/schema.ts'
import { bury, stand } from './accept.ts'
import { moved } from './interest.ts'
import { say, wait } from './reckoning.ts'
import {
  isMine,
  type Objects,
  place,
  relays,
  type Replica,
  type Turn,
  type Types,
} from './state.ts'
import { FIRST } from './version.ts'

export { objectsPart, OBJECTS_CHANNEL } from './part.ts'
export { give } from './owning.ts'
export { reply } from './asking.ts'
export { request } from './requests.ts'
export { create, RULES } from './rules.ts'
export { lackOf, madeBy } from './room.ts'
export * from './state.ts'
export type { Version } from './version.ts'

// What moves is told to others, and nothing of it to ourselves.
const NOBODY = { send: () => 0, emit: () => {} }

/** One update of an object in so many milliseconds says its ages. */
const MEASURE_EVERY_MS: Millis = 200
// Of more objects each is measured less often.
const MEASURED_OFTEN = 20

/** A new object of ours. @param madeAt  session time, or NaN */
export function spawn(turn: Turn, type: number, fields: Quantised, madeAt: Millis = NaN): Replica {
  const { objects } = turn
  const replica = place(objects, objects.me, objects.nextCount++, type)
  const { me: owner } = objects
  stand(turn, replica, { type, version: FIRST, owner, former: 0, oseq: 1, fields, madeAt })
  return replica
}

/**
 * Ours changed: its `fields` are as they are to be.
 *
 * @param mask  which of them are new; nothing is said of 0 (B17)
 * @param madeAt  when they were made: session time, or NaN
 * @param waits  it is as the others reckon, so it may stay unsaid for now
 * @returns whether it is said
 */
export function set(
  objects: Objects,
  types: Types,
  now: Millis,
  replica: Replica,
  mask: number,
  madeAt: Millis = NaN,
  waits = false,
): boolean {
  assert(isMine(objects, replica), 'who sets an object owns it')
  if (mask === 0) return false
  const rules = types[replica.type]!
  replica.oseq++
  for (let field = 0; field < replica.changedAt.length; field++) {
    if ((mask & (1 << field)) !== 0) replica.changedAt[field] = replica.oseq
  }
  if (rules.timed) replica.madeAt = madeAt
  if (rules.timed) measure(objects, replica)
  if (rules.visibility || rules.eyes >= 0) moved({ objects, types, now, out: NOBODY }, replica)
  if (waits && wait(objects, now, replica)) return false
  say(objects, now, replica)
  return true
}

// The first update after a while is measured; a new object says nothing of the way.
function measure(objects: Objects, replica: Replica): void {
  replica.ages = null
  if (Number.isNaN(replica.madeAt)) return
  const every = MEASURE_EVERY_MS * Math.max(1, objects.living / MEASURED_OFTEN)
  if (replica.madeAt - replica.measuredAt < every) return
  if (!Number.isNaN(replica.measuredAt)) replica.ages = relays(objects) ? [] : [0, 0]
  replica.measuredAt = replica.madeAt
}

/** Ours is no more (B19). */
export function destroy(turn: Turn, replica: Replica): void {
  const { objects } = turn
  assert(isMine(objects, replica), 'who destroys an object owns it')
  bury(turn, replica, replica.version, objects.me)
}
