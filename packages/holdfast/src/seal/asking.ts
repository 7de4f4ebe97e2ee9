/** Our own handshakes: message 1 until it is answered, then the first packet under new keys. */

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
import { agreed } from '../wire/versions.ts'
import * as state from './state.ts'
import { NONE, type Asking, type Peer, type PeerKey, type Seal } from './state.ts'

/** Longest pause before a message 1 is sent again. */
const PAUSE_MAX: Millis = 1000

/** Whom to ask, and for what. */
export interface Asked {
  peer: PeerKey
  to: PeerId
  /** Where it may be, best first. */
  addresses: readonly string[]
  join?: Uint8Array | null
  /** The link for which new keys are wanted; left out for a new one. */
  again?: number
}

/**
 * Begins a handshake with a peer, unless one is under way; `up`, `refused` or `failed` tells.
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
  if (peer.asking) return
  // Of two handshakes that cross ours is to stand, so theirs must not come to stand behind it.
  const { answering } = peer
  if (answering && seal.rules.oursStands(state.nameOf(seal.point), asked.peer)) {
    seal.keys.delete(answering.index)
    peer.answering = null
  }
  const link = again ?? state.drawIndex(seal)
  const index = state.drawIndex(seal)
  const secret = state.draw(seal)
  peer.counter++
  peer.inc = to
  peer.asking = {
    ...{ stage: 'making', to, link, again: again !== undefined, join, index, secret },
    ...{ addresses: [...addresses], asked: [], counter: peer.counter, noise: null, message: NONE },
    ...{ cookie: null, address: addresses[0]!, tries: 0, nextAt: Infinity, until: now + ASKING_MS },
  }
  state.schedule(seal, now + ASKING_MS)
  const { point } = peer
  const pairs = [state.publicOf(secret), [secret, point], [seal.secret, point]] as const
  state.agree(seal, { kind: 'ask', peer: asked.peer, index }, pairs)
}

/** The curves for our message 1 are computed: it is made and sent. */
export function made(
  seal: Seal,
  now: Millis,
  job: { peer: PeerKey; index: number },
  shared: readonly (Uint8Array | null)[],
): void {
  const peer = seal.peers.get(job.peer)
  const asking = peer?.asking
  if (!peer || asking?.index !== job.index || asking.stage !== 'making') return
  const [e, es, ss] = shared
  if (!e || !es || !ss) return fail(seal, peer, job.peer)
  const { link, again, counter, to, join } = asking
  const { me, mv, ciphers } = seal
  const payload = messages.encodeFirst({ from: me, to, link, again, counter, mv, join })
  const said = noise.begin(ciphers, state.prologueBy(seal, seal.offer), peer.point)
  const first = noise.writeFirst(ciphers, said, { e, s: seal.point, es, ss }, payload)
  const head = new Uint8Array(messages.FIRST_HEAD)
  head.set([KIND.first, seal.offer])
  messages.putIndex(head, 2, asking.index)
  asking.noise = said
  asking.message = proven(seal, state.keyFor(seal, 'proof', peer.point), joined(head, first))
  asking.stage = 'asked'
  sendFirst(seal, now, asking)
}

function sendFirst(seal: Seal, now: Millis, asking: Asking): void {
  asking.address = asking.addresses[asking.tries % asking.addresses.length]!
  if (!asking.asked.includes(asking.address)) asking.asked.push(asking.address)
  seal.out.datagram(asking.address, withCookie(seal, now, asking))
  pause(seal, now, asking)
}

function pause(seal: Seal, now: Millis, asking: Asking): void {
  asking.nextAt = now + Math.min(PAUSE_MAX, ASK_AGAIN_MS * 2 ** asking.tries)
  asking.tries++
  state.schedule(seal, asking.nextAt)
}

/** The peer asks us from there while we ask it: that address is known to work. */
export function askThere(seal: Seal, now: Millis, peer: Peer, from: string, room: number): void {
  const { asking } = peer
  if (asking?.stage !== 'asked' || asking.message.length + MAC_BYTES > room) return
  if (!asking.addresses.includes(from)) asking.addresses.push(from)
  if (!asking.asked.includes(from)) asking.asked.push(from)
  asking.address = from
  seal.out.datagram(from, withCookie(seal, now, asking))
}

/** A message 2 came. */
export function answered(seal: Seal, from: string, bytes: Uint8Array): void {
  const { counters } = seal
  if (bytes.length < SECOND_MIN) return void counters.malformed++
  const found = askingOf(seal, messages.indexAt(bytes, 5))
  if (!found) return void counters.unknown++
  const { name, asking } = found
  if (asking.stage !== 'asked') return
  if (isForged(from, asking.to)) return void counters.forged++
  if (!isProven(seal, bytes)) return void counters.unproven++
  asking.stage = 'reading'
  const copy = new Uint8Array(bytes)
  const e = copy.subarray(SECOND_HEAD, SECOND_HEAD + KEY_BYTES)
  const job = { kind: 'read', peer: name, index: asking.index, from, bytes: copy } as const
  const pairs = [
    [asking.secret, e],
    [seal.secret, e],
  ] as const
  state.agree(seal, job, pairs)
}

function askingOf(
  { peers }: Seal,
  index: number,
): { peer: Peer; name: PeerKey; asking: Asking } | null {
  for (const [name, peer] of peers) {
    const { asking } = peer
    if (asking?.index === index) return { peer, name, asking }
  }
  return null
}

/** The curves for a message 2 are computed. */
export function read(
  seal: Seal,
  now: Millis,
  job: { peer: PeerKey; index: number; from: string; bytes: Uint8Array },
  shared: readonly (Uint8Array | null)[],
): void {
  const peer = seal.peers.get(job.peer)
  const asking = peer?.asking
  if (!peer || asking?.index !== job.index || asking.stage !== 'reading') return
  // A copy, for what does not open must not change what both have said.
  const said = { ...asking.noise! }
  const [ee, se] = shared
  const { bytes } = job
  const second = bytes.subarray(SECOND_HEAD, bytes.length - MAC_BYTES)
  const plain = ee && se ? noise.readSecond(seal.ciphers, said, second, { ee, se }) : null
  const told = plain && decode(messages.secondLayout, plain)
  if (!told) {
    seal.counters.forged++
    asking.stage = 'asked'
    return
  }
  if (told.kind === 'no') return refuse(seal, peer, job.peer, told.why)
  const theirs = messages.indexAt(bytes, 1)
  const [sealing, opening] = noise.split(seal.ciphers, said)
  const { link, index } = asking
  const of = { peer: job.peer, theirs, link, sealing, opening, asked: true }
  state.addKeys(seal, now, index, of)
  asking.stage = 'standing'
  asking.noise = null
  asking.tries = 0
  const place = asking.addresses.includes(job.from) ? job.from : asking.address
  // What went to one address alone, and is answered from there, shows that the peer is there.
  const isShown = asking.asked.length === 1 && place === job.from && asking.asked[0] === place
  links.stand(seal, now, index, { again: asking.again, address: place, isShown })
  links.credit(seal, peer.link!, job.peer, place, bytes.length)
  links.say(seal, now, index, peer.link!.address, { kind: 'here' })
  links.challenge(seal, now, job.peer, place)
  pause(seal, now, asking)
}

function refuse(seal: Seal, peer: Peer, name: PeerKey, why: messages.Why): void {
  const { again } = peer.asking!
  peer.asking = null
  if (again && why === 'gone') links.end(seal, peer, name, 'gone')
  else seal.out.event({ kind: 'refused', peer: name, why })
}

/** A cookie came: message 1 goes again at once, once. */
export function cookie(seal: Seal, now: Millis, from: string, bytes: Uint8Array): void {
  const { counters } = seal
  if (bytes.length !== COOKIE_DATAGRAM) return void counters.malformed++
  const found = askingOf(seal, messages.indexAt(bytes, 1))
  if (!found || found.asking.stage !== 'asked') return void counters.unknown++
  const { asking, peer } = found
  const cookie = readCookie(seal, asking, peer.point, bytes)
  if (!cookie || !asking.addresses.includes(from)) return void counters.forged++
  const isFirst = asking.cookie === null
  asking.cookie = { address: from, bytes: cookie, at: now }
  if (!isFirst) return
  asking.address = from
  seal.out.datagram(from, withCookie(seal, now, asking))
}

/** Somebody says that it speaks another version. It cannot be proven, so we go on asking. */
export function otherVersion(seal: Seal, from: string, bytes: Uint8Array): void {
  const told = messages.readVersion(bytes)
  if (!told || agreed(SEAL_VERSIONS, told.version) !== null) return void seal.counters.malformed++
  const found = askingOf(seal, told.to)
  if (!found?.asking.addresses.includes(from)) return void seal.counters.unknown++
  seal.counters.version++
  seal.out.event({ kind: 'version', peer: found.name, version: told.version })
}

/** Does what is due of one handshake. @returns when it is due next */
export function wake(seal: Seal, now: Millis, name: PeerKey, peer: Peer): Millis {
  const { asking } = peer
  if (!asking) return Infinity
  if (now >= asking.until) {
    // With keys there is a link, and whoever uses it sees that nothing comes.
    if (asking.stage === 'standing') peer.asking = null
    else fail(seal, peer, name)
    return Infinity
  }
  if (now >= asking.nextAt) {
    if (asking.stage === 'asked') sendFirst(seal, now, asking)
    else if (asking.stage === 'standing') {
      links.say(seal, now, asking.index, peer.link!.address, { kind: 'here' })
      pause(seal, now, asking)
    } else pause(seal, now, asking)
  }
  return Math.min(asking.nextAt, asking.until)
}

function fail({ out }: Seal, peer: Peer, name: PeerKey): void {
  const { again } = peer.asking!
  peer.asking = null
  // The link goes on under its old keys, and asks again as long as they last.
  if (!again) out.event({ kind: 'failed', peer: name })
}
