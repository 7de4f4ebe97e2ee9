/**
 * Objects, each with one owner at a time (B1, B5, B25): the operations of the application.
 *
 * The newest state wins, and nobody waits. The owner creates, changes and destroys an object, and
 * may give it away; any member may ask for it; the primary decides (grants.ts). States are sent by
 * fan-out (fan-out.ts) and updates (updates.ts), and accepted by four rules (accept.ts,
 * requests.ts). docs/protocols/objects.md shows why replicas converge.
 */

import { assert, type Millis, rulesOf } from '../../machine.ts'
import type { Quantised } from '../../wire/fields/schema.ts'
import { markDestroyed, isFromEarlierTerm, isAuthorized, install } from './accept.ts'
import { updateInterest } from './interest.ts'
import { sendState, defer } from './updates.ts'
import {
  createState,
  GATHER_MS,
  isMine,
  type Objects,
  type ObjectsRules,
  place,
  relays,
  type Replica,
  type Context,
  type Types,
} from './state.ts'
import { compare, FIRST } from './stamp.ts'
import { oweAll, sendsTo } from './fan-out.ts'
import { grant } from './grants.ts'
import { follow } from './views.ts'

export { objectsPart, OBJECTS_CHANNEL } from './part.ts'
export type { Keeper } from './keeper.ts'
export { give, reply } from './grants.ts'
export { request } from './requests.ts'
export * from './state.ts'
export type { Version } from './stamp.ts'

// A sink for `updateInterest` in `set`, which neither sends messages at once nor emits events.
const NOBODY = { send: () => 0, emit: () => {} }

/** Time between two updates of an object that carry ages. */
const MEASURE_EVERY_MS: Millis = 200
// With more objects than this, each is measured less often.
const MEASURED_OFTEN = 20

/** Creates one of our objects. @param madeAt  session time, or NaN */
export function spawn(
  context: Context,
  type: number,
  fields: Quantised,
  madeAt: Millis = NaN,
): Replica {
  const { objects } = context
  const replica = place(objects, objects.me, objects.nextCount++, type)
  const { me: owner } = objects
  install(context, replica, { type, version: FIRST, owner, former: 0, oseq: 1, fields, madeAt })
  return replica
}

/**
 * One of our objects changed: its `fields` already have the new values.
 *
 * @param mask  the fields that changed; 0 sends nothing (B17)
 * @param madeAt  when the values were made: session time, or NaN
 * @param waits  the others extrapolate the same values, so sending may wait
 * @returns whether the change is sent now
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
  if (rules.kept) objects.kept.hasChanges = true
  replica.oseq++
  for (let field = 0; field < replica.changedAt.length; field++) {
    if ((mask & (1 << field)) !== 0) replica.changedAt[field] = replica.oseq
  }
  if (rules.timed) replica.madeAt = madeAt
  if (rules.timed) measure(objects, replica)
  if (rules.visibility || rules.eyes >= 0)
    updateInterest({ objects, types, now, out: NOBODY }, replica)
  if (waits && defer(objects, now, replica)) return false
  sendState(objects, now, replica)
  return true
}

// One update per MEASURE_EVERY_MS carries ages; the first of an object never does.
function measure(objects: Objects, replica: Replica): void {
  replica.ages = null
  if (Number.isNaN(replica.madeAt)) return
  const every = MEASURE_EVERY_MS * Math.max(1, objects.living / MEASURED_OFTEN)
  if (replica.madeAt - replica.measuredAt < every) return
  if (!Number.isNaN(replica.measuredAt)) replica.ages = relays(objects) ? [] : [0, 0]
  replica.measuredAt = replica.madeAt
}

/** Destroys one of our objects (B19). */
export function destroy(context: Context, replica: Replica): void {
  const { objects } = context
  assert(isMine(objects, replica), 'who destroys an object owns it')
  markDestroyed(context, replica, replica.version, objects.me)
}

export const RULES: ObjectsRules = rulesOf<ObjectsRules>({
  order: (entry, known) => compare(entry.version, known.version),
  isAuthorized,
  isFromEarlierTerm,
  creates: () => true,
  tombstone: () => true,
  isOld: (oseq, known) => oseq <= known,
  fits: (version, known) => compare(version, known) === 0,
  accepts: () => true,
  reports: () => true,
  sendsTo,
  grant,
  epochOf: ({ epoch }) => epoch,
  follow,
  oweAll,
  base: ({ acked }, index) => acked[index]!,
  shares: () => true,
  asksAgain: ({ owner }, follower) => owner === follower,
  declines: () => true,
  endsByGive: () => true,
  waitsForAll: () => true,
})

/** Creates the state without objects. @param gatherMs  least time between two send ticks */
export function create(gatherMs: Millis = GATHER_MS, rules: ObjectsRules = RULES): Objects {
  return createState(gatherMs, rules)
}
