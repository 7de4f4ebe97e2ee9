/** Established links: sealing, opening, keys, and the address of the peer. */

import { badValue, type Millis } from '../machine.ts'
import { DATAGRAM_MAX, TAG_BYTES } from '../ports.ts'
import { sameBytes } from '../wire/digest.ts'
import { decode, encode } from '../wire/layout.ts'
import {
  CHALLENGE_BYTES,
  CHALLENGE_MS,
  KEY_LIFE_MS,
  KEY_PACKETS_MAX,
  NUMBER_MS,
  PROBES_MAX,
  SEALED_TEXT_MAX,
  SHOWN_MAX,
} from './limits.ts'
import { headBytes, KIND, type Word, wordLayout, writeHead } from './messages.ts'
import { nonceOf } from './noise.ts'
import * as state from './state.ts'
import type { Keys, Link, Peer, PeerKey, Probe, Seal } from './state.ts'

// Sealed bytes leave within the call, so one buffer serves all links.
const outgoing = new Uint8Array(DATAGRAM_MAX)

/** Whether a rekey is for a link that does not exist any more. */
export function isGone({ link }: Peer, number: number, again: boolean): boolean {
  return again && link?.number !== number
}

/** Brings keys into force: a rekey of the current link, or a new link that replaces it. */
export function install(
  seal: Seal,
  now: Millis,
  index: number,
  { again, address, isShown }: { again: boolean; address: string; isShown: boolean },
): void {
  const keys = seal.keys.get(index)!
  const peer = seal.peers.get(keys.peer)!
  const { link } = peer
  seal.counters.handshakes++
  state.schedule(seal, rekeyAt(seal, keys))
  if (again && link?.number === keys.link) {
    seal.counters.rekeys++
    seal.keys.delete(link.previous)
    const before = seal.keys.get(link.current)
    if (before) before.until = now + seal.limits.overlapMs
    link.previous = before ? link.current : 0
    link.current = index
    state.schedule(seal, now + seal.limits.overlapMs)
    return
  }
  if (link) {
    seal.keys.delete(link.current)
    seal.keys.delete(link.previous)
  }
  const shown = isShown ? [address] : []
  peer.link = { number: keys.link, current: index, previous: 0, address, shown, probes: [] }
  seal.out.event({ kind: 'up', peer: keys.peer, link: keys.link, asked: keys.asked, address })
}

export function end(seal: Seal, peer: Peer, name: PeerKey, why: 'gone' | 'spent'): void {
  const { link } = peer
  if (!link) return
  seal.keys.delete(link.current)
  seal.keys.delete(link.previous)
  peer.link = null
  seal.out.event({ kind: 'down', peer: name, why })
}

/** @param text  at most SEALED_TEXT_MAX bytes @returns false without a link or credit */
export function send(seal: Seal, now: Millis, name: PeerKey, text: Uint8Array): boolean {
  if (text.length > SEALED_TEXT_MAX) {
    throw badValue(`a sealed packet has at most ${SEALED_TEXT_MAX} bytes: ${text.length}`)
  }
  const link = seal.peers.get(name)?.link
  const keys = link && seal.keys.get(link.current)
  if (!keys || isSpent(keys, now) || !mayGo(seal, link, link.address, keys, text)) {
    seal.counters.unsent++
    return false
  }
  const length = put(seal, keys, KIND.packet, text)
  if (keys.sent >= rekeyPackets(seal, keys)) state.schedule(seal, now)
  seal.out.datagram(link.address, outgoing.subarray(0, length))
  return true
}

function mayGo(seal: Seal, link: Link, to: string, keys: Keys, text: Uint8Array): boolean {
  return isShown(seal, link, to) || hasCredit(link, to, costOf(keys, text))
}

/** Sends a message of the seal itself under those keys, if the address has credit. */
export function sendWord(seal: Seal, now: Millis, index: number, to: string, word: Word): void {
  const keys = seal.keys.get(index)
  const link = keys && seal.peers.get(keys.peer)?.link
  const text = encode(wordLayout, word)
  if (!link || isSpent(keys, now) || !mayGo(seal, link, to, keys, text)) return
  const length = put(seal, keys, KIND.word, text)
  seal.out.datagram(to, outgoing.subarray(0, length))
}

function put({ ciphers }: Seal, keys: Keys, kind: number, text: Uint8Array): number {
  const counter = keys.sent++
  const head = writeHead(outgoing, kind, keys.theirs, counter)
  const length = head + text.length + TAG_BYTES
  const into = outgoing.subarray(head, length)
  ciphers.seal(keys.sealing, nonceOf(counter), outgoing.subarray(0, head), text, into)
  return length
}

function costOf({ sent }: Keys, text: Uint8Array): number {
  return headBytes(sent) + text.length + TAG_BYTES
}

function isSpent({ born, sent }: Keys, now: Millis): boolean {
  return sent >= KEY_PACKETS_MAX || now >= born + KEY_LIFE_MS
}

// The initiator of the current keys asks for the next ones first; the responder if it does not.
function rekeyAt({ limits }: Seal, { born, asked }: Keys): Millis {
  return born + limits.rekeyMs + (asked ? 0 : limits.overlapMs * 2)
}

function rekeyPackets({ limits }: Seal, { asked }: Keys): number {
  return asked ? limits.rekeyPackets : limits.rekeyPackets * 1.5
}

/** Handles a message of the seal itself, or an empty packet. */
export function receiveWord(
  seal: Seal,
  now: Millis,
  keys: Keys,
  index: number,
  from: string,
  text: Uint8Array,
): void {
  const word = decode(wordLayout, text)
  const peer = seal.peers.get(keys.peer)!
  if (!word || !peer.link) return void seal.counters.malformed++
  switch (word.kind) {
    case 'here':
      // The initiator repeats `here` until we answer; we answer once.
      if (!keys.asked && isShown(seal, peer.link, from)) sendWord(seal, now, index, from, word)
      break
    case 'challenge':
      sendWord(seal, now, peer.link.current, from, { ...word, kind: 'answer' })
      break
    case 'answer':
      arrive(seal, peer.link, keys.peer, from, word.number)
      break
  }
}

/** Handles the answer to a challenge: it must come from the challenged address. */
function arrive(seal: Seal, link: Link, name: PeerKey, from: string, number: Uint8Array): void {
  const probe = link.probes.find(({ address }) => address === from)
  const isRight = probe !== undefined && sameBytes(probe.number, number)
  if (isRight && seal.rules.moves('answer')) settle(seal, link, name, from)
}

function settle(seal: Seal, link: Link, name: PeerKey, address: string): void {
  link.probes = link.probes.filter((one) => one.address !== address)
  link.shown = [...link.shown.filter((one) => one !== address), address]
  if (link.shown.length > SHOWN_MAX) {
    const oldest = link.shown.findIndex((one) => one !== link.address)
    link.shown.splice(oldest, 1)
  }
  seal.out.event({ kind: 'answered', peer: name, address })
}

/** Credits an address with received bytes: as many may go back before it is validated. */
export function credit(seal: Seal, link: Link, name: PeerKey, from: string, bytes: number): void {
  if (isShown(seal, link, from)) return
  if (seal.rules.moves('packet')) return settle(seal, link, name, from)
  probeOf(seal, link, from).credit += bytes
}

/** Challenges an unvalidated address once it has enough credit. */
export function challenge(seal: Seal, now: Millis, name: PeerKey, from: string): void {
  const link = seal.peers.get(name)?.link
  if (!link || link.probes.length === 0) return
  const probe = link.probes.find(({ address }) => address === from)
  const keys = seal.keys.get(link.current)
  if (!keys || !probe || now < probe.at + CHALLENGE_MS) return
  if (probe.credit < headBytes(keys.sent) + CHALLENGE_TEXT + TAG_BYTES) return
  probe.at = now
  const { number } = probe
  sendWord(seal, now, link.current, from, { kind: 'challenge', number })
}

const CHALLENGE_TEXT = 1 + CHALLENGE_BYTES
// With the longest head.
const PROBE_BYTES = 8 + CHALLENGE_TEXT + TAG_BYTES

function probeOf(seal: Seal, link: Link, address: string): Probe {
  const found = link.probes.find((one) => one.address === address)
  if (found) return found
  if (link.probes.length >= PROBES_MAX) link.probes.shift()
  const number = state.draw(seal).slice(0, CHALLENGE_BYTES)
  const probe = { address, number, drawnAt: -Infinity, credit: 0, at: -Infinity }
  link.probes.push(probe)
  return probe
}

/** Takes bytes from the credit of an unvalidated address. @returns false if it lacks them */
function hasCredit(link: Link, address: string, cost: number): boolean {
  const probe = link.probes.find((one) => one.address === address)
  if (!probe || probe.credit < cost) return false
  probe.credit -= cost
  return true
}

function isShown({ rules }: Seal, { shown }: Link, address: string): boolean {
  return shown.includes(address) || rules.isSure(address)
}

/** Sets the address of packets to a peer. @returns false if the peer has not validated it */
export function route(seal: Seal, name: PeerKey, address: string): boolean {
  const link = seal.peers.get(name)?.link
  if (!link || !isShown(seal, link, address)) return false
  if (link.address !== address) seal.counters.moves++
  link.address = address
  return true
}

/**
 * Challenges an address, whether others named it or it has answered before: a few bytes, without
 * credit. The answer to an earlier challenge of the last second counts too, for the round trip may
 * be longer than the interval between challenges.
 */
export function probe(seal: Seal, now: Millis, name: PeerKey, address: string): void {
  const link = seal.peers.get(name)?.link
  if (!link) return
  const one = probeOf(seal, link, address)
  if (now >= one.drawnAt + NUMBER_MS) {
    one.number = state.draw(seal).slice(0, CHALLENGE_BYTES)
    one.drawnAt = now
  }
  one.credit = Math.max(one.credit, PROBE_BYTES)
  one.at = now
  sendWord(seal, now, link.current, address, { kind: 'challenge', number: one.number })
}

/** Ends old keys of a link, and asks for new ones. @returns when it is due next */
export function wake(
  seal: Seal,
  now: Millis,
  name: PeerKey,
  peer: Peer,
): { due: Millis; again: boolean } {
  const { link } = peer
  if (!link) return { due: Infinity, again: false }
  const previous = seal.keys.get(link.previous)
  if (previous && now >= previous.until) {
    seal.keys.delete(link.previous)
    link.previous = 0
  }
  const keys = seal.keys.get(link.current)!
  if (isSpent(keys, now)) {
    end(seal, peer, name, 'spent')
    return { due: Infinity, again: false }
  }
  const at = rekeyAt(seal, keys)
  const again = now >= at || keys.sent >= rekeyPackets(seal, keys)
  const until = seal.keys.get(link.previous)?.until ?? Infinity
  return { due: Math.min(until, again ? keys.born + KEY_LIFE_MS : at), again }
}
