/**
 * Rooms that the operator has closed: their sessions end, their stored state is dropped, and for a
 * while joins and founding are refused with the operator's reason.
 */

import {
  NOT_ADMITTED,
  opensAgain,
  REASON_MAX,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Millis } from '../../../holdfast/src/machine.ts'
import * as archive from './archive.ts'
import { detachAll } from './attachment.ts'
import * as persistence from './persistence.ts'
import * as register from './register.ts'
import { type Place, placeOf } from './register.ts'
import type { At, Turn } from './state.ts'

const encoder = new TextEncoder()

/** Closes a room. @returns how many sessions end: one or none */
export function close(turn: Turn, place: Place, shut: { why: string; until: Millis }): number {
  const { hub, now } = turn
  for (const [key, { until }] of hub.closedRooms) if (until <= now) hub.closedRooms.delete(key)
  hub.closedRooms.set(placeOf(place), shut)
  const stored = archive.roomAt(hub.archive, placeOf(place))
  if (stored !== null) persistence.drop(turn, stored)
  const row = register.inRoom(hub.registers, place)
  if (row) end(turn, row.entry.session)
  return row ? 1 : 0
}

// Its members notice that their session is gone, and learn why when they come back.
function end(turn: Turn, session: string): void {
  detachAll(turn, session)
  register.endSession(turn.hub.registers, session, turn.out)
}

/** Drops closed rooms that are still stored because an earlier write failed. */
export function sweep(turn: Turn): void {
  for (const [place, { until }] of turn.hub.closedRooms) {
    const session = turn.hub.archive.places.get(place)
    if (until > turn.now && session !== undefined) persistence.drop(turn, session)
  }
}

function isClosed({ hub, now }: At, place: string): boolean {
  return (hub.closedRooms.get(place)?.until ?? -Infinity) > now
}

/** Why a room is closed, and until when if that fits; null if it is open. */
export function closedReason(turn: At, place: Place): string | null {
  const { hub, now } = turn
  const shut = hub.closedRooms.get(placeOf(place))
  if (!shut || !isClosed(turn, placeOf(place))) return null
  const whole = `${shut.why}: ${opensAgain(shut.until - now)}`
  return encoder.encode(whole).length <= REASON_MAX - NOT_ADMITTED.length ? whole : shut.why
}

/** After a write of a session: if its room is closed, or the one that it left, it ends now. */
export function endIfClosed(turn: Turn, session: string, left: string | null = null): void {
  const row = register.find(turn.hub.registers, session)
  if (!row) return
  const isLeftClosed = left !== null && isClosed(turn, left)
  if (isLeftClosed || closedReason(turn, row.entry) !== null) end(turn, session)
}
