// Goal: what is encoded is decoded again, byte for byte; what was not encoded here harms nobody.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toHex } from '../../test/hex.ts'
import { createReader, createWriter, finish, readVarint, writeVarint } from './bytes.ts'
import {
  blob,
  decode,
  encode,
  f64,
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
} from './layout.ts'

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
        expect(decode(Everything, encode(Everything, value))).toEqual(value)
      }),
    )
  })

  test('wire.round: whatever decodes encodes to the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const value = decode(Everything, bytes)
        if (value) expect(toHex(encode(Everything, value))).toBe(toHex(bytes))
      }),
      { numRuns: 5_000 },
    )
  })

  test('wire.total: a cut or prolonged message is null, never an exception', () => {
    fc.assert(
      fc.property(everything, fc.nat(), (value, at) => {
        const bytes = encode(Everything, value)
        expect(decode(Everything, bytes.subarray(0, at % bytes.length))).toBeNull()
        expect(decode(Everything, new Uint8Array([...bytes, 0]))).toBeNull()
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
