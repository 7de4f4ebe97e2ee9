/**
 * Sealed links: handshakes between members that know one another's link keys (Noise IK), and
 * packets that only the two of them can read. A machine between the link and whatever carries its
 * packets: it opens no socket, and what waits for curves is asked for by `agree` and comes back by
 * `agreed`. docs/protocols/seal.md says what it promises.
 */

import { badValue, type Millis, type PeerId } from '../machine.ts'
import { DATAGRAM_MAX, TAG_BYTES } from '../ports.ts'
import { isForged } from './addresses.ts'
import * as answering from './answering.ts'
import * as asking from './asking.ts'
import type { Asked } from './asking.ts'
import { SEALED_TEXT_MAX, SEALED_JOIN_MAX } from './limits.ts'
import * as links from './links.ts'
import { KIND, indexAt, readCounter } from './messages.ts'
import { nonceOf } from './noise.ts'
import * as state from './state.ts'
import type { Keys, Packet, Peer, PeerKey, Seal, SealSink } from './state.ts'
import * as windows from './window.ts'

export { create, nameOf } from './state.ts'

const incoming = new Uint8Array(DATAGRAM_MAX)
const packet: { peer: PeerKey; bytes: Uint8Array } = { peer: '', bytes: incoming }

/**
 * Begins a handshake with a peer, unless one is under way; `up`, `refused` or `failed` tells.
 *
 * @throws HoldfastError `bad-value` for a name that is no public key, or a JOIN that is too long
 */
export function ask(seal: Seal, now: Millis, asked: Omit<Asked, 'again'>, out: SealSink): void {
  const { peer, to, addresses, join = null } = asked
  if (state.pointOf(peer) === null) {
    throw badValue(`a peer is named by its public key, 64 digits of hex: ${peer}`)
  }
  if (join && join.length > SEALED_JOIN_MAX) {
    throw badValue(`a sealed JOIN has at most ${SEALED_JOIN_MAX} bytes: ${join.length}`)
  }
  asking.ask(seal, now, { peer, to, addresses, join }, out)
}

/** Which incarnation a peer is, since it has one; we are `me`, and tell this epoch. */
export function know(seal: Seal, peer: PeerKey, inc: PeerId): void {
  const found = seal.peers.get(peer)
  if (found) found.inc = inc
}

/** Who we are by now, and the version of our view. */
export function become(seal: Seal, me: PeerId, mv: number): void {
  seal.me = me
  seal.mv = mv
}

/** Ends the link with a peer without a word to it. */
export function hangUp(seal: Seal, peer: PeerKey): void {
  state.hangUp(seal, peer)
}

/** Packets for a peer go to that address from now on, if it has shown that it is there. */
export function route(seal: Seal, peer: PeerKey, address: string): boolean {
  return links.route(seal, peer, address)
}

/** Asks whether a peer is at an address of which we only heard; `moved` tells. */
export function probe(
  seal: Seal,
  now: Millis,
  peer: PeerKey,
  address: string,
  out: SealSink,
): void {
  links.probe(seal, now, peer, address, out)
}

/**
 * Seals a packet and sends it.
 *
 * @param text  at most SEALED_TEXT_MAX bytes
 * @returns false if it did not leave: there is no link, or no more may go to where the peer may be
 */
export function send(
  seal: Seal,
  now: Millis,
  peer: PeerKey,
  text: Uint8Array,
  out: SealSink,
): boolean {
  if (text.length > SEALED_TEXT_MAX) {
    throw badValue(`a sealed packet has at most ${SEALED_TEXT_MAX} bytes: ${text.length}`)
  }
  return links.send(seal, now, peer, text, out)
}

/**
 * A datagram came. Hostile; valid only during the call.
 *
 * @param from  where from, to answer to
 * @returns the packet that was in it, valid until the next call; null if there was none
 */
export function receive(
  seal: Seal,
  now: Millis,
  from: string,
  bytes: Uint8Array,
  out: SealSink,
): Packet | null {
  const kind = bytes.length > DATAGRAM_MAX ? 0 : (bytes[0] ?? 0)
  if (kind >= KIND.packet) return opened(seal, now, from, bytes, out)
  greeted(seal, now, kind, from, bytes, out)
  return null
}

/** Of a handshake. */
function greeted(
  seal: Seal,
  now: Millis,
  kind: number,
  from: string,
  bytes: Uint8Array,
  out: SealSink,
): void {
  if (kind === KIND.first) answering.asked(seal, now, from, bytes, out)
  else if (kind === KIND.second) asking.answered(seal, from, bytes, out)
  else if (kind === KIND.cookie) asking.cookie(seal, now, from, bytes, out)
  else if (kind === KIND.version) asking.otherVersion(seal, from, bytes, out)
  else seal.counters.malformed++
}

/** A packet, or a word of sealing's own. */
function opened(
  seal: Seal,
  now: Millis,
  from: string,
  bytes: Uint8Array,
  out: SealSink,
): Packet | null {
  const kind = bytes[0]! & 0xf0
  const counter = kind === KIND.packet || kind === KIND.word ? readCounter(bytes) : -1
  if (counter < 0) return counted(seal, 'malformed')
  const index = indexAt(bytes, 1)
  const keys = seal.keys.get(index)
  if (!keys || now >= keys.until) return counted(seal, 'unknown')
  const peer = seal.peers.get(keys.peer)!
  const { window } = keys
  if (isForged(from, peer.inc)) return counted(seal, 'forged')
  if (!seal.rules.isNew(window, counter, seal.limits.window)) return counted(seal, 'replayed')
  const text = textOf(seal, keys, counter, bytes)
  if (!text) return counted(seal, 'forged')
  const isNewest = counter > window.newest
  windows.mark(window, counter, seal.limits.window)
  if (!settled(seal, now, peer, index, from, out)) return null
  const shows = isNewest && peer.link?.current === index
  if (shows) links.credit(seal, peer.link!, keys.peer, from, bytes.length, out)
  if (kind === KIND.word) links.heard(seal, now, keys, index, from, text, out)
  if (shows) links.challenge(seal, now, keys.peer, from, out)
  if (kind === KIND.word) return null
  packet.peer = keys.peer
  packet.bytes = text
  return packet
}

function counted({ counters }: Seal, what: 'malformed' | 'unknown' | 'forged' | 'replayed'): null {
  counters[what]++
  return null
}

function textOf(seal: Seal, keys: Keys, counter: number, bytes: Uint8Array): Uint8Array | null {
  const head = 5 + (bytes[0]! & 0xf)
  const text = incoming.subarray(0, bytes.length - head - TAG_BYTES)
  const data = bytes.subarray(0, head)
  const sealed = bytes.subarray(head)
  return seal.ciphers.open(keys.opening, nonceOf(counter), data, sealed, text) ? text : null
}

/** What the first packet under some keys settles. @returns false if they are of no link */
function settled(
  seal: Seal,
  now: Millis,
  peer: Peer,
  index: number,
  from: string,
  out: SealSink,
): boolean {
  if (peer.answering?.index === index) answering.confirmed(seal, now, peer, from, out)
  // The other has our keys, so it need not be said again that they are there.
  if (peer.asking?.stage === 'standing' && peer.asking.index === index) peer.asking = null
  return peer.link?.current === index || peer.link?.previous === index
}

/**
 * The common points for a job, in the order of its pairs; null where there is none. For a job that
 * is no more it does nothing.
 */
export function agreed(
  seal: Seal,
  now: Millis,
  id: number,
  shared: readonly (Uint8Array | null)[],
  out: SealSink,
): void {
  const job = seal.jobs.get(id)
  seal.jobs.delete(id)
  switch (job?.kind) {
    case 'ask':
      return asking.made(seal, now, job, shared, out)
    case 'read':
      return asking.read(seal, now, job, shared, out)
    case 'asker':
      return answering.asker(seal, job, shared, out)
    case 'first':
      return answering.first(seal, now, job, shared, out)
    case 'answer':
      return answering.answer(seal, now, job, shared, out)
    case undefined:
  }
}

/** When `wake` is due; Infinity if never. */
export function deadline(seal: Seal): Millis {
  return seal.due
}

/** Does what is due. */
export function wake(seal: Seal, now: Millis, out: SealSink): void {
  if (now < seal.due) return
  seal.due = Infinity
  for (const [name, peer] of seal.peers) {
    const link = links.wake(seal, now, name, peer, out)
    state.schedule(seal, answering.wake(seal, now, peer))
    state.schedule(seal, asking.wake(seal, now, name, peer, out))
    if (link.again && peer.link && !peer.asking) renew(seal, now, name, peer, out)
    state.schedule(seal, link.due)
    // Who never had a link is not remembered.
    if (peer.heard === 0 && peer.counter === 0 && state.isIdle(peer)) seal.peers.delete(name)
  }
}

function renew(seal: Seal, now: Millis, name: PeerKey, peer: Peer, out: SealSink): void {
  const { number, address } = peer.link!
  const asked = { peer: name, to: peer.inc, addresses: [address], again: number }
  asking.ask(seal, now, asked, out)
}
