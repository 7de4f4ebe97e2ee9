// Goal: the text of a schema is read as the schema that it is of; any other text is none.
// Method: schemas drawn at random from all kinds of fields; texts that are cut and changed.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSchema } from './parsed.ts'
import * as wire from './schema.ts'
import type { Field } from './schema.ts'

const name = fc.stringMatching(/^[a-zé_$][a-z0-9_$-]{0,8}$/u)
const leaf: fc.Arbitrary<Field<unknown>> = fc.oneof(
  fc.constantFrom<Field<unknown>>(
    ...([wire.u8, wire.u16, wire.u32, wire.i8, wire.i16, wire.i32] as Field<never>[]),
    ...([wire.f32, wire.bool, wire.ranged(-1, 1, 0.001), wire.vec2(0, 10, 0.5)] as Field<never>[]),
    ...([wire.vec3(-5, 5, 1e-2), wire.angle(7), wire.quaternion(9)] as Field<never>[]),
    ...([wire.text(40), wire.text(40, 50), wire.text(90), wire.text(90, 90)] as Field<never>[]),
    ...([wire.bytes(9), wire.oneOf('red', 'dark-blue', 'x.y')] as Field<never>[]),
  ),
)
const field: fc.Arbitrary<Field<unknown>> = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    leaf,
    fc
      .tuple(tie('node'), fc.integer({ min: 1, max: 9 }))
      .map(([one, most]) => wire.list(one as Field<unknown>, most)),
    fc
      .tuple(tie('node'), fc.integer({ min: 1, max: 9 }))
      .map(([one, most]) => wire.map(one as Field<unknown>, most)),
    fc
      .dictionary(name, tie('node'), { minKeys: 1, maxKeys: 3 })
      .map((fields) => wire.struct(fields as Record<string, Field<unknown>>)),
    leaf.map((one) => wire.optional(one)),
  ),
})).node as fc.Arbitrary<Field<unknown>>

describe('a schema', () => {
  test('is read from its text, whatever its fields are', () => {
    const fields = fc.dictionary(name, field, { minKeys: 1, maxKeys: 6 })
    fc.assert(
      fc.property(fields, (given) => {
        const made = wire.schema(given)
        const read = parseSchema(made.text)!
        expect(read.schema.text).toBe(made.text)
        expect([read.schema.size, read.schema.bytesMax]).toEqual([made.size, made.bytesMax])
        expect(read.secrets).toEqual([])
      }),
      { numRuns: 300, seed: 1 },
    )
  })
  test('says which of its fields are secret', () => {
    const read = parseSchema('{ face: secret u8, up: bool, note: secret text 20 }')!
    expect(read.secrets).toEqual(['face', 'note'])
    expect(read.schema.text).toBe('{ face: u8, up: bool, note: text 20 }')
  })
})

test.each([
  ['', '{ }', '{ a }', '{ a: }', '{ a: u9 }', '{ a: u8', 'a: u8', '{ a: u8 } ', '{ a: u8, a: u8 }'],
  [
    '{ a: ranged 1 0 1 }',
    '{ a: ranged 0 1 }',
    '{ a: text x }',
    '{ a: text 1e9 }',
    '{ a: list u8 }',
  ],
  [
    '{ a: struct () }',
    '{ a: struct (b: u8 }',
    '{ a: optional }',
    '{ a: oneOf }',
    '{ a: oneOf a/a }',
  ],
  ['{ a: constructor }', '{ __proto__: u8 }', '{ a: secret secret u8 }', '{ a: text 020 }'],
  // Each text has one form.
  [
    '{ a: text 20 60 }',
    '{ a: text 90 90 }',
    '{ a: text 20 19 }',
    '{ a: text 20 61 }',
    '{ a: text 20  }',
  ],
  [`{ a: ${'optional list 2 '.repeat(9)}u8 }`, `{ a: u8${' '.repeat(40_000)} }`, '{ a: NaN }'],
])('no schema: %j, …', (...texts) => {
  for (const one of texts) expect(parseSchema(one)).toBe(null)
})

test('no text throws, however it was changed', () => {
  const text =
    '{ a: map 4 struct (b: u8; c: list 3 text 9 9), d: secret oneOf x/y, e: vec2 0 1 0.5 }'
  expect(parseSchema(text)).not.toBe(null)
  for (let at = 0; at < text.length; at++) {
    for (const other of [' ', ',', '(', ')', '9', '']) {
      const changed = text.slice(0, at) + other + text.slice(at + 1)
      const read = parseSchema(changed)
      if (read) expect(read.schema.text).toBe(changed.replace('secret ', ''))
    }
  }
})
