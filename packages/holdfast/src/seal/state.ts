/** The handshakes and keys of one member with all others: plain data. */

import type { Bucket } from '../bucket.ts'
import { rulesOf, type Millis, type PeerId } from '../machine.ts'
import { BASE_POINT, KEY_BYTES, type Ciphers } from '../ports.ts'
import { LIMITS, SEAL_VERSION, SEAL_VERSIONS, SEALED_PEERS_MAX, type Limits } from './limits.ts'
import { type First, prologueOf, type Why } from './messages.ts'
import type { Noise } from './noise.ts'
import { RULES, type SealRules } from './rules.ts'
import * as windows from './rules.ts'
import { fromHex, joined, toHex } from '../wire/bytes.ts'
import { encodeVersions } from '../wire/versions.ts'

/** A peer: its public link key in hex. */
export type PeerKey = string

/** One pair of keys with its replay window. */
export interface Keys {
  peer: PeerKey
  /** The other end's number for its half. */
  theirs: number
  link: number
  sealing: Uint8Array
  opening: Uint8Array
  /** The number of the next packet. */
  sent: number
  window: windows.Window
  born: Millis
  /** Whether we were the initiator. */
  asked: boolean
  /** When a replaced pair stops opening packets; Infinity for the current pair. */
  until: Millis
}

/** An unvalidated address of a peer. */
export interface Probe {
  address: string
  number: Uint8Array
  drawnAt: Millis
  /** Bytes received from there minus bytes sent there; never below 0. */
  credit: number
  at: Millis
}

/** An established link. The numbers are those of its keys. */
export interface Link {
  number: number
  current: number
  /** 0 if there is none. */
  previous: number
  address: string
  /** Validated addresses; the one that answered last is last. */
  shown: string[]
  probes: Probe[]
}

/** A handshake that we began with a peer. */
export interface InitiatorHandshake {
  /** `making` and `reading` wait for curves; `standing` for the first packet under new keys. */
  stage: 'making' | 'asked' | 'reading' | 'standing'
  to: PeerId
  link: number
  again: boolean
  join: Uint8Array | null
  addresses: string[]
  /** The addresses to which message 1 went. */
  asked: string[]
  /** The index of the future keys. */
  index: number
  secret: Uint8Array
  counter: number
  /** After message 1; null until that is made. */
  noise: Noise | null
  /** Message 1 with its first proof, without its second. */
  message: Uint8Array
  cookie: { address: string; bytes: Uint8Array; at: Millis } | null
  /** Where message 1 went last, and how often it was sent. */
  address: string
  tries: number
  nextAt: Millis
  until: Millis
}

/** A handshake that a peer began with us, answered and not yet confirmed. */
export interface ResponderHandshake {
  counter: number
  /** The ephemeral key of its message 1, which identifies a repetition. */
  e: Uint8Array
  /** Our message 2, repeated for the same message 1. */
  message: Uint8Array
  /** The number of the keys that its first sealed packet brings into force; 0 if it was refused. */
  index: number
  link: number
  again: boolean
  /** Where message 2 went; '' after it went to several addresses. */
  address: string
  until: Millis
}

export interface Peer {
  point: Uint8Array
  /** Its incarnation, as far as we know; 0 if we do not. */
  inc: PeerId
  /** The counter of our last message 1 to it. */
  counter: number
  /** The largest counter of a confirmed message 1 from it. */
  newestCounter: number
  link: Link | null
  initiator: InitiatorHandshake | null
  responder: ResponderHandshake | null
}

/** Shared points, in the order of their pairs; null where there is none. */
export type Points = readonly (Uint8Array | null)[]

export type Job =
  | { kind: 'ask'; peer: PeerKey; index: number }
  | { kind: 'read'; peer: PeerKey; index: number; from: string; bytes: Uint8Array }
  | { kind: 'initiator'; from: string; bytes: Uint8Array }
  | { kind: 'first'; from: string; bytes: Uint8Array; noise: Noise; point: Uint8Array }
  | {
      kind: 'answer'
      from: string
      first: First
      e: Uint8Array
      noise: Noise
      peer: PeerKey
      theirs: number
      why: Why | null
    }

const NO_COUNTERS = {
  /** No datagram of these kinds, or one of a wrong length. */
  malformed: 0,
  /** Another version of these messages. */
  version: 0,
  /** A handshake whose first proof is not for us: another session, or a stranger. */
  unproven: 0,
  /** For unknown keys. */
  unknown: 0,
  /** Did not open: altered, sealed by another, or relayed by another member. */
  forged: 0,
  /** Received before, or too old to tell. */
  replayed: 0,
  /** A message 1 not newer than one that was confirmed or answered. */
  old: 0,
  /** A message 1 of a peer that we may know later. */
  early: 0,
  /** A message 1 that crossed ours, which won. */
  crossed: 0,
  /** A message 1 for another member, or about an unknown link. */
  misled: 0,
  /** A message 1 that was refused. */
  refused: 0,
  /** Cookies sent in place of an answer. */
  cookies: 0,
  /** Messages 1 of one address beyond its rate. */
  flooded: 0,
  /** Not computed: too many handshakes or peers at once. */
  busy: 0,
  /** A packet that could not be sealed: no link, an old key, or an address without credit. */
  unsent: 0,
  handshakes: 0,
  rekeys: 0,
  moves: 0,
}

export type Counters = typeof NO_COUNTERS

export interface Seal {
  out: SealSink
  ciphers: Ciphers
  rules: SealRules
  limits: Limits
  /** Our incarnation, 0 before we have one; and the version of our view. */
  me: PeerId
  mv: number
  secret: Uint8Array
  point: Uint8Array
  session: string
  /** The versions that our message 1 offers, and the prologue for a peer that speaks one. */
  offer: number
  prologue: Uint8Array
  /** Keys of the proofs in messages 1 to us, and of sealed cookies. */
  proofKey: Uint8Array
  cookieKey: Uint8Array
  /** The state of the random draws; each draw replaces it. */
  chance: Uint8Array
  peers: Map<PeerKey, Peer>
  /** By our index. */
  keys: Map<number, Keys>
  jobs: Map<number, Job>
  nextJob: number
  firsts: Bucket
  flooders: Map<string, Bucket>
  cookies: { secret: Uint8Array; before: Uint8Array; at: Millis }
  /** When `wake` is due at the latest. */
  due: Millis
  counters: Counters
}

/** A request for a link, from message 1. */
export interface Request {
  peer: PeerKey
  /** Its claimed incarnation; 0 if it has none. */
  from: PeerId
  address: string
  /** The version of its view: a newer one than ours may have members that we do not know. */
  mv: number
  link: number
  /** It has the link, and wants new keys. */
  again: boolean
  join: Uint8Array | null
}

/** Null accepts, a reason refuses, `later` ignores a peer that we may know soon. */
export type Verdict = Why | 'later' | null

export type SealEvent =
  /** A link is up, and replaces an older one. */
  | { kind: 'up'; peer: PeerKey; link: number; asked: boolean; address: string }
  /** The link has no keys left. */
  | { kind: 'down'; peer: PeerKey; why: 'gone' | 'spent' }
  | { kind: 'refused'; peer: PeerKey; why: Why }
  | { kind: 'failed'; peer: PeerKey }
  /** The peer answered our challenge from that address. `route` may use it from now on. */
  | { kind: 'answered'; peer: PeerKey; address: string }
  /** The peer seems to speak another version; unauthenticated. */
  | { kind: 'version'; peer: PeerKey; version: number }

export interface Packet {
  readonly peer: PeerKey
  readonly bytes: Uint8Array
}

/** Where effects go. Bytes are valid only during the call. */
export interface SealSink {
  datagram(to: string, bytes: Uint8Array): void
  /** Asks for the common point of each pair; the answer is `agreed`, after this verb. */
  agree(job: number, pairs: readonly (readonly [secret: Uint8Array, point: Uint8Array])[]): void
  /** Decides on a request, once the initiator has proven its key. */
  admit(request: Request): Verdict
  event(event: SealEvent): void
}

export interface SealOptions {
  out: SealSink
  ciphers: Ciphers
  session: string
  /** The secret of our link key: KEY_BYTES of entropy. */
  secret: Uint8Array
  point: Uint8Array
  /** KEY_BYTES of entropy, used once: all draws derive from it. */
  seed: Uint8Array
  me?: PeerId
  mv?: number
  limits?: Limits
  rules?: SealRules
}

const LABELS = { proof: 'holdfast proof', cookie: 'holdfast cookie' } as const

/** The key of proofs or of cookies in messages to that peer, in this session. */
export function keyFor(
  { ciphers, prologue }: Pick<Seal, 'ciphers' | 'prologue'>,
  what: keyof typeof LABELS,
  point: Uint8Array,
): Uint8Array {
  return ciphers.hmac(point, joined(new TextEncoder().encode(LABELS[what]), prologue))
}

/** The prologue of a handshake that offers those versions, so that nobody can strip one. */
export function prologueBy({ prologue, session }: Seal, offer: number): Uint8Array {
  return offer === SEAL_VERSION ? prologue : prologueOf(session, offer)
}

export function create(now: Millis, options: SealOptions): Seal {
  const { ciphers, session, secret, point, seed, limits = LIMITS } = options
  const { rules = RULES, mv = 0 } = options
  const prologue = rules.prologue(session, mv)
  return {
    out: rulesOf(options.out),
    ciphers: rulesOf(ciphers),
    rules,
    limits,
    me: options.me ?? 0,
    mv,
    secret,
    point,
    session,
    offer: encodeVersions(SEAL_VERSIONS),
    prologue,
    proofKey: keyFor({ ciphers, prologue }, 'proof', point),
    cookieKey: keyFor({ ciphers, prologue }, 'cookie', point),
    chance: ciphers.hash(seed),
    peers: new Map(),
    keys: new Map(),
    jobs: new Map(),
    nextJob: 1,
    firsts: { left: limits.firsts.max, at: now },
    flooders: new Map(),
    cookies: { secret: NONE, before: NONE, at: -Infinity },
    due: Infinity,
    counters: { ...NO_COUNTERS },
  }
}

export const NONE: Uint8Array = new Uint8Array(0)

/**
 * KEY_BYTES that nobody can predict. Each draw replaces the state, so a later leak reveals no
 * earlier draw.
 */
export function draw(seal: Seal): Uint8Array {
  const { ciphers, chance } = seal
  seal.chance = ciphers.hmac(chance, Uint8Array.of(1))
  return ciphers.hmac(chance, Uint8Array.of(2))
}

/** An unused index for new keys; not 0. */
export function drawIndex(seal: Seal): number {
  for (;;) {
    const bytes = draw(seal)
    const index = ((bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!) >>> 0
    if (index !== 0 && !isTaken(seal, index)) return index
  }
}

function isTaken({ keys, peers }: Seal, index: number): boolean {
  if (keys.has(index)) return true
  for (const { initiator } of peers.values()) if (initiator?.index === index) return true
  return false
}

export function agree(
  seal: Seal,
  job: Job,
  pairs: readonly (readonly [Uint8Array, Uint8Array])[],
): void {
  const id = seal.nextJob++
  seal.jobs.set(id, job)
  seal.out.agree(id, pairs)
}

/** The pair that makes the public key of a secret. */
export function publicOf(secret: Uint8Array): [Uint8Array, Uint8Array] {
  return [secret, BASE_POINT]
}

export function schedule(seal: Seal, at: Millis): void {
  if (at < seal.due) seal.due = at
}

export function addKeys(
  seal: Seal,
  now: Millis,
  index: number,
  of: Pick<Keys, 'peer' | 'theirs' | 'link' | 'sealing' | 'opening' | 'asked'>,
): void {
  const window = windows.createWindow(seal.limits.window)
  seal.keys.set(index, { ...of, sent: 0, window, born: now, until: Infinity })
}

export function nameOf(point: Uint8Array): PeerKey {
  return toHex(point)
}

/** Finds or creates a peer; null if there is no room or the name is no key. */
export function peerOf(seal: Seal, name: PeerKey): Peer | null {
  const found = seal.peers.get(name)
  if (found) return found
  const point = pointOf(name)
  if (point === null || (seal.peers.size >= SEALED_PEERS_MAX && !makeRoom(seal))) return null
  const [link, initiator, responder] = [null, null, null]
  const peer: Peer = { point, inc: 0, counter: 0, newestCounter: 0, link, initiator, responder }
  seal.peers.set(name, peer)
  return peer
}

export function isIdle({ link, initiator, responder }: Peer): boolean {
  return link === null && initiator === null && responder === null
}

function makeRoom(seal: Seal): boolean {
  for (const [name, peer] of seal.peers) {
    if (!isIdle(peer)) continue
    seal.peers.delete(name)
    return true
  }
  return false
}

/** Ends the link with a peer and its handshakes. Its counters stay, against replays. */
export function hangUp(seal: Seal, name: PeerKey): void {
  for (const [index, { peer }] of seal.keys) if (peer === name) seal.keys.delete(index)
  const peer = seal.peers.get(name)
  if (peer) Object.assign(peer, { link: null, initiator: null, responder: null })
}

/** The public key of a name; null if it is none. */
export function pointOf(peer: PeerKey): Uint8Array | null {
  // A name has one spelling.
  return peer === peer.toLowerCase() ? fromHex(peer, KEY_BYTES) : null
}
