// Goal: a state that another build kept is ours in each field that goes over, and what ours cannot
// hold is refused by the name of type and field.
// Method: types of another build as they stand in its text, states by hand.
import { describe, expect, test } from 'vitest'
import { converted, type Held, type Migration, type Ours, placeOf, typesOf } from './converting.ts'
import {
  bool,
  i8,
  list,
  optional,
  ranged,
  type Schema,
  schema,
  struct,
  text,
  u16,
  u8,
} from './schema.ts'
import type { Fields } from './nested.ts'

function ours(fields: object, kept: Migration | null = null, secret = 0): Ours {
  return { name: 'card', schema: schema(fields as Fields) as Schema<Fields>, secret, kept }
}

const theirs = (fields: string) => typesOf(`card { ${fields} } rest`)![0]!
const held = (...fields: Held['fields']): Held => ({ fields, hidden: 0 })
const moved = (migrate: Migration['migrate']): Migration => ({ was: '', migrate })

describe('the types of another build', () => {
  test('are read a line each, with their secrets and what stands behind them (PR-2)', () => {
    const all = typesOf('card { face: u8, back: secret u16 } owner=keep\n\ndie { n: u8 } \n')!
    expect(all.map(({ name, secret, rest }) => [name, secret, rest])).toEqual([
      ['card', 2, 'owner=keep'],
      ['die', 0, ''],
    ])
    expect(all[0]!.texts).toEqual({ face: 'u8', back: 'u16' })
    expect(typesOf('')).toEqual([])
  })
  test('are none where a line is none (PR-2)', () => {
    for (const line of ['card', 'card { n: u9 } x', 'card { n: u8 }', '{ n: u8 } x']) {
      expect([line, typesOf(`die { n: u8 } \n${line}`)]).toEqual([line, null])
    }
  })
  test('are ours by name, then by what ours were called, or not here (PR-2)', () => {
    const named = (name: string, was = '') => {
      return { ...ours({ n: u8 }), name, kept: was === '' ? null : { was, migrate: null } }
    }
    const [from] = typesOf('card { n: u8 } x')!
    expect(placeOf([named('die'), named('card')], from!)).toBe(1)
    expect(placeOf([named('leaf', 'card'), named('card')], from!)).toBe(1)
    expect(placeOf([named('die', 'cube'), named('leaf', 'card')], from!)).toBe(1)
    expect(() => placeOf([named('die'), named('leaf', 'cards')], from!)).toThrow(
      'type "card" is there and not here',
    )
  })
})

describe('a state', () => {
  test('of the same fields is the same (PR-2)', () => {
    const state = held(7, 'x')
    expect(converted(ours({ n: u8, t: text(8) }), theirs('n: u8, t: text 8'), state)).toBe(state)
  })
  test('goes over by name, in any order; new fields are as at first, others fall away (PR-2)', () => {
    const to = ours({ t: text(8), fresh: u16, n: u8 })
    const from = theirs('n: u8, gone: bool, t: text 8')
    expect(converted(to, from, held(7, 1, 'hi'))).toEqual({ fields: ['hi', 0, 7], hidden: 0 })
  })
  test('goes over into a wider field, and a narrower one that holds it (PR-2)', () => {
    expect(converted(ours({ n: u16 }), theirs('n: u8'), held(200)).fields).toEqual([200])
    expect(converted(ours({ n: u8 }), theirs('n: u16'), held(255)).fields).toEqual([255])
    const narrow = () => converted(ours({ n: u8 }), theirs('n: u16'), held(256))
    expect(narrow).toThrow(/^type "card", field "n": .*256/)
    const negative = () => converted(ours({ n: i8 }), theirs('n: u8'), held(128))
    expect(negative).toThrow(/^type "card", field "n": .*128/)
  })
  test('whose number is beyond a range of ours is refused, and not its end (PR-2)', () => {
    const to = ours({ n: ranged(10, 20, 0.5) })
    for (const n of [10, 20]) {
      const { fields } = converted(to, theirs('n: u8'), held(n))
      expect(to.schema.columns[0]!.field.valueAt(fields, 0)).toBe(n)
    }
    for (const n of [9, 21]) {
      const sentence = `type "card", field "n": ${n} is not from 10 to 20`
      expect(() => converted(to, theirs('n: u8'), held(n))).toThrow(sentence)
    }
  })
  test('grows within its fields as it does itself (N-11)', () => {
    const to = ours({ at: list(struct({ y: u8, x: u16, new: optional(u8) }), 2) })
    const from = theirs('at: list 2 struct (x: u8; y: u8; gone: bool)')
    const given = { at: [{ x: 1, y: 2, gone: true }] }
    const fields: Held['fields'] = []
    from.schema.columns[0]!.field.quantise(given.at, fields, 0)
    const made = converted(to, from, held(...fields))
    expect(to.schema.columns[0]!.field.valueAt(made.fields, 0)).toEqual([{ y: 2, x: 1, new: null }])
    const narrow = ours({ at: list(struct({ x: bool }), 2) })
    expect(() => converted(narrow, from, held(...fields))).toThrow(/^type "card", field "at": /)
  })
  test('of another kind is refused by name (PR-2)', () => {
    expect(() => converted(ours({ n: bool }), theirs('n: u8'), held(1))).toThrow(
      /^type "card", field "n": /,
    )
  })
})

describe('a secret', () => {
  const to = (secret: number) => ours({ a: u8, back: u8, b: u16 }, null, secret)
  const from = theirs('back: secret u8, a: u8, b: u8')
  test('that is not known stays unknown where ours is secret, else it is as at first (PR-2)', () => {
    const unknown = { fields: [0, 3, 4], hidden: 1 }
    expect(converted(to(2), from, unknown)).toEqual({ fields: [3, 0, 4], hidden: 2 })
    expect(converted(to(0), from, unknown)).toEqual({ fields: [3, 0, 4], hidden: 0 })
  })
  test('that is known goes over (PR-2)', () => {
    expect(converted(to(2), from, held(9, 3, 4))).toEqual({ fields: [3, 9, 4], hidden: 0 })
  })
  test('is converted although the fields read alike, where it was none before (PR-2)', () => {
    const plain = theirs('a: u8, back: u8, b: u16')
    expect(converted(to(2), plain, held(1, 2, 3))).toEqual({ fields: [1, 2, 3], hidden: 0 })
  })
})

describe('migrate', () => {
  test('is given texts and values, frozen, and decides before names do (PR-2)', () => {
    let given: unknown[] = []
    const to = ours(
      { n: u8, m: u8 },
      moved((texts, state) => {
        given = [texts, state, Object.isFrozen(state)]
        return { n: 42 }
      }),
    )
    const from = theirs('n: u16, back: secret u8, m: u8')
    const made = converted(to, from, { fields: [300, 0, 5], hidden: 2 })
    expect(made).toEqual({ fields: [42, 5], hidden: 0 })
    const texts = { n: 'u16', back: 'u8', m: 'u8' }
    expect(given).toEqual([texts, { n: 300, back: null, m: 5 }, true])
  })
  test('that throws, gives no fields or others than ours, is named (PR-2)', () => {
    const by = (migrate: Migration['migrate']) => () =>
      converted(ours({ n: u8 }, moved(migrate)), theirs('n: u16'), held(1))
    const thrown = by(() => {
      throw new Error('no idea')
    })
    expect(thrown).toThrow('migrate of "card" threw: Error: no idea')
    for (const none of [null, 7, undefined]) {
      expect(by(() => none)).toThrow(/^migrate of "card" gives fields: /)
    }
    expect(by(() => ({ n: 1, k: 2 }))).toThrow(/^migrate of "card" gives .*k.*, which is no field/)
    expect(by(() => ({ n: 256 }))).toThrow(/^type "card", field "n": /)
  })
})
