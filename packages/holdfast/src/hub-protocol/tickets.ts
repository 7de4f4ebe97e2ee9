/** Tickets and invitations, which admit players, and the players that they admitted. */

import { KEY_BYTES } from '../ports.ts'
import { fixed, record, text, u8, type ValueOf } from '../wire/layout.ts'
import { TICKET_MAX } from './messages.ts'
import { badValue } from '../machine.ts'
import { shown } from '../wire/fields/fields.ts'
import { fromHex } from '../wire/bytes.ts'

/** Longest id of a ticket, in bytes. */
export const TICKET_ID_MAX = 64
/** Most players of a session that were admitted by tickets. */
export const ENTRANTS_MAX = 1_024
/** Prefix of the id of an ID token; then come digests of its subject and of the token. */
export const LOGIN = 'login.'
/** Prefix of an invitation, where a ticket is expected. */
export const INVITATION = 'invite.'
export const SECRET_BYTES = 32
/** Most players that one invitation admits. */
export const INVITED_MAX = 256

/** The claims of a ticket with a valid signature and time. */
export interface Claims {
  /** The game and room; `room` is null for all rooms of the game. */
  game: string
  room: string | null
  /** The key of the only player that it admits; null for any bearer. */
  key: Uint8Array | null
  rights: number
  /** Unique id of the ticket. */
  id: string
  /** The number of players that it admits. */
  uses: number
  /** What the identity provider says of the player, if the ticket is an ID token. */
  login?: Readonly<Record<string, unknown>>
}

export const entrant = record({
  id: text(TICKET_ID_MAX),
  key: fixed(KEY_BYTES),
  rights: u8,
})
/** A player that was admitted by a ticket, and returns by its key. */
export type Entrant = ValueOf<typeof entrant>

// A ticket as text, and after it the key of the room, which the hub does not get:
// `<ticket>~<64 hexadecimal digits>`.

const BETWEEN = '~'
// Three parts in base64url (RFC 7515), or what `session.invite` makes, or nothing.
const SHAPE = /^([\w-]+\.[\w-]+\.[\w-]+|invite\.[0-9a-f]{64})?$/

/** Appends the key of a room to a ticket. @param key  in hexadecimal digits; null for none */
export function withKey(ticket: string, key: string | null): string {
  return key === null ? ticket : `${ticket}${BETWEEN}${key.toLowerCase()}`
}

/** Splits a ticket from the room key, which the hub must not get. @throws HoldfastError */
export function readTicket(given: unknown): { ticket: string; key: Uint8Array | null } {
  // Errors must not show the key.
  const [ticket = '', digits, ...more] = typeof given === 'string' ? given.split(BETWEEN) : []
  if (typeof given === 'string') {
    const key = digits === undefined ? null : fromHex(digits, KEY_BYTES)
    const isWhole = more.length === 0 && (digits === undefined || (key !== null && ticket !== ''))
    if (isWhole && ticket.length <= TICKET_MAX && SHAPE.test(ticket)) return { ticket, key }
  }
  const seen = shown(digits === undefined ? given : ticket)
  throw badValue(
    `ticket is what mintTicket, invite or a login gives, ${TICKET_MAX} characters at most: ${seen}`,
  )
}
