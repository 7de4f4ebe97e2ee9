/** Tickets and invitations: what lets a player in, and who came in by one. */

import { KEY_BYTES } from '../ports.ts'
import { fixed, record, text, u8, type ValueOf } from '../wire/layout.ts'
import { TICKET_MAX } from './messages.ts'
import { badValue } from '../machine.ts'
import { shown } from '../wire/fields/fields.ts'
import { fromHex } from '../wire/bytes.ts'

/** Longest id of a ticket, in bytes. */
export const TICKET_ID_MAX = 64
/** Most players of a session that came in by tickets. */
export const ENTRANTS_MAX = 1_024
/** How an invitation begins where tickets are shown. */
export const INVITATION = 'invite.'
/** Bytes of its secret. */
export const SECRET_BYTES = 32
/** Most players that come in by one. */
export const INVITED_MAX = 256

/** What a ticket says whose signature and time are right. */
export interface Claims {
  /** Where it lets in; `room` null for all rooms of the game. */
  game: string
  room: string | null
  /** The only player that it is for; null for whoever has it. */
  key: Uint8Array | null
  /** See RIGHTS. */
  rights: number
  /** Of this ticket alone. */
  id: string
  /** How many players come in by it. */
  uses: number
}

/** Layout of an Entrant. */
export const entrant = record({
  /** Of the ticket. */
  id: text(TICKET_ID_MAX),
  key: fixed(KEY_BYTES),
  rights: u8,
})
/** A player that came in by a ticket, and comes back by its key. */
export type Entrant = ValueOf<typeof entrant>

// What lets somebody in, as text, and the key of the room behind it, which the hub does not get:
// `<ticket>~<64 hexadecimal digits>`.

const BETWEEN = '~'
// Three parts in base64url (RFC 7515), or what `session.invite` makes, or nothing.
const SHAPE = /^([\w-]+\.[\w-]+\.[\w-]+|invite\.[0-9a-f]{64})?$/

/** Puts the key of a room behind a ticket. @param key  in hexadecimal digits; null for none */
export function withKey(ticket: string, key: string | null): string {
  return key === null ? ticket : `${ticket}${BETWEEN}${key.toLowerCase()}`
}

/** What the hub gets, and what it does not. @throws HoldfastError `bad-value` */
export function readTicket(given: unknown): { ticket: string; key: Uint8Array | null } {
  // A key is shown to nobody.
  const [ticket = '', digits, ...more] = typeof given === 'string' ? given.split(BETWEEN) : []
  if (typeof given === 'string') {
    const key = digits === undefined ? null : fromHex(digits, KEY_BYTES)
    const isWhole = more.length === 0 && (digits === undefined || (key !== null && ticket !== ''))
    if (isWhole && ticket.length <= TICKET_MAX && SHAPE.test(ticket)) return { ticket, key }
  }
  const seen = shown(digits === undefined ? given : ticket)
  throw badValue(
    `ticket is what mintTicket or invite gives, ${TICKET_MAX} characters at most: ${seen}`,
  )
}
