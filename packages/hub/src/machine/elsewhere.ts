/** Places whose sessions belong to other hubs of a shared store, alive or gone. */

import type { Millis } from '../../../holdfast/src/machine.ts'
import * as archive from './archive.ts'
import * as heartbeat from './heartbeat.ts'
import { placeOf } from './register.ts'
import type { Claim, Elsewhere, Hub, PlaceRecord, Routed } from './state.ts'

/** Whether the session of a record belongs to another hub. */
export function isElsewhere({ heartbeat: own, boot }: Hub, known: PlaceRecord): boolean {
  return own !== null && known.lasts && known.boot !== boot
}

/** Notes that a place belongs to another hub. @param rev  the revision of the record */
export function note(
  hub: Hub,
  now: Millis,
  { boot, session }: Pick<PlaceRecord, 'boot' | 'session'>,
  rev: number,
): void {
  const { entry } = session
  const key = placeOf(entry)
  const { serial = ++hub.serials } = hub.elsewhere.get(key) ?? {}
  forget(hub, key)
  if (!hub.places.get(key)?.writing) hub.places.delete(key)
  archive.adopt(hub.archive, key, null)
  hub.elsewhere.set(key, { entry, tender: boot, rev, serial })
  hub.sessionsElsewhere.set(entry.session, key)
  heartbeat.watch(hub, now, boot)
}

export function forget({ elsewhere, sessionsElsewhere }: Hub, key: string): void {
  const { session } = elsewhere.get(key)?.entry ?? {}
  if (session === undefined) return
  elsewhere.delete(key)
  if (sessionsElsewhere.get(session) === key) sessionsElsewhere.delete(session)
}

/** The place that a request is about, if another hub has or had it. */
export function placeOfRequest(hub: Hub, message: Routed): Elsewhere | undefined {
  const { elsewhere, sessionsElsewhere } = hub
  if (message.kind === 'add') return elsewhere.get(placeOf(message))
  return elsewhere.get(sessionsElsewhere.get(message.session) ?? '')
}

/** The claim that a place belongs to; undefined for none. */
export function claimAt({ claims, claimedPlaces }: Hub, key: string): Claim | undefined {
  return claims.get(claimedPlaces.get(key) ?? '')
}

/** The record that a claim is about to write at a place; null if it writes none. */
export function claimedAt(
  hub: Hub,
  key: string,
): { session: string; record: PlaceRecord; rev: number } | null {
  const claim = claimAt(hub, key)
  const { record, rev = 0, state } = claim?.places.get(key) ?? {}
  return claim && record && state === 'writes' ? { session: claim.session, record, rev } : null
}
