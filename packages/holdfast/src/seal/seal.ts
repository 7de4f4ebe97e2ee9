/**
 * Sealed links: handshakes between members that know one another's link keys (Noise IK), and
 * packets that only the two can read. A seal is between a link and its carriers, and opens no
 * socket. It asks for curves by `agree`; the results come by `agreed`. See docs/protocols/seal.md.
 */

import type { Millis, PeerId } from '../machine.ts'
import { DATAGRAM_MAX, TAG_BYTES } from '../ports.ts'
import { isForged } from '../wire/relay.ts'
import * as responder from './responder.ts'
import * as initiator from './initiator.ts'
import * as links from './links.ts'
import { KIND, indexAt, readCounter } from './messages.ts'
import { nonceOf } from './noise.ts'
import * as state from './state.ts'
import type { Keys, Packet, Peer, PeerKey, Seal, Points } from './state.ts'
import * as windows from './rules.ts'

export { ask } from './initiator.ts'
export { probe, route, send } from './links.ts'
export { create, hangUp, nameOf } from './state.ts'

const incoming = new Uint8Array(DATAGRAM_MAX)
const packet: { peer: PeerKey; bytes: Uint8Array } = { peer: '', bytes: incoming }

export function know(seal: Seal, peer: PeerKey, inc: PeerId): void {
  const found = seal.peers.get(peer)
  if (found) found.inc = inc
}

export function become(seal: Seal, me: PeerId, mv: number): void {
  seal.me = me
  seal.mv = mv
}

/**
 * Handles a datagram. The bytes are hostile, and valid only during the call.
 *
 * @param from  its source address
 * @returns the packet in it, valid until the next call; null if there is none
 */
export function receive(seal: Seal, now: Millis, from: string, bytes: Uint8Array): Packet | null {
  const kind = bytes.length > DATAGRAM_MAX ? 0 : (bytes[0] ?? 0)
  if (kind >= KIND.packet) return opened(seal, now, from, bytes)
  if (kind === KIND.first) responder.asked(seal, now, from, bytes)
  else if (kind === KIND.second) initiator.answered(seal, from, bytes)
  else if (kind === KIND.cookie) initiator.cookie(seal, now, from, bytes)
  else if (kind === KIND.version) initiator.otherVersion(seal, from, bytes)
  else seal.counters.malformed++
  return null
}

/** Opens a packet, or a message of the seal itself. */
function opened(seal: Seal, now: Millis, from: string, bytes: Uint8Array): Packet | null {
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
  if (!settled(seal, now, peer, index, from)) return null
  const isCurrent = peer.link?.current === index
  if (isCurrent) links.credit(seal, peer.link!, keys.peer, from, bytes.length)
  if (kind === KIND.word) links.receiveWord(seal, now, keys, index, from, text)
  if (isCurrent && isNewest) links.challenge(seal, now, keys.peer, from)
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

/** The first packet under new keys completes the handshake. @returns false if they have no link */
function settled(seal: Seal, now: Millis, peer: Peer, index: number, from: string): boolean {
  if (peer.responder?.index === index) responder.confirmed(seal, now, peer, from)
  // The peer has our keys, so `here` need not be repeated.
  if (peer.initiator?.stage === 'standing' && peer.initiator.index === index) peer.initiator = null
  return peer.link?.current === index || peer.link?.previous === index
}

/**
 * The shared points of a job, in the order of its pairs; null where there is none. Ignored for a
 * job that has ended.
 */
export function agreed(seal: Seal, now: Millis, id: number, shared: Points): void {
  const job = seal.jobs.get(id)
  seal.jobs.delete(id)
  switch (job?.kind) {
    case 'ask':
      return initiator.made(seal, now, job, shared)
    case 'read':
      return initiator.read(seal, now, job, shared)
    case 'initiator':
      return responder.readKey(seal, job, shared)
    case 'first':
      return responder.first(seal, now, job, shared)
    case 'answer':
      return responder.answer(seal, now, job, shared)
    case undefined:
  }
}

export function deadline(seal: Seal): Millis {
  return seal.due
}

export function wake(seal: Seal, now: Millis): void {
  if (now < seal.due) return
  seal.due = Infinity
  for (const [name, peer] of seal.peers) {
    const link = links.wake(seal, now, name, peer)
    state.schedule(seal, responder.wake(seal, now, peer))
    state.schedule(seal, initiator.wake(seal, now, name, peer))
    if (link.again && peer.link && !peer.initiator) renew(seal, now, name, peer)
    state.schedule(seal, link.due)
    // Peers that never had a link are forgotten.
    if (peer.newestCounter === 0 && peer.counter === 0 && state.isIdle(peer))
      seal.peers.delete(name)
  }
}

function renew(seal: Seal, now: Millis, name: PeerKey, peer: Peer): void {
  const { number, address } = peer.link!
  const asked = { peer: name, to: peer.inc, addresses: [address], again: number }
  initiator.ask(seal, now, asked)
}
