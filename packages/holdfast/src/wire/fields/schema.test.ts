// Goal: the state of an object takes few bits and comes back within half a step, equal values are
// equal numbers on every side, and a message carries what changed.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../../test/calmly.ts'
import { toHex } from '../../../../../test/hex.ts'
import { badValue, HoldfastError } from '../../machine.ts'
import { createReader, createWriter, finish, isDone } from '../bytes.ts'
import { fingerprint } from '../digest.ts'
import {
  angle,
  bool,
  bytes,
  decodeState,
  differing,
  encodeState,
  type Field,
  type Fields,
  i16,
  i8,
  initialState,
  quantise,
  quantiseInto,
  type Quantised,
  quaternion,
  type Quaternion,
  ranged,
  readFields,
  type Schema,
  schema,
  type StateOf,
  text,
  u16,
  u32,
  u8,
  updated,
  valueOf,
  vec2,
  vec3,
  writeFields,
} from './schema.ts'

const Ship = schema({
  pos: vec2(-64, 64, 0.01),
  aim: angle(10),
  hull: ranged(0, 100, 1),
  hue: u8,
  shield: bool,
  name: text(12),
})

const inRange = fc.double({ min: -64, max: 64, noNaN: true })
const ships = fc.record({
  pos: fc.tuple(inRange, inRange),
  aim: fc.double({ min: -100, max: 100, noNaN: true }),
  hull: fc.integer({ min: 0, max: 100 }),
  hue: fc.integer({ min: 0, max: 255 }),
  shield: fc.boolean(),
  name: fc.string({ unit: 'grapheme-ascii', maxLength: 12 }),
})

const finite = fc.double({ noDefaultInfinity: true, noNaN: true })
const turns = fc.tuple(finite, finite, finite, finite).filter((q) => q.some((one) => one !== 0))

type Kind = [field: Field<unknown>, values: fc.Arbitrary<unknown>]

/** Every kind, with the values that it takes. */
const KINDS: readonly Kind[] = [
  [ranged(-64, 64, 0.01), finite],
  [ranged(0.1, 0.9, 0.3), finite],
  [ranged(-1e9, 1e9, 0.5), finite],
  [ranged(1e-310, 2e-310, 1e-318), finite],
  [ranged(0, 2 ** 32 - 1, 1), finite],
  [vec2(-1, 1, 0.001), fc.tuple(finite, finite)],
  [vec3(0, 1000, 1 / 3), fc.tuple(finite, finite, finite)],
  ...[1, 6, 10, 24].map((bits): Kind => [angle(bits), finite]),
  ...[2, 3, 4, 9, 10, 16].map((bits): Kind => [quaternion(bits), turns]),
  ...[u8, u16, u32, i8, i16].map((it): Kind => [it, fc.oneof(finite, fc.integer())]),
  [bool, fc.boolean()],
  [text(40), fc.string({ unit: 'binary', maxLength: 10 })],
  [bytes(7), fc.uint8Array({ maxLength: 7 })],
  [text(1_000), fc.string({ unit: 'binary', maxLength: 500 })],
  [text(1_000, 1_000), fc.string({ unit: 'binary', maxLength: 250 })],
  [bytes(1_000), fc.uint8Array({ maxLength: 1_000 })],
]

function written(type: Schema<Fields>, from: Quantised, mask = type.all): Uint8Array {
  const writer = createWriter(1)
  writeFields(writer, type, from, mask)
  return finish(writer)
}

function read(type: Schema<Fields>, from: Uint8Array): Quantised | null {
  const into: Quantised = []
  const reader = createReader(from)
  const mask = calmly(() => readFields(reader, type, into))
  if (mask === 0) expect(reader.failed).toBe(true)
  return isDone(reader) ? into : null
}

describe('a state as bytes', () => {
  test('a state comes back within half a step of each field', () => {
    fc.assert(
      fc.property(ships, (ship) => {
        const back = decodeState(Ship, encodeState(Ship, ship))!
        expect(Math.abs(back.pos[0] - ship.pos[0])).toBeLessThanOrEqual(0.005 + 1e-9)
        expect(Math.abs(back.pos[1] - ship.pos[1])).toBeLessThanOrEqual(0.005 + 1e-9)
        const turn = 2 * Math.PI
        const apart = ((((back.aim - ship.aim) % turn) + turn) % turn) / turn
        expect(Math.min(apart, 1 - apart)).toBeLessThanOrEqual(0.5 / 1024 + 1e-9)
        const { hull, hue, shield, name } = ship
        expect(back).toMatchObject({ hull, hue, shield, name })
      }),
    )
  })

  test('a dot takes 28 bits', () => {
    const Dot = schema({ pos: vec2(0, 100, 0.1), hue: u8 })
    // 500 and 1000 in ten bits each, 255 in eight, four bits of zeros.
    expect(toHex(encodeState(Dot, { pos: [50, 100], hue: 255 }))).toBe('7d3e8ff0')
  })

  test('wire.total: random bytes are a state or null, never an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (from) => {
        const state = calmly(() => decodeState(Ship, from))
        if (state) expect(toHex(encodeState(Ship, state))).toBe(toHex(from))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('one kind of value', () => {
  test.each(KINDS)(
    '$text: a quantised value is canonical, and comes back as it was',
    (field, values) => {
      const type = schema({ field })
      fc.assert(
        fc.property(values, (value) => {
          const quantised = calmly(() => quantise(type, { field: value }))
          expect(quantised).toHaveLength(type.size)
          expect(quantise(type, valueOf(type, quantised))).toStrictEqual(quantised)
          const bytes = calmly(() => written(type, quantised))
          expect(bytes.length).toBeLessThanOrEqual(type.bytesMax)
          expect(read(type, bytes)).toStrictEqual(quantised)
        }),
        { numRuns: 200 },
      )
    },
  )

  test.each(KINDS)('$text: any bits are malformed or the canonical form of a value', (field) => {
    const type = schema({ field })
    const length = Math.min(type.bytesMax, 12)
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: length }), (random) => {
        // One bit says that there is a value, and the last bits are often zeros.
        random[0]! |= 0x80
        if (random.length === length)
          random[length - 1]! &= 0x100 - 2 ** ((8 * length - field.bits - 1) % 8)
        const into = read(type, random)
        if (!into) return
        const again = quantise(type, valueOf(type, into))
        expect(again).toStrictEqual(into)
        expect(toHex(written(type, again))).toBe(toHex(random))
      }),
      { numRuns: 400 },
    )
  })

  test('a name of a field is a letter and what may follow one, and never that of the prototype (PR-2)', () => {
    for (const name of ['a b', '', '1st', 'a.b', 'x'.repeat(65), '__proto__']) {
      expect(() => schema({ [name]: u8 })).toThrow(`"${name.slice(0, 64)}" is no name of a field`)
    }
    for (const name of ['é', '_', '$a-1', 'x'.repeat(64)]) {
      expect(schema({ [name]: u8 }).names).toEqual([name])
    }
  })

  test.each<[Field<number>, number, number]>([
    [u8, 0, 255],
    [u16, 0, 65_535],
    [u32, 0, 4_294_967_295],
    [i8, -128, 127],
    [i16, -32_768, 32_767],
    [ranged(-3, 3, 0.5), -3, 3],
  ])(
    '$text: every number goes to the nearest value, also from beyond the range (AP-12)',
    (it, low, high) => {
      const type = schema({ it })
      const back = (value: number): number => valueOf(type, quantise(type, { it: value })).it
      const beyond = [-1e300, low - 0.2, 1e300, high + 0.2].map(back)
      expect(beyond).toEqual([low, low, high, high])
      fc.assert(
        fc.property(fc.double({ min: low, max: high, noNaN: true }), (value) => {
          expect(Math.abs(back(value) - value)).toBeLessThanOrEqual(0.5)
        }),
      )
      expect(Object.is(back(-0), 0)).toBe(true)
    },
  )

  test('half a step goes up, for whole numbers as for ranges (AP-12)', () => {
    const type = schema({ n: i8, r: ranged(-9, 9, 1) })
    const values = [-2.5, -0.5, 0.5, 1.5].map((n) => valueOf(type, quantise(type, { n, r: n })))
    expect(values.map(({ n }) => n)).toEqual([-2, 0, 1, 2])
    expect(values.map(({ n, r }) => n - r)).toEqual([0, 0, 0, 0])
  })

  test('what overshoots its range is clamped; what is no number throws and names its field', () => {
    const back = decodeState(Ship, encodeState(Ship, { ...initialState(Ship), pos: [1e9, -1e9] }))
    expect(back?.pos).toEqual([64, -64])
    const broken = { ...initialState(Ship), hull: Number.NaN }
    expect(() => encodeState(Ship, broken)).toThrow(/field hull: must be a finite number: NaN/)
    const long = { ...initialState(Ship), name: 'x'.repeat(13) }
    expect(() => encodeState(Ship, long)).toThrow(/field name: takes 12 characters: 13/)
  })

  const misfits: [field: Field<unknown>, value: unknown, why: string][] = [
    [vec2(0, 1, 0.1), [1], 'must be two numbers [x, y]: [1]'],
    [vec3(0, 1, 0.1), [1, 2], 'must be three numbers [x, y, z]: [1,2]'],
    [vec3(0, 1, 0.1), [1, 2, Infinity], 'must be a finite number: Infinity'],
    [quaternion(9), 1, 'must be four numbers [x, y, z, w]: 1'],
    [quaternion(9), [0, 0, 0, 0], 'must have a length above 0: [0,0,0,0]'],
    [quaternion(9), [0, 0, 0, Number.NaN], 'must be a finite number: NaN'],
    [angle(8), -Infinity, 'must be a finite number: -Infinity'],
    [u8, Number.NaN, 'must be a finite number: NaN'],
    [i8, Infinity, 'must be a finite number: Infinity'],
    [i16, '7', 'must be a finite number: "7"'],
    [bool, 1, 'must be true or false: 1'],
    [text(3), 7, 'must be a text: 7'],
    [text(3), 'ééé!', 'takes 3 characters: 4'],
    [bytes(3), [1], 'must be a Uint8Array: [1]'],
    [bytes(3), new Uint8Array(4), 'takes 3 bytes: 4'],
    [u8, undefined, 'must be a finite number: undefined'],
  ]
  for (const [field, value, why] of misfits) {
    test(`${field.text} refuses what does not fit: ${why}`, () => {
      const type = schema({ it: field })
      expect(() => quantise(type, { it: value })).toThrow(badValue(`field it: ${why}`))
    })
  }

  test('a range that numbers or bits cannot hold is refused with its numbers', () => {
    expect(() => ranged(0, 1e9, 0.01)).toThrow(/at most 32 bits: 0 to 1000000000 by 0.01/)
    expect(() => ranged(1e16, 1e16 + 64, 1)).toThrow(/so large: 10000000000000000 to /)
    expect(() => ranged(-Infinity, 0, 1)).toThrow(HoldfastError)
    expect(() => vec3(0, 0, 1)).toThrow(HoldfastError)
    for (const bits of [1, 17, 2.5]) expect(() => quaternion(bits)).toThrow(/2 to 16 bits/)
    for (const max of [0, 1_001, 1.5]) expect(() => bytes(max)).toThrow(/takes 1 to 1000/)
  })

  test('a text keeps a byte order mark, and half a pair becomes the mark of what is unknown', () => {
    const type = schema({ say: text(9) })
    expect(valueOf(type, quantise(type, { say: '\uFEFFa' })).say).toBe('\uFEFFa')
    expect(valueOf(type, quantise(type, { say: 'a\uD800' })).say).toBe('a\uFFFD')
  })
})

describe('a quaternion', () => {
  const type = schema({ turn: quaternion(10) })
  const back = (turn: Quaternion): Quaternion => valueOf(type, quantise(type, { turn })).turn

  test('no turn, and half a turn about an axis, are exact', () => {
    expect(back([0, 0, 0, 1])).toEqual([0, 0, 0, 1])
    expect(back([0, -3, 0, 0])).toEqual([0, 1, 0, 0])
  })

  test('q and -q are one value', () => {
    fc.assert(
      fc.property(turns, ([x, y, z, w]) => {
        expect(quantise(type, { turn: [-x, -y, -z, -w] })).toStrictEqual(
          quantise(type, { turn: [x, y, z, w] }),
        )
      }),
    )
  })

  test('comes back within a step and a half of each component, and of length 1', () => {
    const step = 1 / (Math.SQRT2 * 511)
    fc.assert(
      fc.property(fc.tuple(inRange, inRange, inRange, inRange), (drawn) => {
        const length = Math.hypot(...drawn)
        fc.pre(length > 1e-6)
        const unit = drawn.map((one) => one / length)
        const turn = back(drawn)
        expect(Math.hypot(...turn)).toBeCloseTo(1, 12)
        const sign = Math.sign(turn.reduce((sum, one, i) => sum + one * unit[i]!, 0))
        for (const [i, one] of turn.entries()) {
          expect(Math.abs(sign * one - unit[i]!)).toBeLessThanOrEqual(1.5 * step)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('the largest of equal components is the first', () => {
    expect(quantise(type, { turn: [-1, 1, 0, 0] })).toEqual([0, -511, 0, 0])
    expect(quantise(type, { turn: [0, 0, 1, 1] })).toEqual([2, 0, 0, 511])
  })
})

describe('a change', () => {
  const Pot = schema({ pos: vec2(0, 100, 0.1), aim: angle(6), lid: bool, tag: text(4) })
  const start = (): Quantised => quantise(Pot, { pos: [1, 2], aim: 0, lid: true, tag: 'a' })

  test('is what changes a quantised number: less than half a step is none', () => {
    const state = start()
    expect(quantiseInto(Pot, { pos: [1.04, 2], aim: 2 * Math.PI, tag: 'a' }, state)).toBe(0)
    expect(state).toEqual(start())
    expect(quantiseInto(Pot, { pos: [1, 2.06], lid: false }, state)).toBe(0b101)
    expect(state).toEqual([10, 21, 0, 0, 'a'])
    expect(differing(Pot, state, start())).toBe(0b101)
  })

  test('that throws leaves all as it was', () => {
    const state = start()
    const patch = { pos: [9, 9] as const, aim: 1, lid: false, tag: 'too long' }
    expect(() => quantiseInto(Pot, patch, state)).toThrow('field tag: takes 4 characters: 8')
    expect(() => quantiseInto(Pot, { lid: false, aim: undefined }, state)).toThrow(/field aim/)
    expect(state).toEqual(start())
  })

  test('makes a new frozen state that takes over the rest as it is', () => {
    const before = { pos: [1.23, 4.56] as const, aim: 0.001, lid: true, tag: 'a' }
    const state = quantise(Pot, before)
    const mask = quantiseInto(Pot, { lid: false }, state)
    const after = updated(Pot, before, state, mask)
    expect(after).toEqual({ ...before, lid: false })
    expect(after.pos).toBe(before.pos)
    expect(Object.isFrozen(after)).toBe(true)
    expect(Object.isFrozen(valueOf(Pot, state).pos)).toBe(true)
  })

  test('travels alone: the mask, its fields, and zeros to the next byte', () => {
    const state = quantise(Pot, { pos: [50, 25.5], aim: Math.PI, lid: true, tag: '' })
    // 0110, 100000, 1, and five bits of zeros; fields are numbered from the lowest bit.
    expect(toHex(written(Pot, state, 0b0110))).toBe('6820')
    const into = start()
    const reader = createReader(written(Pot, state, 0b0110))
    expect(readFields(reader, Pot, into)).toBe(0b0110)
    expect(isDone(reader)).toBe(true)
    expect(into).toEqual([10, 20, 32, 1, 'a'])
  })

  test('stands between other bytes, which stay as they were', () => {
    const writer = createWriter(1)
    for (const mask of [0b0001, 0b1100]) writeFields(writer, Pot, start(), mask)
    const reader = createReader(finish(writer))
    expect(readFields(reader, Pot, start())).toBe(0b0001)
    expect(readFields(reader, Pot, start())).toBe(0b1100)
    expect(isDone(reader)).toBe(true)
    expect(readFields(reader, Pot, start())).toBe(0)
    expect(reader.failed).toBe(true)
  })

  test('any fields of any state reach the other side, and only those', () => {
    const masks = fc.integer({ min: 1, max: Ship.all })
    fc.assert(
      fc.property(ships, ships, masks, (here, there, mask) => {
        const from = quantise(Ship, here)
        const into = quantise(Ship, there)
        const state = valueOf(Ship, into)
        const reader = createReader(written(Ship, from, mask))
        expect(readFields(reader, Ship, into)).toBe(mask)
        expect(differing(Ship, from, into) & mask).toBe(0)
        expect(updated(Ship, state, into, mask)).toEqual(valueOf(Ship, into))
        const back = quantise(Ship, there)
        expect(quantiseInto(Ship, valueOf(Ship, into), back)).toBe(
          differing(Ship, from, quantise(Ship, there)) & mask,
        )
        expect(back).toEqual(into)
      }),
    )
  })

  test('of 32 fields is one unsigned number', () => {
    const names = Array.from({ length: 32 }, (_, i) => `f${i}`)
    const type = schema(Object.fromEntries(names.map((name) => [name, u32])))
    expect(type.all).toBe(0xffffffff)
    const state = quantise(type, initialState(type))
    expect(quantiseInto(type, { f31: 0xffffffff }, state)).toBe(0x80000000)
    expect(differing(type, state, quantise(type, initialState(type)))).toBe(0x80000000)
    const reader = createReader(written(type, state, 0x80000000))
    expect(readFields(reader, type, quantise(type, initialState(type)))).toBe(0x80000000)
    expect(written(type, state)).toHaveLength(type.bytesMax)
    expect(() => schema(Object.fromEntries([...names, 'more'].map((name) => [name, u8])))).toThrow(
      'a type has 1 to 32 fields: 33',
    )
  })

  test('of no field is not written, nor of one that there is not', () => {
    expect(() => written(Pot, start(), 0)).toThrow(RangeError)
    expect(() => written(Pot, start(), 16)).toThrow(RangeError)
  })

  test.each([
    ['00', 'no field'],
    ['', 'no mask'],
    ['68', 'past the end'],
    ['6821', 'the bits that fill the last byte'],
    ['1fa400', 'out of range'],
    ['80500000000000', 'a text that is too long'],
    ['8010', 'a text that is cut'],
    ['801800', 'a text that is no UTF-8'],
  ])('that is malformed fails the reader: %s, %s', (hex) => {
    const reader = createReader(Uint8Array.from(Buffer.from(hex, 'hex')))
    expect(readFields(reader, Pot, start())).toBe(0)
    expect(reader.failed).toBe(true)
  })

  test('wire.total: random bytes are a change or fail the reader, never an exception', () => {
    let whole = 0
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (random) => {
        const into = start()
        const reader = createReader(random)
        const mask = calmly(() => readFields(reader, Pot, into))
        expect(mask === 0).toBe(reader.failed)
        if (mask === 0) return
        whole++
        expect(toHex(written(Pot, into, mask))).toBe(toHex(random.subarray(0, reader.at)))
      }),
      { numRuns: 2_000 },
    )
    expect(whole).toBeGreaterThan(100)
  })
})

test('the types of states are inferred', () => {
  const type = schema({ at: vec3(0, 1, 0.1), turn: quaternion(9), raw: bytes(4), n: i8 })
  const state: StateOf<(typeof type)['fields']> = {
    at: [0, 0.5, 1],
    turn: [0, 0, 0, 1],
    raw: Uint8Array.of(1, 2),
    n: -1,
  }
  // @ts-expect-error two numbers are no place in space
  const flat: (typeof state)['at'] = [0, 1]
  expect(flat).toHaveLength(2)
  expect(valueOf(type, quantise(type, state))).toEqual(state)
})

test('two builds whose types differ have different fingerprints', () => {
  const texts = [Ship, schema({ pos: vec2(-64, 64, 0.02) }), schema({ place: vec2(-64, 64, 0.01) })]
  const prints = texts.map((each) => fingerprint(each.text))
  expect(new Set(prints).size).toBe(3)
})
