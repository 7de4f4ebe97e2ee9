/**
 * What lets somebody in, as text, and the key of the room behind it, which the hub does not get:
 * `<ticket>~<64 hexadecimal digits>`.
 */

import { TICKET_MAX } from './messages.ts'
import { badValue } from '../machine.ts'
import { KEY_BYTES } from '../ports.ts'
import { shown } from '../wire/fields.ts'
import { fromHex } from '../wire/hex.ts'

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
