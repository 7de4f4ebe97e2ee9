/**
 * The state of a session in one process.
 *
 * As in Dueling Teapots, every process is both a client, which sees only published state, and a
 * server object, which is IDLE until it is needed. The primary publishes to its own client as to
 * any other, so all changes take one path.
 */

import type * as commit from '../replication/log.ts'
import { create as createLog } from '../replication/log.ts'
import type { Bucket } from '../bucket.ts'
import { assert, mayLead, mayPlay, type Millis, type PeerId, type Out } from '../machine.ts'
import type { Charge } from '../kind/protocol/part.ts'
import {
  type Register,
  type Topology,
  type ChangeReason,
  type ToHub,
  EPOCH_MAX,
} from '../hub-protocol/messages.ts'
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

/** An effect that the log holds until the backup has the entries before it. */
export type Effect =
  | { kind: 'send'; to: PeerId; message: PeerMessage }
  | { kind: 'reply'; to: number; member: Member; lastSeq: number }
  | { kind: 'came'; member: Member }
  | { kind: 'went'; inc: PeerId; why: LeaveReason }
  | { kind: 'moderation'; moderation: Moderation }
  | { kind: 'broadcast'; news: PeerMessageOf<'news'> }

/** A pending change of the register. */
export interface Attempt {
  why: ChangeReason
  expect: number
  primary: PeerId
  backup: PeerId
  /** The request may have reached the hub, so only the register shows its outcome. */
  sent: boolean
  sentAt: Millis
  /** Number of the newest request. */
  request: number
  againAt: Millis
}

/** The state that the server object has in every role. */
interface Common {
  /** The epoch of the register as this role knows it. */
  epoch: number
  durable: Durable
  log: commit.Log<Effect>
  /** The members as published to all; empty for a process that never led. */
  publishedMv: number
  published: Map<PeerId, Member>
  moderation: Moderation
}

export interface Lead {
  /** Until when committed changes may be published. */
  lease: Lease
  /** How much of the state the hub has stored: persistence.ts. */
  persistence: Persistence
  /** Whether the lease was held at the last check. */
  leased: boolean
  /** Candidates that did not answer, and until when each is passed over. */
  passedOver: Map<PeerId, Millis>
  /** Token buckets by player: operations.ts. */
  allowances: Map<number, Bucket>
  /** Operations of each member that wait for tokens, oldest first. */
  waiting: Map<PeerId, Asked[]>
  /** When waiting operations are next tried; Infinity if none waits. */
  waitingAt: Millis
  /** How many snapshots each member was sent in the last second. */
  refreshed: Map<PeerId, { since: Millis; count: number }>
  /** Players without a member, and since when; they are forgotten after GRACE_MS (S-5). */
  absent: Map<number, Millis>
  /** When the members are next checked. */
  sweepAt: Millis
  since: Millis
  /** We must hand our role over: our player has a newer incarnation, or was expelled. */
  yields: boolean
  /** As the last to leave, we asked the hub to end the session; null before that. */
  ending: Ending | null
  /** The application was notified that the backup is slow. */
  slow: boolean
}

interface Ending {
  request: number
  againAt: Millis
  done: boolean
}

interface Snapshot {
  from: PeerId
  epoch: number
  length: number
  pieces: Incoming
}

/** The state of a member that follows another's log. */
interface Standby {
  primary: PeerId
  ackedAt: Millis
}

/** The state of a primary that adds or drops a backup. */
interface Changing {
  lead: Lead
  backup: PeerId
  attempt: Attempt
  /** Why to remove the backup as a member once the register has dropped it (S-3b); or null. */
  removeAfterDrop: LeaveReason | null
}

// The state that is specific to each role.
interface RoleState {
  idle: { incoming: Snapshot | null }
  sync: Standby & { incoming: Snapshot | null }
  backup: Standby
  taking: Standby & { attempt: Attempt }
  /** `candidate` (0: nobody) has been catching up since `candidateSince`. */
  alone: { lead: Lead; candidate: PeerId; candidateSince: Millis }
  adding: Changing
  /**
   * The backup's acks have been late since `slowSince` (Infinity: they are not). A pending
   * hand-over expires at `handoverUntil`; null if there is none.
   */
  backedup: { lead: Lead; backup: PeerId; slowSince: Millis; handoverUntil: Millis | null }
  dropping: Changing
  handing: { lead: Lead; backup: PeerId; attempt: Attempt }
  /** Since when we ask, and the failed primary and backup. */
  recovering: { attempt: Attempt; since: Millis; heads: readonly PeerId[] }
  gathering: { lead: Lead } & Gathering
}

/** The reports that a recovering primary has gathered. */
interface Gathering {
  until: Millis
  /**
   * For each survivor: the published length of the log, its last own operation with a known
   * outcome, and its newest moderation state.
   */
  answers: Map<PeerId, { index: number; settled: number; moderation: Moderation }>
  /** The state that the hub has stored; null if none, or not received yet. */
  stored: StoredState | null
  /** The hub has not answered yet. */
  awaits: boolean
  /** The most advanced survivor, whose copy was requested; 0 for none yet. */
  witness: PeerId
  copy: Incoming | null
  gone: Member[]
}

/** The server object in one role, or in one of several. */
export type ServerAs<Name extends Role> = {
  [Each in Name]: { role: Each } & Common & RoleState[Each]
}[Name]

export type Server = ServerAs<Role>

/** The initial state of a role, and those fields of the common state that change with it. */
export type Beginning<Name extends Role> = RoleState[Name] & Partial<Common>

export interface Pending {
  seq: number
  part: number
  body: Uint8Array
  since: Millis
}

export type Asked = PeerMessageOf<'operation'>

export interface Client {
  view: View
  lost: boolean
  /** When `lost` last changed. */
  lostAt: Millis
  /** When we handed our role over; -Infinity if not, or once we follow a primary again. */
  handedAt: Millis
  /** Oldest first; at most OUTCOMES_MAX. */
  pending: Pending[]
  nextSeq: number
  againAt: Millis
  /** The newest register that the hub sent. */
  register: Register
  /** When to ask the registered primary for its view; Infinity if we have it. */
  resyncAt: Millis
  /** When we may ask the hub for the register again. */
  askAt: Millis
  published: Published
  /** Players whose last member left; they may come back. */
  former: Map<number, Former>
  /** Members whose processes announced their end, until they are out of our view. */
  ended: Set<PeerId>
  /** Members whose stream to the hub is closed. */
  absent: Map<PeerId, Absence>
  /** Until when we promised not to recover the session. */
  promisedUntil: Millis
  /** When we may next ask to recover the session. */
  seekAt: Millis
}

export interface Former {
  key: Uint8Array
  since: Millis
  /** Its process announced its end, as a page does that is closed or reloaded. */
  ended: boolean
}

/** Since when a member's stream is closed, and whether that was reported to the layer above. */
export interface Absence {
  since: Millis
  reported: boolean
}

/** Progress of the durable state that was published to us. */
export interface Published {
  index: number
  /** The last included operation of each player. */
  seqs: Map<number, number>
  /** Changes of a snapshot, held until STANDING names its index: it is of one instant (T80). */
  coming: Change[]
  /** The link to the primary is new: updates are dropped until the snapshot is complete. */
  waiting: boolean
  askAt: Millis
}

/** Decisions that safety depends on: RULES of session.ts, or a test's replacement. */
export interface SessionRules {
  /** The length of the log up to which effects may be released in a role (T78). */
  safeLength(role: Role, log: commit.Log<Effect>): number
  /** The same bound by what the hub has on disk (persistence.ts). */
  keptLength(session: Session): number
  /** Whether we may publish: nobody can have recovered the session without us (T43). */
  mayPublish(lease: Lease, now: Millis, others: Iterable<PeerId>): boolean
  /** Whether a member in that role may promise not to recover the session. */
  mayPromise(role: Role): boolean
  /** Whether a follower with `held` of `length` entries may be registered as backup (T38). */
  mayAdd(held: number, length: number): boolean
  /** Whether the role may go to a backup that lacks `lacking` entries (T4). */
  mayHandOver(lacking: number): boolean
  /** Whether the refusal of `request` means that nothing of the attempt is under way. */
  isAnswered(asked: Attempt, request: number): boolean
  /** Whether a primary may remove a member without asking the register first (S-3b). */
  mayRemove(role: Role, follows: boolean): boolean
  /** Removes members that were expelled (SE-4). */
  enforce(turn: Turn): void
  /** Whether a member may vote on expulsions (SE-4). */
  mayVote(durable: Durable, member: Member): boolean
  /** The moderation state of a recovered session, by the reports of the survivors (SE-4). */
  recalls(session: Session, answers: Gathering['answers']): Moderation
  /** The known player that joins; null for a new one (S-5). */
  comesBackAs(durable: Durable, request: Join): Player | null
  /** Whether a player may join while older members of theirs still exist (S-5). */
  mayReturn(session: Session, player: number): boolean
  /** Applies an entry of the log, at the primary or at its follower (T80). */
  make(durable: Durable, delta: Delta, serves: boolean): void
  /** What a lineage lacks of a persisted point; null for nothing (lineage.ts). */
  lacks(lineage: readonly LeaderStart[], point: PersistedPoint): Loss | null
  /** The number of the token bucket that a member's operations are charged to. */
  account(member: Member): number
  /** The price in tokens; 0 if quotas are off. */
  cost(what: Charge): number
  /**
   * Asks the register for the attempted change; only the register's answer changes a role (T77).
   */
  seek(turn: Turn): void
}

export interface Session {
  id: string
  me: PeerId
  player: number
  /** 16 random bytes, from which wire/digest derives proofs. */
  secret: Uint8Array
  playersMax: number
  /** The game's types as text, and their fingerprint. */
  types: string
  schema: number
  /** The types that have state in a stored room. */
  keptTypes: string
  /** A member may recover the session when primary and backup are gone at once. */
  recovers: boolean
  /** Only members that were admitted as hosts serve or are backup. */
  hosts: boolean
  topology: Topology
  /** The founder's settings as text (`terms` on the wire): `name=value`, joined by `;`. */
  terms: string
  /** We have the key that seals the stored room, or it needs none. */
  keeps: boolean
  /** Our proof of having that key; null without one. */
  proof: Uint8Array | null
  lineage: readonly LeaderStart[]
  /** The newest point that we know to be on the hub's disk; null for none. */
  point: PersistedPoint | null
  /** The hub's newest signature to the leader (`grant` on the wire), and its epoch; or null. */
  leaderCertificate: { epoch: number; bytes: Uint8Array } | null
  server: Server
  client: Client
  detectors: Map<PeerId, FailureDetector>
  hub: HubContact
  requests: number
  leaving: boolean
  /** Atomic steps under way. Not 0 between calls if one threw: the state is then inconsistent. */
  steps: number
  /** Since when our event loop stalls repeatedly (Infinity: it does not), and the last stall. */
  stalls: { since: Millis; last: Millis }
  /** As primary: how many operations had to wait for their player's quota. */
  pushedBack: number
  rules: SessionRules
}

export type SessionOptions = Pick<Session, 'secret' | 'playersMax' | 'types' | 'rules'> &
  Partial<Pick<Session, 'keptTypes' | 'recovers' | 'hosts'>>

/** The view before the first one arrives. */
export const NO_VIEW: View = {
  ...{ epoch: 0, mv: 0, primary: 0, backup: 0 },
  ...{ members: [], grant: null, cv: 0, banned: [], votes: [] },
  settings: { terms: '', topology: 'star', playersMax: 0 },
  ...{ proof: null, lineage: [] },
}

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

export function idleServer(): ServerAs<'idle'> {
  return { role: 'idle', ...blank(), incoming: null }
}

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

/** Whether a member may serve or be backup. @param hosts  whether only hosts may */
export function mayServe(
  { kind, rights }: Pick<Member, 'kind' | 'rights'>,
  hosts: boolean,
): boolean {
  return kind !== 'guest' && mayLead(rights, hosts)
}

/** Whether a member could continue the session after others left: no guest or watcher. */
export function mayContinue({ kind, rights }: Pick<Member, 'kind' | 'rights'>): boolean {
  return kind !== 'guest' && mayPlay(rights)
}

type In<Trait extends TraitOfRole> = Session & { server: ServerAs<RoleThat<Trait>> }

export function is<Of extends TraitOfRole>(session: Session, trait: Of): session is In<Of> {
  return isTrueOf(session.server.role, trait)
}

/** Whether this process serves as the primary: it takes operations and publishes the view. */
export function serves(session: Session): session is In<'serves'> {
  return is(session, 'serves')
}

/** The leader's state. @throws if this process does not lead */
export function leadOf({ server }: Session): Lead {
  assert('lead' in server, `nobody leads as ${server.role}`)
  return server.lead
}

/** Whether this process accepts requests: it serves, and does not hand its role over. */
export function takes(session: Session): session is In<'serves'> {
  const { server } = session
  return serves(session) && !(server.role === 'backedup' && server.handoverUntil !== null)
}

/** Starts a peer's failure detector again: the peer's rhythm changes with the role. */
export function restartDetector(session: Session, now: Millis, peer: PeerId): void {
  const { path = 'relay', relayed = true } = session.detectors.get(peer) ?? {}
  session.detectors.set(peer, { ...createWatch(now, path), relayed })
}

/** Restarts the detector with the longest bound, because the hub vouched for the peer. */
export function restartVouched(session: Session, now: Millis, peer: PeerId): void {
  restartDetector(session, now, peer)
  session.detectors.get(peer)!.vouched = true
}

export function nextRequest(session: Session): number {
  return ++session.requests
}

/** The effects of an operation, as reported by the part on the primary. */
export interface Performed {
  outcome: Uint8Array
  refused?: boolean
  changes: Change[]
  /** Changes to be published to all members once they are safe. */
  news: Change[]
}

/** The parts of a member as its session sees them: durable state and updates. */
export interface Parts {
  /** Evaluates an operation on the primary's state of a part, without changing it. */
  perform(part: number, body: Uint8Array, by: Member): Performed | null
  change(change: Change): void
  collect(): PartState[]
  /** The durable state of all parts that was published to us, in the form of `collect`. */
  published(): PartState[]
  /** Replaces the durable state of all parts; false if one is missing or rejects its own. */
  restore(parts: PartState[]): boolean
  /**
   * Replaces the state of all parts by stored state and the changes after it. Parts without stored
   * state start empty; stored state of unknown parts is dropped.
   */
  reopen(parts: readonly PartState[], changes: readonly Change[]): boolean
  /** Stored state that is in no log; and what of it changed since the last call. */
  unlogged(): PartState[]
  unloggedChanges(): Change[]
  /** Whether a part still refers to an absent player, in durable or published state (S-5). */
  keeps(player: number): boolean
  /** The update with only what a player may see; the same bytes if that is everything. */
  show(part: number, news: Uint8Array, player: number): Uint8Array
  /** Applies an update of the primary to our published state of a part. */
  news(part: number, from: PeerId, bytes: Uint8Array): void
}

export type SessionEvent =
  | { kind: 'view'; view: View; before: View | null; why: LeaveReason | null }
  | { kind: 'role'; role: Role }
  | { kind: 'done'; seq: number; outcome: Uint8Array }
  /** We came back as another player: the outcome of these operations is unknown. */
  | { kind: 'unknown'; seqs: number[] }
  /** The connection to the primary is lost, or is back. */
  | { kind: 'lost'; lost: boolean }
  /** All members that are out of the hub's reach at present. */
  | { kind: 'away'; members: ReadonlySet<PeerId> }
  /** The snapshot was applied; updates from now on are new. */
  | { kind: 'caught-up' }
  /** Primary and backup are gone for good; state that only they had is lost. */
  | { kind: 'abandoned' }
  /** We are no longer a member and must rejoin with a new incarnation. */
  | { kind: 'removed'; why: string }
  /** As primary: the backup's acks are late, or in time again. */
  | { kind: 'slow'; slow: boolean }
  /** As primary: commits may be published again, or not until the hub answers. */
  | { kind: 'leased'; leased: boolean }
  /** Primary and backup failed together; the session continues without what only they had. */
  | Recovered
  /** The hub reaches a peer (primary or backup) that was suspected: use the relay for it. */
  | { kind: 'unheard'; peer: PeerId }
  /** As primary of a stored room: why the hub does not store it; '' if it does again. */
  | { kind: 'kept'; why: string }
  /** State that was on the hub's disk is missing from the room. */
  | ({ kind: 'rolledBack' } & Loss)
  /** As primary: these members must be sent a snapshot of all parts. */
  | { kind: 'welcome'; to: readonly PeerId[] }
  /** As primary: a member asks for the room as a file. */
  | (PeerMessageOf<'askRoom'> & { from: PeerId })
  /** The primary sends us a piece of it. */
  | PeerMessageOf<'room'>

/** A snapshot, entries after it, or a snapshot for a file. */
export type SegmentKind = 'whole' | 'entries' | 'file'

/** The session's sink. It keeps no separate record: the entries of the log are the record. */
export interface SessionOut extends Pick<Out<PeerMessage, never, SessionEvent>, 'send' | 'emit'> {
  hub(message: ToHub): void
  /** Seals a segment that brings the log to `index` entries. */
  seal(segment: Uint8Array, index: number, as: SegmentKind): Uint8Array
  /** Session time; our own clock while that is unknown. */
  time(): Millis
  answer(asker: number, joined: Joined): void
  readonly parts: Parts
}

/** One call into a session: its state, the time, and the sink of its effects. */
export interface Turn {
  readonly session: Session
  readonly now: Millis
  readonly out: SessionOut
}

// Views and snapshots are accepted from our primary and from the member that the register names;
// the hub reports every change. Before its report arrives, a view is accepted with the hub's
// signature to its leader (the leader certificate; `grant` on the wire). Otherwise any member could
// claim to lead with an unbeatable epoch. A lying primary is not covered: it is trusted with the
// state itself.

/** A registered primary that did not send its view within this is asked for it. */
export const RESYNC_MS: Millis = 200

/** Whether the peer may be our primary, as far as we know. */
export function mayBePrimary(session: Session, peer: PeerId): boolean {
  const { view, register } = session.client
  if (view.epoch === 0 || peer === session.me || peer === view.primary) return true
  return register.epoch >= view.epoch && peer === register.primary
}

/** Whether a view counts only with the hub's signature, which must be checked first. */
export function needsCertificate(session: Session, from: PeerId, view: View): boolean {
  const isNews = view.primary === from && view.epoch > session.client.view.epoch
  return isNews && view.epoch <= EPOCH_MAX && view.grant !== null && !mayBePrimary(session, from)
}

/** Notes the register. The new primary's view may have arrived earlier, and was rejected. */
export function noteRegister(session: Session, now: Millis, register: Register): void {
  const { client } = session
  if (register.epoch <= client.register.epoch) return
  client.register = register
  const ours = register.primary === session.me || register.primary === client.view.primary
  client.resyncAt = ours || register.epoch <= client.view.epoch ? Infinity : now + RESYNC_MS
}
