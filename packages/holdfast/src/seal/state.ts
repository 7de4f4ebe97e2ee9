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
  /** Bytes received from there minus bytes sent there; never below 0. */
  credit: number
  /** When it was last challenged. */
  at: Millis
}

/** An established link. The numbers are those of its keys. */
export interface Link {
  number: number
  current: number
  /** 0 if there is none. */
  previous: number
  address: string
  /** Validated addresses, the newest last. */
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
  /** Those to which message 1 went. */
  asked: string[]
  /** The number of the keys to be. */
  index: number
  secret: Uint8Array
  counter: number
  /** As after message 1; null while that is made. */
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
  /** Where message 2 went; '' if to several places. */
  address: string
  until: Millis
}

/** One peer. */
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

/** A job that waits for curves. */
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
  /** For keys that are not there. */
  unknown: 0,
  /** Did not open: altered, or sealed by somebody else; or another member relayed it. */
  forged: 0,
  /** Came before, or too far behind to tell. */
  replayed: 0,
  /** A message 1 that is not newer than what was confirmed or answered. */
  old: 0,
  /** A message 1 of a peer that we may know later. */
  early: 0,
  /** A message 1 that crossed ours, which won. */
  crossed: 0,
  /** A message 1 for somebody else, or about a link that is not there. */
  misled: 0,
  /** A message 1 that was refused. */
  refused: 0,
  /** Cookies sent in place of an answer. */
  cookies: 0,
  /** Message 1 of one address beyond its share. */
  flooded: 0,
  /** Nothing was computed: too many handshakes or peers at once. */
  busy: 0,
  /** A packet that could not be sealed: no link, an old key, or an address without credit. */
  unsent: 0,
  handshakes: 0,
  rekeys: 0,
  moves: 0,
}

/** Counts of refusals and drops by cause, and of successes. */
export type Counters = typeof NO_COUNTERS

/** All handshakes and keys of one member. */
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
  /** Which versions our message 1 says; and the prologue of who speaks one alone. */
  offer: number
  prologue: Uint8Array
  /** Under which proofs of message 1 to us are made, and cookies are sealed. */
  proofKey: Uint8Array
  cookieKey: Uint8Array
  /** What is drawn next depends on it alone; it is replaced at each draw. */
  chance: Uint8Array
  peers: Map<PeerKey, Peer>
  /** By our number of it. */
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
  /** Of its view: a newer one than ours may have members that we do not know. */
  mv: number
  link: number
  /** It has the link, and wants new keys. */
  again: boolean
  join: Uint8Array | null
}

/**
 * The verdict on a request: null to accept, a reason to refuse, `later` to ignore it for now, for
 * we may come to know that peer.
 */
export type Verdict = Why | 'later' | null

/** Events of a seal for the layer above. */
export type SealEvent =
  /** A link is up, and replaces an older one. */
  | { kind: 'up'; peer: PeerKey; link: number; asked: boolean; address: string }
  /** The link has no keys any more. */
  | { kind: 'down'; peer: PeerKey; why: 'gone' | 'spent' }
  /** The peer refused us. */
  | { kind: 'refused'; peer: PeerKey; why: Why }
  /** No answer came. */
  | { kind: 'failed'; peer: PeerKey }
  /** The peer has validated another address. */
  | { kind: 'moved'; peer: PeerKey; address: string }
  /** The peer seems to speak another version; unauthenticated. */
  | { kind: 'version'; peer: PeerKey; version: number }

/** A packet that a peer sealed for us. */
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

/** Options of a seal. */
export interface SealOptions {
  out: SealSink
  ciphers: Ciphers
  session: string
  /** The secret of our link key, KEY_BYTES of chance. */
  secret: Uint8Array
  point: Uint8Array
  /** KEY_BYTES of chance, never used twice: all that is drawn comes from it. */
  seed: Uint8Array
  me?: PeerId
  mv?: number
  limits?: Limits
  rules?: SealRules
}

const LABELS = { proof: 'holdfast proof', cookie: 'holdfast cookie' } as const

/** The key of proofs or of cookies in messages to that peer, in this session alone. */
export function keyFor(
  { ciphers, prologue }: Pick<Seal, 'ciphers' | 'prologue'>,
  what: keyof typeof LABELS,
  point: Uint8Array,
): Uint8Array {
  return ciphers.hmac(point, joined(new TextEncoder().encode(LABELS[what]), prologue))
}

/** Of a handshake whose message 1 says those versions, so that nobody takes one of them away. */
export function prologueBy({ prologue, session }: Seal, offer: number): Uint8Array {
  return offer === SEAL_VERSION ? prologue : prologueOf(session, offer)
}

/** Nobody is known yet. */
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

/** No bytes. */
export const NONE: Uint8Array = new Uint8Array(0)

/**
 * KEY_BYTES that nobody can foresee. What they came from is replaced, so who learns this state
 * later does not learn what was drawn before.
 */
export function draw(seal: Seal): Uint8Array {
  const { ciphers, chance } = seal
  seal.chance = ciphers.hmac(chance, Uint8Array.of(1))
  return ciphers.hmac(chance, Uint8Array.of(2))
}

/** A number for keys to be that is not 0, nor that of others. */
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

/** Has curves compute for a job. */
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

/** Schedules `wake`. */
export function schedule(seal: Seal, at: Millis): void {
  if (at < seal.due) seal.due = at
}

/** New keys of a link. */
export function addKeys(
  seal: Seal,
  now: Millis,
  index: number,
  of: Pick<Keys, 'peer' | 'theirs' | 'link' | 'sealing' | 'opening' | 'asked'>,
): void {
  const window = windows.createWindow(seal.limits.window)
  seal.keys.set(index, { ...of, sent: 0, window, born: now, until: Infinity })
}

/** The name of a peer: its public key in hex. */
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

/** Whether nothing is under way with a peer. */
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
