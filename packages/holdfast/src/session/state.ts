/**
 * All that one process knows of its session.
 *
 * As in Dueling Teapots every process is two things at once: a client, which sees only published
 * state, and a server object, IDLE until it is needed. The primary publishes to its own client as
 * to any other, so there is one path for all changes.
 */

import type * as commit from '../replication/log.ts'
import { create as createLog } from '../replication/log.ts'
import type { Bucket } from '../bucket.ts'
import { assert, mayLead, mayPlay, type Millis, type PeerId, type Out } from '../machine.ts'
import type { Charge } from '../kind/protocol/part.ts'
import type { Register, Topology, ChangeReason, ToHub } from '../hub-protocol/messages.ts'
import type { Lease } from './lease.ts'
import type { Persistence, StoredState } from './segments.ts'
import * as moderation from '../replication/moderation.ts'
import type { Moderation } from '../replication/moderation.ts'
import * as durable from '../replication/durable.ts'
import type { Durable, PartState } from '../replication/durable.ts'
import type { Join, PeerMessage, View, Joined, Recovered, PeerMessageOf } from './messages.ts'
import type {
  Change,
  Delta,
  LeaveReason,
  Member,
  Player,
  Loss,
  PersistedPoint,
  LeaderStart,
} from '../replication/layouts.ts'
import type { Incoming } from '../wire/chunks.ts'
import { isTrueOf, type Role, type RoleThat, type Trait as TraitOfRole } from './role-table.ts'
import { fingerprint } from '../wire/digest.ts'
import { create as createWatch, type HubContact, type FailureDetector } from './failure-detector.ts'

/** Effects that are held in the log until the backup has the entries before them. */
export type Effect =
  | { kind: 'send'; to: PeerId; message: PeerMessage }
  | { kind: 'reply'; to: number; member: Member; lastSeq: number }
  | { kind: 'came'; member: Member }
  | { kind: 'went'; inc: PeerId; why: LeaveReason }
  | { kind: 'moderation'; moderation: Moderation }
  | { kind: 'broadcast'; news: PeerMessageOf<'news'> }

/** A change of the register under way. */
export interface Attempt {
  why: ChangeReason
  expect: number
  primary: PeerId
  backup: PeerId
  /** The request may have reached the hub, so only the register shows what became of it. */
  sent: boolean
  /** When it was sent first. */
  sentAt: Millis
  /** The number of the newest request. */
  request: number
  againAt: Millis
}

/** The state that the server object has in every role. */
interface Common {
  /** The epoch of the register as this role knows it. */
  epoch: number
  durable: Durable
  log: commit.Log<Effect>
  /** The view that we have published to the members; empty for a process that never led. */
  publishedMv: number
  published: Map<PeerId, Member>
  /** As it was published. */
  moderation: Moderation
}

/** The state that a leading member keeps from the first of its roles to the last. */
export interface Lead {
  /** Until when we may publish what we commit. */
  lease: Lease
  /** How far the hub has what is to outlive us all: persistence.ts. */
  persistence: Persistence
  /** Whether the lease was held when we looked last. */
  leased: boolean
  /** Candidates that did not answer, and until when they are passed over. */
  passedOver: Map<PeerId, Millis>
  /** What each player may still ask of us: operations.ts. */
  allowances: Map<number, Bucket>
  /** Operations of each member that wait until its player may ask for more, oldest first. */
  waiting: Map<PeerId, Asked[]>
  /** When those that wait are looked at next; Infinity while none does. */
  waitingAt: Millis
  /** How often each member was refreshed in the last second. */
  refreshed: Map<PeerId, { since: Millis; count: number }>
  /** Players without a member, and since when: their rows go when the grace ends (S-5). */
  absent: Map<number, Millis>
  /** When the members are looked over next. */
  roundAt: Millis
  since: Millis
  /** Our own player has a newer incarnation: we hand our role over and leave. */
  yields: boolean
  /** This process left as the last, and asked the hub to end the session; null before that. */
  ending: Ending | null
  /** The backup's acks have been late for so long that the application was notified. */
  slow: boolean
}

/** The end of a session that its last member asked for. */
interface Ending {
  request: number
  againAt: Millis
  done: boolean
}

/** A snapshot of which chunks are still to come. */
interface Snapshot {
  from: PeerId
  epoch: number
  length: number
  pieces: Incoming
}

/** The state of a member that holds another's log. */
interface Standby {
  primary: PeerId
  ackedAt: Millis
}

/** The state of a primary that adds or drops a backup. */
interface Changing {
  lead: Lead
  backup: PeerId
  attempt: Attempt
  /** Why the backup is to be removed from the session once the register has dropped it (S-3b). */
  removeAfterDrop: LeaveReason | null
}

// The state that each role has for itself.
interface RoleState {
  idle: { incoming: Snapshot | null }
  sync: Standby & { incoming: Snapshot | null }
  backup: Standby
  taking: Standby & { attempt: Attempt }
  /** `candidate` is being brought up to date since `candidateSince`; 0 is nobody. */
  alone: { lead: Lead; candidate: PeerId; candidateSince: Millis }
  adding: Changing
  /**
   * The backup's acks have been late since `slowSince`, Infinity if they are not; a hand-over to
   * the backup goes on until `handoverUntil` at most, null if there is none.
   */
  backedup: { lead: Lead; backup: PeerId; slowSince: Millis; handoverUntil: Millis | null }
  dropping: Changing
  handing: { lead: Lead; backup: PeerId; attempt: Attempt }
  /**
   * Since when the member asks, and the primary and backup that the register named, who are gone.
   */
  recovering: { attempt: Attempt; since: Millis; heads: readonly PeerId[] }
  gathering: { lead: Lead } & Gathering
}

/** What a recovering primary has gathered. */
interface Gathering {
  until: Millis
  /**
   * How far the log was published to each member, up to which own operation it knows outcomes, and
   * who is put out by the newest that it heard.
   */
  answers: Map<PeerId, { index: number; settled: number; moderation: Moderation }>
  /** What the hub has of the session; null for nothing, or while that has not come. */
  stored: StoredState | null
  /** The hub is to say so. */
  awaits: boolean
  /** The member whose copy was asked for; 0 for none yet. */
  witness: PeerId
  copy: Incoming | null
  gone: Member[]
}

/** The server object in one role, or in one of several. */
export type ServerAs<Name extends Role> = {
  [Each in Name]: { role: Each } & Common & RoleState[Each]
}[Name]

/** The server object. */
export type Server = ServerAs<Role>

/** The start of a role: its own state, and those parts of the common state that change. */
export type Beginning<Name extends Role> = RoleState[Name] & Partial<Common>

/** One operation that has no outcome yet. */
export interface Pending {
  seq: number
  part: number
  body: Uint8Array
  since: Millis
}

/** One operation as it came to the primary. */
export type Asked = PeerMessageOf<'operation'>

/** The state of the member as a client of its session. */
export interface Client {
  view: View
  /** The primary was not heard for long. */
  lost: boolean
  /** When the primary was lost, or found again. */
  lostAt: Millis
  /** When we handed our role over; -Infinity if we did not, or follow a primary again. */
  handedAt: Millis
  /** Oldest first; at most OUTCOMES_MAX. */
  pending: Pending[]
  nextSeq: number
  /** When operations without outcome are sent again. */
  againAt: Millis
  /** The newest register that the hub sent. */
  register: Register
  /** When the primary in that register is asked for its view; Infinity if we have the view. */
  resyncAt: Millis
  /** When the hub is asked for the register again, should we need it. */
  askAt: Millis
  published: Published
  /** Players whose last member left, and when: they may come back, to whoever leads then. */
  former: Map<number, Former>
  /** Members whose processes told us that they end, until they are out of our view. */
  ended: Set<PeerId>
  /** Members of which the hub has no stream just now. */
  absent: Map<PeerId, Absence>
  /** Until when we have promised not to recover the session. */
  promisedUntil: Millis
  /** When we may ask to recover the session again. */
  seekAt: Millis
}

/** A player whose last member left. */
export interface Former {
  key: Uint8Array
  since: Millis
  /** Its process told us that it ends, as a page does that is closed or loaded anew. */
  ended: boolean
}

/** Since when the hub has no stream of a member, and whether the layer above knows. */
export interface Absence {
  since: Millis
  reported: boolean
}

/** The durable state that was published to us. */
export interface Published {
  /** How far in the log it is. */
  index: number
  /** The last operation of each player that it includes. */
  seqs: Map<number, number>
  /** The parts of a snapshot until STANDING names its index: a copy is of one instant (T80). */
  coming: Change[]
  /** The link to the primary is new: news count only behind the snapshot. */
  waiting: boolean
  askAt: Millis
}

/** Decisions on which published state and roles rest: RULES of session.ts, or a test's own. */
export interface SessionRules {
  /** The length of the log up to which effects may be released, in that role (T78). */
  safeLength(role: Role, log: commit.Log<Effect>): number
  /** The same as far as the hub must have it, because nobody else does. */
  keptLength(session: Session): number
  /** Whether nobody can have recovered the session without us (T43). */
  mayPublish(lease: Lease, now: Millis, others: Iterable<PeerId>): boolean
  /** Whether a member in that role may promise not to recover the session. */
  mayPromise(role: Role): boolean
  /** Whether a follower that holds so much of the log may be registered as backup (T38). */
  mayAdd(held: number, length: number): boolean
  /** Whether the role may go to a backup that lacks so many entries (T4). */
  mayHandOver(lacking: number): boolean
  /** Whether what was asked for is not under way, for the register refused that request. */
  isAnswered(asked: Attempt, request: number): boolean
  /** Whether a member in that role may remove another at once, which follows it or not (S-3b). */
  mayRemove(role: Role, follows: boolean): boolean
  /** Removes whoever was put out and is here, as the members are looked over (SE-4). */
  enforce(turn: Turn): void
  /** Whether a member has a say in who is put out (SE-4). */
  mayVote(durable: Durable, member: Member): boolean
  /** Who is put out, by the answers of those who are here as a session is recovered (SE-4). */
  recalls(session: Session, answers: Gathering['answers']): Moderation
  /** Which player of those who were here it is that joins; null for a new one (S-5). */
  comesBackAs(durable: Durable, wish: Join): Player | null
  /** Whether a player may come in, beside rows of theirs that are still here (S-5). */
  mayReturn(session: Session, player: number): boolean
  /** Applies an entry of the log, at the primary or at its follower (T80). */
  make(durable: Durable, delta: Delta, serves: boolean): void
  /** What that lineage lacks of what was on disk; null for nothing (lineage.ts). */
  lacks(lineage: readonly LeaderStart[], point: PersistedPoint): Loss | null
  /** The number of the allowance out of which an operation is paid. */
  account(member: Member): number
  /** What is charged for it, in operations; 0 if nobody counts. */
  cost(what: Charge): number
  /**
   * Asks the register for the attempted change; only the register's answer changes a role (T77).
   */
  seek(turn: Turn): void
}

/** The state of one process's session. */
export interface Session {
  id: string
  me: PeerId
  player: number
  /** 16 bytes that nobody can guess; wire/digest makes the proofs from it. */
  secret: Uint8Array
  playersMax: number
  /** The game's types as text, and their fingerprint. */
  types: string
  schema: number
  /** Of the types those of which a kept room has state. */
  keptTypes: string
  /** A member may recover the session when primary and backup are gone at once. */
  recovers: boolean
  /** Only Node processes serve or are backup. */
  hosts: boolean
  /** The topology in the register, the same for all members. */
  topology: Topology
  /** The options that the session's founder set for all, from the register. */
  terms: string
  /** We have the key with which what is kept of the room is sealed, or it needs none. */
  keeps: boolean
  /** By which we show that we have that key; null without one. */
  proof: Uint8Array | null
  /** Who led, as the primary says it. */
  lineage: readonly LeaderStart[]
  /** The newest that we know to be on the disk of the hub; null for nothing. */
  point: PersistedPoint | null
  /** What the hub signed last of who leads, and since which epoch; null before it did. */
  leaderCertificate: { epoch: number; bytes: Uint8Array } | null
  server: Server
  client: Client
  detectors: Map<PeerId, FailureDetector>
  hub: HubContact
  requests: number
  leaving: boolean
  /**
   * Steps under way that are done wholly or not at all. Between calls it is 0, unless one threw:
   * then this state is not to be trusted.
   */
  steps: number
  /** Since when our loop stalls again and again, Infinity if it does not; and the last stall. */
  stalls: { since: Millis; last: Millis }
  /** As primary: how often something waited or was turned away, by the quota of its player. */
  pushedBack: number
  rules: SessionRules
}

/** The options of a session. */
export type SessionOptions = Pick<Session, 'secret' | 'playersMax' | 'types' | 'rules'> &
  Partial<Pick<Session, 'keptTypes' | 'recovers' | 'hosts'>>

/** Before the first view. */
export const NO_VIEW: View = {
  ...{ epoch: 0, mv: 0, primary: 0, backup: 0 },
  ...{ members: [], grant: null, cv: 0, banned: [], votes: [] },
  settings: { terms: '', topology: 'star', playersMax: 0 },
  ...{ proof: null, lineage: [] },
}

/** A process that is not a member yet. */
export function create(now: Millis, options: SessionOptions): Session {
  return {
    id: '',
    me: 0,
    player: 0,
    secret: options.secret,
    playersMax: options.playersMax,
    types: options.types,
    schema: fingerprint(options.types),
    ...{ keptTypes: options.keptTypes ?? '', recovers: options.recovers ?? false },
    hosts: options.hosts ?? false,
    topology: 'star',
    ...{ terms: '', keeps: true, proof: null, lineage: [], point: null },
    leaderCertificate: null,
    server: idleServer(),
    client: {
      view: NO_VIEW,
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
      ...{ former: new Map(), ended: new Set(), absent: new Map() },
      promisedUntil: -Infinity,
      seekAt: -Infinity,
    },
    detectors: new Map(),
    hub: { up: false, since: now },
    requests: 0,
    ...{ leaving: false, steps: 0 },
    stalls: { since: Infinity, last: -Infinity },
    pushedBack: 0,
    rules: options.rules,
  }
}

/** A server object that is not needed now. */
export function idleServer(): ServerAs<'idle'> {
  return { role: 'idle', ...blank(), incoming: null }
}

/** The common state of a server object that knows nothing. */
export function blank(): Common {
  return {
    epoch: 0,
    durable: durable.create(),
    log: createLog(0),
    publishedMv: 0,
    published: new Map(),
    moderation: moderation.create(),
  }
}

/** The state of a member that begins to lead. */
export function createLead(since: Millis, lease: Lease, persistence: Persistence): Lead {
  return {
    ...{ lease, persistence, leased: true },
    passedOver: new Map(),
    allowances: new Map(),
    waiting: new Map(),
    waitingAt: Infinity,
    refreshed: new Map(),
    absent: new Map(),
    roundAt: since,
    since,
    ...{ yields: false, ending: null, slow: false },
  }
}

/** Whether a member may serve or be backup. @param hosts  who was admitted as host alone may */
export function mayServe(
  { kind, rights }: Pick<Member, 'kind' | 'rights'>,
  hosts: boolean,
): boolean {
  return kind !== 'guest' && mayLead(rights, hosts)
}

/** Whether a member may serve in some session, and goes on with it where others are gone. */
export function mayContinue({ kind, rights }: Pick<Member, 'kind' | 'rights'>): boolean {
  return kind !== 'guest' && mayPlay(rights)
}

type In<Trait extends TraitOfRole> = Session & { server: ServerAs<RoleThat<Trait>> }

/** Whether that trait is true of this process's role. */
export function is<Of extends TraitOfRole>(session: Session, trait: Of): session is In<Of> {
  return isTrueOf(session.server.role, trait)
}

/** Whether this process serves as the primary: it takes operations and publishes the view. */
export function serves(session: Session): session is In<'serves'> {
  return is(session, 'serves')
}

/** The state that a process keeps as long as it leads. */
export function leadOf({ server }: Session): Lead {
  assert('lead' in server, `nobody leads as ${server.role}`)
  return server.lead
}

/** Whether the process takes anything new: not while its role is on the way to the backup. */
export function takes(session: Session): session is In<'serves'> {
  const { server } = session
  return serves(session) && !(server.role === 'backedup' && server.handoverUntil !== null)
}

/** Starts a peer's failure detector again: the peer's rhythm changes with the role. */
export function restartDetector(session: Session, now: Millis, peer: PeerId): void {
  const relayed = session.detectors.get(peer)?.relayed ?? true
  session.detectors.set(peer, createWatch(now, relayed))
}

/** Watches it anew, and suspects it after the longest bound alone: the hub heard it. */
export function restartVouched(session: Session, now: Millis, peer: PeerId): void {
  restartDetector(session, now, peer)
  session.detectors.get(peer)!.vouched = true
}

/** The next number for a request to the hub. */
export function nextRequest(session: Session): number {
  return ++session.requests
}

// The outside of a session: what it tells the layer above, and where its effects go.

/** The effects of an operation, as reported by the part on the primary. */
export interface Performed {
  outcome: Uint8Array
  refused?: boolean
  changes: Change[]
  /** Changes to be published to all members once they are safe. */
  news: Change[]
}

/** The parts of a member as its session needs them: their durable state, and their news. */
export interface Parts {
  /** Runs an operation on the primary's state of a part, which it does not change yet. */
  perform(part: number, body: Uint8Array, by: Member): Performed | null
  change(change: Change): void
  collect(): PartState[]
  /** The durable state of all parts that was published to us, in the form of `collect`. */
  published(): PartState[]
  /** Replaces the durable state of all parts; false if one is missing or rejects its own. */
  restore(parts: PartState[]): boolean
  /**
   * The same from what was kept, and then the changes behind it: parts that it lacks begin anew,
   * others are left out.
   */
  reopen(parts: readonly PartState[], changes: readonly Change[]): boolean
  /** All that a room keeps of what is in no log; and what of it changed since it was asked last. */
  unlogged(): PartState[]
  unloggedChanges(): Change[]
  /** Whether a part needs a player who is away, by its durable or its published state (S-5). */
  keeps(player: number): boolean
  /** The news of a part with only what a player may see; the same bytes if that is all of them. */
  show(part: number, news: Uint8Array, player: number): Uint8Array
  /** News of a part for ourselves, from the primary. */
  news(part: number, from: PeerId, bytes: Uint8Array): void
}

/** Events for the layer above. */
export type SessionEvent =
  | { kind: 'view'; view: View; before: View | null; why: LeaveReason | null }
  | { kind: 'role'; role: Role }
  | { kind: 'done'; seq: number; outcome: Uint8Array }
  /** We came back as another player: nobody knows whether these operations were done. */
  | { kind: 'unknown'; seqs: number[] }
  /** The connection to the primary is lost, or is back. */
  | { kind: 'lost'; lost: boolean }
  /** Members that are out of the hub's reach just now; all of them each time. */
  | { kind: 'away'; members: ReadonlySet<PeerId> }
  /** All state up to this point is known: news from now on are new. */
  | { kind: 'caught-up' }
  /** Primary and backup are gone for good: state that only they had is lost. */
  | { kind: 'abandoned' }
  /** We are not a member any more: come back with a new incarnation. */
  | { kind: 'removed'; why: string }
  /** As primary: the backup acks late and no member can replace it; or it is in time again. */
  | { kind: 'slow'; slow: boolean }
  /** As primary: commits may be published again, or not until the hub is heard again. */
  | { kind: 'leased'; leased: boolean }
  /** Primary and backup were gone at once, and the session goes on without what only they knew. */
  | Recovered
  /** The hub was asked about that peer, primary or backup: packets to it shall take the relay. */
  | { kind: 'unheard'; peer: PeerId }
  /** As primary of a room that is kept: the hub does so again; or not, and why. */
  | { kind: 'kept'; why: string }
  /** What was on the disk of the hub is not in the room any more. */
  | ({ kind: 'rolledBack' } & Loss)
  /** As primary: these members must be sent a snapshot of all parts. */
  | { kind: 'welcome'; to: readonly PeerId[] }
  /** As primary: a member asks for the room as a file. */
  | (PeerMessageOf<'askRoom'> & { from: PeerId })
  /** The primary sends us a piece of it. */
  | PeerMessageOf<'room'>

/** The whole state, entries behind what was kept last, or the whole state for a file. */
export type SegmentKind = 'whole' | 'entries' | 'file'

/** The session's sink. It keeps no separate record: the entries of the log are the record. */
export interface SessionOut extends Pick<Out<PeerMessage, never, SessionEvent>, 'send' | 'emit'> {
  hub(message: ToHub): void
  /** A sheet as it is to be kept, with which the log has so many entries. */
  seal(sheet: Uint8Array, index: number, as: SegmentKind): Uint8Array
  /** Session time now; our own clock while it is not known. */
  time(): Millis
  /** Answers a process that asked to join, by the number that it was given with its JOIN. */
  answer(asker: number, joined: Joined): void
  readonly parts: Parts
}

/** One call into a session: its state, the instant, and where its effects go. */
export interface Turn {
  readonly session: Session
  readonly now: Millis
  readonly out: SessionOut
}
