// Goal: long unreliable messages come whole or not at all, and packets that were split likewise.
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../../test/calmly.ts'
import { fragment, Lone, part } from '../../../../../test/link/lone.ts'
import { toHex } from '../../../../../test/hex.ts'
import { addFragment, createAssemblies } from './assembly.ts'
import { isFragment, writeHeader } from './packet.ts'
import * as parts from './parts.ts'

const CHANNEL_MAX = 255
const CHANNEL_MIN = 4
const PIECE_MAX = 1104
const HEADER_MAX = 9

describe('an unreliable message', () => {
  test('L10: has 16 chunks at most, on channels 4 to 255 (PR-2)', () => {
    const most = 16 * PIECE_MAX
    const lengths = [0, 1, PIECE_MAX, PIECE_MAX + 1, most]
    const counts = lengths.map((length) => {
      const parted = parts.createParted()
      expect(calmly(() => parts.post(parted, 9, new Uint8Array(length)))).toBe(true)
      const all = parted.outbox
      expect(all.map((one) => one.part)).toEqual([...all.keys()])
      expect(all.every((one) => one.parts === all.length && one.channel === 9)).toBe(true)
      expect(all.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBe(length)
      return all.length
    })
    expect(counts).toEqual([1, 1, 1, 2, 16])
    const why = `an unreliable message has at most ${most} bytes: ${most + 1}`
    expect(() => parts.post(parts.createParted(), 9, new Uint8Array(most + 1))).toThrow(why)
    for (const channel of [CHANNEL_MIN, CHANNEL_MAX]) {
      calmly(() => parts.post(parts.createParted(), channel, new Uint8Array(1)))
    }
    for (const odd of [3, 256, 4.5, NaN, -1]) {
      const sentence = `a channel is a number from 4 to 255: ${odd}`
      expect(() => parts.post(parts.createParted(), odd, new Uint8Array(1))).toThrow(sentence)
    }
  })
  test('each has a number of its own, which begins again at 65,536 (PR-2)', () => {
    const parted = parts.createParted()
    const numbers: number[] = []
    for (let n = 0; n < 65_538; n++) {
      parts.post(parted, 4, new Uint8Array(0))
      numbers.push(parted.outbox.pop()!.message)
    }
    expect(numbers.slice(0, 3)).toEqual([0, 1, 2])
    expect(numbers.slice(-3)).toEqual([65_535, 0, 1])
  })
  test('64 chunks wait at most, and of one that has no room nothing waits (PR-2)', () => {
    const parted = parts.createParted()
    const post = (count: number): boolean =>
      calmly(() => parts.post(parted, 4, new Uint8Array(count * PIECE_MAX)))
    expect([16, 16, 16, 15, 2, 1, 1].map(post)).toEqual([
      true,
      true,
      true,
      true,
      false,
      true,
      false,
    ])
    expect(parted.outbox).toHaveLength(64)
  })
})

describe('chunks that come', () => {
  const hear = (lone: Lone, ...frames: number[][]): string[] =>
    frames.flatMap((frame) => lone.hear(frame).brought)

  test('L10: are one message when the last of them is there, in any order (PR-2)', () => {
    const lone = new Lone()
    expect(hear(lone, part(5, 2, 3, 6), part(5, 0, 3, 1, 2), part(5, 0, 3, 9, 9))).toEqual([])
    expect(hear(lone, part(5, 1, 3, 3))).toEqual(['frame 1,2,3,6'])
    expect(lone.link.parted.inbox).toEqual([])
    // Its number comes again, 65,536 messages later.
    expect(hear(lone, part(5, 0, 2, 7), part(5, 1, 2, 8))).toEqual(['frame 7,8'])
  })
  test('a message of one chunk takes nobody’s place (PR-2)', () => {
    const lone = new Lone()
    for (const message of [1, 2, 3, 4]) expect(hear(lone, part(message, 0, 2, message))).toEqual([])
    expect(hear(lone, part(9, 0, 1, 5))).toEqual(['frame 5'])
    for (const message of [1, 2, 3, 4]) {
      expect(hear(lone, part(message, 1, 2, 0))).toEqual([`frame ${message},0`])
    }
  })
  test('messages of one number on two channels are two, and of two lengths none (PR-2)', () => {
    const lone = new Lone()
    const other = part(5, 1, 2, 9)
    other[1] = 200
    expect(hear(lone, part(5, 0, 2, 1), other)).toEqual([])
    expect(hear(lone, part(5, 1, 3, 7), part(5, 2, 3, 7))).toEqual([])
    expect(hear(lone, part(5, 1, 2, 2))).toEqual(['frame 1,2'])
    expect(lone.link.parted.inbox).toHaveLength(1)
  })
})

/** A packet with a header of four bytes, and so many of payload. */
function packet(sequence: number, payload: number): Uint8Array {
  const head = new Uint8Array(HEADER_MAX)
  const end = writeHeader(head, 0, sequence, sequence, 0xffffffff)
  return Uint8Array.of(...head.subarray(0, end), ...new Uint8Array(payload).map((_, at) => at))
}

describe('a packet that was split', () => {
  test('is put together from its fragments in any order (PR-2)', () => {
    for (const [payload, count] of [
      [0, 1],
      [1, 1],
      [100, 1],
      [101, 2],
      [1_600, 16],
    ] as const) {
      const whole = packet(777, payload)
      const all = calmly(() => fragment(whole, 100))
      expect(all.length).toBe(count)
      const assemblies = createAssemblies()
      const results = all.toReversed().map((one) => calmly(() => addFragment(assemblies, one)))
      expect(results.slice(0, -1).every((one) => one === null)).toBe(true)
      expect(toHex(results.at(-1) as Uint8Array)).toBe(toHex(whole))
    }
  })
  test('has 256 fragments at most for others, and 16 for us (PR-2)', () => {
    expect(calmly(() => fragment(packet(1, 256), 1))).toHaveLength(256)
    expect(() => fragment(packet(1, 257), 1)).toThrow('at most 256 fragments: 257')
    expect(() => fragment(Uint8Array.of(1, 2, 3), 1)).toThrow('must start with a header')
    const results = [16, 17].map((count) => {
      const assemblies = createAssemblies()
      return fragment(packet(1, count), 1)
        .map((one) => addFragment(assemblies, one))
        .at(-1)
    })
    expect(results).toEqual([packet(1, 16), 'malformed'])
  })
  test('is malformed where a fragment is cut, empty, or begins another packet (PR-2)', () => {
    const [first, second] = fragment(packet(7, 150), 100) as [Uint8Array, Uint8Array]
    for (let length = 0; length <= 5; length++) {
      const result = calmly(() => addFragment(createAssemblies(), second.subarray(0, length)))
      expect(result, `${length} bytes`).toBe('malformed')
    }
    const foreign = Uint8Array.from(first)
    foreign[6] = 8
    const headless = Uint8Array.from(first)
    headless[5] = 0xff
    const flagged = Uint8Array.from(second)
    flagged[0] = 3
    expect(addFragment(createAssemblies(), flagged)).toBe('malformed')
    for (const odd of [foreign, headless]) {
      const assemblies = createAssemblies()
      expect(addFragment(assemblies, second)).toBe(null)
      expect(calmly(() => addFragment(assemblies, odd))).toBe('malformed')
    }
    expect([new Uint8Array(0), first, packet(7, 0)].map((one) => isFragment(one))).toEqual([
      false,
      true,
      false,
    ])
  })
  test('comes to the link as a packet when it is whole (PR-2)', () => {
    const lone = new Lone()
    const head = new Uint8Array(HEADER_MAX)
    const end = writeHeader(head, 0, 0, 0xffff, 0)
    const whole = Uint8Array.of(...head.subarray(0, end), 0x31, 0, 1, 3, 7, 8, 9)
    const [first, second] = fragment(whole, 4)
    expect(lone.take(first!)).toEqual({ taken: true, brought: [] })
    expect(lone.take(second!)).toEqual({ taken: true, brought: ['message 7,8,9'] })
    expect(lone.take(Uint8Array.of(1, 0, 0))).toEqual({ taken: false, brought: [] })
    expect(lone.link.counters).toMatchObject({ received: 3, malformed: 1 })
  })
})
