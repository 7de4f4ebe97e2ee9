/**
 * Rooms that the owner of the hub has closed: their sessions end, nothing of them is kept, and for
 * a while nobody comes in or opens the room anew; all of them read why.
 */

import type { Millis } from '../../../holdfast/src/machine.ts'
import * as archive from './archive.ts'
import { dismiss } from './attaching.ts'
import * as keeping from './keeping.ts'
import {
  NOT_ADMITTED,
  opensAgain,
  REASON_MAX,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import * as register from './register.ts'
import { placeOf } from './rows.ts'
import { type Call, directoryOut, type Hub, type HubOut } from './state.ts'

const encoder = new TextEncoder()

type Place = Pick<register.Wish, 'game' | 'room'>

/** Closes a room. @returns how many sessions end with it: one, or none */
export function close(
  hub: Hub,
  now: Millis,
  place: Place,
  { why, until }: { why: string; until: Millis },
  out: HubOut,
): number {
  for (const [key, shut] of hub.shut) if (shut.until <= now) hub.shut.delete(key)
  hub.shut.set(placeOf(place), { why, until })
  const kept = archive.find(hub.archive, place)
  if (kept) keeping.drop(hub, kept.session.entry.session, out)
  const rows = register.inRoom(hub.directory, place)
  for (const { entry } of rows) end(hub, now, entry.session, out)
  return rows.length
}

// Its members find that they are in no session any more, and are told why as they come back.
function end(hub: Hub, now: Millis, session: string, out: HubOut): void {
  dismiss({ hub, now, out }, session)
  register.forget(hub.directory, session, directoryOut(hub, out))
}

/** The hub drops what is kept of closed rooms, where the disk refused that before. */
export function sweep(hub: Hub, now: Millis, out: HubOut): void {
  for (const [place, { until }] of hub.shut) {
    const session = hub.archive.places.get(place)
    if (until > now && session !== undefined) keeping.drop(hub, session, out)
  }
}

/** Why nobody comes into a room now, and until when if that fits; null if it is not closed. */
export function whyShut(hub: Pick<Hub, 'shut'>, now: Millis, place: Place): string | null {
  const shut = hub.shut.get(placeOf(place))
  if (!shut || shut.until <= now) return null
  const whole = `${shut.why}: ${opensAgain(shut.until - now)}`
  return encoder.encode(whole).length <= REASON_MAX - NOT_ADMITTED.length ? whole : shut.why
}

/** The disk has something of a session; one of a closed room ends now, if it did not before. */
export function endIfShut(
  { hub, now, out }: Pick<Call, 'hub' | 'now' | 'out'>,
  session: string,
): void {
  const row = register.find(hub.directory, session)
  if (row && whyShut(hub, now, row.entry) !== null) end(hub, now, session, out)
}
