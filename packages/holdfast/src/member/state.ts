/**
 * The state of one member: its session, its links, its parts; and the wiring between them, which is
 * made once, beside the state, and never for each packet.
 */

import type { ReachabilityCheck } from './reachability.ts'
import type { Arrivals, Link } from '../link/link.ts'
import { type SessionClock, createClock } from '../link/timing/clock.ts'
import type { ErrorCode, Millis, PeerId } from '../machine.ts'
import type { Part, PartOut } from '../kind/protocol/part.ts'
import { type Ciphers, KEY_BYTES, type Met, SIGNATURE_BYTES } from '../ports.ts'
import type { PeerKey, Seal, SealSink } from '../seal/state.ts'
import type { Admission, FromHub, Topology } from '../hub-protocol/messages.ts'
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
/** Channel of the one message that a primary has for a process that is no member yet. */
export const JOIN_CHANNEL = 1

/** The options with which a process joins. */
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
  /** Those of which a kept room has state. */
  keptTypes: string
  /** The session may be recovered by its members when primary and backup are gone at once. */
  recovers: boolean
  /** Only members that were admitted as hosts serve or are backup. */
  hosts: boolean
  hides: boolean
  watches: boolean
  /** What lets us in where not everybody may come; empty for none. */
  ticket: string
  /** What is kept of the room is sealed with it; null for none. */
  roomKey: Uint8Array | null
  /** A saved room that begins anew, if this process opens the session; null for none. */
  saved: Saved | null
  /** What is kept of the room, if we cannot read it, is laid aside, and the room founded anew. */
  fresh: boolean
  /** Options for all members, if this process opens the session: `name=value`, joined by `;`. */
  terms: string
  /** Which members get links to each other, if this process opens the session. */
  topology: Topology
  /** The player that we are, in every session of this process. */
  identity: Identity
  /** The former player, if the process comes back by a token; and what it knew to be stored. */
  resume: Resume | null
  point: PersistedPoint | null
}

/** Whether a process opens a session that nobody serves: if the hub admits it so. */
export function mayFound({ kind, watches, hosts, ticket }: MemberOptions): boolean {
  return kind !== 'guest' && !watches && (!hosts || ticket !== '')
}

/** A player: an Ed25519 key, and the seed that it is made from, which never leaves the process. */
export interface Identity {
  seed: Uint8Array
  key: Uint8Array
}

/** Which player comes back: the key stays, the incarnation changes. */
export interface Resume {
  session: string
  player: number
  /** The former incarnation; 0 for a new process. */
  inc: PeerId
  /** The player's last operation with a known outcome, all before it included. */
  settled: number
}

/** Why a link is closed: its process leaves, or nobody needs it. */
export const CLOSE = { leaving: 1, idle: 2 } as const

/** How far a process has got into its session. */
export type Phase = 'finding' | 'opening' | 'asking' | 'in' | 'out'

/** One peer and the paths to it. */
export interface Peer {
  /** 0 as long as it, or this process itself, is no member. */
  inc: PeerId
  /** The key of its links; null while nobody whom we believe has told us. */
  key: PeerKey | null
  /** Null while the handshake is under way. */
  link: Link | null
  initiator: boolean
  /** When we ask for the link; Infinity while we do. */
  askAt: Millis
  /** Addresses, best first; the last is the relay's. */
  paths: string[]
  /** Where packets go: the address from which the last valid packet came. */
  path: string
  /** When a valid packet last came from there; packets on other paths do not count. */
  pathAt: Millis
  probeAt: Millis
  /** Until this instant no direct path is taken while the one through the hub works. */
  relayUntil: Millis
  /** Its messages that wait until the hub's signature in its view is checked; null if none is. */
  held: Uint8Array[] | null
  /** The system reported that nobody is there, and the peer was asked. */
  reachability: ReachabilityCheck | null
  /** Since when this process does not want the link; Infinity while it does. */
  idleSince: Millis
}

/** At a primary, a process that is no member yet: it has a link before it has a number. */
export interface PendingJoin {
  peer: Peer
  /** Where its handshake came from: the number of its stream at the hub. */
  address: string
  /** By this number the session answers it. */
  number: number
  /** The JOIN that came in its handshake. */
  join: Uint8Array
  /** It was told that it may not come in. */
  refused: boolean
  /** What it asks for, while the old row of its player is on its way out; else null. */
  waits: Join | null
  /** Then it is forgotten. */
  until: Millis
}

/** What is kept of a room, as it comes from the hub. */
export interface IncomingRoom {
  readonly session: string
  readonly terms: string
  /** How many sheets it has; and those that have come. */
  readonly count: number
  readonly sheets: Uint8Array[]
  bytes: number
  incoming: Incoming | null
}

/** A kept room that we open. */
export interface Opening {
  readonly answer: FromHub & { kind: 'added' }
  readonly as: NonNullable<(FromHub & { kind: 'added' })['opened']>
  readonly incoming: IncomingRoom
}

/** Whose key a hub told us: the primary of the register. */
export interface Named {
  inc: PeerId
  key: PeerKey
}

/** Bytes that nobody can guess, drawn from a seed that the runtime provided. */
export interface Entropy {
  seed: Uint8Array
  count: number
}

/** One part with its state. */
export interface MountedPart {
  part: Part<unknown>
  state: unknown
}

/** What waits for curves: our link key, JOINs, a handshake, a grant of the hub. */
export type CurveJob =
  | { kind: 'key'; of: LinkKey }
  | { kind: 'seal'; of: Seal; job: number }
  | { kind: 'sign'; session: string; join: Omit<Join, 'signature'> }
  | { kind: 'verify'; of: PendingJoin; join: Join }
  | { kind: 'admission'; of: PendingJoin; join: Join }
  | { kind: 'grant'; of: Peer; view: View }

/** All that waits for curves, by number. */
export interface CurveWork {
  jobs: Map<number, CurveJob>
  next: number
}

/** A question for curves, whose answer comes back by `computed`. */
export type CurveQuestion =
  | { kind: 'agree'; pairs: readonly (readonly [secret: Uint8Array, point: Uint8Array])[] }
  | { kind: 'sign'; seed: Uint8Array; message: Uint8Array }
  | { kind: 'verify'; key: Uint8Array; message: Uint8Array; signature: Uint8Array }

/** What curves answer: a signature, whether one is right, common points. */
export type CurveAnswer = Uint8Array | boolean | readonly (Uint8Array | null)[]

/** The X25519 key of our links, drawn for each incarnation. */
export interface LinkKey {
  secret: Uint8Array
  /** Null until curves have made it. */
  point: Uint8Array | null
}

/** The whole state of a member. */
export interface Member {
  options: MemberOptions
  phase: Phase
  session: Session
  peers: Map<PeerId, Peer>
  /** Members of our view that only watch. */
  watchers: Set<PeerId>
  linkKey: LinkKey
  /** Null before we ask to join a session. */
  seal: Seal | null
  sealed: string
  /** Which member a link key is, of all that we have or had to do with. */
  keys: Map<PeerKey, PeerId>
  /** The primary that we ask to let us in. */
  joinPeer: Peer | null
  /** Those who ask us; oldest first. */
  pendingJoins: Map<PeerKey, PendingJoin>
  nextPendingJoin: number
  /** Null if no hub has told us. */
  named: Named | null
  /** As primary: who is sent the room as a file; and when one was made last, for each, for all. */
  exports: Map<PeerId, Export>
  exported: Map<PeerId, Millis>
  exportedAt: Millis
  /** The room as a file that we asked for; null for none. */
  file: { request: number; incoming: Incoming | null } | null
  /** Digest of the sheet that was sealed last. */
  sheetBefore: Uint8Array
  /** What is to be laid aside; null for nothing. */
  replacedRoom: ReplacedRoom | null
  /** By which the hub signs, as it says itself; null before it did. */
  hubKey: Uint8Array | null
  /** Since when other hubs than that of our session answer; null while they do not. */
  foreignAt: Millis | null
  /** Joining was given up: what was asked for on the way in is taken back. */
  unwanted: boolean
  /** What the hub lets us do in the session that we found. */
  admission: Admission
  /** The version of sealed links that the primary speaks, as somebody said; 0 for ours. */
  otherSeal: number
  mounts: MountedPart[]
  /** Messages to ourselves: a primary is its own client. */
  loopback: Uint8Array[]
  /** Peers to whom something was written since the last flush. */
  touched: Set<PeerId>
  /** No link has anything to do before this. */
  dueAt: Millis
  /** The set of peers that we want links with may have changed. */
  reconcileDue: boolean
  clock: SessionClock
  entropy: Entropy
  curves: CurveWork
  hub: 'closed' | 'open' | 'attached'
  /** Null while we open no kept room. */
  opening: Opening | null
  /** What the hub has of the session that we recover; null while we do not. */
  stored: IncomingRoom | null
  /** The session that we ask to join. */
  found: string
  askAt: Millis
  giveUpAt: Millis
  /** What is at the hub's address instead of a hub, and since when. */
  met: (Met & { since: Millis }) | null
  /** The hub has answered our HELLO, since the process began. */
  greeted: boolean
  /** Why the hub did not open or find our session, when it was last asked. */
  unfound: string
  resume: Resume | null
  /** The session to which the parts' states belong. */
  home: string
  /** The last of our operations that the session had published as recorded, before we came back. */
  recorded: number
  sweepAt: Millis
  /** What left this state changed by half, as a sentence; or empty. And when that was of late. */
  broken: string
  breaks: Millis[]
  /** Something threw: nothing is due before that. */
  calmUntil: Millis
  counters: MemberCounters
}

/** The counters of a member. */
export interface MemberCounters {
  /** Datagrams and messages that no correct member could have sent. */
  malformed: number
  /** Datagrams before we are in a session. */
  stray: number
  /** Views without the hub's signature; JOINs without their player's, or of another link key. */
  forged: number
  /** Messages and frames of members that only watch, which may not say such. */
  watching: number
  /** Answers of other hubs than that of our session. */
  foreign: number
  /** JOINs that were dropped, for too many were being checked. */
  unchecked: number
  denied: number
  /** How often the system reported nobody at the address of a peer who then answered. */
  falseAlarms: number
  /** Copies of the whole state that a part did not accept. */
  unrestored: number
  /** How often the member came back with a new incarnation. */
  returns: number
  /** How often an input made the machine throw, which is a bug of ours (dispatch.ts). */
  threw: number
}

/** Why a room cannot be read here, and as which room it is kept; '' if that is unknown. */
export interface ReplacedRoom {
  as: string
  why: string
}

/** Events for the runtime above. */
export type MemberEvent =
  | SessionEvent
  /** `lost`: how many of our recorded operations the recovered session does not have. */
  | { kind: 'joined'; inc: PeerId; player: number; lost: number }
  /** `opens`: after how long the room opens, as the hub said; null if it did not. */
  | { kind: 'failed'; code: ErrorCode; why: string; opens: Millis | null }
  | { kind: 'hub'; up: boolean }
  /** An input made the machine throw: a bug of ours, which cost that input. */
  | { kind: 'threw'; error: unknown; where: string }
  /** The hub does not answer on its stream, or (false) does again. */
  | { kind: 'quiet'; isQuiet: boolean }
  /** What was kept of the room could not be read; it is kept under another name, if we know it. */
  | ({ kind: 'aside' } & ReplacedRoom)
  /** Of the room as a file: all, a piece that came with more to come, or why there is none. */
  | { kind: 'file'; bytes: Uint8Array | null }
  | { kind: 'file'; unsaved: Unsaved }
  /** The hub has answered an invitation of ours; `why` not, or empty. */
  | { kind: 'invited'; request: number; why: string }
  | { kind: 'part'; channel: number; event: unknown }

/** The room as a file that a member is sent, and when it asked last. */
export interface Export {
  request: number
  pieces: readonly Piece[]
  /** The first that was not sent. */
  next: number
  at: Millis
}

/** Why there is no file of the room. */
export interface Unsaved {
  code: 'forbidden' | 'not-ready' | 'full'
  why: string
}

/** The outside of a member: what it needs of the runtime. */
export interface MemberPorts {
  ciphers: Ciphers
  /** Sends a datagram; valid only during the call. */
  datagram: (to: string, bytes: Uint8Array) => void
  /** Whether some carrier of ours can send to that address. */
  reaches(address: string): boolean
  /** Sends a message to the hub; lost when there is no stream. */
  hub(message: Uint8Array): void
  /** Leaves this hub for the next address that was given. @returns false if there is none */
  elsewhere?(): boolean
  /** An input made the machine throw. Left out, it throws. */
  threw?(error: unknown, where: string): void
  /** Has curves compute; the answer is `computed`, after the current call. */
  compute(job: number, question: CurveQuestion): void
  /**
   * Reports an event; the receiver queues it, and calls back only after the current call returned.
   */
  emit(event: MemberEvent): void
}

/** A member with its wiring. */
export interface Runtime {
  member: Member
  ports: MemberPorts
  /** The instant of the current call. */
  now: Millis
  /** Where sealing sends its effects. */
  seals: SealSink
  /** What the current datagram carried. */
  arrivals: Arrivals
  /** Sends a reliable message to a peer or to ourselves. @returns its number on the link, or 0 */
  deliver(to: PeerId, bytes: Uint8Array): number
  out: SessionOut
  /** A call into the session as it is now. */
  readonly turn: session.Turn
  /** The sink of each part, by channel. */
  readonly outs: Map<number, PartOut>
}

/** Longest time to get into a session. */
export const JOIN_MS: Millis = 15_000

/** A process that is not in a session yet. @param seed  16 random bytes or more */
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
    ...{ peers: new Map(), watchers: new Set() },
    linkKey: freshKey(entropy),
    ...{ seal: null, sealed: '', keys: new Map() },
    joinPeer: null,
    pendingJoins: new Map(),
    nextPendingJoin: 1,
    named: null,
    ...{ hubKey: null, foreignAt: null, unwanted: false, replacedRoom: null, file: null },
    ...{ exports: new Map(), exported: new Map(), exportedAt: -Infinity },
    sheetBefore: new Uint8Array(DIGEST_BYTES),
    admission: { rights: 0, signature: new Uint8Array(SIGNATURE_BYTES) },
    otherSeal: 0,
    mounts,
    loopback: [],
    touched: new Set(),
    dueAt: now,
    reconcileDue: true,
    clock: createClock(now),
    entropy,
    curves: { jobs: new Map(), next: 1 },
    hub: 'closed',
    ...{ opening: null, stored: null, found: '' },
    askAt: Infinity,
    giveUpAt: now + JOIN_MS,
    met: null,
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
    foreign: 0,
  }
}

/** A session for a new incarnation: with a secret of its own. */
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

/** 16 bytes that were not drawn before. */
export function draw(entropy: Entropy): Uint8Array {
  const counted = new Uint8Array(entropy.seed.length + 4)
  counted.set(entropy.seed)
  new DataView(counted.buffer).setUint32(entropy.seed.length, entropy.count++)
  return digest(counted)
}

/** KEY_BYTES that were not drawn before. */
export function drawKey(entropy: Entropy): Uint8Array {
  const key = new Uint8Array(KEY_BYTES)
  key.set(draw(entropy))
  key.set(draw(entropy), DIGEST_BYTES)
  return key
}

/** The link key of a new incarnation. */
export function freshKey(entropy: Entropy): LinkKey {
  return { secret: drawKey(entropy), point: null }
}

/** The mount of a channel. */
export function mountOf(member: Member, channel: number): MountedPart | null {
  return member.mounts.find((mount) => mount.part.channel === channel) ?? null
}
