// Goal: whatever came as JSON, or a caller gives, is taken as its fields have it or refused with a
// sentence that names the field; and nothing makes that throw.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fit, fitField } from './fit.ts'
import {
  bool,
  f32,
  list,
  map,
  oneOf,
  optional,
  ranged,
  schema,
  struct,
  text,
  u8,
  vec2,
} from './schema.ts'

const deal = schema({ count: u8, to: text(8) })
const many = schema({
  at: vec2(0, 10, 0.5),
  hand: list(struct({ suit: oneOf('red', 'black'), rank: u8 }), 4),
  marks: map(u8, 3),
  note: optional(text(4)),
  on: bool,
  speed: f32,
  warm: ranged(-1, 1, 0.25),
})
const odd = schema({ constructor: u8, toString: optional(text(4)) })
const full = {
  at: [1, 2],
  hand: [{ suit: 'red', rank: 3 }],
  marks: { a: 1 },
  note: null,
  on: true,
  speed: 1.5,
  warm: 0.5,
}

function why(type: Parameters<typeof fit>[0], value: unknown): string {
  const fitted = fit(type, value)
  return fitted.ok ? 'it fits' : fitted.why
}

describe('arguments', () => {
  test('are the values that their fields have, and keep them (AP-3)', () => {
    expect(fit(deal, { to: 'Ada', count: 300.4 })).toEqual({
      ok: true,
      value: { count: 255, to: 'Ada' },
    })
    const given = { ...full, at: [-3, 4.3], warm: 0.3, speed: 0.1 }
    const fitted = fit(many, given)
    expect(fitted).toMatchObject({
      ok: true,
      value: { ...full, at: [0, 4.5], warm: 0.25, speed: Math.fround(0.1) },
    })
    const { value } = fitted as { value: unknown }
    expect(Object.isFrozen(value)).toBe(true)
    expect(fit(many, JSON.parse(JSON.stringify(value)))).toEqual(fitted)
  })

  test.each([
    [undefined, 'it must be an object of the fields count, to: undefined'],
    [null, 'it must be an object of the fields count, to: null'],
    ['deal', 'it must be an object of the fields count, to: "deal"'],
    [[3, 'Ada'], 'it must be an object of the fields count, to: [3,"Ada"]'],
    [new Map([['count', 3]]), 'it must be an object of the fields count, to: {}'],
    [{ m: 'no' }, 'no field is called "m", there is count, to'],
    [{ count: 3 }, 'field to: is missing'],
    [{ count: 3, to: undefined }, 'field to: must be a text: undefined'],
    [{ count: '3', to: 'Ada' }, 'field count: must be a finite number: "3"'],
    [{ count: NaN, to: 'Ada' }, 'field count: must be a finite number: NaN'],
    [JSON.parse('{"count":1e999,"to":""}'), 'field count: must be a finite number: Infinity'],
    [{ count: 3, to: 'x'.repeat(9) }, 'field to: takes 8 characters: 9'],
    [{ count: 3, to: 'Ada', by: 1 }, 'no field is called "by", there is count, to'],
    [
      JSON.parse('{"count":3,"to":"Ada","__proto__":{}}'),
      'no field is called "__proto__", there is count, to',
    ],
    [Object.create({ count: 3, to: 'Ada' }), 'field count: is missing'],
  ])('%j are refused by name (AP-3)', (value, sentence) => {
    expect(why(deal, value)).toBe(sentence)
  })

  test('are named where they stand in others (AP-3)', () => {
    const card = { suit: 'red', rank: 3 }
    expect(why(many, { ...full, hand: [card, { ...card, rank: 'x' }] })).toBe(
      'field hand: value 1: field rank: must be a finite number: "x"',
    )
    expect(why(many, { ...full, hand: [{ ...card, suit: 'green' }] })).toMatch(
      /^field hand: value 0: field suit: must be red or black/,
    )
    expect(why(many, { ...full, hand: Array.from({ length: 100_000 }, () => card) })).toBe(
      'field hand: takes 4 values: 100000',
    )
    expect(why(many, { ...full, hand: { length: 1, 0: card } })).toMatch(/^field hand: must be a/)
    expect(why(many, { ...full, marks: { a: true } })).toMatch(/^field marks: key "a": must be/)
    expect(why(many, { ...full, at: [1, 2, 3] })).toMatch(/^field at: must be two numbers/)
  })

  test('are not what an object inherits, whatever they are called (AP-3)', () => {
    expect(why(odd, {})).toBe('field constructor: is missing')
    expect(fit(odd, JSON.parse('{"constructor":7,"toString":null}'))).toEqual({
      ok: true,
      value: { constructor: 7, toString: null },
    })
  })

  test('however deep or odd they are, the answer is a sentence (AP-3)', () => {
    const deep: unknown = JSON.parse('['.repeat(4_000) + ']'.repeat(4_000))
    let deeper: unknown = 0
    for (let i = 0; i < 100_000; i++) deeper = { to: deeper }
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const thrower = {
      count: 3,
      get to(): string {
        throw 'boom'
      },
    }
    for (const value of [deep, deeper, proxy, thrower, Symbol('x'), 1n, () => 0]) {
      expect(fit(deal, value)).toMatchObject({ ok: false, why: expect.any(String) })
      expect(fit(deal, { count: value, to: '' }).ok).toBe(false)
      expect(fit(many, { ...full, hand: value }).ok).toBe(false)
    }
  })

  test('any JSON is taken once and for all, or refused (AP-3)', () => {
    const near = fc.record({ count: fc.anything(), to: fc.anything() })
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), near, fc.anything()), (value) => {
        const fitted = fit(deal, value)
        if (fitted.ok) expect(fit(deal, JSON.parse(JSON.stringify(fitted.value)))).toEqual(fitted)
        else expect(fitted.why).toMatch(/^(it must be|no field|field )/)
      }),
      { numRuns: 2_000 },
    )
  })
})

test('an answer is a value of its field, or is refused (AP-3)', () => {
  expect(fitField('its answer', u8, 2.6)).toEqual({ ok: true, value: 3 })
  expect(fitField('its answer', u8, undefined)).toMatchObject({
    ok: false,
    why: 'its answer: must be a finite number: undefined',
  })
  expect(fitField('its answer', list(u8, 2), [1, '2'])).toMatchObject({
    ok: false,
    why: 'its answer: value 1: must be a finite number: "2"',
  })
})
