// Goal: no kind of field is on the wire that docs/STANDARD.md does not describe.
// Method: whatever the code exports is a verb that this file knows or a kind of field that it has
// drawn values of; each kind stands in the document's table and in an example, and the document's
// own reader reads what the code writes.
import { calmly } from '../calmly.ts'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as schema from '../../packages/holdfast/src/wire/fields/schema.ts'
import type {
  Field,
  Fields,
  Schema,
  StateOf,
} from '../../packages/holdfast/src/wire/fields/schema.ts'
import { readStandard } from './document.ts'
import { inWords } from './reader.ts'
import { tell, type Value } from './values.ts'

const text = readFileSync(new URL('../../docs/STANDARD.md', import.meta.url), 'utf8')
const standard = readStandard(text)

const finite = fc.double({ noDefaultInfinity: true, noNaN: true })
const some = (count: number): fc.Arbitrary<number[]> =>
  fc.array(finite, { minLength: count, maxLength: count })
const words = fc.string({ unit: 'binary', maxLength: 4 })
const turns = some(4).filter((four) => four.some((one) => one !== 0))
const { list, map, optional, struct, u8 } = schema
const Dot = struct({ at: schema.vec2(0, 3, 1), by: optional(list(schema.bool, 3)) })
const dots = fc.record({ at: some(2), by: fc.option(fc.array(fc.boolean(), { maxLength: 3 })) })

type Sample = readonly [field: Field<unknown>, values: fc.Arbitrary<unknown>]

/** Each kind by the name under which it is exported. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  ranged: [schema.ranged(-1, 1, 0.3), finite],
  vec2: [schema.vec2(0, 7, 1), some(2)],
  vec3: [schema.vec3(-4, 3, 1.4), some(3)],
  angle: [schema.angle(7), finite],
  quaternion: [schema.quaternion(6), turns],
  u8: [u8, finite],
  u16: [schema.u16, finite],
  u32: [schema.u32, finite],
  i8: [schema.i8, finite],
  i16: [schema.i16, finite],
  i32: [schema.i32, finite],
  f32: [schema.f32, finite],
  bool: [schema.bool, fc.boolean()],
  oneOf: [schema.oneOf('up', 'down', 'in-2'), fc.constantFrom('up', 'down', 'in-2')],
  text: [schema.text(30), words],
  bytes: [schema.bytes(5), fc.uint8Array({ maxLength: 5 })],
  optional: [optional(Dot), fc.option(dots)],
  list: [
    list(map(u8, 2), 3),
    fc.array(fc.dictionary(words, finite, { maxKeys: 2 }), { maxLength: 3 }),
  ],
  map: [map(Dot, 3), fc.dictionary(words, dots, { maxKeys: 3 })],
  struct: [struct({ a: optional(u8), b: Dot }), fc.record({ a: fc.option(finite), b: dots })],
}

/** What the code exports beside kinds and limits. */
const VERBS = ['schema', 'quantise', 'quantiseInto', 'differing', 'valueOf']
VERBS.push('putValue', 'updated', 'writeFields', 'readFields', 'initialState', 'encodeState')
VERBS.push('decodeState', 'shown', 'namesOf', 'finite', 'frozen', 'checkLength', 'decoded')
VERBS.push('readRun', 'checkSize', 'byUtf8', 'writeRun', 'encoder', 'decoder')
VERBS.push('quantiseInner', 'formerName', 'isRecord', 'encodeValue', 'decodeValue')
VERBS.push('textSaid')

const kinds = Object.keys(SAMPLES)
const states = standard.examples.filter(({ what }) => what.startsWith('state '))

const { bool, oneOf, ranged, vec2 } = schema
/** The types of the document's examples. */
const EXAMPLES = [
  { pos: vec2(0, 100, 0.1), hue: u8 },
  { on: bool, turn: schema.angle(6), say: schema.text(4) },
  { at: schema.vec3(0, 3, 1), by: schema.i8, raw: schema.bytes(5) },
  { go: ranged(-1, 1, 0.5), to: schema.u16, of: schema.u32, by: schema.i16 },
  { turn: schema.quaternion(3) },
  { n: schema.i32, f: schema.f32 },
  { f: schema.f32 },
  { hue: oneOf('red', 'green', 'blue'), on: oneOf('yes') },
  { say: schema.text(2) },
  { say: schema.text(100) },
  { say: schema.text(100, 100) },
  { aim: optional(u8), by: optional(schema.text(5)) },
  { dice: list(u8, 5) },
  { won: map(u8, 3) },
  { cup: struct({ at: vec2(0, 3, 1), by: list(struct({ n: u8, on: bool }), 2) }) },
].map((fields) => schema.schema(fields as unknown as Fields))

function wordOf(name: string): string {
  return SAMPLES[name]![0].text.split(' ')[0]!
}

describe('every kind of field', () => {
  test('that the code has is one of these: the others are verbs and limits (AP-19)', () => {
    const others = Object.entries(schema).filter(([name, value]) => {
      return typeof value !== 'number' && !VERBS.includes(name)
    })
    expect(
      others.map(([name]) => name).sort(),
      'a new kind of field belongs into SAMPLES of this file, a new verb into VERBS',
    ).toEqual(kinds.toSorted())
  })

  test('stands in the document’s table, and the table has no others (AP-19)', () => {
    expect(
      [...standard.fields].sort(),
      'the table of section 10.1 of docs/STANDARD.md has each word of SAMPLES',
    ).toEqual(kinds.map(wordOf).sort())
  })

  test.each(kinds)('%s: has an example of its bytes (AP-19)', (name) => {
    const own = states.filter(({ what, reads }) => {
      return reads !== null && what.includes(`: ${wordOf(name)}`)
    })
    expect(
      own.length,
      `the examples of section 10.1 of docs/STANDARD.md have none: state { x: ${name} … }`,
    ).toBeGreaterThan(0)
  })

  test.each(states)('example $line is read alike by the code (AP-19)', ({ what, bytes, reads }) => {
    const type = EXAMPLES.find((one) => `state ${one.text}` === what)
    expect(
      type?.text,
      `EXAMPLES of this file has no type whose text is that of ${what}`,
    ).toBeDefined()
    const state: StateOf<Fields> | null = schema.decodeState(type!, bytes)
    expect(state && tell(state as Value)).toBe(reads)
  })

  test.each(kinds)('%s: is written and read as the document says (AP-19)', (name) => {
    const [field, values] = SAMPLES[name]!
    const type: Schema<Fields> = schema.schema({ x: u8, field })
    const read = (bytes: Uint8Array): string | null => {
      const state: StateOf<Fields> | null = schema.decodeState(type, bytes)
      const code = state && tell(state as Value)
      expect(inWords(standard, `state ${type.text}`, bytes)).toBe(code)
      return code
    }
    fc.assert(
      fc.property(values, fc.nat(), (value, at) => {
        const made = calmly(() => schema.encodeState(type, { x: 7, field: value }))
        expect(read(made)).toMatch(/^x=7 field=/)
        made[(at >> 3) % made.length]! ^= 1 << (at & 7)
        read(made)
        read(made.subarray(0, at % made.length))
      }),
      { numRuns: 300 },
    )
  })
})
