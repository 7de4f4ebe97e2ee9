// Goal: values of any shape take few bits, equal values are equal bytes, and what others send is a
// value or refused.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../../test/calmly.ts'
import { toHex } from '../../../../../test/hex.ts'
import { badValue } from '../../machine.ts'
import { createReader, createWriter, finish } from '../bytes.ts'
import {
  bool,
  bytes,
  decodeState,
  differing,
  encodeState,
  f32,
  type Field,
  type Fields,
  i16,
  i32,
  initialState,
  list,
  map,
  oneOf,
  optional,
  quantise,
  quantiseInto,
  ranged,
  readFields,
  schema,
  type Schema,
  type StateOf,
  struct,
  text,
  u16,
  u8,
  updated,
  valueOf,
  vec2,
  writeFields,
} from './schema.ts'

const finite = fc.double({ noDefaultInfinity: true, noNaN: true })
const places = fc.tuple(finite, finite)
const words = fc.constantFrom('red', 'green', 'blue')
const texts = fc.string({ unit: 'binary', maxLength: 4 })
// Names that all objects have, numbers, whole emoji and half ones among the keys.
const keys = fc.oneof(
  texts,
  fc.constantFrom('__proto__', 'constructor', '7', '10', '', '\u{1f600}', '\uffee', '\uD800'),
)
const wellFormed = (key: string): string => Buffer.from(key).toString()
const byKey = <Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Record<string, Value>> =>
  fc
    .uniqueArray(fc.tuple(keys, values), { maxLength: 4, selector: ([key]) => wellFormed(key) })
    .map((entries) => Object.fromEntries(entries))
const Mark = struct({ at: vec2(0, 9, 0.5), hue: oneOf('red', 'green', 'blue'), raw: bytes(3) })
const marks = fc.record({ at: places, hue: words, raw: fc.uint8Array({ maxLength: 3 }) })

type Kind = [field: Field<unknown>, values: fc.Arbitrary<unknown>]

/** Every kind that this file is about, with the values that it takes. */
const KINDS: readonly Kind[] = [
  [i32, finite],
  [f32, finite],
  [oneOf('one'), fc.constant('one')],
  [oneOf('red', 'green', 'blue'), words],
  [optional(ranged(-9, 9, 0.1)), fc.option(finite)],
  [optional(text(30)), fc.option(texts)],
  [list(bool, 9), fc.array(fc.boolean(), { maxLength: 9 })],
  [list(text(30), 3), fc.array(texts, { maxLength: 3 })],
  [list(list(u8, 3), 4), fc.array(fc.array(finite, { maxLength: 3 }), { maxLength: 4 })],
  [map(u8, 4), byKey(finite)],
  [map(optional(list(i16, 2)), 4), byKey(fc.option(fc.array(finite, { maxLength: 2 })))],
  [Mark, marks],
  [optional(Mark), fc.option(marks)],
  [
    list(struct({ mark: optional(Mark), by: map(Mark, 4) }), 2),
    fc.array(fc.record({ mark: fc.option(marks), by: byKey(marks) }), { maxLength: 2 }),
  ],
]

function valueIn<Value>(field: Field<Value>, value: Value): Value {
  const type = schema({ it: field })
  return valueOf(type, quantise(type, { it: value })).it
}

describe('a field that holds others, or has words', () => {
  test.each(KINDS)(
    '$text: comes back as it was kept, in no more bits than were said (AP-19)',
    (it, values) => {
      const type = schema({ it })
      fc.assert(
        fc.property(values, (value) => {
          const kept = calmly(() => quantise(type, { it: value }))
          expect(kept).toHaveLength(type.size)
          const state = valueOf(type, kept)
          expect(quantise(type, state)).toStrictEqual(kept)
          const made = calmly(() => encodeState(type, state))
          expect(made.length).toBeLessThanOrEqual(Math.ceil(it.bits / 8))
          expect(quantise(type, decodeState(type, made)!)).toStrictEqual(kept)
        }),
        { numRuns: 300 },
      )
    },
  )

  test.each(KINDS)('$text: any bytes are a value in its one form, or none (AP-19)', (it) => {
    const type = schema({ it })
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (random) => {
        const state = calmly(() => decodeState(type, random))
        if (state) expect(toHex(encodeState(type, state))).toBe(toHex(random))
      }),
      { numRuns: 2_000 },
    )
  })

  test.each(KINDS)(
    '$text: bytes with a bit turned are a value in its one form, or none (AP-19)',
    (it, values) => {
      const type = schema({ it })
      fc.assert(
        fc.property(values, fc.nat(), (value, at) => {
          const made = encodeState(type, { it: value })
          made[(at >> 3) % made.length]! ^= 1 << (at & 7)
          const state = calmly(() => decodeState(type, made))
          if (state) expect(toHex(encodeState(type, state))).toBe(toHex(made))
        }),
        { numRuns: 500 },
      )
    },
  )

  test.each(KINDS)(
    '$text: stands among other fields, and what changes is told (AP-19)',
    (it, values) => {
      const type = schema({ before: i16, it, behind: bool })
      fc.assert(
        fc.property(values, values, (one, other) => {
          const state = { before: -7, behind: true }
          const [from, into] = [one, other].map((value) => quantise(type, { ...state, it: value }))
          const same =
            toHex(encodeState(type, valueOf(type, from!))) ===
            toHex(encodeState(type, valueOf(type, into!)))
          expect(differing(type, from!, into!)).toBe(same ? 0 : 0b010)
          const writer = createWriter(1)
          writeFields(writer, type, from!, 0b110)
          expect(readFields(createReader(finish(writer)), type, into!)).toBe(0b110)
          expect(into).toStrictEqual(from)
        }),
        { numRuns: 200 },
      )
    },
  )

  const misfits: [field: Field<unknown>, value: unknown, why: string][] = [
    [i32, '1', 'must be a finite number: "1"'],
    [f32, Number.NaN, 'must be a finite number: NaN'],
    [oneOf('a', 'b'), 'c', 'must be a or b: "c"'],
    [oneOf('a', 'b'), 'constructor', 'must be a or b: "constructor"'],
    [optional(u8), undefined, 'must be a finite number: undefined'],
    [list(u8, 2), [1, 2, 3], 'takes 2 values: 3'],
    [list(u8, 2), 'ab', 'must be a list: "ab"'],
    [list(u8, 3), [1, undefined, 3], 'value 1: must be a finite number: undefined'],
    [list(list(u8, 2), 2), [[], [0, null]], 'value 1: value 1: must be a finite number: null'],
    [map(u8, 1), { a: 1, b: 2 }, 'takes 1 keys: 2'],
    [map(u8, 1), new Map([['a', 1]]), 'must be an object of values by key: {}'],
    [map(u8, 1), [1], 'must be an object of values by key: [1]'],
    [map(u8, 1), { [`${'é'.repeat(32)}e`]: 1 }, 'a key takes 64 bytes: 65'],
    [map(u8, 2), { '\uD800': 1, '\uFFFD': 2 }, 'two keys are the same in UTF-8: "\uFFFD"'],
    [map(text(2), 2), { bob: 'abc' }, 'key "bob": takes 2 characters: 3'],
    [struct({ n: u8 }), null, 'must be an object of fields: null'],
    [struct({ n: u8 }), {}, 'field n: must be a finite number: undefined'],
    [struct({ n: u8 }), { n: 1, m: 2 }, 'has no field called "m"'],
  ]
  test.each(misfits)('$0.text refuses %j by the sentence: %s (AP-19)', (field, value, why) => {
    const type = schema({ it: field })
    expect(() => quantise(type, { it: value })).toThrow(badValue(`field it: ${why}`))
  })

  test.each<[string, () => unknown, RegExp]>([
    ['no word', () => (oneOf as (...of: string[]) => unknown)(), /^a word of oneOf .*: undefined/],
    ['a word with a blank', () => oneOf('a', 'a b'), /letters, digits, _, -, \. or \$: "a b"/],
    ['a word twice', () => oneOf('a', 'b', 'a'), /has each word once: \["a","b","a"\]/],
    [
      '257 words',
      () => oneOf('x', ...Array.from({ length: 256 }, (_, i) => `${i}`)),
      /256 .*: 257/,
    ],
    ['two nulls', () => optional(optional(u8)), /has one null: leave one out/],
    ['a list of nothing', () => list(7 as never, 2), /^list holds a field, such as u8: 7/],
    ['a list for none', () => list(u8, 0), /^a list takes 1 to 1024 values: 0/],
    ['a map for too many', () => map(u8, 1_025), /^a map takes 1 to 1024 values: 1025/],
    ['an empty struct', () => struct({}), /^a struct has 1 to 32 fields: 0/],
    ['a map of none', () => map(u8, 0), /^a map takes 1 to 1024 values: 0/],
    ['no struct', () => struct(null as never), /^a struct takes fields, .*: null/],
    ['a struct by a bad name', () => struct({ 'a b': u8 }), /^"a b" is no name of a field/],
    ['a struct of what is no field', () => struct({ a: 1 as never }), /^field a is no field/],
  ])('is refused where it is defined: %s (AP-19)', (_what, define, sentence) => {
    expect(define).toThrow(sentence)
  })

  test('stands eight deep in others, and no deeper (AP-19)', () => {
    let field: Field<unknown> = u8
    for (let depth = 2; depth <= 8; depth++) field = list(field, 2)
    const deep = [[[[[[[1, 2]]]]]]]
    expect(valueIn(field, deep)).toEqual(deep)
    const sentence =
      /^fields stand 8 deep in each other at most: (list|map|struct|optional) is at 9/
    for (const make of [list, map]) expect(() => make(field, 2)).toThrow(sentence)
    expect(() => optional(field)).toThrow(sentence)
    expect(() => struct({ a: u8, field })).toThrow(sentence)
  })
})

describe('what they keep', () => {
  test('maps with equal values are equal bytes, in whatever order they were filled (AP-19)', () => {
    const type = schema({ it: map(u16, 5) })
    const entries = fc.uniqueArray(fc.tuple(keys, fc.nat(9)), {
      maxLength: 5,
      selector: ([key]) => wellFormed(key),
    })
    const bytesOf = (all: [string, number][]): string =>
      toHex(encodeState(type, { it: Object.fromEntries(all) }))
    fc.assert(
      fc.property(entries, (all) => {
        expect(bytesOf(all.toReversed())).toBe(bytesOf(all))
      }),
    )
  })

  test('a map has no names but its keys, whatever these are (AP-19)', () => {
    const kept = valueIn(map(u8, 3), { ['__proto__']: 1, constructor: 2 })
    expect(Object.entries(kept)).toEqual([
      ['__proto__', 1],
      ['constructor', 2],
    ])
    expect(kept['toString']).toBeUndefined()
  })

  test('an f32 is the nearest float, and never an infinity or minus zero (AP-19)', () => {
    const values = [0.1, 16_777_217, 1e-46, 1e300, -1e300, 3.4028235677973366e38, -0]
    const max = 3.4028234663852886e38
    const near = [Math.fround(0.1), 16_777_216, 0, max, -max, max, 0]
    for (const [i, value] of values.entries()) expect(valueIn(f32, value)).toBe(near[i])
    const type = schema({ it: f32 })
    for (const hex of ['7f800000', 'ff800000', '7fc00000', '80000000']) {
      expect(decodeState(type, Uint8Array.from(Buffer.from(hex, 'hex')))).toBeNull()
    }
  })

  test('states are frozen to the last value, and bytes are copies (AP-19) (OB-11)', () => {
    const type = schema({ marks: list(Mark, 2), by: map(vec2(0, 9, 1), 1), n: u8 })
    const mark = { at: [1, 2] as const, hue: 'green' as const, raw: Uint8Array.of(1, 2) }
    const kept = quantise(type, { marks: [mark], by: { a: [3, 4] }, n: 5 })
    const state = valueOf(type, kept)
    for (const one of [state, state.marks, state.marks[0]!, state.marks[0]!.at, state.by]) {
      expect(Object.isFrozen(one)).toBe(true)
    }
    state.marks[0]!.raw[0] = 99
    expect(state.marks[0]!.raw).toEqual(Uint8Array.of(1, 2))
    expect(state.by).toBe(state.by)
    const mask = quantiseInto(type, { n: 6 }, kept)
    const next = updated(type, state, kept, mask)
    expect(next.by).toBe(state.by)
    next.marks[0]!.raw[0] = 99
    expect(next.marks).toEqual([mark])
  })

  test('a count that lies makes nothing: it ends where the bytes do (AP-19)', () => {
    const deep = list(list(list(list(bool, 1_024), 1_024), 1_024), 1_024)
    const type = schema({ it: deep })
    // Each count says 1,023 of 1,024, as far as there are bits.
    expect(decodeState(type, new Uint8Array(1_200).fill(0x7f))).toBeNull()
    expect(decodeState(type, new Uint8Array(1_200).fill(0xff))).toBeNull()
  })

  test('they start as the first word, null, and nothing (AP-19)', () => {
    const fields = { a: oneOf('x', 'y'), b: optional(u8), c: list(u8, 2), d: map(u8, 2) }
    const start = initialState(schema({ ...fields, e: struct({ f: i32, g: f32 }) }))
    const said = { a: 'x', b: null, c: [], d: Object.create(null), e: { f: 0, g: 0 } }
    expect(start).toStrictEqual(said)
  })
})

test('their types are inferred (AP-19)', () => {
  const type = schema({
    hue: oneOf('red', 'green'),
    near: optional(vec2(0, 1, 0.1)),
    marks: list(text(9), 3),
    by: map(struct({ n: u8, who: optional(text(9)) }), 3),
  })
  type State = StateOf<(typeof type)['fields']>
  const state: State = { hue: 'red', near: null, marks: ['a'], by: { a: { n: 1, who: null } } }
  // @ts-expect-error it is none of the words
  const blue: State = { ...state, hue: 'blue' }
  // @ts-expect-error a list is not written
  const push = (): unknown => (state.marks[0] = 'b')
  // @ts-expect-error a map is not written
  const write = (): unknown => (state.by['b'] = { n: 1, who: null })
  // @ts-expect-error a struct is not written
  const count = (): unknown => (state.by['a']!.n = 2)
  expect([push, write, count]).toHaveLength(3)
  expect(() => encodeState(type, blue)).toThrow('field hue: must be red or green: "blue"')
  const kept: Schema<Fields> = type as unknown as Schema<Fields>
  expect(valueOf(kept, quantise(kept, state))).toEqual(state)
})
