/**
 * The state of one member: its session, links and parts; and the wiring between them, which is made
 * once, outside the state.
 */

import type { Arrivals, Link } from '../link/link.ts'
import { type SessionClock, createClock } from '../link/timing/clock.ts'
import type { ErrorCode, Millis, PeerId } from '../machine.ts'
import type { Bucket } from '../bucket.ts'
import type { Part, PartOut } from '../kind/protocol/part.ts'
import {
  type Channels as ChannelCarrier,
  type Ciphers,
  type IceRefusal,
  type IceServer,
  KEY_BYTES,
  type Met,
  SIGNATURE_BYTES,
} from '../ports.ts'
import type { Paths } from '../paths/paths.ts'
import type { PeerKey, Seal, SealSink, Points } from '../seal/state.ts'
import type { Admission, Topology, FromHubOf } from '../hub-protocol/messages.ts'
import type { Saved } from '../hub-protocol/saved-room.ts'
import type { Incoming, Piece } from '../wire/chunks.ts'
import type { Join, View } from '../session/messages.ts'
import type { MemberKind, PersistedPoint } from '../replication/layouts.ts'
import { RULES } from '../session/session.ts'
import * as session from '../session/state.ts'
import type { Session, SessionEvent, SessionOut } from '../session/state.ts'
import { digest, DIGEST_BYTES } from '../wire/digest.ts'

/** Channel of the session's own messages; parts have 4 to 255. */
export const SESSION_CHANNEL = 0
/** Channel of the primary's answer to a process that is not a member yet. */
export const JOIN_CHANNEL = 1
/** Channel of signals, by which two members open a channel of a carrier. */
export const SIGNAL_CHANNEL = 2

export interface MemberOptions {
  game: string
  room: string
  playersMax: number
  name: string
  kind: MemberKind
  addresses: string[]
  /** The hub's address, for error sentences. */
  hub: string
  types: string
  /** The types of which a stored room has state. */
  keptTypes: string
  /** Members may recover the session when primary and backup fail at once. */
  recovers: boolean
  /** Only members that were admitted as hosts serve or are backup. */
  hosts: boolean
  hides: boolean
  watches: boolean
  /** Admits us where the hub wants tickets; empty for none. */
  ticket: string
  /** Seals the stored room; null for none. */
  roomKey: Uint8Array | null
  /** A saved room with which the session begins, if this process opens it; null for none. */
  saved: Saved | null
  /** A stored room that we cannot read is replaced by a new one. */
  fresh: boolean
  /** Settings for all members, if this process opens the session: `name=value`, joined by `;`. */
  terms: string
  /** Which members get links to each other, if this process opens the session. */
  topology: Topology
  /** The player that we are, in every session of this process. */
  identity: Identity
  /** The former player of a token, and the point that it knew to be stored. */
  resume: Resume | null
  point: PersistedPoint | null
}

/** Whether a process may open a session without a primary, if the hub admits it. */
export function mayFound({ kind, watches, hosts, ticket }: MemberOptions): boolean {
  return kind !== 'guest' && !watches && (!hosts || ticket !== '')
}

/** A player: an Ed25519 key, and the seed that it is made from, which never leaves the process. */
export interface Identity {
  seed: Uint8Array
  key: Uint8Array
}

/** The player that rejoins: the key stays, the incarnation changes. */
export interface Resume {
  session: string
  player: number
  /** The former incarnation; 0 for a new process. */
  inc: PeerId
  /** The player's last operation with a known outcome, all before it included. */
  settled: number
}

/**
 * Why a link is closed: its process leaves; the link is not needed; or a primary says that the peer
 * is no member any more, or that its player came back in another process.
 */
export const CLOSE = { leaving: 1, idle: 2, removed: 3, returned: 4 } as const

export type Phase = 'finding' | 'opening' | 'asking' | 'in' | 'out'

export interface Peer {
  /** 0 until it and this process are members. */
  inc: PeerId
  /** The key of its links; null while no trusted source has given it. */
  key: PeerKey | null
  /** Null while the handshake is under way. */
  link: Link | null
  initiator: boolean
  /** When we ask for the link; Infinity while we do. */
  askAt: Millis
  /** Its addresses, and by which of them packets go. */
  paths: Paths
  /** Its messages that wait for the check of a certificate; null if none is checked. */
  held: Uint8Array[] | null
  /** A running check, after the system reported that no socket listens there. */
  reachability: ReachabilityCheck | null
  /** Since when this process does not want the link; Infinity while it wants it. */
  idleSince: Millis
}

export interface ReachabilityCheck {
  address: string
  askAt: Millis
  /** A peer that is silent until then is gone. */
  until: Millis
  /** The time is up, and the sockets are read once more. */
  last: boolean
}

/** A channel to one member, which may be there or not. */
export interface Pair {
  state: 'closed' | 'opening' | 'open'
  /** When the offerer acts next: offers, gives up, or looks; Infinity for the other end. */
  dueAt: Millis
  /** The address of the open channel; '' for none. */
  address: string
  /** Failures in a row. */
  failures: number
  sent: Bucket
  taken: Bucket
}

export interface Channels {
  pairs: Map<PeerId, Pair>
  /** Nothing is due before this. */
  dueAt: Millis
  /** When the hub is asked for fresh credentials of its TURN servers; Infinity if it gave none. */
  askAt: Millis
}

/** At a primary, a process that asks to join: it has a link before it has a number. */
export interface PendingJoin {
  peer: Peer
  /** The source of its handshake: the number of its stream at the hub. */
  address: string
  /** The session's answer names this number. */
  number: number
  join: Uint8Array
  refused: boolean
  /** Its JOIN while it waits for the removal of its player's old row; else null. */
  waits: Join | null
  until: Millis
}

/** A stored room on its way from the hub. */
export interface IncomingRoom {
  readonly session: string
  readonly terms: string
  /** The number of its segments, and those received. */
  readonly count: number
  readonly segments: Uint8Array[]
  bytes: number
  incoming: Incoming | null
}

export interface Opening {
  readonly answer: FromHubOf<'added'>
  readonly as: NonNullable<FromHubOf<'added'>['opened']>
  readonly incoming: IncomingRoom
}

/** The primary of the register with its key, as the hub says. */
export interface Named {
  inc: PeerId
  key: PeerKey
}

/** Unpredictable bytes, drawn from a seed that the runtime provides. */
export interface Entropy {
  seed: Uint8Array
  count: number
}

export interface MountedPart {
  part: Part<unknown>
  state: unknown
}

/** A job for the curves: our link key, a JOIN, a handshake, a certificate of the hub. */
export type CurveJob =
  | { kind: 'key'; of: LinkKey }
  | { kind: 'seal'; of: Seal; job: number }
  | { kind: 'sign'; session: string; join: Omit<Join, 'signature'> }
  | { kind: 'verify'; of: PendingJoin; join: Join }
  | { kind: 'admission'; of: PendingJoin; join: Join }
  | { kind: 'grant'; of: Peer; view: View }

/** A job of one kind. */
export type JobOf<Kind extends CurveJob['kind']> = CurveJob & { kind: Kind }

export interface CurveWork {
  jobs: Map<number, CurveJob>
  next: number
}

/** A question for curves, whose answer comes back by `computed`. */
export type CurveQuestion =
  | { kind: 'agree'; pairs: readonly (readonly [secret: Uint8Array, point: Uint8Array])[] }
  | { kind: 'sign'; seed: Uint8Array; message: Uint8Array }
  | { kind: 'verify'; key: Uint8Array; message: Uint8Array; signature: Uint8Array }

/** The answer of curves: a signature, whether one is right, or shared points. */
export type CurveAnswer = Uint8Array | boolean | Points

/** The X25519 key of our links, drawn for each incarnation. */
export interface LinkKey {
  secret: Uint8Array
  /** Null until the curves have made it. */
  point: Uint8Array | null
}

export interface Member {
  options: MemberOptions
  phase: Phase
  session: Session
  peers: Map<PeerId, Peer>
  /** Members of our view that only watch. */
  watchers: Set<PeerId>
  /** As primary: members that the view has dropped because their players returned. */
  replaced: Set<PeerId>
  linkKey: LinkKey
  seal: Seal | null
  sealed: string
  /** The member of each known link key. */
  keys: Map<PeerKey, PeerId>
  /** The primary that we have asked to let us in. */
  joinPeer: Peer | null
  /** Processes that ask us to let them in, oldest first. */
  pendingJoins: Map<PeerKey, PendingJoin>
  nextPendingJoin: number
  named: Named | null
  /** As primary: transfers of the room as a file, and when the last began, for each and for all. */
  exports: Map<PeerId, Export>
  exported: Map<PeerId, Millis>
  exportedAt: Millis
  /** The room as a file that we asked for; null for none. */
  file: { request: number; incoming: Incoming | null } | null
  /** Digest of the last sealed segment. */
  segmentBefore: Uint8Array
  /** The stored room that a new one replaces; null for none. */
  replacedRoom: ReplacedRoom | null
  /** The hub's public signing key, as it says; null before that. */
  hubKey: Uint8Array | null
  /** Since when only other hubs than that of our session answer; null while they do not. */
  foreignAt: Millis | null
  /** The join was canceled: its requests are undone. */
  unwanted: boolean
  admission: Admission
  /** The seal version of the primary, as an unauthenticated message says; 0 for ours. */
  otherSeal: number
  mounts: MountedPart[]
  /** Messages to ourselves: a primary is its own client. */
  loopback: Uint8Array[]
  touched: Set<PeerId>
  /** No link is due before this. */
  dueAt: Millis
  /** The set of wanted links may have changed. */
  reconcileDue: boolean
  channels: Channels
  clock: SessionClock
  entropy: Entropy
  curves: CurveWork
  hub: 'closed' | 'open' | 'attached'
  opening: Opening | null
  /** The hub's stored copy of the session that we recover; else null. */
  stored: IncomingRoom | null
  /** The session that we ask to join. */
  found: string
  askAt: Millis
  giveUpAt: Millis
  /** The finding at the hub's address instead of a hub, and since when. */
  met: (Met & { since: Millis }) | null
  /** Whether the hub's store answers, as the hub says. */
  storeAnswers: boolean
  /** A hub has answered our HELLO since the process began. */
  greeted: boolean
  /** Why the hub last refused to open or find our session. */
  unfound: string
  resume: Resume | null
  home: string
  /** Our last operation that was published as committed, before we rejoined. */
  recorded: number
  sweepAt: Millis
  /** The error that left this state half changed, or empty; and the times of recent ones. */
  broken: string
  breaks: Millis[]
  /** After an error: nothing is due before that. */
  calmUntil: Millis
  counters: MemberCounters
}

export interface MemberCounters {
  /** Datagrams and messages that no correct member could have sent. */
  malformed: number
  /** Datagrams before we are in a session. */
  stray: number
  /** Views without the hub's signature; JOINs without their player's, or of another link key. */
  forged: number
  /** Messages and frames that watchers may not send. */
  watching: number
  /** Answers of other hubs than that of our session. */
  foreign: number
  /** JOINs that were dropped because too many were pending. */
  unchecked: number
  denied: number
  /** How often the system reported no socket at the address of a peer that then answered. */
  falseAlarms: number
  /** Copies of the whole state that a part did not accept. */
  unrestored: number
  /** How often the member rejoined with a new incarnation. */
  returns: number
  /** How often an input made the machine throw, which is a bug of ours (dispatch.ts). */
  threw: number
  /** Signals that were dropped: too many, too long, or about no wanted channel. */
  signals: number
  /** Servers that a hub named and that no library takes. */
  servers: number
}

/** Why a stored room cannot be read here, and under which name it stays; '' if unknown. */
export interface ReplacedRoom {
  as: string
  why: string
}

export type MemberEvent =
  | SessionEvent
  /** `lost`: how many of our committed operations the recovered session lacks. */
  | { kind: 'joined'; inc: PeerId; player: number; lost: number }
  /** `opens`: after how long the room opens, if the hub said so; else null. */
  | { kind: 'failed'; code: ErrorCode; why: string; opens: Millis | null }
  | { kind: 'hub'; up: boolean }
  /** Whether the hub's store answers. */
  | { kind: 'store'; answers: boolean }
  /** An input made the machine throw: a bug of ours, which cost that input. */
  | { kind: 'threw'; error: unknown; where: string }
  /** The hub does not answer on its stream, or (false) does again. */
  | { kind: 'quiet'; isQuiet: boolean }
  /** A STUN or TURN server refuses us. */
  | ({ kind: 'ice' } & IceRefusal)
  /** The stored room could not be read, and a new one replaced it. */
  | ({ kind: 'aside' } & ReplacedRoom)
  /** The room as a file: all of it, null for a piece, or why there is none. */
  | { kind: 'file'; bytes: Uint8Array | null }
  | { kind: 'file'; unsaved: Unsaved }
  /** The hub has answered our invitation; `why` it refused, or empty. */
  | { kind: 'invited'; request: number; why: string }
  | { kind: 'part'; channel: number; event: unknown }

export interface Export {
  request: number
  pieces: readonly Piece[]
  /** The first piece not sent yet. */
  next: number
  at: Millis
}

export interface Unsaved {
  code: 'forbidden' | 'not-ready' | 'full'
  why: string
}

export interface MemberPorts {
  ciphers: Ciphers
  /** Sends a datagram; valid only during the call. */
  datagram: (to: string, bytes: Uint8Array) => void
  reaches(address: string): boolean
  /** Left out where no channels can be opened. */
  channels?: Pick<ChannelCarrier, 'offer' | 'signal' | 'drop'>
  /** From now on the hub's STUN and TURN servers are these. */
  servers?(servers: IceServer & { urls: string[] }): void
  /** Sends a message to the hub; lost when there is no stream. */
  hub(message: Uint8Array): void
  /** Leaves this hub for the next address. @returns false if there is none */
  elsewhere?(): boolean
  /** Reports an error that an input caused. Left out, the error is thrown. */
  threw?(error: unknown, where: string): void
  /** Has curves compute; the answer is `computed`, after the current call. */
  compute(job: number, question: CurveQuestion): void
  /**
   * Reports an event; the receiver queues it, and calls back only after the current call returned.
   */
  emit(event: MemberEvent): void
}

export interface Runtime {
  member: Member
  ports: MemberPorts
  now: Millis
  seals: SealSink
  arrivals: Arrivals
  /** Sends a reliable message to a peer or to ourselves. @returns its number on the link, or 0 */
  deliver(to: PeerId, bytes: Uint8Array): number
  out: SessionOut
  /** The context of a call into the session, for the current instant. */
  readonly turn: session.Turn
  readonly outs: Map<number, PartOut>
}

/** Longest time of a join. */
export const JOIN_MS: Millis = 15_000

/** Creates a process that is not in a session yet. @param seed  16 random bytes or more */
export function create(
  now: Millis,
  options: MemberOptions,
  seed: Uint8Array,
  mounts: MountedPart[],
): Member {
  const entropy = { seed, count: 0 }
  return {
    options,
    phase: 'finding',
    session: freshSession(now, options, entropy, options.point),
    ...{ peers: new Map(), watchers: new Set(), replaced: new Set() },
    linkKey: freshKey(entropy),
    ...{ seal: null, sealed: '', keys: new Map() },
    joinPeer: null,
    pendingJoins: new Map(),
    nextPendingJoin: 1,
    named: null,
    ...{ hubKey: null, foreignAt: null, unwanted: false, replacedRoom: null, file: null },
    ...{ exports: new Map(), exported: new Map(), exportedAt: -Infinity },
    segmentBefore: new Uint8Array(DIGEST_BYTES),
    admission: { rights: 0, signature: new Uint8Array(SIGNATURE_BYTES) },
    otherSeal: 0,
    mounts,
    loopback: [],
    touched: new Set(),
    dueAt: now,
    reconcileDue: true,
    ...{
      channels: { pairs: new Map(), dueAt: Infinity, askAt: Infinity },
      clock: createClock(now),
    },
    entropy,
    curves: { jobs: new Map(), next: 1 },
    hub: 'closed',
    ...{ opening: null, stored: null, found: '' },
    askAt: Infinity,
    giveUpAt: now + JOIN_MS,
    met: null,
    storeAnswers: true,
    greeted: false,
    unfound: '',
    resume: options.resume,
    home: '',
    recorded: 0,
    ...{ sweepAt: now, broken: '', breaks: [], calmUntil: -Infinity },
    counters: nothingCounted(),
  }
}

function nothingCounted(): MemberCounters {
  return {
    malformed: 0,
    stray: 0,
    forged: 0,
    watching: 0,
    unchecked: 0,
    denied: 0,
    falseAlarms: 0,
    unrestored: 0,
    returns: 0,
    threw: 0,
    signals: 0,
    servers: 0,
    foreign: 0,
  }
}

export function freshSession(
  now: Millis,
  options: MemberOptions,
  entropy: Entropy,
  point: PersistedPoint | null,
): Session {
  const { playersMax, types, keptTypes, recovers, hosts, kind, watches } = options
  const secret = draw(entropy)
  const mayRecover = recovers && kind !== 'guest' && !watches
  const own = session.create(now, {
    secret,
    playersMax,
    types,
    keptTypes,
    recovers: mayRecover,
    hosts,
    rules: RULES,
  })
  own.point = point
  return own
}

export function draw(entropy: Entropy): Uint8Array {
  const counted = new Uint8Array(entropy.seed.length + 4)
  counted.set(entropy.seed)
  new DataView(counted.buffer).setUint32(entropy.seed.length, entropy.count++)
  return digest(counted)
}

export function drawKey(entropy: Entropy): Uint8Array {
  const key = new Uint8Array(KEY_BYTES)
  key.set(draw(entropy))
  key.set(draw(entropy), DIGEST_BYTES)
  return key
}

export function freshKey(entropy: Entropy): LinkKey {
  return { secret: drawKey(entropy), point: null }
}

export function mountOf(member: Member, channel: number): MountedPart | null {
  return member.mounts.find((mount) => mount.part.channel === channel) ?? null
}
