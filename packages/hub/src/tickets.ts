/**
 * Tickets admit players to closed rooms, and let hosts serve. A ticket is a compact JWT, signed
 * with EdDSA (RFC 7519, RFC 8037) by a key of the application's backend:
 *
 *     { aud: "holdfast", game, room?, rights: ["play", "host"], key?, uses?, exp, jti }
 *
 * Without `room` it is for all rooms of the game, without `key` for any player that has it. `uses`
 * is how many players it then admits, by default one.
 *
 * An ID token of an identity provider is a ticket, too, for one player of any room of its games.
 */

import {
  type Claims,
  LOGIN,
  TICKET_ID_MAX,
  withKey,
} from '../../holdfast/src/hub-protocol/tickets.ts'
import { TICKET_MAX } from '../../holdfast/src/hub-protocol/messages.ts'
import * as jose from './drivers/jose.ts'
import { badValue, NAME_MAX, RIGHTS } from '../../holdfast/src/machine.ts'
import { KEY_BYTES } from '../../holdfast/src/ports.ts'
import { shown } from '../../holdfast/src/wire/fields/fields.ts'
import { fromHex, toHex } from '../../holdfast/src/wire/bytes.ts'
import { digest } from '../../holdfast/src/wire/digest.ts'
import { checkOptions, checkNameOf } from '../../holdfast/src/api/options.ts'
import type { TicketReader } from './server/hub-options.ts'

/** Most keys whose tickets a hub accepts. */
export const KEYS_MAX = 64
/** Most players that one ticket admits. */
export const USES_MAX = 1_000
const AUDIENCE = 'holdfast'

/** A key whose tickets the hub accepts, and for what. */
export interface TicketKey {
  /** The public key (Ed25519), in 64 hexadecimal digits. */
  key: string
  /** The games whose rooms its tickets open. Default: all. */
  games?: readonly string[]
  /** Whether only hosts need a ticket in rooms of these games, not players. Default false. */
  open?: boolean
}

/** An identity provider (OpenID Connect) whose ID tokens the hub accepts as tickets to play. */
export interface LoginProvider {
  /** What its tokens have as `iss`, such as `https://example.eu.auth0.com/`. */
  issuer: string
  /** What its tokens for your application have as `aud`: the client id. */
  audience: string
  /** The URL of its keys (JSON Web Key Set), https except on this machine. */
  jwks: string
  /** The games whose rooms its tokens open. Default: all. */
  games?: readonly string[]
  /** Whether players need no token in rooms of these games. Default false. */
  open?: boolean
}

/** The contents of a ticket. */
export interface TicketOptions {
  /** The game whose rooms it opens. */
  game: string
  /** The room it opens. Default: all rooms of the game. */
  room?: string
  /** Default `['play']`. `host` includes `play`; `watch` cannot be combined. */
  rights?: readonly ('play' | 'host' | 'watch')[]
  /** The public key, in hexadecimal, of the only player that it admits. */
  key?: string
  /** How many players it admits, 1 to 1,000. Default 1; with `key` always one. */
  uses?: number
  /** How long it admits players, in seconds; an admitted player stays. Default 3,600. */
  seconds?: number
  /**
   * The key of a room that is stored encrypted: see `keepRoom` of `join`. It travels behind the
   * ticket and stays with the joining player; the hub does not get it.
   */
  roomKey?: string
}

/** A key pair that signs tickets, in hexadecimal. */
export interface TicketKeys {
  /** The secret half, for your backend only. */
  secret: string
  /** The public half, for the hub. */
  key: string
}

const OPTIONS = ['game', 'room', 'rights', 'key', 'uses', 'seconds', 'roomKey'] as const
/** Longest time of a ticket: ten years. */
const SECONDS_MAX = 315_360_000

/** Generates a key pair that signs tickets. */
export async function newTicketKey(): Promise<TicketKeys> {
  const { secret, key } = await jose.generate()
  return { secret: toHex(secret), key: toHex(key) }
}

/** Signs a ticket. @throws HoldfastError `bad-value` */
export async function mintTicket(secret: string, options: TicketOptions): Promise<string> {
  checkOptions('mintTicket', options, OPTIONS)
  const { game, room, rights = ['play'], key, uses = 1, seconds = 3_600, roomKey } = options
  checkNameOf('game', game)
  if (room !== undefined) checkNameOf('room', room)
  if (key !== undefined) bytesOf('key', key)
  if (!areRights(rights))
    throw badValue(`rights are of play and host, or watch alone: ${shown(rights)}`)
  if (roomKey !== undefined) checkRoomKey(roomKey, rights)
  checkCount('uses', uses, USES_MAX)
  checkCount('seconds', seconds, SECONDS_MAX)
  const both = bytesOf('secret', secret, 2 * KEY_BYTES)
  const claims = { game, rights, ...(room !== undefined && { room }), ...(key && { key }), uses }
  const ticket = await jose.sign(both, { audience: AUDIENCE, seconds, claims })
  if (ticket.length <= TICKET_MAX) return withKey(ticket, roomKey ?? null)
  throw badValue(`a ticket has ${TICKET_MAX} characters at most: ${ticket.length}`)
}

// A spectator never opens a room.
function checkRoomKey(roomKey: string, rights: readonly string[]): void {
  bytesOf('roomKey', roomKey)
  if (rights.includes('watch')) throw badValue('a ticket to watch takes no roomKey')
}

/**
 * Reads tickets of these keys, and ID tokens of these providers.
 * @throws HoldfastError `bad-value` @returns null for no keys
 */
export function ticketReader(
  what: string,
  given: readonly (TicketKey | LoginProvider)[],
): TicketReader | null {
  const rows = checkKeys(what, given)
  if (rows.length === 0) return null
  const closing = rows.filter(({ open }) => !open)
  const closed = closing.some(({ games }) => games === null)
    ? null
    : new Set(closing.flatMap(({ games }) => [...games!]))
  return { closed, read: readerOf(rows) }
}

interface Row {
  readonly by: { readonly key: Uint8Array } | jose.Issuer
  /** Null for all. */
  readonly games: ReadonlySet<string> | null
  readonly open: boolean
}

function checkKeys(what: string, given: unknown): Row[] {
  if (!Array.isArray(given)) throw badValue(`${what} is a list of keys: ${shown(given)}`)
  if (given.length > KEYS_MAX) throw badValue(`${what}: ${KEYS_MAX} keys at most: ${given.length}`)
  const rows = given.map((one: TicketKey | LoginProvider, at) => checkKey(`${what}[${at}]`, one))
  const issuers = rows.map(({ by }) => ('issuer' in by ? by.issuer : null))
  const twice = issuers.find((one, at) => one !== null && issuers.indexOf(one) !== at)
  if (twice !== undefined) throw badValue(`${what} names the issuer ${shown(twice)} twice`)
  return rows
}

function checkKey(name: string, one: TicketKey | LoginProvider): Row {
  const isProvider = typeof one === 'object' && one !== null && 'issuer' in one
  const names = isProvider ? (['issuer', 'audience', 'jwks'] as const) : (['key'] as const)
  checkOptions(name, one, [...names, 'games', 'open'])
  const { games, open = false } = one
  if (typeof open !== 'boolean') throw badValue(`${name}.open is true or false: ${shown(open)}`)
  if (games !== undefined) {
    if (!Array.isArray(games)) throw badValue(`${name}.games is a list: ${shown(games)}`)
    for (const game of games as readonly string[]) checkNameOf(`${name}.games`, game)
  }
  const by = isProvider ? checkProvider(name, one) : { key: bytesOf(`${name}.key`, one.key) }
  return { by, games: games ? new Set(games) : null, open }
}

const ISSUER_MAX = 1_024

function checkProvider(name: string, { issuer, audience, jwks }: LoginProvider): jose.Issuer {
  for (const [word, text] of Object.entries({ issuer, audience, jwks })) {
    if (isText(text, ISSUER_MAX)) continue
    throw badValue(`${name}.${word} is a text of 1 to ${ISSUER_MAX} bytes: ${shown(text)}`)
  }
  const url = URL.canParse(jwks) ? new URL(jwks) : null
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '')
  // Whoever can alter the keys on their way could sign tokens.
  if (url?.protocol === 'https:' || (isHere && url?.protocol === 'http:')) {
    return { issuer, audience, jwks: url }
  }
  throw badValue(`${name}.jwks is a URL that begins with https: ${shown(jwks)}`)
}

const FOREIGN = 'the ticket is not signed by a key that this hub accepts'
const STRANGE = 'the ticket is malformed'
const FAULTS = {
  foreign: FOREIGN,
  strange: STRANGE,
  late: 'the ticket has expired',
  unreachable: 'the keys of the login provider cannot be fetched now: try again later',
}

function readerOf(rows: readonly Row[]): TicketReader['read'] {
  const readers = new Map<string, (token: string, game: string) => Promise<Claims>>()
  for (const row of rows) {
    if ('issuer' in row.by) readers.set(row.by.issuer, tokenReader(row.by, row.games))
  }
  const signers = rows.flatMap(({ by, games }) => ('key' in by ? [{ key: by.key, games }] : []))
  const verify = jose.verifier(
    signers.map(({ key }) => key),
    AUDIENCE,
  )
  return async (ticket, game) => {
    const issuer = readers.size > 0 ? await jose.issuerOf(ticket) : null
    const reader = issuer === null ? undefined : readers.get(issuer)
    if (reader) return reader(ticket, game)
    const read = await verify(ticket)
    if ('payload' in read) return claimsOf(read.payload, signers[read.by]!.games)
    throw new Error(FAULTS[read.fault])
  }
}

// A token admits one player to each room, who comes back by their key. The id has a digest of the
// subject, then one of what was signed, for the signature itself may have several forms.
function tokenReader(issuer: jose.Issuer, games: Row['games']) {
  const verify = jose.tokenVerifier(issuer)
  return async (token: string, game: string): Promise<Claims> => {
    const read = await verify(token)
    if ('fault' in read) throw new Error(FAULTS[read.fault])
    if (games && !games.has(game)) throw new Error(FOREIGN)
    const signed = token.slice(0, token.lastIndexOf('.'))
    const { payload: login } = read
    const subject = `${issuer.issuer} ${String(login['sub'])}`
    const id = `${LOGIN}${markOf(subject)}.${markOf(signed)}`
    return { game, room: null, key: null, rights: RIGHTS.play, id, uses: 1, login }
  }
}

const MARK_DIGITS = 24

function markOf(text: string): string {
  return toHex(digest(new TextEncoder().encode(text))).slice(0, MARK_DIGITS)
}

function claimsOf(payload: Record<string, unknown>, games: ReadonlySet<string> | null): Claims {
  const { game, room = null, key = null, rights, uses = 1, jti: id } = payload
  const fits = [
    isText(game, NAME_MAX),
    room === null || isText(room, NAME_MAX),
    key === null || fromHex(key, KEY_BYTES) !== null,
    areRights(rights),
    Number.isInteger(uses) && (uses as number) >= 1 && (uses as number) <= USES_MAX,
    isText(id, TICKET_ID_MAX),
  ]
  if (!fits.every(Boolean)) throw new Error(STRANGE)
  if (games && !games.has(game as string)) throw new Error(FOREIGN)
  return {
    game: game as string,
    room: room as string | null,
    key: fromHex(key, KEY_BYTES),
    rights: bitsOf(rights as readonly string[]),
    id: id as string,
    uses: uses as number,
  }
}

// The limit is in bytes: a longer text would not fit its record.
function isText(text: unknown, bytesMax: number): boolean {
  if (typeof text !== 'string' || text === '') return false
  return new TextEncoder().encode(text).length <= bytesMax
}

function areRights(rights: unknown): boolean {
  if (!Array.isArray(rights) || rights.length === 0) return false
  if (rights.every((one) => one === 'watch')) return true
  return rights.every((one) => one === 'play' || one === 'host')
}

function bitsOf(rights: readonly string[]): number {
  if (rights.includes('watch')) return RIGHTS.watch
  return RIGHTS.play | (rights.includes('host') ? RIGHTS.host : 0)
}

function checkCount(what: string, count: number, max: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= max) return
  throw badValue(`${what} is 1 to ${max}: ${shown(count)}`)
}

function bytesOf(what: string, text: unknown, bytes = KEY_BYTES): Uint8Array {
  const read = fromHex(text, bytes)
  if (read) return read
  // The invalid text may be most of a secret, so the error gives only its length.
  const found = typeof text === 'string' ? `${text.length}` : shown(text)
  throw badValue(`${what} has ${2 * bytes} hexadecimal digits: ${found}`)
}
