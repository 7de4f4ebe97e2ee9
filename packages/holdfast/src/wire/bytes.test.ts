// Goal: bytes are what Node's own functions make of the same values, at each bound and one beyond.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../test/calmly.ts'
import { toHex } from '../../../../test/hex.ts'
import * as bytes from './bytes.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'

const MAX = Number.MAX_SAFE_INTEGER

type Write = (writer: ByteWriter, value: number) => void
type Read = (reader: ByteReader) => number

/** A kind of number: its name, how it is written and read, its largest value, and its bytes. */
type Kind = readonly [name: string, Write, Read, max: number, as: (value: number) => Uint8Array]

const KINDS: readonly Kind[] = [
  ['u8', bytes.writeU8, bytes.readU8, 0xff, (value) => Uint8Array.of(value)],
  ['u16', bytes.writeU16, bytes.readU16, 0xffff, (value) => bigEndian(value, 2)],
  ['u32', bytes.writeU32, bytes.readU32, 0xffffffff, (value) => bigEndian(value, 4)],
  ['varint', bytes.writeVarint, bytes.readVarint, MAX, leb128],
]

function bigEndian(value: number, count: number): Uint8Array {
  const made = Buffer.alloc(count)
  made.writeUIntBE(value, 0, count)
  return made
}

function leb128(value: number): Uint8Array {
  const made: number[] = []
  let rest = BigInt(value)
  for (; rest >= 128n; rest >>= 7n) made.push(Number(rest & 127n) | 128)
  return Uint8Array.from([...made, Number(rest)])
}

function written(write: (writer: ByteWriter) => void, capacity = 1): string {
  const writer = bytes.createWriter(capacity)
  calmly(() => write(writer))
  return toHex(bytes.finish(writer))
}

/** A reader of some bytes that lie in the middle of others. */
function amid(from: Uint8Array): ByteReader {
  const all = Uint8Array.of(0xaa, 0xbb, ...from, 0x11, 0x22)
  return bytes.createReader(all.subarray(1), 1, 1 + from.length)
}

/** What is read, and whether the reader failed, stands at its end, and is done. */
function after(read: (reader: ByteReader) => unknown, from: Uint8Array): unknown[] {
  const [found, alone] = [amid(from), bytes.createReader(from)].map((reader) => {
    const value = calmly(() => read(reader))
    return [value, reader.failed, reader.at === reader.end, bytes.isDone(reader)]
  })
  expect(alone, 'a part of an array is read like an array of its own').toEqual(found)
  return found!
}

function numbers(max: number): fc.Arbitrary<number> {
  const near = [...Array(54).keys()].flatMap((bit) => [2 ** bit - 1, 2 ** bit, 2 ** bit + 1])
  const inside = near.filter((value) => value <= max)
  return fc.oneof(fc.constantFrom(0, ...inside, max), fc.integer({ min: 0, max }))
}

describe.each(KINDS)('%s', (name, write, read, max, as) => {
  test('its bytes are those of a slow reference, and it is read back (PR-2)', () => {
    fc.assert(
      fc.property(numbers(max), (value) => {
        const hex = toHex(as(value))
        expect(written((writer) => write(writer, value))).toBe(hex)
        expect(after(read, as(value))).toEqual([value, false, true, true])
      }),
      { seed: 3, numRuns: 300 },
    )
  })
  test('what it does not hold is refused, and nothing is written (PR-2)', () => {
    for (const value of [-1, max + 1, 0.5, NaN, Infinity, -Infinity]) {
      const writer = bytes.createWriter()
      const why = `${name} must be an integer from 0 to ${max}: ${value}`
      expect(() => write(writer, value), `${value}`).toThrow(new RangeError(why))
      expect(writer.length).toBe(0)
    }
  })
  test('cut short it is 0, and so is all that is read behind it (PR-2)', () => {
    const whole = as(max)
    for (let length = 0; length < whole.length; length++) {
      const reader = amid(whole.subarray(0, length))
      expect([read(reader), reader.failed, reader.at]).toEqual([0, true, reader.end])
      expect([read(reader), reader.failed, reader.at]).toEqual([0, true, reader.end])
      expect(bytes.isDone(reader)).toBe(false)
    }
  })
})

describe('varints', () => {
  test.each(['80', '8000', 'ff00', '808000', '80808080808080', '8080808080808000'])(
    '%s is not the shortest form or has no end, and fails (PR-2)',
    (hex) => {
      const from = Uint8Array.from(Buffer.from(hex, 'hex'))
      expect(after(bytes.readVarint, from)).toEqual([0, true, true, false])
    },
  )
  test('eight bytes hold 2^53 - 1 and nothing above; a ninth is not read (PR-2)', () => {
    const most = Uint8Array.of(...Array<number>(7).fill(0xff), 0x0f)
    expect(after(bytes.readVarint, most)).toEqual([MAX, false, true, true])
    const above = Uint8Array.of(...Array<number>(7).fill(0x80), 0x10)
    expect(after(bytes.readVarint, above)).toEqual([0, true, true, false])
    const nine = Uint8Array.of(...Array<number>(8).fill(0x80), 0x01)
    expect(after(bytes.readVarint, nine)).toEqual([0, true, true, false])
  })
  test('behind a failure a varint is 0, whatever the bytes (PR-2)', () => {
    const reader = bytes.createReader(Uint8Array.of(5, 6))
    bytes.fail(reader)
    expect(bytes.readVarint(reader)).toBe(0)
    expect(reader.failed).toBe(true)
  })
})

describe('doubles', () => {
  test('they are the eight bytes that Node writes, wherever they stand (PR-2)', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const made = Buffer.alloc(8)
        made.writeDoubleBE(value)
        const all = written((writer) => {
          bytes.writeU8(writer, 7)
          bytes.writeF64(writer, value)
          bytes.writeU8(writer, 9)
        })
        expect(all).toBe(`07${toHex(made)}09`)
        expect(after(bytes.readF64, made)).toEqual([value, false, true, true])
      }),
      { seed: 3 },
    )
  })
  test('NaN and infinities fail, and so does one that is cut short (PR-2)', () => {
    for (const odd of [NaN, Infinity, -Infinity]) {
      const made = Buffer.alloc(8)
      made.writeDoubleBE(odd)
      expect(after(bytes.readF64, made)).toEqual([0, true, true, false])
    }
    expect(after(bytes.readF64, new Uint8Array(7))).toEqual([0, true, true, false])
  })
})

const TEXTS = ['', 'a', 'grüße', '\u{feff}mark', '𝄞'.repeat(5), 'x'.repeat(31), 'x'.repeat(32)]

describe('texts and bytes', () => {
  test('a text is its UTF-8 behind the number of its bytes, short and long (PR-2)', () => {
    const long = [...TEXTS, 'x'.repeat(33), 'ü'.repeat(32), `${'y'.repeat(200)}ß`]
    for (const text of [...long, '\x7f\x80', '\x80']) {
      const utf8 = new TextEncoder().encode(text)
      const made = Uint8Array.of(...leb128(utf8.length), ...utf8)
      const write = (writer: ByteWriter): void => bytes.writeText(writer, text, utf8.length)
      expect(written(write), `${text}`).toBe(toHex(made))
      const read = (reader: ByteReader): string => bytes.readText(reader, utf8.length)
      expect(after(read, made)).toEqual([text, false, true, true])
    }
  })
  test('a text of one byte more than its limit is refused on both ends (PR-2)', () => {
    for (const text of ['ab', 'ü', 'x'.repeat(40), 'ü'.repeat(40)]) {
      const utf8 = new TextEncoder().encode(text)
      const writer = bytes.createWriter()
      const most = utf8.length - 1
      expect(() => bytes.writeText(writer, text, most)).toThrow(`from 0 to ${most}`)
      expect(writer.length).toBe(0)
      const made = Uint8Array.of(...leb128(utf8.length), ...utf8)
      const read = (reader: ByteReader): string => bytes.readText(reader, most)
      expect(after(read, made)).toEqual(['', true, true, false])
    }
  })
  test('bytes that are no UTF-8, or are cut short, are no text (PR-2)', () => {
    const long = [40, ...Array<number>(39).fill(0x61)]
    for (const from of [[1, 0x80], [2, 0xc3, 0x28], [3, 0x61], [...long, 0xff], long]) {
      const read = (reader: ByteReader): string => bytes.readText(reader, 100)
      expect(after(read, Uint8Array.from(from))).toEqual(['', true, true, false])
    }
  })
  test('bytes have a limit on both ends, and are copied on both (PR-2)', () => {
    const own = Uint8Array.of(1, 2, 3)
    const writer = bytes.createWriter()
    bytes.writeBytes(writer, own, 3)
    const made = bytes.finish(writer)
    own.fill(9)
    expect(toHex(made)).toBe('03010203')
    expect(() => bytes.writeBytes(writer, own, 2)).toThrow('length in bytes')
    const reader = bytes.createReader(made)
    const back = bytes.readBytes(reader, 3)
    made.fill(0)
    expect([...back]).toEqual([1, 2, 3])
    const four = Uint8Array.of(4, 1, 2, 3, 4)
    const read = (from: ByteReader): Uint8Array => bytes.readBytes(from, 3)
    expect(after(read, four)).toEqual([new Uint8Array(0), true, true, false])
    expect(after(read, four.subarray(0, 3))).toEqual([new Uint8Array(0), true, true, false])
  })
  test('of a Buffer they are a copy as well, with a memory of their own (PR-2)', () => {
    const from = Buffer.from([1, 2, 3])
    const back = bytes.readRaw(bytes.createReader(from), 3)
    from.fill(0)
    expect([...back]).toEqual([1, 2, 3])
    expect(back.buffer.byteLength).toBe(3)
  })
})

describe('a writer', () => {
  test('grows by doubling and no more, and keeps what it has (PR-2)', () => {
    const writer = bytes.createWriter(2)
    const sizes: number[] = []
    for (let value = 0; value < 9; value++) {
      bytes.writeU8(writer, value)
      sizes.push(writer.bytes.length)
    }
    expect(sizes).toEqual([2, 2, 4, 4, 8, 8, 8, 8, 16])
    expect([...bytes.finish(writer)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    bytes.writeRaw(writer, new Uint8Array(100))
    expect(writer.bytes.length).toBe(109)
    expect(writer.length).toBe(109)
  })
  test.each([1, 32, 33, 100])('of %i bytes gives a copy of exactly these (PR-2)', (length) => {
    const writer = bytes.createWriter(4)
    for (let at = 0; at < length; at++) bytes.writeU8(writer, at)
    const first = bytes.finish(writer)
    expect([...first]).toEqual([...Array(length).keys()])
    bytes.reset(writer)
    expect(writer.length).toBe(0)
    bytes.writeU8(writer, 0xee)
    expect(first[0]).toBe(0)
    expect([...bytes.finish(writer)]).toEqual([0xee])
  })
})

test('a reader that failed reads nothing any more, though bytes are left (PR-2)', () => {
  const reader = bytes.createReader(Uint8Array.of(2, 1, 1, 1, 1))
  expect(bytes.readBytes(reader, 1)).toEqual(new Uint8Array(0))
  expect(bytes.readRaw(reader, 0)).toEqual(new Uint8Array(0))
  expect([reader.failed, reader.at, bytes.isDone(reader)]).toEqual([true, 5, false])
})

test('a reader is done at its end alone, and a part of an array ends where it says (PR-2)', () => {
  const reader = bytes.createReader(Uint8Array.of(1, 2, 3), 1, 2)
  expect(bytes.isDone(reader)).toBe(false)
  expect(bytes.readU8(reader)).toBe(2)
  expect(bytes.isDone(reader)).toBe(true)
  expect(bytes.readU8(reader)).toBe(0)
  expect(bytes.isDone(reader)).toBe(false)
})
