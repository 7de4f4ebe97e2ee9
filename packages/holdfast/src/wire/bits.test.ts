// Goal: bits stand one after the other, most significant first, as in a text of zeros and ones.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../test/calmly.ts'
import {
  bitsAreWhole,
  createBitReader,
  createBitWriter,
  failBits,
  finishBits,
  padBits,
  readBits,
  writeBits,
  type BitWriter,
  openPacked,
  pack,
  writePacked,
} from './bits.ts'

type Piece = readonly [value: number, bits: number]

const pieces = fc.array(
  fc.integer({ min: 1, max: 32 }).chain((bits): fc.Arbitrary<Piece> => {
    const max = 2 ** bits - 1
    const value = fc.oneof(fc.constantFrom(0, 1, max), fc.integer({ min: 0, max }))
    return fc.tuple(value, fc.constant(bits))
  }),
  { maxLength: 20 },
)

/** Numbers as a text of zeros and ones, filled up to whole bytes. */
function textOf(all: readonly Piece[]): string {
  const bits = all.map(([value, count]) => value.toString(2).padStart(count, '0')).join('')
  return bits.padEnd(Math.ceil(bits.length / 8) * 8, '0')
}

function shown(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
}

function put(writer: BitWriter, all: readonly Piece[]): void {
  for (const [value, bits] of all) calmly(() => writeBits(writer, value, bits))
}

describe('bits', () => {
  test('numbers of 1 to 32 bits follow each other without a gap (PR-2)', () => {
    fc.assert(
      fc.property(pieces, fc.integer({ min: 0, max: 40 }), (all, capacity) => {
        const writer = createBitWriter(capacity)
        put(writer, all)
        expect(writer.length * 8 + writer.held).toBe(all.reduce((sum, [, bits]) => sum + bits, 0))
        const bytes = finishBits(writer)
        expect(shown(bytes)).toBe(textOf(all))
        const reader = createBitReader(bytes)
        for (const [value, bits] of all) expect(readBits(reader, bits)).toBe(value)
        expect([bitsAreWhole(reader), reader.failed]).toEqual([true, false])
      }),
      { seed: 5, numRuns: 300 },
    )
  })
  test.each([1, 8, 24, 25, 31, 32])('%i bits hold 2^n - 1 and nothing above (PR-2)', (bits) => {
    const most = 2 ** bits - 1
    const writer = createBitWriter()
    put(writer, [[most, bits]])
    expect(shown(finishBits(writer)).slice(0, bits)).toBe('1'.repeat(bits))
    for (const odd of [most + 1, -1, 0.5, NaN]) {
      const why = `${bits} bits hold integers from 0 to ${most}: ${odd}`
      expect(() => writeBits(writer, odd, bits), `${odd}`).toThrow(new RangeError(why))
    }
  })
  test('past the end a reader reads zeros, and has failed (PR-2)', () => {
    for (const bits of [17, 24, 25, 32]) {
      const reader = createBitReader(Uint8Array.of(0xff, 0xff))
      expect(readBits(reader, 1)).toBe(1)
      expect(readBits(reader, bits)).toBe(0)
      expect(reader).toMatchObject({ failed: true, at: 2, rest: 0, held: 0 })
      expect(readBits(reader, 1)).toBe(0)
      expect(bitsAreWhole(reader)).toBe(false)
    }
  })
  test('a number may end with the last bit, and one bit more is too many (PR-2)', () => {
    for (const bits of [15, 31]) {
      const bytes = new Uint8Array(Math.ceil((bits + 1) / 8)).fill(0xff)
      const reader = createBitReader(bytes)
      readBits(reader, 1)
      expect(readBits(reader, bits)).toBe(2 ** bits - 1)
      expect([reader.failed, bitsAreWhole(reader)]).toEqual([false, true])
      expect([readBits(reader, 1), reader.failed]).toEqual([0, true])
    }
  })
  test('the bits that fill the last byte are zeros, or the input is malformed (PR-2)', () => {
    const clean = createBitReader(Uint8Array.of(0b10100000))
    expect([readBits(clean, 3), bitsAreWhole(clean)]).toEqual([5, true])
    const soiled = createBitReader(Uint8Array.of(0b10100001))
    expect([readBits(soiled, 3), bitsAreWhole(soiled)]).toEqual([5, false])
    const failed = createBitReader(Uint8Array.of(0xff, 0xff))
    expect([readBits(failed, 3), failBits(failed), readBits(failed, 3)]).toEqual([7, 0, 0])
    expect([failed.failed, bitsAreWhole(failed)]).toEqual([true, false])
  })
  test('whole bytes are not filled up, and nothing written is no byte (PR-2)', () => {
    const writer = createBitWriter()
    expect(finishBits(writer)).toEqual(new Uint8Array(0))
    put(writer, [[0xabc, 12]])
    padBits(writer)
    expect([writer.length, writer.held]).toEqual([2, 0])
    padBits(writer)
    expect(shown(finishBits(writer))).toBe('1010101111000000')
  })
  test('memory grows by doubling alone, with room for one number more (PR-2)', () => {
    const writer = createBitWriter(8)
    const sizes: number[] = []
    for (let step = 0; step < 17; step++) {
      writeBits(writer, step, 8)
      sizes.push(writer.bytes.length)
    }
    // Five bytes are kept free: a number of 32 bits may begin in the middle of a byte.
    expect(sizes).toEqual([8, 8, 8, 8, 16, 16, 16, 16, 16, 16, 16, 16, 32, 32, 32, 32, 32])
    expect([...finishBits(writer)]).toEqual([...Array(17).keys()])
  })
})

describe('packed bits', () => {
  test('they are written again as they were, behind whatever stands there (PR-2)', () => {
    fc.assert(
      fc.property(pieces, pieces, (before, all) => {
        const packed = pack((writer) => put(writer, all))
        const count = all.reduce((sum, [, bits]) => sum + bits, 0)
        expect(packed.length).toBe(1 + Math.ceil(count / 8))
        expect(packed.charCodeAt(0)).toBe((8 - (count % 8)) % 8)
        const writer = createBitWriter()
        put(writer, before)
        writePacked(writer, packed)
        expect(shown(finishBits(writer))).toBe(textOf([...before, ...all]))
        const reader = openPacked(packed)
        for (const [value, bits] of all) expect(readBits(reader, bits)).toBe(value)
        expect(bitsAreWhole(reader)).toBe(true)
      }),
      { seed: 6, numRuns: 200 },
    )
  })
})
