/**
 * Whom the application is asked about (`onJoin`): after the hub has decided that somebody may come
 * in, and before they do. The question goes out, and its answer comes in as an event; of one stream
 * one question is open at a time, and whoever was let in on it is not asked about again there.
 */

import { toHex } from '../../../holdfast/src/wire/bytes.ts'
import type { Entrance } from './admission.ts'
import type { Applicant, Consulting, Call } from './state.ts'
import type { ToHub } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Claims } from '../../../holdfast/src/hub-protocol/tickets.ts'

type Add = ToHub & { kind: 'add' }

function placeOf({ game, room, key }: Add): string {
  return `${game.length} ${game} ${room} ${toHex(key)}`
}

/** Whether the application has to be asked first; asks it. @returns false if they may go on */
export function consult(
  { hub, connection, from, out }: Call,
  message: Add,
  claims: Claims | string | null,
  { rights, id, founding }: Entrance & { founding: boolean },
): boolean {
  const place = placeOf(message)
  if (!hub.consults || from.approved === place) return false
  const open = from.consulting
  // Asked again before the answer came: the newest request is answered.
  if (open && placeOf(open.message) === place) open.message = message
  else {
    from.consulting = { message, claims }
    const { game, room, key } = message
    const address = from.account.place
    out.consult(connection, { game, room, key: toHex(key), rights, ticket: id, address, founding })
  }
  return true
}

/** The application has answered about the open question; null if it is none any more. */
export function consulted({ from }: Call, about: Applicant, isWelcome: boolean): Consulting | null {
  const open = from.consulting
  const place = `${about.game.length} ${about.game} ${about.room} ${about.key}`
  if (!open || placeOf(open.message) !== place) return null
  from.consulting = null
  if (isWelcome) from.approved = place
  return open
}
