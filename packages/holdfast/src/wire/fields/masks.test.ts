// Goal: of the fields of a state those that are named are written, read and changed, and no others.
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../../test/calmly.ts'
import { toHex } from '../../../../../test/hex.ts'
import { badValue } from '../../machine.ts'
import { createReader, createWriter, fail, finish, isDone, writeU8 } from '../bytes.ts'
import {
  bool,
  bytes,
  checkSize,
  decodeState,
  decodeValue,
  differing,
  encodeState,
  encodeValue,
  initialState,
  list,
  quantise,
  quantiseInto,
  type Quantised,
  ranged,
  readFields,
  schema,
  text,
  u8,
  updated,
  valueOf,
  vec2,
  writeFields,
} from './schema.ts'

const Pot = schema({ at: vec2(0, 100, 0.5), lid: bool, raw: bytes(3), warm: ranged(-1, 1, 0.25) })
const START = { at: [1, 2], lid: true, raw: Uint8Array.of(7), warm: 0.5 } as const

function start(): Quantised {
  return calmly(() => quantise(Pot, START))
}

/** What is written behind a byte that stands there already. */
function written(from: Quantised, mask: number): string {
  const writer = createWriter(1)
  writeU8(writer, 0xaa)
  calmly(() => writeFields(writer, Pot, from, mask))
  return toHex(finish(writer))
}

describe('a mask', () => {
  test('names each field by its bit, alone and together, and all else stays (PR-2)', () => {
    const other = quantise(Pot, { at: [50, 60], lid: false, raw: new Uint8Array(2), warm: -1 })
    for (let mask = 1; mask <= 0b1111; mask++) {
      const writer = createWriter(1)
      writeU8(writer, 0xaa)
      calmly(() => writeFields(writer, Pot, other, mask))
      writeU8(writer, 0xbb)
      const made = finish(writer)
      expect([made[0], made.at(-1)]).toEqual([0xaa, 0xbb])
      const into = start()
      const reader = createReader(made, 1, made.length - 1)
      expect(calmly(() => readFields(reader, Pot, into))).toBe(mask)
      expect(isDone(reader)).toBe(true)
      expect(differing(Pot, into, start())).toBe(mask)
      expect(differing(Pot, into, other)).toBe(0b1111 ^ mask)
    }
  })
  test('of 32 fields has a bit for the first and for the last (PR-2)', () => {
    const names = Array.from({ length: 32 }, (_, i) => `f${i}`)
    const type = schema(Object.fromEntries(names.map((name) => [name, u8])))
    for (const i of [0, 1, 30, 31]) {
      const mask = (1 << i) >>> 0
      const [state, into] = [initialState(type), initialState(type)].map((each) =>
        quantise(type, each),
      ) as [Quantised, Quantised]
      expect(calmly(() => quantiseInto(type, { [`f${i}`]: 9 }, state))).toBe(mask)
      expect(calmly(() => differing(type, state, into))).toBe(mask)
      const writer = createWriter()
      calmly(() => writeFields(writer, type, state, mask))
      expect(calmly(() => readFields(createReader(finish(writer)), type, into))).toBe(mask)
      expect(into).toEqual(state)
      expect(updated(type, initialState(type), into, mask)).toEqual(valueOf(type, state))
    }
  })
  test('is 0 for no change, and names that are no field are passed over (PR-2)', () => {
    const state = start()
    expect(calmly(() => quantiseInto(Pot, { nope: 1 } as never, state))).toBe(0)
    const patch = { warm: 1, nope: 2, lid: false } as never
    expect(calmly(() => quantiseInto(Pot, patch, state))).toBe(0b1010)
    expect(valueOf(Pot, state)).toEqual({ ...START, warm: 1, lid: false })
    expect(quantiseInto(Pot, {}, state)).toBe(0)
  })
  test('is never 0 on the wire, and a call that throws leaves nothing for the next (PR-2)', () => {
    const writer = createWriter()
    const why = 'a message of fields carries at least one: 0'
    expect(() => writeFields(writer, Pot, start(), 0)).toThrow(new RangeError(why))
    // The lid is one bit of its own: what does not fit ends the call in the middle of a byte.
    const broken = start()
    broken[2] = 2
    expect(() => writeFields(writer, Pot, broken, 0b0011)).toThrow(RangeError)
    expect(writer.length).toBe(0)
    expect(written(start(), 0b0010)).toBe('aa28')
  })
})

describe('a reader of fields', () => {
  test('that has failed reads none, and one that fails is at its end (PR-2)', () => {
    const failed = createReader(Uint8Array.of(0x28, 0x28))
    fail(failed)
    expect(calmly(() => readFields(failed, Pot, start()))).toBe(0)
    const cut = createReader(Uint8Array.of(0x18))
    expect(calmly(() => readFields(cut, Pot, start()))).toBe(0)
    expect([cut.failed, cut.at]).toEqual([true, 1])
  })
  test('stops behind the last field, and after a failure the next reader is whole (PR-2)', () => {
    const soiled = createReader(Uint8Array.of(0x29))
    expect(calmly(() => readFields(soiled, Pot, start()))).toBe(0)
    const into = start()
    const reader = createReader(Uint8Array.of(0x20, 0xff))
    expect(calmly(() => readFields(reader, Pot, into))).toBe(0b0010)
    expect([reader.at, reader.failed, valueOf(Pot, into).lid]).toEqual([1, false, false])
  })
})

describe('a new state', () => {
  test('takes over what is not masked, bytes too, and is frozen (PR-2)', () => {
    const before = valueOf(Pot, start())
    const from = quantise(Pot, { at: [9, 9], lid: false, raw: Uint8Array.of(1, 2), warm: 0 })
    const [flat, raw] = [0b0001, 0b0100].map((mask) =>
      calmly(() => updated(Pot, before, from, mask)),
    )
    expect(flat).toEqual({ ...START, at: [9, 9] })
    expect(raw).toEqual({ ...START, raw: Uint8Array.of(1, 2) })
    for (const state of [flat!, raw!]) {
      expect(Object.isFrozen(state)).toBe(true)
      state.raw[0] = 99
      expect(state.raw[0]).not.toBe(99)
    }
    expect(raw!.at).toBe(before.at)
  })
  test('of a whole state is decoded from its exact bytes alone (PR-2)', () => {
    const made = encodeState(Pot, START)
    expect(calmly(() => decodeState(Pot, made))).toEqual(START)
    expect(calmly(() => decodeState(Pot, Uint8Array.of(...made, 0)))).toBe(null)
    expect(calmly(() => decodeState(Pot, made.subarray(0, -1)))).toBe(null)
  })
})

describe('one value', () => {
  test('is encoded by itself, and decoded from its exact bytes alone (PR-2)', () => {
    const field = list(u8, 3)
    const made = calmly(() => encodeValue(field, [1, 300]))
    // Two of at most three, in two bits; then 1 and 255; then six bits of zeros.
    expect(toHex(made)).toBe('807fc0')
    expect(calmly(() => decodeValue(field, made))).toEqual([1, 255])
    for (const odd of ['807f', '807fc1', '807fc000', '']) {
      const bytesOf = Uint8Array.from(Buffer.from(odd, 'hex'))
      expect(
        calmly(() => decodeValue(field, bytesOf)),
        `${odd}`,
      ).toBe(null)
    }
    expect(() => encodeValue(field, [1, 2, 3, 4])).toThrow(badValue('takes 3 values: 4'))
  })
  test('that is no number is refused by a field in steps, and by its name (PR-2)', () => {
    for (const odd of ['1', null, true, NaN, Infinity]) {
      const patch = { warm: odd } as never
      expect(() => quantiseInto(Pot, patch, start())).toThrow('field warm: must be a finite number')
    }
  })
  test('whose reading throws what is no Error is refused by its name too (PR-2)', () => {
    const odd = {
      get length(): number {
        throw 'boom'
      },
    }
    Object.setPrototypeOf(odd, Uint8Array.prototype)
    expect(() => quantise(Pot, { ...START, raw: odd as never })).toThrow(
      badValue('field raw: boom'),
    )
  })
})

test('a type fits its limit to the byte, and is refused with the sum where it does not (PR-2)', () => {
  const type = schema({ on: bool, say: text(2, 2) })
  expect(type.bytesMax).toBe(4)
  calmly(() => checkSize('dot: its state', type, 4))
  calmly(() => checkSize('dot: its state', type, 5))
  expect(() => checkSize('dot: its state', type, 3)).toThrow(
    badValue(
      'dot: its state has at most 3 bytes, to fit one datagram: ' +
        'mask 0.25 + on 0.125 + say 3 = 4',
    ),
  )
})
