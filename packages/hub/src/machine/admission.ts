/**
 * Admission: which rights a player has in a session. Anyone may play in rooms of an open game; a
 * ticket gives other rights and admits to a closed room. The hub signs its decision for the keys of
 * the player and of its links. Members trust nothing else.
 */

import { mayPlay, RIGHTS, termsSay } from '../../../holdfast/src/machine.ts'
import { fromHex, toHex } from '../../../holdfast/src/wire/bytes.ts'
import { digest, sameBytes } from '../../../holdfast/src/wire/digest.ts'
import {
  type Admission,
  admissionOf,
  type ToHub,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import {
  type Claims,
  type Entrant,
  ENTRANTS_MAX,
  INVITATION,
  INVITED_MAX,
  LOGIN,
  SECRET_BYTES,
} from '../../../holdfast/src/hub-protocol/tickets.ts'
import {
  entrantOf,
  type Invitation,
  INVITATIONS_MAX,
  type SessionRecord,
  rightsOf,
} from './records.ts'
import { type Add, type Place, placeOf, type Row } from './register.ts'
import type { Applicant, Call, Connection, Hub, HubOut, Ticketing } from './state.ts'

type Verdict = Entrance | { refused: string }
/** The rights, and the id of the ticket or invitation that gives them; '' for none. */
export interface Entrance {
  readonly rights: number
  readonly id: string
}

// The id under which the founder of a room by invitation is stored.
const FOUNDER = 'founder'

/** Decides. @param claims  of the ticket, or why it is invalid; null without a ticket */
export function decide(
  hub: Hub,
  row: SessionRecord | null,
  wish: Add,
  claims: Claims | string | null,
): Verdict {
  // An admitted player comes back by its key, whatever has become of its ticket.
  const known = row && entrantOf(row.entrants, wish.key)
  if (known) return known
  if (typeof claims === 'string') return { refused: claims }
  if (claims) return byTicket(row, wish, claims)
  if (isClosed(hub.tickets, wish.game)) return { refused: `rooms of ${wish.game} take a ticket` }
  return byInvitation(row, wish)
}

function byTicket(row: SessionRecord | null, wish: Add, claims: Claims): Verdict {
  const { game, room, key, rights, id, uses } = claims
  if (game !== wish.game || (room !== null && room !== wish.room)) {
    return { refused: `the ticket is for ${game}${room === null ? '' : `/${room}`}` }
  }
  if (key && !sameBytes(key, wish.key)) return { refused: 'the ticket is for another player' }
  const entrants = row?.entrants ?? []
  if (!key && entrants.filter((other) => other.id === id).length >= uses) {
    return { refused: uses === 1 ? 'the ticket was used' : `the ticket was used ${uses} times` }
  }
  const isFull = entrants.length >= ENTRANTS_MAX && !outdated(entrants, id)
  if (isFull) return { refused: `${ENTRANTS_MAX} tickets were used here` }
  return { rights, id }
}

// The founder needs no invitation, and is stored as an entrant to come back by its key.
function byInvitation(row: SessionRecord | null, { terms, ticket }: Add): Verdict {
  if (!row && ticket !== '') return { refused: 'the room that this invitation is for is over' }
  if (!row) return { rights: RIGHTS.play, id: isByInvitation(terms) ? FOUNDER : '' }
  if (!isByInvitation(row.entry.terms)) return { rights: RIGHTS.play, id: '' }
  const found = shown(row, ticket)
  if (!found)
    return { refused: ticket === '' ? 'this room is by invitation' : 'no such invitation' }
  if (isSpent(row, found)) return { refused: 'the invitation was used' }
  return { rights: found.rights, id: idOf(found) }
}

/** Most players of one login in a room, such as one for each device or browser. */
export const LOGINS_MAX = 8

/**
 * The entrant that gives its place to one with this id. Tickets stay used, but each login brings a
 * token of its own: the oldest of the same account goes, or in a full room of any account.
 */
function outdated(entrants: readonly Entrant[], id: string): Entrant | undefined {
  if (!id.startsWith(LOGIN)) return undefined
  const account = id.slice(0, id.lastIndexOf('.') + 1)
  const same = entrants.filter((one) => one.id.startsWith(account))
  if (same.length >= LOGINS_MAX) return same[0]
  if (entrants.length < ENTRANTS_MAX) return undefined
  return same[0] ?? entrants.find((one) => one.id.startsWith(LOGIN))
}

/** Admits a player. Rights from a ticket or an invitation are persisted. */
export function enroll(row: Row, key: Uint8Array, { rights, id }: Entrance): void {
  if (id === '' || entrantOf(row.entrants, key)) return
  const gone = outdated(row.entrants, id)
  if (gone) {
    row.entrants.splice(row.entrants.indexOf(gone), 1)
    row.unsaved = row.unsaved.filter((one) => one !== gone)
  }
  const entrant = { id, key, rights }
  row.entrants.push(entrant)
  row.unsaved.push(entrant)
}

/** Whether the player's entry is not persisted yet; its request waits until then. */
export function mustWait({ entrants, unsaved }: Row, key: Uint8Array): boolean {
  const entrant = entrantOf(entrants, key)
  return entrant !== undefined && unsaved.includes(entrant)
}

export function admissionFor(
  row: Row,
  { key, link }: Pick<Add, 'key' | 'link'>,
  out: HubOut,
): Admission {
  const given = rightsOf(row, key)
  const { session } = row.entry
  return { rights: given, signature: out.sign(admissionOf({ session, link, key, rights: given })) }
}

// Whether rooms of that game require a ticket. @param tickets  null: the hub reads none
function isClosed(tickets: Ticketing | null, game: string): boolean {
  return tickets !== null && (tickets.closed?.has(game) ?? true)
}

// The application may refuse players whom the hub would admit (`onJoin`). The question leaves
// through the sink and its verdict arrives as an event. Each stream has one open question at most,
// and an approved player is not asked about again on the same stream.

/** Asks the application if it must decide first. @returns false if the player may join now */
export function consult(
  { hub, connection, from, out }: Call,
  message: Add,
  claims: Claims | string | null,
  { rights, id, founding }: Entrance & { founding: boolean },
): boolean {
  const { game, room } = message
  const key = toHex(message.key)
  const who = whoIs(message, key)
  if (!hub.consults || from.approved === who) return false
  const open = from.pendingConsult
  // The player repeated its request before the verdict: the newest request is answered.
  if (open?.who === who) open.message = message
  else {
    from.pendingConsult = { who, message, claims }
    const address = from.account.place
    const login = typeof claims === 'string' ? null : (claims?.login ?? null)
    out.consult(connection, { game, room, key, rights, ticket: id, login, address, founding })
  }
  return true
}

/** Takes the application's verdict. @returns the question it answers; null if that is closed */
export function receiveVerdict(
  { from }: Call,
  about: Applicant,
  isWelcome: boolean,
): Connection['pendingConsult'] {
  const open = from.pendingConsult
  if (open?.who !== whoIs(about, about.key)) return null
  from.pendingConsult = null
  if (isWelcome) from.approved = open.who
  return open
}

function whoIs(place: Place, key: string): string {
  return `${placeOf(place)} ${key}`
}

// Rooms by invitation (SE-18): only players in the room invite, and only the invited join.
//
// The inviter draws a secret and sends the hub only its digest; the secret travels in the fragment
// of a link, which browsers send to no server. The secret admits like a ticket: once, or as many
// players as the invitation allows. The session's terms mark the room as invitation-only, which is
// all that the hub reads of them. An invitation is valid as long as its session exists.

/** Whether a session requires an invitation. @param terms  of the session */
export function isByInvitation(terms: string): boolean {
  return termsSay(terms, 'entry', 'invite')
}

// The id of the entrants that an invitation admitted.
function idOf({ digest: of }: Invitation): string {
  return `${INVITATION}${toHex(of)}`
}

// The invitation whose secret this is; null if the session has none such.
function shown({ invitations }: SessionRecord, ticket: string): Invitation | null {
  if (!ticket.startsWith(INVITATION)) return null
  const secret = fromHex(ticket.slice(INVITATION.length), SECRET_BYTES)
  if (!secret) return null
  const of = digest(secret)
  return invitations.find((one) => sameBytes(one.digest, of)) ?? null
}

function isSpent({ entrants }: SessionRecord, one: Invitation): boolean {
  const id = idOf(one)
  return entrants.filter((entrant) => entrant.id === id).length >= one.uses
}

/** Registers a member's invitation to its session, `row`; `waits` until it is persisted. */
export function invite(
  { tickets }: Pick<Hub, 'tickets'>,
  row: Row | null,
  inc: number,
  wish: ToHub & { kind: 'invite' },
): 'done' | 'waits' | { why: string } {
  const known = row?.invitations.find((one) => sameBytes(one.digest, wish.digest))
  if (row && known) return row.unsaved.includes(known) ? 'waits' : 'done'
  if (!row) return { why: 'you are in no room' }
  const why = isClosed(tickets, row.entry.game)
    ? `rooms of ${row.entry.game} admit by ticket only`
    : refusalOf(row, inc, wish)
  if (why !== '') return { why }
  const { digest: of, uses, rights } = wish
  const made = { digest: of, uses, rights }
  row.invitations = [...row.invitations.filter((one) => !isSpent(row, one)), made]
  row.unsaved.push(made)
  return 'waits'
}

function refusalOf(row: Row, inc: number, { uses, rights }: Invitation): string {
  const self = row.members.find((member) => member.inc === inc)
  if (!self) return 'you are in no room'
  if (!isByInvitation(row.entry.terms)) return 'anyone may join this room: it takes no invitations'
  if (!mayPlay(rightsOf(row, self.key))) return 'spectators cannot invite'
  if (uses < 1 || uses > INVITED_MAX) return `an invitation is for 1 to ${INVITED_MAX}: ${uses}`
  if (rights !== RIGHTS.play && rights !== RIGHTS.watch)
    return 'an invitation is to play or to watch'
  const open = row.invitations.filter((one) => !isSpent(row, one)).length
  return open < INVITATIONS_MAX ? '' : `${INVITATIONS_MAX} invitations of this room are open`
}
