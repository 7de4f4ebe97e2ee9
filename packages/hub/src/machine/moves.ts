/**
 * Moves of a session to another place, so that a new one can be founded where it was: of a dead
 * session, whose members may come back, and of a stored room that somebody starts over.
 *
 * A move is two writes: the record of the new place, then the removal of the old one. Until both
 * are made all requests about the session wait, so the two records have the same content, and a
 * hub that finds the session at both after a start completes the move.
 */

import { asideOf, asideSession } from '../../../holdfast/src/hub-protocol/messages.ts'
import * as archive from './archive.ts'
import * as register from './register.ts'
import { type Place, placeOf } from './register.ts'
import { type Hub, type Move, refuse, type Turn, waitAgain } from './state.ts'

/**
 * Begins to move a session out of the way of a request, which waits for that. @returns `busy` while
 * something of its place is being written, `taken` if its new name is
 */
export function begin(
  { hub, out }: Turn,
  session: string,
  at: Place,
  asked: NonNullable<Move['asked']>,
): 'begun' | 'busy' | 'taken' {
  const from = placeOf(at)
  const to = { game: at.game, room: asideOf({ room: at.room, session }) }
  const room = hub.archive.rooms.get(session)
  if (hub.places.get(from)?.writing || room?.writing || room?.next) return 'busy'
  if (hub.places.has(placeOf(to)) || register.inRoom(hub.registers, to)) return 'taken'
  if (archive.roomAt(hub.archive, placeOf(to)) !== null) return 'taken'
  start(hub, session, { from, to, isWritten: false, asked })
  out.record(placeOf(to))
  return 'begun'
}

function start(hub: Hub, session: string, move: Move): void {
  hub.moves.set(session, move)
  const row = register.find(hub.registers, session)
  if (row) register.setMoving(row)
}

/** Completes the move of a session that was found at two places. */
export function resume(hub: Hub, session: string, places: readonly [Place, Place]): void {
  const [to] = places.filter(({ room }) => asideSession(room) === session)
  const [from] = places.filter((place) => place !== to)
  if (to && from) start(hub, session, { from: placeOf(from), to, isWritten: true, asked: null })
}

/** The session on its way to a place, or away from it. */
export function at(hub: Hub, place: string): { session: string; move: Move } | null {
  for (const [session, move] of hub.moves) {
    if (move.from === place || placeOf(move.to) === place) return { session, move }
  }
  return null
}

/** A write of the move is made. @returns whether the session has its new place now */
export function confirmWrite({ hub, out }: Turn, session: string): boolean {
  const move = hub.moves.get(session)
  if (!move) return false
  if (!move.isWritten) {
    move.isWritten = true
    out.record(move.from)
    return false
  }
  stop(hub, session, move)
  register.rename(hub.registers, session, move.to)
  archive.rename(hub.archive, session, move.to)
  // The list of members may have changed, or the stored room expired.
  out.record(placeOf(move.to))
  return true
}

/** A write of the move was not made: before the first one the session stays. */
export function failWrite({ hub, out }: Turn, session: string, why: string): void {
  const move = hub.moves.get(session)
  if (!move) return
  const { asked } = move
  move.asked = null
  if (asked) refuse(asked.connection, asked.message.request, why, out)
  if (!move.isWritten) stop(hub, session, move)
  // The rest of the move, or what the session's members and room have become.
  out.record(move.from)
}

/** The session stays where it is: another hub has changed one of the places. */
export function cancel({ hub, out }: Turn, session: string): void {
  const move = hub.moves.get(session)
  if (!move) return
  stop(hub, session, move)
  out.record(move.from)
}

function stop(hub: Hub, session: string, { from, asked }: Move): void {
  hub.moves.delete(session)
  const row = register.find(hub.registers, session)
  if (row) row.pending = null
  if (asked) waitAgain(hub, from, asked)
}
