/** The state of the hub, its sink, and functions to send messages. */

import type { Millis, PeerId } from '../../../holdfast/src/machine.ts'
import type { Closing, StoreChange } from '../../../holdfast/src/ports.ts'
import * as budgets from './budgets.ts'
import type { Account, Budgets, Buckets } from './budgets.ts'
import { defaults } from './limits.ts'
import {
  type Entry,
  type FromHub,
  fromHub,
  type FromHubOf,
  REASON_MAX,
  type ToHub,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import * as archive from './archive.ts'
import type { Archive, StoredRoom } from './archive.ts'
import type { Incoming } from '../../../holdfast/src/wire/chunks.ts'
import type { SessionRecord } from './records.ts'
import * as register from './register.ts'
import type { Add, Place } from './register.ts'
import { encode } from '../../../holdfast/src/wire/layout.ts'
import type { Relayed } from './relayed-pairs.ts'
import { frameMessage } from '../../../holdfast/src/wire/relay.ts'
import { clipped } from '../../../holdfast/src/wire/text/plain.ts'
import type { Claims } from '../../../holdfast/src/hub-protocol/tickets.ts'

/** The hub's ticket policy. */
export interface Ticketing {
  /** The games whose rooms require a ticket; null for all. */
  closed: ReadonlySet<string> | null
}

/** A player who wants to join, as the application sees it. */
export interface Applicant {
  readonly game: string
  readonly room: string
  /** The player's public key, in hexadecimal. It is proved to the primary, not to the hub. */
  readonly key: string
  /** See RIGHTS. */
  readonly rights: number
  /** The id of their ticket or invitation; empty for none. */
  readonly ticket: string
  /** What their identity provider says of them; null without. */
  readonly login: Readonly<Record<string, unknown>> | null
  /** The stream's address as limits count it: an IPv4 address, or 64 bits of IPv6. */
  readonly address: string
  readonly founding: boolean
}

export interface Connection {
  /** Whether it sent HELLO in a supported version, and the version as HELLO has it. */
  greeted: boolean
  version: number
  /** Whether another hub passed it on to this one. */
  readonly isPassed: boolean
  /** Null while it is not passed on. */
  passed: Passed | null
  session: string
  /** The member that the stream speaks for, or 0. */
  inc: PeerId
  /** Whether a newer stream took its member's place: it may not attach again. */
  isReplaced: boolean
  /** The session found last, with whose primary the process exchanges KNOCKs. */
  foundSession: string
  /** The request whose ticket is being read; null for none. */
  pendingAdd: Add | null
  /** The request whose ticket was read last, with its claims or why it is invalid. */
  readTicket: { message: Add; claims: Claims | string | null } | null
  /** The request that the application decides about, of the applicant `who`: place and key. */
  pendingConsult: { who: string; message: Add; claims: Claims | string | null } | null
  /** The applicant that the application approved; '' for none. */
  approved: string
  /** The player, in its session, that got credentials of TURN servers last; '' for none. */
  served: string
  created: number
  /** Their ids; those that no member attended end with this stream. */
  founded: Set<string>
  account: Account
  buckets: Buckets
  /** A segment with missing pieces. */
  segment: Incoming | null
  /** The session in which it has a seat; '' for none. */
  seat: string
  /** When it last sent a message, and when it last made a request. */
  lastMessageAt: Millis
  lastRequestAt: Millis
  /** When each exceeded limit was last reported to it, by code. */
  reportedAt: Map<string, Millis>
  relayed: Relayed
}

/** A stream that this hub passes on to another one (passing.ts). */
export interface Passed {
  /** That hub, by its `boot`, and the place for which it got the stream. */
  readonly to: number
  readonly place: string
  /** The member that asked to be attached last; 0 for none. */
  inc: PeerId
  /** The newest request that the other hub has not answered. */
  request: Routed | null
}

/** A request about one room. */
export type Routed = ToHub & { kind: 'add' | 'get' | 'change' | 'attach' }

export interface Hub {
  /** The only games that are allowed; null for any. */
  games: ReadonlySet<string> | null
  /** Null: tickets are neither needed nor accepted. */
  tickets: Ticketing | null
  /** Whether the application decides about joins as well. */
  consults: boolean
  /** Closed rooms, by `placeOf`: the reason, and until when. */
  closedRooms: Map<string, { why: string; until: Millis }>
  registers: register.Registers
  /** The records of places, by `placeOf`, and the number of their writes since the start. */
  places: Map<string, PlaceState>
  writes: number
  /** Sessions on their way to another place. */
  moves: Map<string, Move>
  /** Persisted rooms, and when they are swept next. */
  archive: Archive
  archivedAt: Millis
  /** Null if no other hub has this store. */
  heartbeat: Heartbeat | null
  /** `fails`: writes fail or take too long. `answers`: what streams were told last. */
  readonly store: { fails: boolean; answers: boolean }
  /** Places of other hubs, by `placeOf`, and those of their sessions. */
  elsewhere: Map<string, Elsewhere>
  sessionsElsewhere: Map<string, string>
  /** Sessions that this hub does not know, and until when requests about them wait for news. */
  lookups: Map<string, Millis>
  /** Claims in progress, by session, and the session that is claimed at a place. */
  claims: Map<string, Claim>
  claimedPlaces: Map<string, string>
  /** Random; differs after each start. */
  boot: number
  /** The public key of its signatures (Ed25519). */
  key: Uint8Array
  connections: Map<number, Connection>
  /** Streams that have not sent HELLO, and when they opened; oldest first. */
  mute: Map<number, Millis>
  /** The streams of attached members, by session. */
  attached: Map<string, Map<PeerId, number>>
  /** Recently removed members, by `removedKey`; oldest first. */
  removed: Map<string, Removed>
  /** The request behind a pending change, by session. */
  pendingRequests: Map<string, PendingRequest>
  /** The places whose records are being loaded. */
  loads: Set<string>
  /** Requests that wait for stored segments, by the number of the read. */
  pendingReads: Map<number, PendingRead>
  /** Reads since the start. */
  reads: number
  /** Requests that wait for a write, by place: the newest of a kind for each stream. */
  waiting: Map<string, Waiting[]>
  /** Sessions created since the start. */
  created: number
  budgets: Budgets
  expiries: Map<string, SessionExpiry>
  /** Sessions known since the start. */
  serials: number
  listing: Listing
  /** When a non-member may have been silent for too long; Infinity if there is none. */
  sweepAt: Millis
  /** When sessions without members are swept next. */
  absentAt: Millis
  counters: typeof COUNTERS
}

/** The record of a place. */
export interface PlaceRecord {
  /** The process that wrote it, by its `boot`, and the number of that write. */
  readonly boot: number
  readonly write: number
  /** Whether the session lasts. */
  readonly lasts: boolean
  readonly session: SessionRecord
  /** The stored room; null if it is not stored. */
  readonly stored: Omit<StoredRoom, 'session'> | null
}

/** One place, as this hub knows its record. */
export interface PlaceState {
  /** The revision of the record; 0 for none. */
  rev: number
  writing: Writing | null
}

/** A change in progress. */
export interface Writing {
  readonly change: StoreChange
  /** The session that it contains, in progress or stored; null for none. */
  readonly session: string | null
  /** Whether it is a write of that session's move, or claims the place. */
  readonly kind: 'session' | 'move' | 'claim'
}

/** A place whose session another hub tends or tended. */
export interface Elsewhere {
  readonly entry: Entry
  /** That hub, by its `boot`. */
  readonly tender: number
  /** The revision of the record. */
  readonly rev: number
  /** As of SessionExpiry. */
  readonly serial: number
}

/** The places of a session that is being claimed, by `placeOf`. */
export interface Claim {
  readonly session: string
  readonly places: Map<string, Claimed>
}

export interface Claimed {
  /** Null before it was read, and if the session is not there. */
  record: PlaceRecord | null
  rev: number
  /** `waits` for the write of the other place. */
  state: 'reads' | 'none' | 'waits' | 'writes' | 'made'
}

/** This hub's heartbeat, and those of the other hubs of its store (heartbeat.ts). */
export interface Heartbeat {
  /** The revision of this hub's record; 0 before the first heartbeat and after it has left. */
  rev: number
  /** Heartbeats since the start. */
  beats: number
  /** When the one in progress was requested; null for none. */
  requestedAt: Millis | null
  /** The change in progress. */
  change: StoreChange | null
  /** When the newest acknowledged one was requested; the start before that. */
  ackedAt: Millis
  dueAt: Millis
  isFenced: boolean
  isLeaving: boolean
  /** The other hubs, by `boot`. */
  hubs: Map<number, OtherHub>
  /** Places whose write waits for the first heartbeat. */
  deferred: Set<string>
}

/** Another hub of the store. */
export interface OtherHub {
  /** The revision of its record; 0 before it was read. */
  rev: number
  /** Since when that was seen, in reads without gaps. */
  since: Millis
  readAt: Millis
  /** Whether a stream to that hub has failed since then. */
  isSuspect: boolean
  /** The revision that was seen for so long that it is to be removed; 0 for none. */
  stillRev: number
  /** When its record was found removed; Infinity before. */
  goneAt: Millis
}

/** A move of a session (moves.ts). */
export interface Move {
  readonly from: string
  readonly to: Place
  /** Whether the record of the new place is written. */
  isWritten: boolean
  /** The request that waits for it; null for none. */
  asked: { connection: number; message: Add } | null
}

/** When members were attached to a session, and who founded it. */
export interface SessionExpiry {
  /** Larger than that of each session before. */
  readonly serial: number
  /** The address that founded it; '' while unknown. */
  founder: string
  /** Whether a member was ever attached. */
  attended: boolean
  /** Since when members have been attached; null if none is. */
  since: Millis | null
  /** Since when none has been. */
  awayAt: Millis
  /** How long members were attached before, in all. */
  total: Millis
  /** When it ends if no member attaches. */
  until: Millis
}

/** A snapshot of the list of rooms. */
export interface Listing {
  madeAt: Millis
  /** Rooms by game, '' for all games, in list order. */
  games: Map<string, Item[]>
  /** Pages requested since, by game and cursor. */
  pages: Map<string, Page>
}

export interface Item {
  entry: Entry
  /** Number of players, or -1 if the room is unreachable. */
  rank: number
  /** Of equal ranks the lower serial comes first. */
  serial: number
}

export interface Page {
  items: readonly Item[]
  /** The cursor of the next page; '' if this is the last. */
  next: string
}

/** One event at a hub: its time, and the sink of its effects. */
export interface Turn {
  readonly hub: Hub
  readonly now: Millis
  readonly out: HubOut
}

export type At = Omit<Turn, 'out'>

/** One event of a stream, by its number. */
export interface Call extends Turn {
  readonly connection: number
  readonly from: Connection
}

/** A member that the newest list lacks: for a while it still receives datagrams. */
export interface Removed {
  connection: number
  session: string
  inc: PeerId
  until: Millis
}

export function removedKey(session: string, inc: PeerId): string {
  return `${inc} ${session}`
}

/** A request that is answered once its change is persisted. */
export type PendingRequest =
  | { connection: number; kind: 'add'; message: Add; opened: Opening | null }
  | { connection: number; kind: 'change'; message: ToHub & { kind: 'change' } }

/** A request that is answered once the segments of that session's room are read. */
export interface PendingRead {
  readonly session: string
  readonly asked: PendingRequest
}

/** A stored room that may be reopened, with its next epoch. */
export interface Opening {
  readonly stored: StoredRoom
  readonly epoch: number
  /** The number of the opening member. */
  readonly inc: PeerId
}

/** A request that waits for a write. */
export interface Waiting {
  connection: number
  message: ToHub
}

const COUNTERS = {
  relayed: 0,
  relayedBytes: 0,
  /** Relayed datagrams whose target is not attached. */
  astray: 0,
  /** Relayed datagrams dropped because their target's stream is behind. */
  congested: 0,
  malformed: 0,
  /** Messages from a sender without the role that they require. */
  forged: 0,
  /** Streams closed for too many messages (`flooding`), or for no HELLO (`mute`). */
  flooding: 0,
  mute: 0,
  changes: 0,
  /** Compare-and-sets that failed. */
  conflicts: 0,
  /** Takeovers that the primary vetoed. */
  vetoes: 0,
  /** Sessions and changes refused because their write failed. */
  unkept: 0,
  /** Writes that lost against another hub. */
  lost: 0,
  /** Times another hub fenced this one, which started over. */
  fenced: 0,
  /** Streams closed because their message made the hub's code throw. */
  thrown: 0,
  /** Sessions that ended while their members stayed away. */
  abandoned: 0,
}

/** A change of a room: of its session, or of its players. */
export type RoomChange = {
  kind: 'founded' | 'moved' | 'ended' | 'joined' | 'left'
  session: string
  game: string
  room: string
  /** The player who joined or left, else the primary: number and public key. */
  player: number
  key: Uint8Array
}

export interface HubOut {
  send(connection: number, bytes: Uint8Array): void
  /** Relays a datagram, unreliably: one that cannot leave at once is dropped. */
  relay(connection: number, from: PeerId, datagram: Uint8Array): void
  /** The same between a primary and a caller: the caller's number, or 0 for the caller itself. */
  knock(connection: number, caller: number, datagram: Uint8Array): void
  /** Asks the application about an applicant: `receiveVerdict` follows, once. */
  consult(connection: number, applicant: Applicant): void
  /** Reads a ticket: `receiveTicket` follows, once. */
  check(connection: number, ticket: string, game: string): void
  sign(message: Uint8Array): Uint8Array
  /** The STUN and TURN servers, with credentials for that player; left out if there are none. */
  servers?(player: string): Omit<FromHubOf<'ice'>, 'kind' | 'session'>
  /**
   * Requests a write of this place's record: `beginWrite`, then `confirmWrite`, `failWrite` or
   * `settleWrite`.
   */
  record(place: string): void
  /** Passes a message of a stream on to another hub, which answers by `receivePassed`. */
  pass(connection: number, to: number, bytes: Uint8Array): void
  /** The stream is no longer passed on. */
  unpass(connection: number): void
  /** Reads the record of a place: `receiveRecord` follows, once. */
  load(place: string): void
  /** Reads segments of a stored room: `receiveSegments` follows with that number, once. */
  read(read: number, place: string, names: readonly string[]): void
  close(connection: number, closing: Closing): void
  /** The last write of a stored room was made, or not: then the reason, else ''. */
  roomStored?(session: string, why: string): void
  roomChanged(event: RoomChange): void
}

/**
 * A hub without sessions; `restore` follows.
 *
 * @param boot  a random number of 32 bits
 * @param key   the public key of its signatures
 */
export function create(
  now: Millis,
  boot: number,
  key: Uint8Array,
  games: ReadonlySet<string> | null = null,
  spent: Budgets = budgets.create(defaults()),
): Hub {
  return {
    games,
    tickets: null,
    consults: false,
    closedRooms: new Map(),
    registers: register.create(now),
    places: new Map(),
    writes: 0,
    moves: new Map(),
    archive: archive.create(),
    archivedAt: now,
    heartbeat: null,
    store: { fails: false, answers: true },
    elsewhere: new Map(),
    sessionsElsewhere: new Map(),
    lookups: new Map(),
    claims: new Map(),
    claimedPlaces: new Map(),
    boot,
    key,
    connections: new Map(),
    mute: new Map(),
    attached: new Map(),
    removed: new Map(),
    pendingRequests: new Map(),
    loads: new Set(),
    pendingReads: new Map(),
    reads: 0,
    waiting: new Map(),
    created: 0,
    budgets: spent,
    expiries: new Map(),
    serials: 0,
    listing: { madeAt: -Infinity, games: new Map(), pages: new Map() },
    sweepAt: Infinity,
    absentAt: now,
    counters: { ...COUNTERS },
  }
}

/** This turn as an event of a stream; null if the stream is gone. */
export function callOf({ hub, now, out }: Turn, connection: number): Call | null {
  const from = hub.connections.get(connection)
  return from ? { hub, now, out, connection, from } : null
}

/** Whether a stream is attached to its member in that session. */
export function isAttachedTo({ hub, connection, from }: Call, session: string): boolean {
  const { inc } = from
  if (inc === 0 || from.session !== session) return false
  return hub.attached.get(session)?.get(inc) === connection
}

/** The sink for register.ts. */
export function registerOut({ hub, out }: Turn): register.RegisterOut {
  return {
    record: (place) => out.record(place),
    send: (to, question) => {
      const stream = hub.attached.get(question.session)?.get(to)
      if (stream !== undefined) send(stream, question, out)
    },
  }
}

/** Sends a message to all attached members of a session except `but`. */
export function broadcast(
  { hub, out }: Turn,
  session: string,
  news: FromHub,
  but: PeerId = 0,
): void {
  // Encoded once for all.
  const bytes = frameMessage(encode(fromHub, news))
  for (const [inc, connection] of hub.attached.get(session) ?? []) {
    if (inc !== but) out.send(connection, bytes)
  }
}

/** Closes the stream of a member whose room another hub has. */
export const MOVED: Closing = {
  kind: 'full',
  why: 'another hub has this room by now: join again',
}

/** Reads a record of the store, unless that is in progress: `receiveRecord` follows. */
export function load({ hub, out }: Pick<Turn, 'hub' | 'out'>, key: string): void {
  if (!hub.loads.has(key)) out.load(key)
  hub.loads.add(key)
}

/** Refuses a request. @param why  may contain an error of the store, which names a file */
export function refuse(connection: number, request: number, why: string, out: HubOut): void {
  send(connection, { kind: 'refused', request, why: clipped(why, REASON_MAX) }, out)
}

export function send(connection: number, message: FromHub, out: HubOut): void {
  out.send(connection, frameMessage(encode(fromHub, message)))
}

// Requests that wait for a write of a place; of each kind only the newest of a stream.

/** Defers a request until the write is over. */
export function wait({ hub, connection }: Call, place: Place, message: ToHub): void {
  const key = register.placeOf(place)
  const others = (hub.waiting.get(key) ?? []).filter((other) => {
    return other.connection !== connection || other.message.kind !== message.kind
  })
  hub.waiting.set(key, [...others, { connection, message }])
}

/** Forgets the requests of a stream that is gone. */
export function waitNoMore({ waiting }: Hub, connection: number): void {
  for (const [key, all] of waiting) {
    const others = all.filter((other) => other.connection !== connection)
    if (others.length === 0) waiting.delete(key)
    else if (others.length < all.length) waiting.set(key, others)
  }
}

/** Defers a request that was made before those that wait: a newer one of its kind replaces it. */
export function waitAgain(hub: Hub, place: string, { connection, message }: Waiting): void {
  const waiting = hub.waiting.get(place) ?? []
  const isNewer = waiting.some((other) => {
    return other.connection === connection && other.message.kind === message.kind
  })
  if (!isNewer) hub.waiting.set(place, [{ connection, message }, ...waiting])
}
