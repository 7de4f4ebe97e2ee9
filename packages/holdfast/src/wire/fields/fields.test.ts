// Goal: each limit of a kind of field is where the sentence says, and so many bits as it takes.
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../../test/calmly.ts'
import { badValue } from '../../machine.ts'
import { createBitReader, createBitWriter, finishBits, writeBits } from '../bits.ts'
import * as fields from './fields.ts'
import { type Field, type Quantised, quaternion } from './fields.ts'
import * as nested from './nested.ts'
import { createScale, placeOf } from './scale.ts'

const { ranged, angle, vec2, vec3, text, bytes, oneOf, u8 } = fields
const { list, map, optional, struct } = nested

type Make = (size: number) => Field<unknown>

/** What is defined with a number, the least and the largest one, and how it is refused. */
const SIZED: readonly [what: string, make: Make, min: number, max: number, why: string][] = [
  ['angle', angle, 1, 24, 'an angle takes 1 to 24 bits'],
  ['quaternion', quaternion, 2, 16, 'a quaternion takes 2 to 16 bits for each component'],
  ['text', text, 1, 1_000, 'a text takes 1 to 1000 characters'],
  ['bytes', bytes, 1, 1_000, 'a field of bytes takes 1 to 1000'],
  ['list', (max) => list(u8, max), 1, 1_024, 'a list takes 1 to 1024 values'],
  ['map', (max) => map(u8, max), 1, 1_024, 'a map takes 1 to 1024 values'],
]

describe('a size', () => {
  test.each(SIZED)('of %s is a whole number within its limits (PR-2)', (_, make, min, max, why) => {
    for (const size of [min, min + 1, max - 1, max]) calmly(() => make(size))
    for (const size of [min - 1, min - 2, max + 1, min + 0.5, NaN, Infinity]) {
      expect(() => make(size), `${size}`).toThrow(badValue(`${why}: ${size}`))
    }
  })
  test('of oneOf is 1 to 256 words, and a word is a text (PR-2)', () => {
    const words = (count: number): string[] => Array.from({ length: count }, (_, i) => `w${i}`)
    const made = (count: number): Field<string> => oneOf(...(words(count) as [string]))
    expect([1, 2, 3, 4, 5, 255, 256].map((count) => calmly(() => made(count)).bits)).toEqual([
      1, 1, 2, 2, 3, 8, 8,
    ])
    expect(() => made(257)).toThrow(badValue('oneOf has 256 words at most: 257'))
    const why = 'a word of oneOf is 1 to 64 letters, digits, _, -, . or $: 7'
    expect(() => oneOf('a', 7 as never)).toThrow(badValue(why))
    expect(() => oneOf('x'.repeat(65))).toThrow('1 to 64 letters')
    expect(calmly(() => oneOf('x'.repeat(64))).initial).toBe('x'.repeat(64))
  })
})

describe('a range', () => {
  const WHY = 'a range needs min < max and at most 32 bits'
  test.each([
    [0, 0, 1],
    [1, 0, 1],
    [1, 0, -1],
    [0, 10, 0],
    [0, 10, -1],
    [0, 2 ** 32, 1],
    [NaN, 1, 1],
    [0, NaN, 1],
    [0, 1, NaN],
    [-Infinity, 0, 1],
  ])('from %d to %d by %d is refused (PR-2)', (min, max, step) => {
    const why = badValue(`${WHY}: ${min} to ${max} by ${step}`)
    for (const make of [ranged, vec2, vec3, createScale]) {
      expect(() => make(min, max, step)).toThrow(why)
    }
  })
  test('has 2^32 places at most (PR-2)', () => {
    const all = calmly(() => ranged(0, 2 ** 32 - 1, 1))
    expect([all.bits, all.scale!.steps]).toEqual([32, 2 ** 32 - 1])
  })
  test('has no number of more than 2^50 steps, above zero or below (PR-2)', () => {
    const far = 2 ** 50
    calmly(() => [ranged(far - 9, far, 1), ranged(-far, 9 - far, 1)])
    const why = 'steps are too small for numbers so large'
    expect(() => ranged(far - 9, far + 1, 1)).toThrow(why)
    expect(() => ranged(-far - 1, 9 - far, 1)).toThrow(why)
  })
  test('starts at zero, or at the end that is nearer to it (PR-2)', () => {
    const ends: [min: number, max: number, initial: number][] = [
      [-5, 5, 0],
      [0, 5, 0],
      [-5, 0, 0],
      [3, 5, 3],
      [-5, -3, -3],
    ]
    for (const [min, max, initial] of ends) {
      const one = ranged(min, max, 1)
      expect([one.initial, one.min, one.max]).toEqual([initial, min, max])
      const [flat, high] = [vec2(min, max, 1), vec3(min, max, 1)]
      expect([flat.initial, flat.min, flat.max]).toEqual([[initial, initial], min, max])
      expect([high.initial, high.min, high.max]).toEqual([[initial, initial, initial], min, max])
    }
  })
  test('takes as few bits as its places need, and one at least (PR-2)', () => {
    const highest = [1, 2, 3, 4, 255, 256, 65_535, 65_536, 2 ** 31 - 1, 2 ** 31]
    const bits = [1, 2, 2, 3, 8, 9, 16, 17, 31, 32]
    expect(highest.map((max) => ranged(0, max, 1).bits)).toEqual(bits)
    expect(highest.map((max) => vec2(0, max, 1).bits)).toEqual(bits.map((one) => 2 * one))
    expect(highest.map((max) => vec3(0, max, 1).bits)).toEqual(bits.map((one) => 3 * one))
    // A step that is wider than the range leaves one place, which takes a bit all the same.
    expect(ranged(0, 1, 3).bits).toBe(1)
  })
  test('a number goes to the nearest place, and beyond an end to that (PR-2)', () => {
    const scale = createScale(-1, 1, 0.5)
    const values = [-9, -1.3, -1, -0.76, -0.75, -0.74, 0, 0.74, 0.75, 1, 1.3, 9]
    const places = [0, 0, 0, 0, 1, 1, 2, 3, 4, 4, 4, 4]
    expect(values.map((value) => placeOf(scale, value))).toEqual(places)
  })
})

describe('the bits of a value', () => {
  const { i8, i16, i32, u16, u32, f32, bool } = fields
  test.each<[Field<unknown>, number]>([
    [u8, 8],
    [u16, 16],
    [u32, 32],
    [i8, 8],
    [i16, 16],
    [i32, 32],
    [f32, 32],
    [bool, 1],
    [angle(7), 7],
    [quaternion(5), 17],
    // The length of a text has eight bits at least, that of bytes as few as it needs.
    [text(1), 8 + 24],
    [text(85), 8 + 2_040],
    [text(86), 9 + 2_064],
    [text(1_000), 12 + 24_000],
    [text(255, 255), 8 + 2_040],
    [text(256, 256), 9 + 2_048],
    [text(1_000, 1_000), 10 + 8_000],
    [bytes(1), 1 + 8],
    [bytes(1_000), 10 + 8_000],
    [optional(u8), 9],
    [list(u8, 3), 2 + 24],
    [list(u8, 4), 3 + 32],
    [map(bool, 1), 1 + 7 + 512 + 1],
    [struct({ a: u8, b: bool }), 9],
  ])('of $text are at most as many as its parts have (PR-2)', (field, bits) => {
    expect(field.bits).toBe(bits)
  })
  test.each<[Field<number>, number, number]>([
    [u8, 0, 255],
    [u16, 0, 65_535],
    [u32, 0, 2 ** 32 - 1],
    [i8, -128, 127],
    [i16, -32_768, 32_767],
    [i32, -(2 ** 31), 2 ** 31 - 1],
  ])('of $text hold the ends of its range as their first and last (PR-2)', (field, min, max) => {
    for (const [value, byte] of [
      [min, 0],
      [max, 0xff],
    ] as const) {
      const quantised: Quantised = []
      field.quantise(value, quantised, 0)
      const writer = createBitWriter()
      calmly(() => field.write(writer, quantised, 0))
      expect([...finishBits(writer)]).toEqual(Array(field.bits / 8).fill(byte))
      field.quantise(value === min ? min - 1 : max + 1, quantised, 0)
      expect(quantised).toEqual([value])
    }
  })
})

const FULL: readonly [Field<never>, value: unknown, over: unknown, why: string][] = [
  [text(3), 'abc', 'abcd', 'takes 3 characters: 4'],
  [text(3), '漢字だ', '漢字だよ', 'takes 3 characters: 4'],
  [text(4), '👍👍', '👍👍👍', 'takes 4 characters: 6'],
  [text(4, 6), '漢字', '漢字だ', 'takes 6 bytes: 9'],
  [bytes(3), new Uint8Array(3), new Uint8Array(4), 'takes 3 bytes: 4'],
  [list(u8, 2), [1, 2], [1, 2, 3], 'takes 2 values: 3'],
  [map(u8, 2), { a: 1, b: 2 }, { a: 1, b: 2, c: 3 }, 'takes 2 keys: 3'],
  [map(u8, 2), { ['k'.repeat(64)]: 1 }, { ['k'.repeat(65)]: 1 }, 'a key takes 64 bytes: 65'],
] as never

describe('what a value holds', () => {
  test.each(FULL)('$text is filled to its limit, and not over it (PR-2)', (field, ...rest) => {
    const [value, over, why] = rest
    const quantised: Quantised = []
    calmly(() => field.quantise(value as never, quantised, 0))
    const writer = createBitWriter()
    calmly(() => field.write(writer, quantised, 0))
    const reader = createBitReader(finishBits(writer))
    const back: Quantised = []
    calmly(() => field.read(reader, back, 0))
    expect([reader.failed, back]).toEqual([false, quantised])
    expect(() => field.quantise(over as never, [], 0)).toThrow(badValue(why))
  })
  test('what has a length but is no array is no vector (PR-2)', () => {
    for (const odd of ['ab', { length: 2, 0: 1, 1: 1 }, null, undefined]) {
      const why = `must be two numbers [x, y]: ${fields.shown(odd)}`
      expect(() => vec2(0, 9, 1).quantise(odd as never, [], 0)).toThrow(badValue(why))
    }
    const fits: Quantised = []
    calmly(() => vec2(0, 9, 1).quantise([1, 2], fits, 0))
    expect(fits).toEqual([1, 2])
  })
  test('what is no number is refused, whatever it could become (PR-2)', () => {
    for (const odd of ['7', true, null, [7], new Date(0), undefined]) {
      for (const field of [u8, fields.f32, ranged(0, 9, 1), angle(4)]) {
        const why = `must be a finite number: ${fields.shown(odd)}`
        expect(() => field.quantise(odd as never, [], 0)).toThrow(badValue(why))
      }
    }
  })
})

describe('a text', () => {
  const each = ['a', 'é', '漢', '\uFFFF', '\uD800']
  const pairs = ['👍', '\u{10FFFF}']
  const whole = (field: Field<string>, value: string): string => {
    const [quantised, back]: [Quantised, Quantised] = [[], []]
    field.quantise(value, quantised, 0)
    const writer = createBitWriter()
    field.write(writer, quantised, 0)
    const reader = createBitReader(finishBits(writer))
    field.read(reader, back, 0)
    expect(reader.failed).toBe(false)
    return field.valueAt(back, 0)
  }
  test('takes as many characters as an input lets one type, whichever these are (N-26)', () => {
    for (const max of [1, 2, 85, 86, 200, 1_000]) {
      for (const one of each) {
        const value = one.repeat(max)
        expect(whole(text(max), value)).toBe(value.replaceAll('\uD800', '\uFFFD'))
        expect(() => text(max).quantise(value + one, [], 0)).toThrow(
          badValue(`takes ${max} characters: ${max + 1}`),
        )
      }
      for (const pair of pairs) {
        const value = pair.repeat(Math.floor(max / 2))
        expect(whole(text(max), value)).toBe(value)
      }
    }
  })
  test('takes from one to three bytes a character, three if nothing is said (N-26)', () => {
    expect(text(9, 27).text).toBe(text(9).text)
    expect(text(90, 270).text).toBe(text(90).text)
    for (const bytes of [8, 28, 9.5, NaN]) {
      const why = badValue(`a text of 9 characters takes 9 to 27 bytes: ${bytes}`)
      expect(() => text(9, bytes), `${bytes}`).toThrow(why)
    }
  })
  test('that comes with more characters, or no UTF-8, is malformed (N-26)', () => {
    const came = (field: Field<string>, run: readonly number[]): boolean => {
      const writer = createBitWriter()
      writeBits(writer, run.length, 8)
      for (const byte of run) writeBits(writer, byte, 8)
      const reader = createBitReader(finishBits(writer))
      field.read(reader, [], 0)
      return !reader.failed
    }
    expect(came(text(2), [0x61, 0x62])).toBe(true)
    expect(came(text(2), [0x61, 0x62, 0x63])).toBe(false)
    expect(came(text(2), [0xf0, 0x9f, 0x91, 0x8d])).toBe(true)
    expect(came(text(1), [0xf0, 0x9f, 0x91, 0x8d])).toBe(false)
    expect(came(text(2), [0xc3])).toBe(false)
  })
  test('of a build that counted bytes says which bits it has, and short ones are ours (N-26)', () => {
    expect([1, 85, 86, 1_000].map((max) => text(max).text)).toEqual([
      'text 1',
      'text 85',
      'text 86 258',
      'text 1000 3000',
    ])
    expect([1, 85, 86, 1_000].map((max) => text(max, max).text)).toEqual([
      'text 1 1',
      'text 85 85',
      'text 86',
      'text 1000',
    ])
    for (const max of [1, 85, 86, 255, 256, 1_000]) {
      const of02 = Math.max(8, max.toString(2).length) + 8 * max
      const { text: said, bits } = fields.textSaid(max)
      expect([said, bits >= of02, bits === text(max, max).bits || max <= 85]).toEqual([
        `text ${max}`,
        true,
        true,
      ])
    }
  })
})

test('a value in a sentence is short, and any value has a form (PR-2)', () => {
  const circle: unknown[] = []
  circle.push(circle)
  const values = ['a"b', 'x'.repeat(90), 7, null, undefined, 1n, Symbol('s'), () => 1, [1], {}]
  expect([...values, circle, 'x'.repeat(90).split('')].map(fields.shown)).toEqual([
    '"a\\"b"',
    `"${'x'.repeat(80)}"`,
    '7',
    'null',
    'undefined',
    '1',
    'Symbol(s)',
    'a function',
    '[1]',
    '{}',
    'an object',
    `[${'"x",'.repeat(90)}`.slice(0, 80),
  ])
})

describe('a field that holds others', () => {
  test('is refused what is no field, whatever a field has (PR-2)', () => {
    const halves = [{ text: 'u8' }, { quantise: () => 0 }, null, 7]
    for (const odd of halves as never[]) {
      const why = `holds a field, such as u8: ${fields.shown(odd)}`
      expect(() => list(odd, 2)).toThrow(badValue(`list ${why}`))
      expect(() => map(odd, 2)).toThrow(badValue(`map ${why}`))
      expect(() => optional(odd)).toThrow(badValue(`optional ${why}`))
      expect(() => struct({ a: odd })).toThrow('field a is no field, such as u8 or text(20)')
    }
    expect(() => struct(7 as never)).toThrow(
      badValue('a struct takes fields, such as { hue: u8 }: 7'),
    )
  })
  test('holds no secret (PR-2)', () => {
    const secret = { ...u8, sees: () => true }
    const why = 'holds no secret: a secret is a field of a piece'
    expect(() => list(secret, 2)).toThrow(badValue(`list ${why}`))
    expect(() => struct({ a: u8, secret })).toThrow(badValue(`struct ${why}`))
  })
  test('an error of a value that is no Error is told as well (PR-2)', () => {
    const odd = {
      get a(): number {
        throw 'boom'
      },
    }
    expect(() => list(struct({ a: u8 }), 1).quantise([odd], [], 0)).toThrow(
      badValue('value 0: boom'),
    )
  })
  test('32 fields are the most, 64 letters the longest name, 8 the deepest (PR-2)', () => {
    const of = (count: number): Record<string, typeof u8> =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, u8]))
    expect(calmly(() => struct(of(32))).size).toBe(32)
    expect(() => struct(of(33))).toThrow(badValue('a struct has 1 to 32 fields: 33'))
    let deep: Field<unknown> = u8
    const deeper = (field: Field<unknown>): Field<unknown> => calmly(() => list(field, 1))
    for (let level = 2; level <= 8; level++) deep = deeper(deep)
    expect(deep.depth).toBe(8)
    const why = 'fields stand 8 deep in each other at most: list is at 9'
    expect(() => list(deep, 1)).toThrow(badValue(why))
  })
})

describe('a map that came', () => {
  /** The bits of a map of u8, at most 3, as a sender may write them. */
  function came(keys: readonly (string | number[])[]): unknown {
    const writer = createBitWriter()
    writeBits(writer, keys.length, 2)
    for (const [i, key] of keys.entries()) {
      const run = typeof key === 'string' ? [...new TextEncoder().encode(key)] : key
      writeBits(writer, run.length, 7)
      for (const byte of run) writeBits(writer, byte, 8)
      writeBits(writer, i, 8)
    }
    const field = map(u8, 3)
    const reader = createBitReader(finishBits(writer))
    const into: Quantised = []
    return calmly(() => {
      field.read(reader, into, 0)
      return reader.failed ? null : Object.keys(field.valueAt(into, 0))
    })
  }
  test.each([[['a', 'b']], [['a', 'ab']], [['', 'a', 'b']], [['a', 'é', '漢']]])(
    'with keys in the order of their bytes is taken: %j (PR-2)',
    (keys) => {
      expect(came(keys)).toEqual(keys)
    },
  )
  test.each([
    [['b', 'a']],
    [['a', 'a']],
    [['ab', 'a']],
    [['a', '']],
    [['é', 'a']],
    [['a', 'c', 'b']],
  ])('with keys out of order, or one twice, is malformed: %j (PR-2)', (keys) => {
    expect(came(keys)).toBe(null)
  })
  test('with a key that is no UTF-8, or is too long, is malformed (PR-2)', () => {
    expect(came([[0x80]])).toBe(null)
    expect(came(['k'.repeat(64)])).toEqual(['k'.repeat(64)])
    expect(came(['k'.repeat(65)])).toBe(null)
  })
  test('two texts stand in the order of their UTF-8, not of their halves (PR-2)', () => {
    const texts = ['', 'a', 'aa', 'ab', 'b', 'é', '\uFFEE', '\u{1F600}']
    for (const [i, one] of texts.entries()) {
      for (const [j, other] of texts.entries()) {
        expect(Math.sign(nested.byUtf8(one, other)), `${one} ${other}`).toBe(Math.sign(i - j))
      }
    }
  })
})
