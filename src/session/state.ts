/**
 * What one process knows of its session.
 *
 * As in Dueling Teapots every process has both faces at once: a client, which sees only what
 * was told, and a server object, IDLE until it is called upon. The primary's own client is
 * told like any other, so there is one way for news to travel.
 */

import type * as commit from '../replication/log.ts'
import { create as createLog } from '../replication/log.ts'
import { assert, type Millis, type Out, type PeerId } from '../machine.ts'
import type { Register, ToHub, Topology, Why } from '../directory/messages.ts'
import type { Lease } from './lease.ts'
import * as durable from '../replication/durable.ts'
import type { Durable, PartState } from '../replication/durable.ts'
import type { PeerMessage, Recovered, View } from './messages.ts'
import type { Change, Delta, Gone, Member, MemberKind } from '../replication/layouts.ts'
import type { Incoming } from '../replication/chunks.ts'
import { isTrueOf, type Role, type RoleThat, type Trait as TraitOfRole } from './table.ts'
import { fingerprint } from '../wire/digest.ts'
import { create as createWatch, type HubContact, type FailureDetector } from './failure-detector.ts'

/** What waits in the log for the backup. */
export type Effect =
  | { kind: 'send'; to: PeerId; message: PeerMessage }
  | { kind: 'reply'; to: number; member: Member; lastSeq: number }
  | { kind: 'came'; member: Member }
  | { kind: 'went'; inc: PeerId; why: Gone }
  | { kind: 'broadcast'; news: PeerMessage & { kind: 'news' } }

/** A change of the register under way. */
export interface Attempt {
  why: Why
  expect: number
  primary: PeerId
  backup: PeerId
  /** It may have reached the hub, so its fate is the register's to tell. */
  sent: boolean
  /** When it was sent first. */
  sentAt: Millis
  /** The number of the newest request. */
  request: number
  /** When to ask again. */
  againAt: Millis
}

/** What the server object has in every role. */
interface Common {
  /** Of the register as this role knows it. */
  epoch: number
  durable: Durable
  log: commit.Log<Effect>
  /** What the members have been told of the view, by us; of who never led nobody. */
  publishedMv: number
  published: Map<PeerId, Member>
}

/** What whoever leads keeps from the first of its roles to the last. */
export interface Lead {
  /** Until when we may tell what we commit. */
  lease: Lease
  /** It was held when we looked last. */
  leased: boolean
  /** Candidates that did not answer, and until when they are passed over. */
  passedOver: Map<PeerId, Millis>
  /** How often each member was refreshed in the last second. */
  refreshed: Map<PeerId, { since: Millis; count: number }>
  /** Players without a member, and since when: their rows go when the grace ends (S-5). */
  absent: Map<number, Millis>
  /** When the members are looked over next. */
  roundAt: Millis
  /** Since when this process is the primary. */
  since: Millis
  /** Our own player is here anew: we give our role away and go. */
  yields: boolean
  /** The backup's acks have been late for so long that it was told. */
  slow: boolean
}

/** A snapshot that is coming in. */
interface Snapshot {
  from: PeerId
  epoch: number
  length: number
  pieces: Incoming
}

/** What who stands by has. */
interface Standby {
  /** Whose log this is. */
  primary: PeerId
  /** When the last ack was sent. */
  ackedAt: Millis
}

/** What who adds or drops a backup has. */
interface Changing {
  lead: Lead
  backup: PeerId
  attempt: Attempt
  /** Why the backup is to be removed from the session once the register has dropped it (S-3b). */
  removeAfterDrop: Gone | null
}

// What each role has of its own.
interface Own {
  idle: { incoming: Snapshot | null }
  sync: Standby & { incoming: Snapshot | null }
  backup: Standby
  taking: Standby & { attempt: Attempt }
  /** `candidate` is being brought up to date since then; 0 is nobody. */
  alone: { lead: Lead; candidate: PeerId; candidateSince: Millis }
  adding: Changing
  /**
   * Its acks have been late since `slowSince`, Infinity if they are not; it is given the role until
   * `handoverUntil` at most, null if it is not.
   */
  backedup: { lead: Lead; backup: PeerId; slowSince: Millis; handoverUntil: Millis | null }
  dropping: Changing
  handing: { lead: Lead; backup: PeerId; attempt: Attempt }
  /** Since when it asks, and whom the register named: they are gone. */
  recovering: { attempt: Attempt; since: Millis; heads: readonly PeerId[] }
  gathering: { lead: Lead } & Gathering
}

/** What a recovering primary hears. */
interface Gathering {
  until: Millis
  /** How far each member was told, and how many of its operations it had answers for. */
  answers: Map<PeerId, { index: number; settled: number }>
  /** Whose copy was asked for; 0 while nobody's is. */
  witness: PeerId
  copy: Incoming | null
  /** Primary and backup that are gone. */
  gone: Member[]
}

/** The server object in one role, or in one of several. */
export type ServerAs<Name extends Role> = {
  [Each in Name]: { role: Each } & Common & Own[Each]
}[Name]

/** The server object. */
export type Server = ServerAs<Role>

/** What a role begins with: its own, and of the rest what does not stay as it was. */
export type Beginning<Name extends Role> = Own[Name] & Partial<Common>

/** One operation that has no outcome yet. */
export interface Pending {
  seq: number
  part: number
  body: Uint8Array
  since: Millis
}

/** What the member as a client of its session knows. */
export interface Client {
  view: View
  /** Not heard of the primary for long. */
  lost: boolean
  /** When it was lost, or found again. */
  lostAt: Millis
  /** When we handed our own role over; -Infinity if we did not, or are led again. */
  handedAt: Millis
  /** Oldest first; at most OUTCOMES_MAX. */
  pending: Pending[]
  nextSeq: number
  /** When operations without outcome are sent again. */
  againAt: Millis
  /** The newest register that the hub told. */
  register: Register
  /** When the primary that it names is asked for its view; Infinity if we have that. */
  resyncAt: Millis
  /** When the hub is asked for the register again, should we need it. */
  askAt: Millis
  published: Published
  /** Players whose last member went, and when: they may come back, to whoever leads then. */
  former: Map<number, { resumeHash: Uint8Array; since: Millis }>
  /** Until then we have promised not to recover the session. */
  promisedUntil: Millis
  /** When we may ask to recover it again. */
  seekAt: Millis
}

/** What we were told of the durable state. */
export interface Published {
  /** How far in the log. */
  index: number
  /** Up to which operation of each player. */
  seqs: Map<number, number>
  /** What brings us up to date, until it is said how far: a copy is of one instant (T80). */
  coming: Change[]
  /** The link to the primary is new: news count only behind what brings us up to date. */
  waiting: boolean
  /** When that is asked for again. */
  askAt: Millis
}

/** Decisions on which what is told and who serves rest (RULES of rules.ts, or twisted ones). */
export interface SessionRules {
  /** How much of the log may be told of, in that role (T78). */
  safeLength(role: Role, log: commit.Log<Effect>): number
  /** Whether nobody can have recovered the session without us (T43). */
  mayTell(lease: Lease, now: Millis, others: Iterable<PeerId>): boolean
  /** Whether who is in that role may promise not to recover the session. */
  mayPromise(role: Role): boolean
  /** Whether a follower that holds so much of the log may be registered as backup (T38). */
  mayAdd(held: number, length: number): boolean
  /** Whether the role may go to a backup that lacks so many entries (T4). */
  mayHandOver(lacking: number): boolean
  /** Makes an entry of the log at the primary, or at who follows it (T80). */
  make(durable: Durable, delta: Delta, serves: boolean): void
  /** Asks the register for the change under way, which alone changes a role (T77). */
  seek(session: Session, now: Millis, out: SessionOut): void
}

/** All of it. */
export interface Session {
  id: string
  me: PeerId
  player: number
  /** 16 bytes; what is proved with it is in wire/digest. */
  secret: Uint8Array
  playersMax: number
  /** The game's types as text, and their fingerprint. */
  types: string
  schema: number
  /** A member may recover it when primary and backup are gone at once. */
  recovers: boolean
  /** Only Node processes serve or stand by. */
  hosts: boolean
  /** As the register has it, the same for all members. */
  topology: Topology
  /** What who opened it settled for all, as the register has it. */
  terms: string
  server: Server
  client: Client
  watches: Map<PeerId, FailureDetector>
  hub: HubContact
  requests: number
  /** Leaving: nothing new is begun. */
  leaving: boolean
  /** Since when one's own loop stands still again and again, Infinity if it does not; the last. */
  stalls: { since: Millis; last: Millis }
  rules: SessionRules
}

/** What an operation did, as the part on the primary says. */
export interface Performed {
  outcome: Uint8Array
  changes: Change[]
  /** What all members are told of it, once it is safe. */
  news: Change[]
}

/** What the session tells the layer above. */
export type SessionEvent =
  | { kind: 'view'; view: View; before: View | null; why: Gone | null }
  | { kind: 'role'; role: Role }
  | { kind: 'done'; seq: number; outcome: Uint8Array }
  /** We came back as somebody else: nobody can tell whether these were done. */
  | { kind: 'unknown'; seqs: number[] }
  /** The connection to the primary is lost, or is back. */
  | { kind: 'lost'; lost: boolean }
  /** All that there was before the news that come from now on is known: it was told, or is none. */
  | { kind: 'caught-up' }
  /** Primary and backup are gone for good: what they alone held is lost. */
  | { kind: 'abandoned' }
  /** We are not a member any more: come back with a new incarnation. */
  | { kind: 'removed'; why: string }
  /** As primary: the backup acks late and nobody is there to replace it, or it is well again. */
  | { kind: 'slow'; slow: boolean }
  /** As primary: what we commit may be told again, or not until the hub is heard again. */
  | { kind: 'leased'; leased: boolean }
  /** Primary and backup were gone at once, and the session goes on without what they alone knew. */
  | Recovered
  /** As primary: these members' state of all parts must be brought up to date. */
  | { kind: 'welcome'; to: readonly PeerId[] }

/** The session's sink. It is its own record: what it appends to the log is the record. */
export interface SessionOut extends Pick<Out<PeerMessage, never, SessionEvent>, 'send' | 'emit'> {
  /** To the hub, in order. */
  hub(message: ToHub): void
  /** All parts of this member. */
  readonly parts: Parts
}

/** The parts of a member as its session needs them: their durable state, and their news. */
export interface Parts {
  /** Runs an operation on the primary's state of a part, which it does not change yet. */
  perform(part: number, body: Uint8Array, by: Member): Performed | null
  /** Makes one change of a part's durable state. */
  change(change: Change): void
  /** The durable state of all parts. */
  collect(): PartState[]
  /** What we were told of the durable state of all parts, in the form of `collect`. */
  published(): PartState[]
  /** Replaces the durable state of all parts; false if one is missing or does not take its own. */
  restore(parts: PartState[]): boolean
  /** Whether a part needs a player who is away, by what we keep or were told of it (S-5). */
  keeps(player: number): boolean
  /** What a player may see of news of a part; the same bytes if that is all. */
  show(part: number, news: Uint8Array, player: number): Uint8Array
  /** News of a part for ourselves, from the primary. */
  news(part: number, from: PeerId, bytes: Uint8Array): void
}

/** What makes a session. */
export interface SessionOptions {
  /** 16 bytes that nobody can guess. */
  secret: Uint8Array
  playersMax: number
  /** The game's types, as text. */
  types: string
  recovers?: boolean
  hosts?: boolean
  rules: SessionRules
}

/** A process that is no member yet. */
export function create(now: Millis, options: SessionOptions): Session {
  return {
    id: '',
    me: 0,
    player: 0,
    secret: options.secret,
    playersMax: options.playersMax,
    types: options.types,
    schema: fingerprint(options.types),
    recovers: options.recovers ?? false,
    hosts: options.hosts ?? false,
    topology: 'star',
    terms: '',
    server: idleServer(),
    client: {
      view: { epoch: 0, mv: 0, primary: 0, backup: 0, members: [] },
      lost: false,
      lostAt: now,
      handedAt: -Infinity,
      pending: [],
      nextSeq: 1,
      againAt: Infinity,
      register: { epoch: 0, primary: 0, backup: 0 },
      resyncAt: Infinity,
      askAt: now,
      published: { index: 0, seqs: new Map(), coming: [], waiting: true, askAt: Infinity },
      former: new Map(),
      promisedUntil: -Infinity,
      seekAt: -Infinity,
    },
    watches: new Map(),
    hub: { up: false, since: now },
    requests: 0,
    leaving: false,
    stalls: { since: Infinity, last: -Infinity },
    rules: options.rules,
  }
}

/** A server object that nobody needs just now. */
export function idleServer(): ServerAs<'idle'> {
  return { role: 'idle', ...blank(), incoming: null }
}

/** What a server object has in common that knows nothing. */
export function blank(): Common {
  return {
    epoch: 0,
    durable: durable.create(),
    log: createLog(0),
    publishedMv: 0,
    published: new Map(),
  }
}

/** What who leads has in the beginning. */
export function createLead(since: Millis, lease: Lease): Lead {
  return {
    lease,
    leased: true,
    passedOver: new Map(),
    refreshed: new Map(),
    absent: new Map(),
    roundAt: since,
    since,
    yields: false,
    slow: false,
  }
}

/** Whether a member of that kind may serve or stand by. @param hosts  only Node processes may */
export function mayServe(kind: MemberKind, hosts: boolean): boolean {
  return hosts ? kind === 'node' : kind !== 'guest'
}

type In<Trait extends TraitOfRole> = Session & { server: ServerAs<RoleThat<Trait>> }

/** Whether that is true of the role in which this process is. */
export function is<Of extends TraitOfRole>(session: Session, trait: Of): session is In<Of> {
  return isTrueOf(session.server.role, trait)
}

/** Whether this process serves as the primary: it takes operations and tells the view. */
export function serves(session: Session): session is In<'serves'> {
  return is(session, 'serves')
}

/** What a process keeps as long as it leads. */
export function leadOf({ server }: Session): Lead {
  assert('lead' in server, `nobody leads as ${server.role}`)
  return server.lead
}

/** Whether it takes anything new: not while its role is on the way to the backup. */
export function takes(session: Session): session is In<'serves'> {
  const { server } = session
  return serves(session) && !(server.role === 'backedup' && server.handoverUntil !== null)
}

/** A peer's watch, begun anew: its rhythm changes with the role. */
export function watchAnew(session: Session, now: Millis, peer: PeerId): void {
  const relayed = session.watches.get(peer)?.relayed ?? true
  session.watches.set(peer, createWatch(now, relayed))
}

/** The next number for a request to the hub. */
export function nextRequest(session: Session): number {
  return ++session.requests
}
