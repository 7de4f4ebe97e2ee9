/** The initiator: repeats message 1 until it is answered, then sends the first packet. */

import { badValue, type Millis, type PeerId } from '../machine.ts'
import { KEY_BYTES } from '../ports.ts'
import { joined } from '../wire/bytes.ts'
import { decode } from '../wire/layout.ts'
import { ASK_AGAIN_MS, ASKING_MS, MAC_BYTES, SEAL_VERSIONS, SEALED_JOIN_MAX } from './limits.ts'
import { isForged } from '../wire/relay.ts'
import * as links from './links.ts'
import * as messages from './messages.ts'
import { COOKIE_DATAGRAM, KIND, SECOND_HEAD, SECOND_MIN } from './messages.ts'
import * as noise from './noise.ts'
import { isProven, proven, readCookie, withCookie } from './proofs.ts'
import { negotiate } from '../wire/versions.ts'
import * as state from './state.ts'
import {
  NONE,
  type InitiatorHandshake,
  type Peer,
  type PeerKey,
  type Seal,
  type Points,
} from './state.ts'

/** Longest pause before message 1 is repeated. */
const PAUSE_MAX: Millis = 1000

/** A handshake to begin. */
export interface Asked {
  peer: PeerKey
  to: PeerId
  /** Candidate addresses, best first. */
  addresses: readonly string[]
  join?: Uint8Array | null
  /** The link to rekey; left out for a new one. */
  again?: number
}

/**
 * Begins a handshake with a peer, unless one is under way. Its event is `up`, `refused` or
 * `failed`.
 *
 * @throws HoldfastError `bad-value` for a name that is no public key, or a JOIN that is too long
 */
export function ask(seal: Seal, now: Millis, asked: Asked): void {
  const { again, join = null, to, addresses } = asked
  if (state.pointOf(asked.peer) === null) {
    throw badValue(`a peer is named by its public key, 64 digits of hex: ${asked.peer}`)
  }
  if (join && join.length > SEALED_JOIN_MAX) {
    throw badValue(`a sealed JOIN has at most ${SEALED_JOIN_MAX} bytes: ${join.length}`)
  }
  const peer = state.peerOf(seal, asked.peer)
  if (peer === null || addresses.length === 0) {
    seal.counters.busy++
    return
  }
  if (peer.initiator) return
  // If ours wins over a crossing handshake, theirs must not complete after it.
  const { responder } = peer
  if (responder && seal.rules.oursStands(state.nameOf(seal.point), asked.peer)) {
    seal.keys.delete(responder.index)
    peer.responder = null
  }
  const link = again ?? state.drawIndex(seal)
  const index = state.drawIndex(seal)
  const secret = state.draw(seal)
  peer.counter++
  peer.inc = to
  peer.initiator = {
    ...{ stage: 'making', to, link, again: again !== undefined, join, index, secret },
    ...{ addresses: [...addresses], asked: [], counter: peer.counter, noise: null, message: NONE },
    ...{ cookie: null, address: addresses[0]!, tries: 0, nextAt: Infinity, until: now + ASKING_MS },
  }
  state.schedule(seal, now + ASKING_MS)
  const { point } = peer
  const pairs = [state.publicOf(secret), [secret, point], [seal.secret, point]] as const
  state.agree(seal, { kind: 'ask', peer: asked.peer, index }, pairs)
}

export function made(
  seal: Seal,
  now: Millis,
  job: { peer: PeerKey; index: number },
  shared: Points,
): void {
  const peer = seal.peers.get(job.peer)
  const initiator = peer?.initiator
  if (!peer || initiator?.index !== job.index || initiator.stage !== 'making') return
  const [e, es, ss] = shared
  if (!e || !es || !ss) return fail(seal, peer, job.peer)
  const { link, again, counter, to, join } = initiator
  const { me, mv, ciphers } = seal
  const payload = messages.encodeFirst({ from: me, to, link, again, counter, mv, join })
  const handshake = noise.begin(ciphers, state.prologueBy(seal, seal.offer), peer.point)
  const first = noise.writeFirst(ciphers, handshake, { e, s: seal.point, es, ss }, payload)
  const head = new Uint8Array(messages.FIRST_HEAD)
  head.set([KIND.first, seal.offer])
  messages.putIndex(head, 2, initiator.index)
  initiator.noise = handshake
  initiator.message = proven(seal, state.keyFor(seal, 'proof', peer.point), joined(head, first))
  initiator.stage = 'asked'
  sendFirst(seal, now, initiator)
}

function sendFirst(seal: Seal, now: Millis, initiator: InitiatorHandshake): void {
  initiator.address = initiator.addresses[initiator.tries % initiator.addresses.length]!
  if (!initiator.asked.includes(initiator.address)) initiator.asked.push(initiator.address)
  seal.out.datagram(initiator.address, withCookie(seal, now, initiator))
  pause(seal, now, initiator)
}

function pause(seal: Seal, now: Millis, initiator: InitiatorHandshake): void {
  initiator.nextAt = now + Math.min(PAUSE_MAX, ASK_AGAIN_MS * 2 ** initiator.tries)
  initiator.tries++
  state.schedule(seal, initiator.nextAt)
}

/** The peer's own handshake came from an address: repeats message 1 there. */
export function askThere(seal: Seal, now: Millis, peer: Peer, from: string, room: number): void {
  const { initiator } = peer
  if (initiator?.stage !== 'asked' || initiator.message.length + MAC_BYTES > room) return
  if (!initiator.addresses.includes(from)) initiator.addresses.push(from)
  if (!initiator.asked.includes(from)) initiator.asked.push(from)
  initiator.address = from
  seal.out.datagram(from, withCookie(seal, now, initiator))
}

export function answered(seal: Seal, from: string, bytes: Uint8Array): void {
  const { counters } = seal
  if (bytes.length < SECOND_MIN) return void counters.malformed++
  const found = handshakeOf(seal, messages.indexAt(bytes, 5))
  if (!found) return void counters.unknown++
  const { name, initiator } = found
  if (initiator.stage !== 'asked') return
  if (isForged(from, initiator.to)) return void counters.forged++
  if (!isProven(seal, bytes)) return void counters.unproven++
  initiator.stage = 'reading'
  const copy = new Uint8Array(bytes)
  const e = copy.subarray(SECOND_HEAD, SECOND_HEAD + KEY_BYTES)
  const job = { kind: 'read', peer: name, index: initiator.index, from, bytes: copy } as const
  const pairs = [
    [initiator.secret, e],
    [seal.secret, e],
  ] as const
  state.agree(seal, job, pairs)
}

function handshakeOf(
  { peers }: Seal,
  index: number,
): { peer: Peer; name: PeerKey; initiator: InitiatorHandshake } | null {
  for (const [name, peer] of peers) {
    const { initiator } = peer
    if (initiator?.index === index) return { peer, name, initiator }
  }
  return null
}

export function read(
  seal: Seal,
  now: Millis,
  job: { peer: PeerKey; index: number; from: string; bytes: Uint8Array },
  shared: Points,
): void {
  const peer = seal.peers.get(job.peer)
  const initiator = peer?.initiator
  if (!peer || initiator?.index !== job.index || initiator.stage !== 'reading') return
  // A copy: a forged message 2 must not change the state.
  const handshake = { ...initiator.noise! }
  const [ee, se] = shared
  const { bytes } = job
  const second = bytes.subarray(SECOND_HEAD, bytes.length - MAC_BYTES)
  const plain = ee && se ? noise.readSecond(seal.ciphers, handshake, second, { ee, se }) : null
  const reply = plain && decode(messages.secondLayout, plain)
  if (!reply) {
    seal.counters.forged++
    initiator.stage = 'asked'
    return
  }
  if (reply.kind === 'no') return refuse(seal, peer, job.peer, reply.why)
  const theirs = messages.indexAt(bytes, 1)
  const [sealing, opening] = noise.split(seal.ciphers, handshake)
  const { link, index } = initiator
  const of = { peer: job.peer, theirs, link, sealing, opening, asked: true }
  state.addKeys(seal, now, index, of)
  initiator.stage = 'standing'
  initiator.noise = null
  initiator.tries = 0
  const place = initiator.addresses.includes(job.from) ? job.from : initiator.address
  // An answer from the only address that was asked validates it.
  const isShown = initiator.asked.length === 1 && place === job.from && initiator.asked[0] === place
  links.install(seal, now, index, { again: initiator.again, address: place, isShown })
  links.credit(seal, peer.link!, job.peer, place, bytes.length)
  links.sendWord(seal, now, index, peer.link!.address, { kind: 'here' })
  links.challenge(seal, now, job.peer, place)
  pause(seal, now, initiator)
}

function refuse(seal: Seal, peer: Peer, name: PeerKey, why: messages.Why): void {
  const { again } = peer.initiator!
  peer.initiator = null
  if (again && why === 'gone') links.end(seal, peer, name, 'gone')
  else seal.out.event({ kind: 'refused', peer: name, why })
}

/** Handles a cookie: repeats message 1 at once, for the first cookie. */
export function cookie(seal: Seal, now: Millis, from: string, bytes: Uint8Array): void {
  const { counters } = seal
  if (bytes.length !== COOKIE_DATAGRAM) return void counters.malformed++
  const found = handshakeOf(seal, messages.indexAt(bytes, 1))
  if (!found || found.initiator.stage !== 'asked') return void counters.unknown++
  const { initiator, peer } = found
  const cookie = readCookie(seal, initiator, peer.point, bytes)
  if (!cookie || !initiator.addresses.includes(from)) return void counters.forged++
  const isFirst = initiator.cookie === null
  initiator.cookie = { address: from, bytes: cookie, at: now }
  if (!isFirst) return
  initiator.address = from
  seal.out.datagram(from, withCookie(seal, now, initiator))
}

/** A peer seems to speak another version. That is unauthenticated, so the handshake goes on. */
export function otherVersion(seal: Seal, from: string, bytes: Uint8Array): void {
  const reply = messages.readVersion(bytes)
  if (!reply || negotiate(SEAL_VERSIONS, reply.version) !== null)
    return void seal.counters.malformed++
  const found = handshakeOf(seal, reply.to)
  if (!found?.initiator.addresses.includes(from)) return void seal.counters.unknown++
  seal.counters.version++
  seal.out.event({ kind: 'version', peer: found.name, version: reply.version })
}

/** Does what is due in a handshake. @returns when it is due next */
export function wake(seal: Seal, now: Millis, name: PeerKey, peer: Peer): Millis {
  const { initiator } = peer
  if (!initiator) return Infinity
  if (now >= initiator.until) {
    // With keys there is a link, whose user notices the silence.
    if (initiator.stage === 'standing') peer.initiator = null
    else fail(seal, peer, name)
    return Infinity
  }
  if (now >= initiator.nextAt) {
    if (initiator.stage === 'asked') sendFirst(seal, now, initiator)
    else if (initiator.stage === 'standing') {
      links.sendWord(seal, now, initiator.index, peer.link!.address, { kind: 'here' })
      pause(seal, now, initiator)
    } else pause(seal, now, initiator)
  }
  return Math.min(initiator.nextAt, initiator.until)
}

function fail({ out }: Seal, peer: Peer, name: PeerKey): void {
  const { again } = peer.initiator!
  peer.initiator = null
  // The link keeps its old keys, and asks again while they last.
  if (!again) out.event({ kind: 'failed', peer: name })
}
