// Goal: a cell is known by all that is in it, and a table knows what was put into it.
// Method: values that differ in one thing each; tables beside a Map of the same.
import { describe, expect, test } from 'vitest'
import { rulesOf } from '../../../holdfast/src/machine.ts'
import * as cells from './cells.ts'
import * as pairs from './pairs.ts'

describe('values that are kept once', () => {
  test('what differs in anything has a number of its own, and what is equal the same', () => {
    const values = (): unknown[] => [
      ...[0, 1, -1, 0.5, 2 ** 31, 2 ** 40, Infinity, -Infinity, NaN, null, undefined],
      ...[true, false, '', '0', 'a', 'ab', 'abc', 'ab\0'],
      ...[[], [0], [0, 0], [[0], 0], [[], []], {}, { a: 1 }, { b: 1 }, { a: 1, b: 1 }],
      ...[{ a: { b: 1 } }, { a: {}, b: 1 }],
      ...[new Map(), new Map([[1, 2]]), new Map([[2, 1]]), new Set(), new Set([1, 2])],
      ...[new Uint8Array(0), new Uint8Array([1]), new Uint32Array([1]), [1]],
    ]
    const kept = cells.create()
    const numbers = values().map((value) => cells.numberOf(kept, value))
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(values().map((value) => cells.numberOf(kept, value))).toEqual(numbers)
    expect(numbers.map((number) => cells.valueOf(kept, number))).toEqual(values())
  })

  test('the order in a Map and a Set counts, that of equal rules does not', () => {
    const kept = cells.create()
    const number = (value: unknown): number => cells.numberOf(kept, value)
    expect(number(new Set([1, 2]))).not.toBe(number(new Set([2, 1])))
    const [one, two] = [[1, 'a'] as const, [2, 'b'] as const]
    expect(number(new Map([one, two]))).not.toBe(number(new Map([two, one])))
    expect(number([rulesOf({ says: () => 1 })])).toBe(number([rulesOf({ says: () => 2 })]))
  })

  test('what is no plain data is refused', () => {
    for (const odd of [() => 1, 1n, Symbol('odd')]) {
      expect(() => cells.numberOf(cells.create(), [odd])).toThrow('plain data only')
    }
  })

  test('a value longer than there is room for at first is kept whole', () => {
    const kept = cells.create()
    const long = Array.from({ length: 20_000 }, (_, i) => i)
    const number = cells.numberOf(kept, long)
    expect(cells.numberOf(kept, long.with(19_999, 0))).not.toBe(number)
    expect(cells.numberOf(kept, [...long])).toBe(number)
  })
})

describe('tables by two numbers', () => {
  test('know of thousands what they were told, and of others nothing', () => {
    const table = pairs.create()
    for (let a = 0; a < 100; a++) {
      for (let b = 0; b < 100; b++) pairs.keep(table, a, b * 65_536, a * 1_000 + b)
    }
    for (let a = 0; a < 100; a++) {
      for (let b = 0; b < 100; b++) expect(pairs.find(table, a, b * 65_536)).toBe(a * 1_000 + b)
    }
    expect(pairs.find(table, 100, 0)).toBe(-1)
    expect(pairs.find(table, 0, 1)).toBe(-1)
  })

  test('what is remembered is made once', () => {
    let made = 0
    const sum = cells.remember(cells.create(), (a: number, b: number) => [++made, a + b])
    expect([sum(1, 2), sum(2, 1), sum(1, 2)]).toEqual([
      [1, 3],
      [2, 3],
      [1, 3],
    ])
  })
})
