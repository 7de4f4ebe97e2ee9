/**
 * What a hostile process sends: nonsense, near misses, and well-formed lies.
 *
 * Lies are made of the layouts themselves: every number may be one that matters in the scene or
 * one at the edge of its range, every list empty, usual or as long as it may be. So they get past
 * the decoders, and what is tried is what stands behind.
 */

import { NO_VIEW } from '../../packages/holdfast/src/session/state.ts'
import type { Prng } from '../../packages/holdfast/src/faults/prng.ts'
import { below, chance, fill, pick, word } from '../../packages/holdfast/src/faults/prng.ts'
import { firstLayout, KIND } from '../../packages/holdfast/src/seal/messages.ts'
import { writeHeader } from '../../packages/holdfast/src/link/packets/packet.ts'
import type { PeerMessage, View } from '../../packages/holdfast/src/session/messages.ts'
import { peerLayout } from '../../packages/holdfast/src/session/messages.ts'
import { ADDRESSES_MAX, deltaLayout } from '../../packages/holdfast/src/replication/layouts.ts'
import {
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { ADDRESS_MAX } from '../../packages/holdfast/src/ports.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameKnock, frameMessage, frameRelay } from '../../packages/holdfast/src/wire/relay.ts'

/** What a liar knows of its victims. */
export interface Knowledge {
  /** Numbers that matter: members, epochs. */
  numbers: readonly number[]
  session: string
  /** Bytes that once meant something; mutated, they are near misses. */
  samples: Uint8Array[]
}

/** Samples that are kept to be mutated. */
export const SAMPLES_MAX = 256

const EDGES = [0, 1, 2, 127, 128, 255, 256, 65_535, 2 ** 21 - 1, 2 ** 21, 2 ** 31, 2 ** 32 - 1]
const HUGE = [2 ** 32, 2 ** 40, 2 ** 53 - 2, 2 ** 53 - 1]

/** Random bytes, up to `max`. */
export function noise(chaos: Prng, max: number): Uint8Array {
  const bytes = new Uint8Array(below(chaos, max + 1))
  fill(chaos, bytes)
  return bytes
}

function signatureOrNone(chaos: Prng): Uint8Array | null {
  return chance(chaos, 0.5) ? Uint8Array.of(...linkKey(chaos), ...linkKey(chaos)) : null
}

function linkKey(chaos: Prng): Uint8Array {
  return Uint8Array.of(...hash(chaos), ...hash(chaos))
}

/** A number that matters, one at an edge, or any. */
export function number(chaos: Prng, known: Knowledge): number {
  if (chance(chaos, 0.6)) return pick(chaos, known.numbers)
  if (chance(chaos, 0.5)) return pick(chaos, EDGES)
  return chance(chaos, 0.5) ? pick(chaos, HUGE) : word(chaos)
}

/** Remembers bytes that were really sent, to be mutated. */
export function remember(chaos: Prng, known: Knowledge, bytes: Uint8Array): void {
  const at = known.samples.length < SAMPLES_MAX ? known.samples.length : below(chaos, SAMPLES_MAX)
  known.samples[at] = bytes.slice()
}

/** What was really sent, with a few bytes changed, cut or added. */
export function mutated(chaos: Prng, known: Knowledge): Uint8Array {
  if (known.samples.length === 0) return noise(chaos, 64)
  const bytes = pick(chaos, known.samples).slice()
  for (let flips = below(chaos, 4); flips > 0 && bytes.length > 0; flips--) {
    bytes[below(chaos, bytes.length)] = word(chaos) & 0xff
  }
  return chance(chaos, 0.2) ? bytes.subarray(0, below(chaos, bytes.length + 1)) : bytes
}

function hash(chaos: Prng): Uint8Array {
  const bytes = new Uint8Array(16)
  fill(chaos, bytes)
  return bytes
}

function member(chaos: Prng, known: Knowledge): View['members'][number] {
  return {
    inc: number(chaos, known),
    player: number(chaos, known),
    name: pick(chaos, ['', 'x'.repeat(64), '\u0000', '<b>', '\u202e']),
    kind: pick(chaos, ['node', 'browser', 'guest']),
    addresses: Array.from({ length: below(chaos, ADDRESSES_MAX + 1) }, () =>
      pick(chaos, ['', 'sim:hub', 'relay:1', 'udp:127.0.0.1:9', 'x'.repeat(ADDRESS_MAX)]),
    ),
    link: linkKey(chaos),
    registerHash: hash(chaos),
    key: linkKey(chaos),
    rights: below(chaos, 256),
  }
}

function members(chaos: Prng, known: Knowledge): View['members'] {
  // Not too many of the longest, or they would fill the link and nothing else would get through.
  const length = chance(chaos, 0.02) ? 256 : below(chaos, 4)
  return Array.from({ length }, () => member(chaos, known))
}

/** A message of the session that its receiver can read. @param me the liar's number */
export function lie(chaos: Prng, known: Knowledge, me: number): PeerMessage {
  const n = (): number => number(chaos, known)
  if (chance(chaos, 0.3)) return lieOfRecovery(chaos, n)
  switch (below(chaos, 10)) {
    case 0: {
      const primary = chance(chaos, 0.7) ? me : n()
      const grant = signatureOrNone(chaos)
      const who = { primary, backup: n(), members: members(chaos, known), grant }
      const votes = [{ by: n(), against: n() }]
      const own = { ...NO_VIEW, ...who, epoch: n(), mv: n(), cv: n(), votes }
      return { kind: 'view', view: own }
    }
    case 1: {
      const add = chance(chaos, 0.5) ? member(chaos, known) : null
      const why = pick(chaos, ['left', 'failed', 'returned', 'replaced', 'banned'] as const)
      return { kind: 'change', epoch: n(), mv: n(), add, remove: n(), why }
    }
    case 2: {
      const of = chance(chaos, 0.5) ? 1 : n()
      const piece = chance(chaos, 0.7) ? 0 : n()
      return { kind: 'snapshot', epoch: n(), length: n(), piece, of, bytes: noise(chaos, 400) }
    }
    case 3:
      return { kind: 'replicate', epoch: n(), index: n(), delta: delta(chaos, known) }
    case 4:
      return { kind: 'confirm', epoch: n() }
    case 5:
      return { kind: 'acknowledge', epoch: n(), length: n() }
    case 6:
      return { kind: 'operation', seq: n(), part: partOf(chaos), body: noise(chaos, 60) }
    case 7:
      return { kind: 'done', seq: n(), outcome: noise(chaos, 60) }
    case 8:
      return { kind: 'resync' }
    default:
      return chance(chaos, 0.02) ? { kind: 'leave' } : { kind: 'resync' }
  }
}

function partOf(chaos: Prng): number {
  return pick(chaos, [0, 4, 5, 6, 255])
}

function lieOfRecovery(chaos: Prng, n: () => number): PeerMessage {
  const seqs = Array.from({ length: below(chaos, 4) }, () => ({ player: n(), seq: n() }))
  const part = partOf(chaos)
  const lies: PeerMessage[] = [
    { kind: 'stepDown', epoch: n(), grant: signatureOrNone(chaos) },
    { kind: 'news', index: n(), player: n(), seq: n(), part, bytes: noise(chaos, 60) },
    { kind: 'standing', index: n(), seqs },
    { kind: 'askPromise', at: n() },
    { kind: 'promise', at: n() },
    { kind: 'inquire', epoch: n(), whole: chance(chaos, 0.5) },
    { kind: 'witness', epoch: n(), index: n(), settled: n(), cv: n(), banned: [], votes: [] },
    { kind: 'testimony', epoch: n(), piece: n(), of: n(), bytes: noise(chaos, 200) },
    { kind: 'recovered', epoch: n(), witness: n(), gone: [], silent: n() },
  ]
  return pick(chaos, lies)
}

function delta(chaos: Prng, known: Knowledge): Uint8Array {
  const n = (): number => number(chaos, known)
  switch (below(chaos, 4)) {
    case 0:
      return encode(deltaLayout, { kind: 'remove', inc: n(), why: 'left' })
    case 1:
      return encode(deltaLayout, {
        kind: 'add',
        member: member(chaos, known),
        settled: n(),
      })
    case 2:
      return encode(deltaLayout, {
        kind: 'operation',
        player: n(),
        seq: n(),
        outcome: noise(chaos, 20),
        changes: [{ part: 5, bytes: noise(chaos, 20) }],
      })
    default:
      return noise(chaos, 40)
  }
}

/** A reliable message with its channel in front: a lie of the session, or words of a part. */
export function peerBytes(chaos: Prng, known: Knowledge, me: number): Uint8Array {
  if (chance(chaos, 0.7)) return framed(0, encode(peerLayout, lie(chaos, known, me)))
  if (chance(chaos, 0.5)) return framed(pick(chaos, [0, 1, 4, 5, 255]), noise(chaos, 80))
  return noise(chaos, 40)
}

function framed(channel: number, bytes: Uint8Array): Uint8Array {
  const all = new Uint8Array(bytes.length + 1)
  all[0] = channel
  all.set(bytes, 1)
  return all
}

/** A datagram of a stranger: noise, a handshake, or a packet for some link. */
export function datagram(chaos: Prng, known: Knowledge, indexes: readonly number[]): Uint8Array {
  const kind = below(chaos, 4)
  if (kind === 0) return noise(chaos, chance(chaos, 0.1) ? 1232 : 60)
  if (kind === 1) return mutated(chaos, known)
  if (kind === 2) return handshake(chaos, known)
  const index = indexes.length > 0 && chance(chaos, 0.5) ? pick(chaos, indexes) : word(chaos)
  const counter = below(chaos, 256)
  return headed([pick(chaos, [KIND.packet, KIND.word]) + 1], index, [counter, ...packet(chaos)])
}

function headed(head: readonly number[], index: number, rest: readonly number[]): Uint8Array {
  const number = new Uint8Array(4)
  new DataView(number.buffer).setUint32(0, index)
  return Uint8Array.of(...head, ...number, ...rest)
}

function handshake(chaos: Prng, known: Knowledge): Uint8Array {
  const n = (): number => number(chaos, known)
  const first = encode(firstLayout, {
    ...{ from: n(), to: n(), link: word(chaos), again: chance(chaos, 0.2), counter: n() },
    ...{ mv: n(), join: null, pad: new Uint8Array(160) },
  })
  switch (below(chaos, 4)) {
    case 0:
      return headed([KIND.second], word(chaos), [...noise(chaos, 70)])
    case 1:
      return headed([KIND.version, 9], word(chaos), [])
    case 2:
      return headed([KIND.cookie], word(chaos), [...noise(chaos, 64)])
    default:
      return headed([KIND.first, 1], word(chaos), [
        ...noise(chaos, 80),
        ...first,
        ...noise(chaos, 48),
      ])
  }
}

// A legal header, and behind it the beginning of frames that may be legal too.
function packet(chaos: Prng): Uint8Array {
  const bytes = new Uint8Array(9 + 200)
  const sequence = below(chaos, 65_536)
  const ack = chance(chaos, 0.7) ? (sequence - below(chaos, 200)) & 0xffff : below(chaos, 65_536)
  let end = writeHeader(bytes, 0, sequence, ack, word(chaos))
  for (let frames = below(chaos, 4); frames > 0; frames--) {
    const body = noise(chaos, 30)
    bytes[end++] = pick(chaos, [0, 0x31, 0x11, 0x21, 0x01, 2, 3, 4, 0x14, 5, 6, 8, 0xff])
    bytes[end++] = word(chaos) & 0xff
    bytes[end++] = word(chaos) & 0xff
    bytes[end++] = body.length
    bytes.set(body, end)
    end += body.length
  }
  return bytes.slice(0, end)
}

/** A message on a stream to the hub. */
export function hubBytes(chaos: Prng, known: Knowledge): Uint8Array {
  if (chance(chaos, 0.15)) return noise(chaos, 80)
  if (chance(chaos, 0.15)) return frameRelay(number(chaos, known), noise(chaos, 100))
  if (chance(chaos, 0.15)) {
    return frameKnock(chance(chaos, 0.5) ? 0 : number(chaos, known), noise(chaos, 100))
  }
  if (chance(chaos, 0.15)) return mutated(chaos, known)
  return frameMessage(wish(chaos, known))
}

const anyText = (chaos: Prng, known: Knowledge): string =>
  pick(chaos, [known.session, '', 'fuzz', 'x'.repeat(32), '\u0000', '__proto__'])

function wish(chaos: Prng, known: Knowledge): Uint8Array {
  const session = anyText(chaos, known)
  return encode(
    toHub,
    chance(chaos, 0.5) ? asked(chaos, known, session) : told(chaos, known, session),
  )
}

// What anybody may ask.
function asked(chaos: Prng, known: Knowledge, session: string): ToHub {
  const n = (): number => number(chaos, known)
  const request = n()
  const game = anyText(chaos, known)
  const hashed = hash(chaos)
  switch (below(chaos, 5)) {
    case 0:
      return { kind: 'hello', version: chance(chaos, 0.9) ? HUB_VERSION : n() }
    case 1:
      return { kind: 'list', request, game, after: anyText(chaos, known).slice(0, 6) }
    case 2:
      return { kind: 'get', request, session }
    case 3: {
      const room = anyText(chaos, known)
      return {
        kind: 'add',
        request,
        game,
        room,
        playersMax: n(),
        recovers: false,
        topology: 'star',
        terms: '',
        hash: hashed,
        link: linkKey(chaos),
        key: linkKey(chaos),
        hosts: chance(chaos, 0.2),
        ticket: chance(chaos, 0.2) ? anyText(chaos, known) : '',
        fresh: chance(chaos, 0.2),
      }
    }
    default:
      return { kind: 'ping', count: n() }
  }
}

// What only members, and mostly the primary alone, may say.
function told(chaos: Prng, known: Knowledge, session: string): ToHub {
  const n = (): number => number(chaos, known)
  const request = n()
  const proof = hash(chaos)
  switch (below(chaos, 5)) {
    case 0: {
      const why = pick(chaos, ['add', 'drop', 'takeover', 'handover', 'recover', 'end'] as const)
      const change = { expect: n(), primary: n(), backup: n(), why }
      return { kind: 'change', request, session, inc: n(), proof, ...change }
    }
    case 1:
      return { kind: 'attach', request, session, inc: n(), proof }
    case 2: {
      const length = chance(chaos, 0.1) ? 256 : below(chaos, 4)
      const members = Array.from({ length }, () => {
        return {
          inc: n(),
          player: n(),
          hash: hash(chaos),
          link: linkKey(chaos),
          key: linkKey(chaos),
        }
      })
      return { kind: 'members', session, members, players: members.length }
    }
    case 3:
      return { kind: 'yes', session, epoch: n(), nonce: word(chaos), players: n() }
    default:
      return {
        kind: 'alive',
        session,
        epoch: n(),
        nonce: chance(chaos, 0.5) ? below(chaos, 9) : word(chaos),
      }
  }
}
