// Goal: nothing that comes off the network throws, grows without bound or is half believed.
// Method: 50,000 packets, half of them well-formed headers with hostile content; then each bound.
import { describe, expect, test } from 'vitest'
import {
  chance,
  createPair,
  numbered,
  run,
  send,
  take,
  type End,
} from '../../../../test/link/pair.ts'
import { createWriter, finish, writeU16, writeU8, writeVarint } from '../wire/bytes.ts'
import * as link from './link.ts'
import { LIMITS, MESSAGE_MAX, QUEUE_BYTES_MAX } from './limits.ts'
import { writeHeader } from './packets/packet.ts'
import { FIRST, LAST } from './reliable.ts'

const PIECE_MAX = 1104
const QUEUE_MESSAGES_MAX = 4096
const HEADER_MAX = 9

// A packet as a peer of its own making might send it.
function packet(
  sequence: number,
  frames: (number | Uint8Array)[],
  ack = 65535,
  bits = 0,
): Uint8Array {
  const header = new Uint8Array(HEADER_MAX)
  const end = writeHeader(header, 0, sequence & 0xffff, ack, bits)
  const parts = frames.map((frame) => (typeof frame === 'number' ? [frame] : frame))
  return Buffer.concat([header.subarray(0, end), ...parts.map((part) => Uint8Array.from(part))])
}

function piece(id: number, flags: number, length = 1): Uint8Array {
  const writer = createWriter()
  writeU8(writer, 1 | (flags << 4))
  writeU16(writer, id & 0xffff)
  writeVarint(writer, length)
  return new Uint8Array([...finish(writer), ...new Uint8Array(length)])
}

function takeIn(end: End, bytes: Uint8Array, now = 1): boolean {
  return take(end, now, bytes)
}

// All bytes that a link holds on behalf of its peer.
function heldBytes({ link: { incoming, assemblies, parted } }: End): number {
  let held = incoming.partial.bytes.length
  for (const { bytes } of incoming.early.values()) held += bytes.length
  for (const one of assemblies.list) for (const share of one.shares) held += share?.length ?? 0
  for (const one of parted.inbox) for (const part of one.parts) held += part?.length ?? 0
  return held
}

const noise = ((random) => Uint8Array.from({ length: 65_536 }, () => random() * 256))(chance(5))

function hostile(random: () => number, round: number): Uint8Array {
  const length = Math.floor(random() ** 2 * 1300)
  const from = Math.floor(random() * 60_000)
  const bytes = noise.slice(from, from + length)
  if (random() < 0.5) return bytes
  const kinds = [0, 0x11, 0x21, 0x31, 0x01, 2, 3, 4, 0x14, 8, 5, 6, 7, 15]
  // A CLOSE would end the run, so it comes seldom, and malformed.
  if (bytes.length > 0) bytes[0] = kinds[Math.floor(random() * kinds.length)]!
  if (bytes[0] === 6) bytes[0] = 0x16
  const upTo = (limit: number): number => Math.floor(random() * limit)
  const frame = random() < 0.7 ? [piece(upTo(3000), upTo(4), upTo(100)), bytes] : [bytes]
  const sequence = round + Math.floor((random() - 0.3) * 40)
  const ack = random() < 0.8 ? upTo(4) : upTo(65536)
  return packet(Math.max(0, sequence), frame, ack, upTo(2 ** 32))
}

test('50,000 hostile packets: nothing throws, nothing grows, every one is counted', () => {
  const pair = createPair(1)
  const end = pair.ends[0]
  const random = chance(99)
  for (let round = 0; round < 50_000; round++) {
    if (round % 100 === 0) link.send(end.link, round, numbered(round))
    const bytes = hostile(random, round)
    takeIn(end, bytes, round)
    if (round % 7 === 0) link.wake(end.link, round, end.sink)
    if (end.link.closed !== null) end.link.closed = null
    pair.flights.length = 0
    end.packets.length = 0
  }
  const { counters } = end.link
  expect(counters.received).toBe(50_000)
  expect(counters.malformed).toBeGreaterThan(20_000)
  expect(counters.malformed + counters.duplicate + counters.stale).toBeLessThan(50_000)
  expect(end.link.incoming.early.size).toBeLessThanOrEqual(LIMITS.reorder + 245)
  expect(heldBytes(end)).toBeLessThan(4 * 1024 * 1024)
}, 60_000)

describe('malformed packets', () => {
  const cases: [string, (number | Uint8Array)[]][] = [
    ['an unknown kind', [7]],
    ['BARRIER, which is kept for later', [5]],
    ['flags where none belong', [0x10]],
    ['a body that is longer than the packet', [2, 4, 5, 1, 2]],
    ['a channel below 4', [2, 3, 0]],
    ['a varint that is not the shortest', [2, 4, 0x80, 0]],
    ['a part beyond their number', [3, 4, 0, 0, 0x21, 0]],
    ['a clock that is no number', [4, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0]],
    ['a delay of more than ten seconds', [8, 0xff, 0xff, 0x7f]],
    ['piece 0', [piece(0, 3)]],
  ]
  for (const [name, frames] of cases) {
    test(`B24: ${name} makes the whole packet malformed: none of it counts, it is not acked`, () => {
      const [, end] = createPair().ends
      expect(takeIn(end, packet(0, [piece(1, FIRST | LAST), ...frames]))).toBe(false)
      expect(end.messages).toEqual([])
      expect(end.link.counters.malformed).toBe(1)
      expect(end.link.received.newest).toBe(-1)
      expect(takeIn(end, packet(0, [piece(1, FIRST | LAST)]))).toBe(true)
    })
  }

  test('an ack of a packet that was never sent makes the packet malformed', () => {
    const [end] = createPair().ends
    expect(takeIn(end, packet(0, [0], 5, 1))).toBe(false)
    expect(end.link.counters.malformed).toBe(1)
  })

  test('a message without a beginning or an end is passed over, and the next one arrives', () => {
    const [end] = createPair().ends
    takeIn(end, packet(0, [piece(1, LAST)]))
    takeIn(end, packet(1, [piece(2, FIRST)]))
    takeIn(end, packet(2, [piece(3, FIRST | LAST, 9)]))
    expect(end.messages.map((bytes) => bytes.length)).toEqual([9])
    expect(end.link.counters.malformed).toBe(2)
  })
})

describe('bounds', () => {
  test('L7: the reliable queue holds 4 MB or 4096 messages, then it says what is wrong', () => {
    const pair = createPair()
    const { link: from } = pair.ends[0]
    for (let count = 0; count < QUEUE_MESSAGES_MAX; count++) link.send(from, 0, numbered(count))
    expect(() => link.send(from, 0, numbered(0))).toThrow(
      '4096 messages, 16384 bytes, at most 4096',
    )
    const [other] = createPair().ends
    for (let left = QUEUE_BYTES_MAX; left > 0; left -= MESSAGE_MAX) {
      link.send(other.link, 0, new Uint8Array(Math.min(left, MESSAGE_MAX)))
    }
    expect(() => link.send(other.link, 0, numbered(0))).toThrow('4194304 bytes')
    run(pair, 3000)
    expect(pair.ends[1].messages.length).toBe(QUEUE_MESSAGES_MAX)
    expect(from.outgoing.messages).toBe(0)
    expect(from.outgoing.bytes).toBe(0)
  })

  test('L1: a piece too far ahead is refused with its packet, un-acked, and taken later', () => {
    const [end] = createPair().ends
    expect(takeIn(end, packet(0, [piece(1 + LIMITS.reorder, 3)]))).toBe(false)
    expect(end.link.counters.droppedForRoom).toBe(1)
    expect(takeIn(end, packet(0, [piece(LIMITS.reorder, 3)]))).toBe(true)
    expect(end.link.incoming.early.size).toBe(1)
  })

  test('L1: the sender runs no further ahead than the receiver keeps', () => {
    const pair = createPair(2, { delay: 20, loss: 0.3 })
    for (let count = 0; count < QUEUE_MESSAGES_MAX; count++) send(pair, 0, numbered(count))
    run(pair, 10_000)
    expect(pair.ends[1].messages.length).toBe(QUEUE_MESSAGES_MAX)
    expect(pair.ends[1].link.counters.droppedForRoom).toBe(0)
  })

  test('a duplicate and a packet older than 256 places are dropped and counted', () => {
    const [end] = createPair().ends
    for (const sequence of [0, 300, 300, 44, 45]) takeIn(end, packet(sequence, [0]))
    expect(end.link.counters.duplicate).toBe(1)
    expect(end.link.counters.stale).toBe(1)
    expect(end.link.received.newest).toBe(300)
  })

  test('sequences wrap at 65,536 and the stream goes on in order, with loss', () => {
    const limits = { ...LIMITS, first: 65_536 - 500 }
    const pair = createPair(4, { delay: 2, loss: 0.02, jitter: 1 }, { limits })
    for (let count = 0; count < 2000; count++) {
      send(pair, 0, numbered(count))
      send(pair, 1, numbered(count))
      run(pair, pair.now + 2)
    }
    run(pair, pair.now + 1000)
    for (const end of pair.ends) expect(end.messages.length).toBe(2000)
    expect(pair.ends[0].link.sent.next).toBeGreaterThan(65_536 + 1000)
  })

  test('an unreliable message is refused while too many parts wait', () => {
    const [end] = createPair().ends
    const long = new Uint8Array(16 * PIECE_MAX)
    const taken = Array.from({ length: 6 }, () => link.post(end.link, 0, 4, long))
    expect(taken).toEqual([true, true, true, true, false, false])
  })

  test('L10: four messages in parts wait for the rest; a fifth pushes out the first (PR-2)', () => {
    const part = (message: number, index: number): number[] => {
      return [3, 4, 0, message, (index << 4) | 1, 1, 10 * message + index]
    }
    const arrived = (messages: number[]): number[][] => {
      const [end] = createPair().ends
      const firsts = messages.map((message) => part(message, 0))
      const seconds = messages.toReversed().map((message) => part(message, 1))
      const all = [...firsts, ...seconds].entries()
      for (const [sequence, frame] of all) takeIn(end, packet(sequence, frame))
      return end.frames.map(([, bytes]) => [...bytes])
    }
    const whole = (message: number): number[] => [10 * message, 10 * message + 1]
    expect(arrived([1, 2, 3, 4])).toEqual([4, 3, 2, 1].map(whole))
    expect(arrived([1, 2, 3, 4, 5])).toEqual([5, 4, 3, 2].map(whole))
  })

  test('what is sent, and what comes early, is copied also from a Buffer', () => {
    const [end] = createPair().ends
    const early = Buffer.from(packet(0, [piece(2, FIRST | LAST, 3)]))
    takeIn(end, early)
    early.fill(0xff)
    takeIn(end, packet(1, [piece(1, FIRST | LAST, 1)]))
    expect(end.messages).toEqual([new Uint8Array(1), new Uint8Array(3)])
    const pair = createPair()
    const message = Buffer.from([1, 2, 3, 4])
    link.send(pair.ends[0].link, 0, message)
    message.fill(9)
    run(pair, 100)
    expect(pair.ends[1].messages).toEqual([new Uint8Array([1, 2, 3, 4])])
  })

  test('a link is plain data beside its rules: a clone goes on where the original was', () => {
    const pair = createPair()
    for (let count = 0; count < 40; count++) send(pair, 0, numbered(count, 300))
    run(pair, 25)
    for (const end of pair.ends) {
      const { rules, ...data } = end.link
      end.link = { ...structuredClone(data), rules }
    }
    run(pair, 2000)
    expect(pair.ends[1].messages.length).toBe(40)
  })
})
