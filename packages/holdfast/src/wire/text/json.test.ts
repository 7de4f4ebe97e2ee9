// Goal: what JSON would change is refused with the name of its place, and all else is sent.
import { describe, expect, test } from 'vitest'
import { runInNewContext } from 'node:vm'
import { calmly } from '../../../../../test/calmly.ts'
import { HoldfastError } from '../../machine.ts'
import { checkPlain, DEPTH_MAX, isJson, toJson } from './json.ts'

const TAKES = 'text, finite numbers, true, false, null, arrays and plain objects'

/** The sentence by which a value is refused; empty if it is sent. */
function whyNot(value: unknown, what = 'it'): string {
  try {
    checkPlain(value, what)
    return ''
  } catch (error) {
    expect(error).toBeInstanceOf(HoldfastError)
    expect((error as HoldfastError).code).toBe('bad-value')
    return (error as HoldfastError).message
  }
}

function refused(place: string, found: string): string {
  return `${place} cannot be sent: it is ${found}, not ${TAKES}`
}

function nested(levels: number, innermost: unknown): unknown {
  let value = innermost
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

class Point {
  x = 1
}

const SENT: readonly unknown[] = [
  null,
  '',
  'text',
  true,
  false,
  0,
  -1.5,
  [],
  {},
  [1, ['a', null]],
  { a: { b: [true] } },
  Object.create(null),
  Object.assign(Object.create(null), { a: 1 }),
  runInNewContext('({ a: [1, { b: 2 }] })'),
]

describe('a plain value', () => {
  test.each(SENT.map((value) => [value]))('%j is sent as it is (PR-2)', (value) => {
    expect(whyNot(value)).toBe('')
    const json = calmly(() => toJson(value))
    expect(json).toBe(JSON.stringify(value))
    expect(isJson(json)).toBe(true)
  })
  test('undefined is null by itself, and left out as a field (PR-2)', () => {
    expect(toJson(undefined)).toBe('null')
    expect(whyNot({ a: undefined, b: 1 })).toBe('')
    expect(toJson({ a: undefined, b: 1 })).toBe('{"b":1}')
    expect(whyNot([undefined])).toBe(refused('it[0]', 'undefined'))
    expect(whyNot(undefined)).toBe(refused('it', 'undefined'))
  })
})

const ODD: readonly [value: unknown, found: string][] = [
  [NaN, 'NaN'],
  [Infinity, 'Infinity'],
  [-Infinity, '-Infinity'],
  [1n, 'a bigint'],
  [Symbol('x'), 'a symbol'],
  [() => 1, 'a function'],
  [new Point(), 'a Point'],
  [new Date(0), 'a Date'],
  [new Map(), 'a Map'],
  [Object.create({ inherited: 1 }) as unknown, 'a Object'],
  [Object.create(Object.create(null) as object) as unknown, 'no plain object'],
  [{ toJSON: () => 1 }, 'a Object'],
]

describe('what JSON would change', () => {
  test.each(ODD)('it is refused wherever it stands: case %# (PR-2)', (value, found) => {
    // An object whose prototype has none is plain, as one of another window.
    const isPlain = found === 'no plain object'
    expect(whyNot(value)).toBe(isPlain ? '' : refused('it', found))
    if (isPlain) return
    expect(whyNot([0, value])).toBe(refused('it[1]', found))
    expect(whyNot({ a: 0, b: { c: [value] } })).toBe(refused('it.b.c[0]', found))
    expect(() => toJson({ b: value }, 'args')).toThrow(refused('args.b', found))
  })
  test('an object without a constructor that is not plain is no plain object (PR-2)', () => {
    const odd = Object.create(Object.create(Object.create(null) as object) as object) as unknown
    expect(whyNot({ a: odd })).toBe(refused('it.a', 'no plain object'))
  })
  test('a circle is refused where it closes, an equal value beside it is not (PR-2)', () => {
    const circle: Record<string, unknown> = { a: 1 }
    circle['b'] = [circle]
    expect(whyNot(circle)).toBe(refused('it.b[0]', 'a circle'))
    const twice = { x: 1 }
    expect(whyNot([twice, twice])).toBe('')
  })
  test(`a value stands ${DEPTH_MAX} deep, and no deeper (PR-2)`, () => {
    expect(DEPTH_MAX).toBe(64)
    expect(whyNot(nested(64, 1))).toBe('')
    expect(whyNot(nested(63, []))).toBe('')
    expect(whyNot(nested(64, []))).toMatch(/: it is more than 64 levels deep, not /)
    expect(whyNot(nested(65, 1))).toMatch(/: it is more than 64 levels deep, not /)
  })
})

test('a text is JSON if a parser takes it (PR-2)', () => {
  const texts = ['1', '{}', ' [null] ', '', '{', 'undefined', "'a'"]
  expect(texts.map(isJson)).toEqual([true, true, true, false, false, false, false])
})
