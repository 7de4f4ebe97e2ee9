// Goal: what is encoded is decoded again, byte for byte; what was not encoded here harms nobody.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../test/calmly.ts'
import { toHex } from '../../../../test/hex.ts'
import {
  createReader,
  createWriter,
  finish,
  readF64,
  readVarint,
  writeF64,
  writeVarint,
} from './bytes.ts'
import {
  blob,
  decode,
  encode,
  fixed,
  flag,
  list,
  maybe,
  message,
  record,
  text,
  u16,
  u32,
  u8,
  varint,
  word,
  type Layout,
} from './layout.ts'

const f64: Layout<number> = { write: writeF64, read: readF64 }

const Everything = record({
  a: u8,
  b: u16,
  c: u32,
  d: varint,
  e: f64,
  f: flag,
  g: text(20),
  h: blob(8),
  i: fixed(3),
  j: word(['red', 'green', 'blue']),
  k: list(varint, 4),
  l: maybe(record({ x: u8 })),
})

const everything = fc.record({
  a: fc.integer({ min: 0, max: 255 }),
  b: fc.integer({ min: 0, max: 0xffff }),
  c: fc.integer({ min: 0, max: 0xffffffff }),
  d: fc.maxSafeNat(),
  e: fc.double({ noNaN: true, noDefaultInfinity: true }),
  f: fc.boolean(),
  g: fc.string({ unit: 'grapheme-ascii', maxLength: 20 }),
  h: fc.uint8Array({ maxLength: 8 }),
  i: fc.uint8Array({ minLength: 3, maxLength: 3 }),
  j: fc.constantFrom('red' as const, 'green' as const, 'blue' as const),
  k: fc.array(fc.maxSafeNat(), { maxLength: 4 }),
  l: fc.option(fc.record({ x: fc.integer({ min: 0, max: 255 }) })),
})

describe('layouts', () => {
  test('wire.round: every value comes back as it was', () => {
    fc.assert(
      fc.property(everything, (value) => {
        expect(calmly(() => decode(Everything, encode(Everything, value)))).toEqual(value)
      }),
    )
  })

  test('wire.round: whatever decodes encodes to the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const value = calmly(() => decode(Everything, bytes))
        if (value) expect(toHex(encode(Everything, value))).toBe(toHex(bytes))
      }),
      { numRuns: 5_000 },
    )
  })

  test('wire.total: a cut or prolonged message is null, never an exception', () => {
    fc.assert(
      fc.property(everything, fc.nat(), (value, at) => {
        const bytes = encode(Everything, value)
        const [cut, prolonged] = [bytes.subarray(0, at % bytes.length), [...bytes, 0]]
        expect(calmly(() => decode(Everything, cut))).toBeNull()
        expect(calmly(() => decode(Everything, Uint8Array.from(prolonged)))).toBeNull()
      }),
    )
  })

  test('a value that does not fit throws and names the field, the limit and the value', () => {
    const Person = record({ name: text(4), age: u8 })
    expect(() => encode(Person, { name: 'Grace', age: 1 })).toThrow(/name: .*4: 5/)
    expect(() => encode(Person, { name: 'Ada', age: 256 })).toThrow(/age: .*255: 256/)
  })

  test('messages are told apart by their tag, and an unknown tag is null', () => {
    const Talk = message({ hello: [1, record({ id: u8 })], bye: [2, record({})] })
    expect(toHex(encode(Talk, { kind: 'hello', id: 7 }))).toBe('0107')
    expect(decode(Talk, Uint8Array.of(2))).toEqual({ kind: 'bye' })
    expect(decode(Talk, Uint8Array.of(3))).toBeNull()
  })

  test('a list that claims a million items takes no memory for them', () => {
    const Many = list(varint, 2_000_000)
    const writer = createWriter()
    writeVarint(writer, 1_000_000)
    expect(decode(Many, finish(writer))).toBeNull()
    let reads = 0
    const counted: Layout<number> = { ...u8, read: (reader) => ((reads += 1), u8.read(reader)) }
    expect(decode(list(counted, 2_000_000), finish(writer))).toBeNull()
    expect(reads).toBe(1)
  })
})

/** What comes of bytes: a value, or null. */
function readAs<Value>(layout: Layout<Value>, bytes: readonly number[]): Value | null {
  return calmly(() => decode(layout, Uint8Array.from(bytes)))
}

/** The bytes of a value, or the sentence by which it is refused. */
function writtenAs<Value>(layout: Layout<Value>, value: unknown): string {
  try {
    return toHex(encode(layout, value as Value))
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError)
    return (error as RangeError).message
  }
}

describe('one layout', () => {
  test('of a flag is 0 or 1, and no other byte (PR-2)', () => {
    expect([true, false].map((value) => writtenAs(flag, value))).toEqual(['01', '00'])
    expect([[0], [1], [2], [255], []].map((from) => readAs(flag, from))).toEqual([
      false,
      true,
      null,
      null,
      null,
    ])
  })
  test('of fixed length takes exactly so many bytes (PR-2)', () => {
    const two = fixed(2)
    expect(writtenAs(two, Uint8Array.of(1, 2))).toBe('0102')
    for (const length of [0, 1, 3]) {
      expect(writtenAs(two, new Uint8Array(length))).toBe(`needs exactly 2 bytes: ${length}`)
      expect(readAs(two, Array<number>(length).fill(7))).toBe(null)
    }
  })
  test('of a word is its index in the list, and no other (PR-2)', () => {
    const hue = word(['red', 'green'])
    expect(['red', 'green'].map((value) => writtenAs(hue, value))).toEqual(['00', '01'])
    expect([[0], [1], [2], [255]].map((from) => readAs(hue, from))).toEqual([
      'red',
      'green',
      null,
      null,
    ])
    expect(writtenAs(hue, 'blue')).toMatch(/u8 must be an integer from 0 to 255: -1/)
  })
  test('of a list is filled to its limit and not over it, on both ends (PR-2)', () => {
    const few = list(u8, 2)
    expect(writtenAs(few, [7, 8])).toBe('020708')
    expect(writtenAs(few, [7, 8, 9])).toBe('at most 2 items: 3')
    expect(readAs(few, [2, 7, 8])).toEqual([7, 8])
    expect(readAs(few, [0])).toEqual([])
    for (const odd of [[3, 7, 8, 9], [2, 7], [1, 7, 8], []]) expect(readAs(few, odd)).toBe(null)
  })
  test('of what may be null is one byte, and the value where there is one (PR-2)', () => {
    const perhaps = maybe(u16)
    expect([null, 7].map((value) => writtenAs(perhaps, value))).toEqual(['00', '010007'])
    expect([[0], [1, 0, 7]].map((from) => readAs(perhaps, from))).toEqual([null, 7])
  })
  test('of a record names the field of an error, and hands on what is none of its own (PR-2)', () => {
    const odd: Layout<number> = {
      write: () => {
        throw new TypeError('not now')
      },
      read: () => 0,
    }
    const outer = record({ inner: record({ count: u8, odd }) })
    expect(writtenAs(outer, { inner: { count: 256, odd: 1 } })).toMatch(/^inner: count: u8 must be/)
    expect(() => encode(outer, { inner: { count: 1, odd: 1 } })).toThrow(new TypeError('not now'))
  })
  test('of messages refuses a kind that it does not name (PR-2)', () => {
    const talk = message({ hello: [1, record({ id: u8 })] })
    expect(writtenAs(talk, { kind: 'hello', id: 5 })).toBe('0105')
    expect(writtenAs(talk, { kind: 'bye' })).toBe('no message is called bye')
    expect([[1, 5], [2, 5], [1], []].map((from) => readAs(talk, from))).toEqual([
      { kind: 'hello', id: 5 },
      null,
      null,
      null,
    ])
  })
})

describe('an encoding', () => {
  const pair = record({ name: text(100), bytes: blob(100_000) })

  test('within another one, or after one that throws or was large, has its own bytes alone', () => {
    const inner = { name: 'inner', bytes: Uint8Array.of(1, 2) }
    const outer: typeof pair = {
      ...pair,
      write: (writer, value) => {
        pair.write(writer, value)
        expect(decode(pair, encode(pair, inner))).toEqual(inner)
      },
    }
    const values = [0, 1, 33, 90_000, 5].map((size) => {
      return { name: `of ${size}`, bytes: new Uint8Array(size).fill(size) }
    })
    const encoded = values.map((value) => {
      expect(() => encode(pair, { ...value, bytes: new Uint8Array(100_001) })).toThrow(RangeError)
      return encode(outer, value)
    })
    expect(encoded.map((bytes) => decode(pair, bytes))).toEqual(values)
  })
})

describe('varints', () => {
  test.each([
    [0, '00'],
    [127, '7f'],
    [128, '8001'],
    [300, 'ac02'],
    [Number.MAX_SAFE_INTEGER, 'ffffffffffffff0f'],
  ])('%d is %s', (value, hex) => {
    const writer = createWriter()
    writeVarint(writer, value)
    expect(toHex(finish(writer))).toBe(hex)
    expect(readVarint(createReader(finish(writer)))).toBe(value)
  })

  test.each(['8000', 'ff', 'ffffffffffffff7f', 'ffffffffffffffff01'])('%s is malformed', (hex) => {
    const reader = createReader(Uint8Array.from(Buffer.from(hex, 'hex')))
    readVarint(reader)
    expect(reader.failed).toBe(true)
  })
})
