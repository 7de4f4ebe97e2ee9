/**
 * Tickets: what lets a player into a closed room, or a host serve. A ticket is a JWT in the compact
 * form, signed with EdDSA (RFC 7519, RFC 8037) by a key of the application's own backend:
 *
 *     { aud: "holdfast", game, room?, rights: ["play", "host"], key?, uses?, exp, jti }
 *
 * `room` is left out for all rooms of the game, `key` for whoever has the ticket; `uses` is how
 * many players then come in by it, one where it is left out.
 */

import type { Claims } from '../directory/tickets.ts'
import { TICKET_MAX } from '../directory/messages.ts'
import { TICKET_ID_MAX } from '../directory/records.ts'
import * as jose from '../drivers/crypto/jose.ts'
import { badValue, NAME_MAX, RIGHTS } from '../machine.ts'
import { KEY_BYTES } from '../ports.ts'
import { shown } from '../wire/fields.ts'
import { isName } from '../wire/plain.ts'
import { checkOptions } from '../runtime/options.ts'
import type { TicketReader } from '../runtime/hub/hub-server.ts'

/** Most keys whose tickets a hub takes. */
export const KEYS_MAX = 64
/** Most players that come in by one ticket. */
export const USES_MAX = 1_000
const AUDIENCE = 'holdfast'

/** What a key may sign for. */
export interface TicketKey {
  /** The public key (Ed25519), in 64 hexadecimal digits. */
  key: string
  /** The games whose rooms its tickets open; left out for all. */
  games?: readonly string[]
  /**
   * Whether players come into rooms of these games without a ticket, which only hosts then need.
   * Default false.
   */
  open?: boolean
}

/** What a ticket is to say. */
export interface TicketOptions {
  /** Whose rooms it opens. */
  game: string
  /** Left out: all rooms of the game. */
  room?: string
  /** Default `['play']`. Who may host may play. */
  rights?: readonly ('play' | 'host')[]
  /** The only player that it lets in, by its public key in hexadecimal digits. */
  key?: string
  /** How many players come in by it, 1 to 1,000. Default 1; where a key is given it is one. */
  uses?: number
  /** How long one may come in by it, in seconds; who came in stays. Default 3,600. */
  seconds?: number
}

/** The two halves of a key that signs tickets, in hexadecimal digits. */
export interface TicketKeys {
  /** What signs; for your backend alone. */
  secret: string
  /** What a hub is given. */
  key: string
}

const OPTIONS = ['game', 'room', 'rights', 'key', 'uses', 'seconds'] as const
/** Longest time of a ticket: ten years. */
const SECONDS_MAX = 315_360_000

/** A new key that signs tickets. */
export async function newTicketKey(): Promise<TicketKeys> {
  const { secret, key } = await jose.generate()
  return { secret: toHex(secret), key: toHex(key) }
}

/** Signs a ticket. @throws HoldfastError `bad-value` */
export async function mintTicket(secret: string, options: TicketOptions): Promise<string> {
  checkOptions('mintTicket', options, OPTIONS)
  const { game, room, rights = ['play'], key, uses = 1, seconds = 3_600 } = options
  checkPlace('game', game)
  if (room !== undefined) checkPlace('room', room)
  if (key !== undefined) bytesOf('key', key)
  const isRight = (one: unknown): boolean => one === 'play' || one === 'host'
  if (!Array.isArray(rights) || rights.length === 0 || !rights.every(isRight)) {
    throw badValue(`rights are of play and host: ${shown(rights)}`)
  }
  checkCount('uses', uses, USES_MAX)
  checkCount('seconds', seconds, SECONDS_MAX)
  const both = bytesOf('secret', secret, 2 * KEY_BYTES)
  const claims = { game, rights, ...(room !== undefined && { room }), ...(key && { key }), uses }
  const ticket = await jose.sign(both, { audience: AUDIENCE, seconds, claims })
  if (ticket.length <= TICKET_MAX) return ticket
  throw badValue(`a ticket has ${TICKET_MAX} characters at most: ${ticket.length}`)
}

/** Takes tickets of these keys. @throws HoldfastError `bad-value` @returns null for no keys */
export function ticketReader(what: string, keys: readonly TicketKey[]): TicketReader | null {
  const rows = checkKeys(what, keys)
  if (rows.length === 0) return null
  const closing = rows.filter(({ open }) => !open)
  const closed = closing.some(({ games }) => games === null)
    ? null
    : new Set(closing.flatMap(({ games }) => [...games!]))
  return { closed, read: (ticket) => readTicket(rows, ticket) }
}

interface Row {
  readonly key: Uint8Array
  /** Null for all. */
  readonly games: ReadonlySet<string> | null
  readonly open: boolean
}

function checkKeys(what: string, keys: unknown): Row[] {
  if (!Array.isArray(keys)) throw badValue(`${what} is a list of keys: ${shown(keys)}`)
  if (keys.length > KEYS_MAX) throw badValue(`${what}: ${KEYS_MAX} keys at most: ${keys.length}`)
  return keys.map((one: TicketKey, at) => {
    const name = `${what}[${at}]`
    checkOptions(name, one, ['key', 'games', 'open'])
    const { key, games, open = false } = one
    if (typeof open !== 'boolean') throw badValue(`${name}.open is true or false: ${shown(open)}`)
    if (games !== undefined) {
      if (!Array.isArray(games)) throw badValue(`${name}.games is a list: ${shown(games)}`)
      for (const game of games as readonly string[]) checkPlace(`${name}.games`, game)
    }
    return { key: bytesOf(`${name}.key`, key), games: games ? new Set(games) : null, open }
  })
}

const FOREIGN = 'the ticket is signed by no key that this hub takes'
const STRANGE = 'the ticket says what no ticket says'

async function readTicket(rows: readonly Row[], ticket: string): Promise<Claims> {
  for (const { key, games } of rows) {
    const read = await jose.verify(key, AUDIENCE, ticket)
    if ('payload' in read) return claimsOf(read.payload, games)
    if (read.fault === 'late') throw new Error('the time of the ticket is over')
    if (read.fault === 'strange') throw new Error(STRANGE)
  }
  throw new Error(FOREIGN)
}

function claimsOf(said: Record<string, unknown>, games: ReadonlySet<string> | null): Claims {
  const { game, room = null, key = null, rights, uses = 1, jti: id } = said
  const isText = (text: unknown, max: number): text is string =>
    typeof text === 'string' && text.length >= 1 && text.length <= max
  const fits = [
    isText(game, NAME_MAX),
    room === null || isText(room, NAME_MAX),
    key === null || (isText(key, 2 * KEY_BYTES) && isHex(key, KEY_BYTES)),
    Array.isArray(rights) && rights.length > 0,
    Number.isInteger(uses) && (uses as number) >= 1 && (uses as number) <= USES_MAX,
    isText(id, TICKET_ID_MAX),
  ]
  if (!fits.every(Boolean)) throw new Error(STRANGE)
  if (games && !games.has(game as string)) throw new Error(FOREIGN)
  return {
    game: game as string,
    room: room as string | null,
    key: key === null ? null : fromHex(key as string),
    rights: RIGHTS.play | ((rights as unknown[]).includes('host') ? RIGHTS.host : 0),
    id: id as string,
    uses: uses as number,
  }
}

function checkPlace(what: string, name: unknown): void {
  const isOne = typeof name === 'string' && name !== '' && isName(name)
  if (isOne && new TextEncoder().encode(name).length <= NAME_MAX) return
  throw badValue(`${what} has 1 to ${NAME_MAX} bytes and no control characters: ${shown(name)}`)
}

function checkCount(what: string, count: number, max: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= max) return
  throw badValue(`${what} is 1 to ${max}: ${shown(count)}`)
}

function isHex(text: string, bytes: number): boolean {
  return text.length === 2 * bytes && /^[\da-f]+$/i.test(text)
}

function bytesOf(what: string, text: unknown, bytes = KEY_BYTES): Uint8Array {
  if (typeof text === 'string' && isHex(text, bytes)) return fromHex(text)
  // What is wrong may be most of a secret.
  const found = typeof text === 'string' ? `${text.length}` : shown(text)
  throw badValue(`${what} has ${2 * bytes} hexadecimal digits: ${found}`)
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g)!, (pair) => Number.parseInt(pair, 16))
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
