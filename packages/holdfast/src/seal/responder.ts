/** The responder: reads message 1 in three steps, each of which may wait for curves. */

import type { Millis } from '../machine.ts'
import { KEY_BYTES } from '../ports.ts'
import { sameBytes } from '../wire/digest.ts'
import { joined } from '../wire/bytes.ts'
import { decode, encode } from '../wire/layout.ts'
import { isForged } from '../wire/relay.ts'
import { askThere } from './initiator.ts'
import { ANSWERING_MS, FIRST_MIN, JOBS_MAX, MAC_BYTES, SEAL_VERSIONS } from './limits.ts'
import * as links from './links.ts'
import * as messages from './messages.ts'
import { FIRST_HEAD, KIND, SECOND_HEAD } from './messages.ts'
import * as noise from './noise.ts'
import { isAffordable, isProven, proven } from './proofs.ts'
import { negotiate } from '../wire/versions.ts'
import * as state from './state.ts'
import type { Job, Peer, PeerKey, Seal, Points } from './state.ts'

type Of<Kind extends Job['kind']> = Extract<Job, { kind: Kind }>

/** Handles message 1. Its cost rises with what it has proven. */
export function asked(seal: Seal, now: Millis, from: string, bytes: Uint8Array): void {
  const { counters } = seal
  if (bytes.length < FIRST_MIN) return void counters.malformed++
  if (negotiate(SEAL_VERSIONS, bytes[1]!) === null) {
    counters.version++
    seal.out.datagram(from, messages.versionDatagram(messages.indexAt(bytes, 2)))
    return
  }
  if (!isProven(seal, bytes, bytes.length - MAC_BYTES)) return void counters.unproven++
  if (repeats(seal, from, bytes)) return
  if (!isAffordable(seal, now, from, bytes)) return
  if (seal.jobs.size >= JOBS_MAX) return void counters.busy++
  const copy = new Uint8Array(bytes)
  const e = eOf(copy)
  state.agree(seal, { kind: 'initiator', from, bytes: copy }, [[seal.secret, e]])
}

function eOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(FIRST_HEAD, FIRST_HEAD + KEY_BYTES)
}

/** Answers a repeated message 1 with the same bytes, which costs nothing. */
function repeats({ peers, out }: Seal, from: string, bytes: Uint8Array): boolean {
  const e = eOf(bytes)
  for (const { responder } of peers.values()) {
    if (!responder || !sameBytes(responder.e, e)) continue
    // One sealed packet cannot validate two addresses.
    if (responder.address !== from) responder.address = ''
    out.datagram(from, responder.message)
    return true
  }
  return false
}

function noiseOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(FIRST_HEAD, bytes.length - 2 * MAC_BYTES)
}

/** The first curve is computed: reads the initiator's key. */
export function readKey(seal: Seal, job: Of<'initiator'>, shared: Points): void {
  const [es] = shared
  const handshake = noise.begin(seal.ciphers, state.prologueBy(seal, job.bytes[1]!), seal.point)
  const point = es ? noise.readInitiator(seal.ciphers, handshake, noiseOf(job.bytes), es) : null
  if (!point) return void seal.counters.forged++
  const next: Job = { ...job, kind: 'first', noise: handshake, point }
  state.agree(seal, next, [[seal.secret, point]])
}

/** The second curve is computed: proves that key, and reads the request. */
export function first(seal: Seal, now: Millis, job: Of<'first'>, shared: Points): void {
  const [ss] = shared
  const plain = ss ? noise.readFirst(seal.ciphers, job.noise, noiseOf(job.bytes), ss) : null
  const request = plain && decode(messages.firstLayout, plain)
  const name = state.nameOf(job.point)
  const own = state.nameOf(seal.point)
  if (!request || name === own) return void seal.counters.forged++
  if (request.to !== seal.me) return void seal.counters.misled++
  if (isForged(job.from, request.from)) return void seal.counters.forged++
  const peer = state.peerOf(seal, name)
  if (!peer) return void seal.counters.busy++
  if (!isTurn(seal, now, peer, name, request.counter, job)) return
  const { from, mv, link, again, join } = request
  const why = links.isGone(peer, link, again)
    ? 'gone'
    : seal.out.admit({ peer: name, from, address: job.from, mv, link, again, join })
  if (why === 'later') return void seal.counters.early++
  if (why === null && from !== 0) peer.inc = from
  const theirs = messages.indexAt(job.bytes, 2)
  const e = new Uint8Array(eOf(job.bytes))
  const { noise: handshake } = job
  const next: Job = {
    kind: 'answer',
    from: job.from,
    first: request,
    e,
    noise: handshake,
    ...{ peer: name, theirs, why },
  }
  const secret = state.draw(seal)
  const pairs = [state.publicOf(secret), [secret, e], [secret, job.point]] as const
  state.agree(seal, next, pairs)
}

/** Whether it is newer than all before, and no handshake of ours wins over it. */
function isTurn(
  seal: Seal,
  now: Millis,
  peer: Peer,
  name: PeerKey,
  counter: number,
  { from, bytes }: Of<'first'>,
): boolean {
  const newest = Math.max(peer.newestCounter, peer.responder?.counter ?? 0)
  if (!seal.rules.isNewer(counter, newest)) {
    seal.counters.old++
    return false
  }
  if (!peer.initiator || !seal.rules.oursStands(state.nameOf(seal.point), name)) return true
  seal.counters.crossed++
  askThere(seal, now, peer, from, bytes.length)
  return false
}

/** All curves are computed: makes and sends message 2. */
export function answer(seal: Seal, now: Millis, job: Of<'answer'>, shared: Points): void {
  const peer = seal.peers.get(job.peer)
  const [e, ee, se] = shared
  const { counter, link, again } = job.first
  // Meanwhile another message 1 of this peer may have been answered, or the peer dropped.
  const newest = peer ? Math.max(peer.newestCounter, peer.responder?.counter ?? 0) : Infinity
  if (!peer || !e || !ee || !se || !seal.rules.isNewer(counter, newest)) {
    seal.counters.old++
    return
  }
  if (peer.responder) seal.keys.delete(peer.responder.index)
  const { why, from: address } = job
  const index = why === null ? state.drawIndex(seal) : 0
  const message = secondOf(seal, job, index, { e, ee, se })
  const until = now + ANSWERING_MS
  peer.responder = { counter, e: job.e, message, index, link, again, address, until }
  state.schedule(seal, until)
  if (why !== null) seal.counters.refused++
  else {
    const [opening, sealing] = noise.split(seal.ciphers, job.noise)
    const { peer: name, theirs } = job
    state.addKeys(seal, now, index, { peer: name, theirs, link, sealing, opening, asked: false })
  }
  seal.out.datagram(address, message)
  if (why === null && seal.rules.stands('handshake')) confirmed(seal, now, peer, address)
}

function secondOf(
  seal: Seal,
  { why, noise: handshake, theirs, peer }: Of<'answer'>,
  index: number,
  keys: Parameters<typeof noise.writeSecond>[2],
): Uint8Array {
  const request = why === null ? ({ kind: 'yes' } as const) : ({ kind: 'no', why } as const)
  const payload = encode(messages.secondLayout, request)
  const second = noise.writeSecond(seal.ciphers, handshake, keys, payload)
  const head = new Uint8Array(SECOND_HEAD)
  head[0] = KIND.second
  messages.putIndex(head, 1, index)
  messages.putIndex(head, 5, theirs)
  const proof = state.keyFor(seal, 'proof', state.pointOf(peer)!)
  return proven(seal, proof, joined(head, second))
}

/** The first packet under these keys proves that the initiator has read our message 2. */
export function confirmed(seal: Seal, now: Millis, peer: Peer, from: string): void {
  const { index, counter, again, address } = peer.responder!
  peer.newestCounter = Math.max(peer.newestCounter, counter)
  peer.responder = null
  // Their handshake wins over ours.
  peer.initiator = null
  // An answer from the only address to which message 2 went validates it.
  const isProven = address === from
  const place = address === '' ? from : address
  links.install(seal, now, index, { again, address: place, isShown: isProven })
}

/** Drops an unconfirmed handshake. @returns when it is due next */
export function wake(seal: Seal, now: Millis, peer: Peer): Millis {
  const { responder } = peer
  if (!responder) return Infinity
  if (now < responder.until) return responder.until
  seal.keys.delete(responder.index)
  peer.responder = null
  return Infinity
}
