/** The state of the hub, its sink, and how it sends messages. */

import type { Millis, PeerId } from '../../../holdfast/src/machine.ts'
import type { Closing } from '../../../holdfast/src/ports.ts'
import * as budgets from './budgets.ts'
import type { Account, Budgets, Buckets } from './budgets.ts'
import { defaults } from './limits.ts'
import {
  type Entry,
  type FromHub,
  fromHub,
  REASON_MAX,
  type ToHub,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import * as archive from './archive.ts'
import type { Archive, StoredRoom } from './archive.ts'
import type { Incoming } from '../../../holdfast/src/wire/chunks.ts'
import * as register from './register.ts'
import type { Add } from './register.ts'
import { encode } from '../../../holdfast/src/wire/layout.ts'
import { frameMessage } from '../../../holdfast/src/wire/relay.ts'
import type { Claims } from '../../../holdfast/src/hub-protocol/tickets.ts'

/** Tickets, as a hub takes them. */
export interface Ticketing {
  /** The games whose rooms nobody enters without one; null for all. */
  closed: ReadonlySet<string> | null
}

/** A player who wants in, as the application sees it. */
export interface Applicant {
  readonly game: string
  readonly room: string
  /** The public key of the player, in hexadecimal digits. It is proved to the primary, not here. */
  readonly key: string
  /** See RIGHTS. */
  readonly rights: number
  /** Of the ticket or the invitation by which they come; empty for none. */
  readonly ticket: string
  /** The address of the stream, as limits count it: an IPv4 address, or 64 bits of IPv6. */
  readonly address: string
  /** Whether they would open the room. */
  readonly founding: boolean
}

/** One stream. */
export interface Connection {
  /** The process sent HELLO in a version that we support. */
  greeted: boolean
  session: string
  /** The member for which the stream speaks, or 0. */
  inc: PeerId
  /** A newer stream speaks for its member, so it attaches as nobody any more. */
  isReplaced: boolean
  /** The session that the process found last: its primary and the process exchange KNOCKs. */
  foundSession: string
  /** Its request whose ticket is being read; null for none. */
  pendingAdd: Add | null
  /** The request that the application decides about; the player it approved, by place and key. */
  pendingConsult: { message: Add; readonly claims: Claims | string | null } | null
  approved: string
  /** Sessions that the process created. */
  created: number
  /** Of them, those whose disk or founder has still to come. */
  founded: Set<string>
  /** Of its address. */
  account: Account
  /** The token buckets of the stream itself. */
  buckets: Buckets
  /** A sheet of which pieces are still to come. */
  sheet: Incoming | null
  /** The session in which it has a seat, or ''. */
  seat: string
  /** When it last sent anything, and when it last made a request. */
  lastMessageAt: Millis
  lastRequestAt: Millis
  /** When each limit was last reported to it, by code. */
  reportedAt: Map<string, Millis>
}

/** The whole state of the hub. */
export interface Hub {
  /** The only games that sessions may have; null for any. */
  games: ReadonlySet<string> | null
  /** Null where nobody needs a ticket, and none is taken. */
  tickets: Ticketing | null
  /** The application decides too who comes in. */
  consults: boolean
  /** Rooms that are closed, by game and name: why, and until when. */
  closedRooms: Map<string, { why: string; until: Millis }>
  registers: register.Registers
  /** Rooms that outlive their members; and when they are looked through next. */
  archive: Archive
  archivedAt: Millis
  startedAt: Millis
  /** Differs after each start. */
  boot: number
  /** By which members check what it signs (Ed25519). */
  key: Uint8Array
  connections: Map<number, Connection>
  /** Streams that have not sent HELLO, and since when; oldest first. */
  mute: Map<number, Millis>
  /** The streams of attached members, by session. */
  attached: Map<string, Map<PeerId, number>>
  /** Members that were removed a moment ago, by `removedKey`; oldest first. */
  removed: Map<string, Removed>
  /** The request behind the change that the disk is to take, by session. */
  pendingRequests: Map<string, PendingRequest>
  /**
   * Requests that wait until the disk has answered, by session: the newest of a kind for each
   * stream.
   */
  waiting: Map<string, Waiting[]>
  /** Counts sessions that were created since the start. */
  created: number
  budgets: Budgets
  /** By session: when it was attended, and when it ends. */
  expiries: Map<string, SessionExpiry>
  /** Counts sessions that were known since the start. */
  serials: number
  listing: Listing
  /** When a stranger may have been silent for too long; Infinity if there is none. */
  sweepAt: Millis
  /** Not sooner than this sessions without members are looked for. */
  absentAt: Millis
  counters: typeof COUNTERS
}

/** When a session was attended, and the address that opened it. */
export interface SessionExpiry {
  /** Each session has a larger number than those before. */
  readonly serial: number
  /** The address that opened it, '' while that is not known. */
  founder: string
  /** Whether a member was attached at all. */
  attended: boolean
  /** Since when members are attached; null if none is. */
  since: Millis | null
  /** Since when none is. */
  awayAt: Millis
  /** How long members were attached before. */
  total: Millis
  /** When it ends, if nobody comes. */
  until: Millis
}

/** The rooms as lists have them. */
export interface Listing {
  /** When they were looked at last. */
  madeAt: Millis
  /** By game, '' for all of them, in the order of lists. */
  games: Map<string, Item[]>
  /** Pages that were asked for since, by game and cursor. */
  pages: Map<string, Page>
}

/** One room in a list. */
export interface Item {
  entry: Entry
  /** Players, or -1 where nobody answers. */
  rank: number
  /** Of those of one rank the older one comes first. */
  serial: number
}

/** A part of a list. */
export interface Page {
  items: readonly Item[]
  /** Where the next one begins; '' if this is the last. */
  next: string
}

/** Something happens at a hub: when, and where what it does goes. */
export interface Turn {
  readonly hub: Hub
  readonly now: Millis
  readonly out: HubOut
}

/** A hub at a moment. */
export type At = Omit<Turn, 'out'>

/** A message of a stream, by its number. */
export interface Call extends Turn {
  readonly connection: number
  readonly from: Connection
}

/** A member that is not in the newest list: for a while it still gets what others send it. */
export interface Removed {
  connection: number
  session: string
  inc: PeerId
  until: Millis
}

/** The key under which a removed member is kept. */
export function removedKey(session: string, inc: PeerId): string {
  return `${inc} ${session}`
}

/** A request that is answered once the disk has its change. */
export type PendingRequest =
  | { connection: number; kind: 'add'; message: Add; opened: Opening | null }
  | { connection: number; kind: 'change'; message: ToHub & { kind: 'change' } }

/** A room that may be opened again, with its next epoch. */
export interface Opening {
  readonly stored: StoredRoom
  readonly epoch: number
  /** The number of the member that opens it. */
  readonly inc: PeerId
}

/** A message that waits for the disk. */
export interface Waiting {
  connection: number
  message: ToHub
}

/** The counters of the hub, for its metrics. */
const COUNTERS = {
  relayed: 0,
  relayedBytes: 0,
  /** Relayed datagrams whose target is not attached. */
  astray: 0,
  /** Relayed datagrams dropped because their target's stream is behind. */
  congested: 0,
  malformed: 0,
  /** Replies, lists of members and answers from a member that may not send them. */
  forged: 0,
  /** Streams that were closed for too many messages (`flooding`), or for no HELLO (`mute`). */
  flooding: 0,
  mute: 0,
  changes: 0,
  /** Compare-and-sets that failed. */
  conflicts: 0,
  /** Takeovers that were not made because the primary answered. */
  vetoes: 0,
  /** Sessions and changes that were refused because the disk did not take them. */
  unkept: 0,
  /** Streams that were closed because their message made the hub's code throw. */
  thrown: 0,
  /** Sessions that ended because their members stayed away. */
  abandoned: 0,
}

/** What happens to a room: to its session, and to the players in it. */
export type RoomChange = {
  kind: 'founded' | 'moved' | 'ended' | 'joined' | 'left'
  session: string
  game: string
  room: string
  /** The number and the public key of the player; but for `joined` and `left`, who serves. */
  player: number
  key: Uint8Array
}

/** The sink of the hub. */
export interface HubOut {
  send(connection: number, bytes: Uint8Array): void
  /** Relays a datagram, unreliably: one that cannot leave at once is dropped. */
  relay(connection: number, from: PeerId, datagram: Uint8Array): void
  /** The same between a primary and a caller: its number, or 0 for the caller itself. */
  knock(connection: number, caller: number, datagram: Uint8Array): void
  /** Asks the application about somebody who may come in: `receiveVerdict` follows, once. */
  consult(connection: number, applicant: Applicant): void
  /** Asks what a ticket says: `receiveTicket` follows, once. */
  check(connection: number, ticket: string): void
  /** Signs with the hub's key. */
  sign(message: Uint8Array): Uint8Array
  /**
   * What is owed of this session must be written, all of it or nothing: `recordOf` and `changesOf`,
   * then `confirmWrite` or `failWrite`.
   */
  record(session: string): void
  /** What the disk has under that key; null for nothing, or what cannot be read. */
  read(key: string): Uint8Array | null
  close(connection: number, closing: Closing): void
  /** Something happened to a room. */
  roomChanged(event: RoomChange): void
}

/**
 * A hub that has read its disk.
 *
 * @param boot  a random number of 32 bits
 * @param key   by which members check what it signs
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
    archive: archive.create(),
    archivedAt: now,
    startedAt: now,
    boot,
    key,
    connections: new Map(),
    mute: new Map(),
    attached: new Map(),
    removed: new Map(),
    pendingRequests: new Map(),
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

/** The stream speaks in this turn; null if it is gone. */
export function callOf({ hub, now, out }: Turn, connection: number): Call | null {
  const from = hub.connections.get(connection)
  return from ? { hub, now, out, connection, from } : null
}

/** Whether a stream is that of its member in that session. */
export function isAttachedTo({ hub, connection, from }: Call, session: string): boolean {
  const { inc } = from
  if (inc === 0 || from.session !== session) return false
  return hub.attached.get(session)?.get(inc) === connection
}

/** The sink of the functions of register.ts. */
export function registerOut({ hub, out }: Turn): register.RegisterOut {
  return {
    record: (session) => out.record(session),
    send: (to, question) => {
      const stream = hub.attached.get(question.session)?.get(to)
      if (stream !== undefined) send(stream, question, out)
    },
  }
}

/** Sends a message to all attached members of a session. */
export function broadcast(
  { hub, out }: Turn,
  session: string,
  news: FromHub,
  but: PeerId = 0,
): void {
  // One message to many is encoded once.
  const bytes = frameMessage(encode(fromHub, news))
  for (const [inc, connection] of hub.attached.get(session) ?? []) {
    if (inc !== but) out.send(connection, bytes)
  }
}

/** Refuses a request, with the reason. */
export function refuse(connection: number, request: number, why: string, out: HubOut): void {
  send(connection, { kind: 'refused', request, why: cut(why) }, out)
}

/** Sends a message on one stream. */
export function send(connection: number, message: FromHub, out: HubOut): void {
  out.send(connection, frameMessage(encode(fromHub, message)))
}

// A reason may carry a sentence of the store, which names a file.
function cut(why: string): string {
  const bytes = new TextEncoder().encode(why)
  if (bytes.length <= REASON_MAX) return why
  // A character that the cut destroys becomes a replacement of three bytes.
  return new TextDecoder().decode(bytes.subarray(0, REASON_MAX - 3))
}
