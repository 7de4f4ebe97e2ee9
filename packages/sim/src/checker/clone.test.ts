import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rulesOf } from '../../../holdfast/src/machine.ts'
import { clone } from './clone.ts'
import { hash, hashNumbers } from './hash.ts'

/** Any state that a machine may hold. */
const plain = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, undefined, true, false),
    fc.integer(),
    fc.double({ noNaN: true }),
    fc.string(),
    fc.uint8Array(),
    fc.float64Array({ noNaN: true }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ maxLength: 3 }), tie('value'), { maxKeys: 4, noNullPrototype: true }),
    fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 4 }).map((pairs) => new Map(pairs)),
    fc.array(fc.integer(), { maxLength: 4 }).map((items) => new Set(items)),
  ),
})).value

describe('clone', () => {
  test('a copy equals its source, shares nothing and has the same hash', () => {
    fc.assert(
      fc.property(plain, (value) => {
        const copy = clone(value)
        expect(copy).toStrictEqual(value)
        expect(hash(copy)).toBe(hash(value))
        expect(shared(value, copy)).toBe(false)
      }),
      { seed: 2, numRuns: 500 },
    )
  })

  test('a Buffer is copied, not looked into', () => {
    const source = Buffer.from([1, 2, 3])
    const copy = clone(source)
    source[0] = 9
    expect([...copy]).toEqual([1, 2, 3])
  })

  test('rules are shared by copies, and tell no states apart', () => {
    const [mine, theirs] = [rulesOf({ takes: () => true }), rulesOf({ takes: () => false })]
    expect(clone({ at: [1], rules: mine }).rules).toBe(mine)
    expect(hash({ at: [1], rules: mine })).toBe(hash({ at: [1], rules: theirs }))
    expect(hash({ at: [1], rules: mine })).not.toBe(hash({ at: [1], rules: null }))
  })
  test('what is no plain data is refused by its name', () => {
    expect(() => clone({ at: new Date(0) })).toThrow('a state holds plain data only: Date')
    expect(() => clone([new (class Piece {})()])).toThrow('plain data only: Piece')
    expect(() => clone(() => 1)).toThrow('plain data only: function')
    expect(() => clone({ big: 1n })).toThrow('plain data only: bigint')
  })
})

describe('hash', () => {
  test('what differs has another number', () => {
    const groups: unknown[][] = [
      [0, 1, -1, 0.5, 2 ** 28, 2 ** 31, 2 ** 32, -(2 ** 31), 2 ** 53 - 1, Infinity, NaN],
      ['', '0', '1', 'ab', 'ba', 'a\u0000', 'a', '\u0000a', null, undefined, true, false],
      [[], [0], [[]], [[], []], [[[]]], {}, { a: 1 }, { a: 2 }, { b: 1 }, { a: undefined }],
      [new Map(), new Map([[1, 2]]), new Map([[2, 1]]), new Set(), new Set([1]), new Set(['1'])],
      [new Uint8Array(1), new Uint8Array(2), new Int8Array(1), new Uint8Array([0, 1])],
      [{ a: { b: 1 } }, { a: {}, b: 1 }, ['a', 'b'], ['ab'], new Map([['1', 2]])],
      [new Map([[{ a: 1 }, 1]]), new Map([[{ a: 2 }, 1]]), new Set([[1]]), new Set([[2]])],
    ]
    const values = groups.flat(1)
    const numbers = new Set(values.map(hash))
    expect(numbers.size).toBe(values.length)
  })

  test('each number of a typed array counts, of whatever kind it is (PR-2)', () => {
    for (const kind of [Uint8Array, Int8Array, Uint16Array, Int32Array, Float64Array]) {
      const arrays = [kind.of(1, 2, 3), kind.of(9, 2, 3), kind.of(1, 9, 3), kind.of(1, 2, 9)]
      expect(new Set(arrays.map(hash)).size).toBe(4)
      expect(hash(kind.of(1, 2, 3))).toBe(hash(arrays[0]))
    }
  })

  test('the order in a Map or Set does not count', () => {
    const forth = new Map([
      ['a', new Set([1, 2, 3])],
      ['b', new Set([4])],
    ])
    const back = new Map([
      ['b', new Set([4])],
      ['a', new Set([3, 1, 2])],
    ])
    expect(hash({ forth })).toBe(hash({ forth: back }))
  })

  test('entries that swap their values are told apart', () => {
    expect(
      hash(
        new Map([
          [1, 'a'],
          [2, 'b'],
        ]),
      ),
    ).not.toBe(
      hash(
        new Map([
          [1, 'b'],
          [2, 'a'],
        ]),
      ),
    )
  })

  test('0 and -0 are the same', () => {
    expect(hash([0])).toBe(hash([-0]))
  })

  test('what is no plain data is refused by its name', () => {
    expect(() => hash({ at: new Date(0) })).toThrow('a state holds plain data only: Date')
    expect(() => hash({ run: () => 1 })).toThrow('a state holds plain data only: function')
  })

  test('200,000 states of one field more or less have 200,000 numbers of at most 53 bits', () => {
    const numbers = new Set<number>()
    for (let a = 0; a < 200; a++) {
      for (let b = 0; b < 1000; b++) numbers.add(hash({ a, net: [{ to: b, kind: 'ACK' }] }))
    }
    expect(numbers.size).toBe(200_000)
    expect([...numbers].every(Number.isSafeInteger)).toBe(true)
  })

  test('300,000 sets and maps have as many numbers: 32 bits would be too few (PR-2)', () => {
    const numbers = new Set<number>()
    for (let n = 0; n < 150_000; n++) {
      numbers.add(hash(new Set([n])))
      numbers.add(hash(new Map([['at', n]])))
    }
    expect(numbers.size).toBe(300_000)
  })

  test('200,000 rows of numbers have as many hashes, which the numbers behind do not change', () => {
    const numbers = new Set<number>()
    const row = new Int32Array(6)
    for (let n = 0; n < 200_000; n++) {
      row.set([n % 50, 0, Math.floor(n / 50) % 100, Math.floor(n / 5_000), 7, n])
      numbers.add(hashNumbers(row, 5))
    }
    expect(numbers.size).toBe(200_000)
    expect([...numbers].every(Number.isSafeInteger)).toBe(true)
    const other = row.with(5, 0)
    expect(hashNumbers(other, 5)).toBe(hashNumbers(row, 5))
    expect(hashNumbers(other, 6)).not.toBe(hashNumbers(row, 6))
  })

  test('each of the 53 bits is set about as often as not', () => {
    const counts = new Uint32Array(53)
    for (let i = 0; i < 4096; i++) {
      const number = hash([i])
      for (let bit = 0; bit < 53; bit++) counts[bit]! += Math.floor(number / 2 ** bit) % 2
    }
    for (const count of counts) expect(Math.abs(count - 2048)).toBeLessThan(200)
  })
})

/** Whether any container occurs in both trees. */
function shared(one: unknown, two: unknown): boolean {
  const containers = new Set<unknown>()
  walk(one, (container) => void containers.add(container))
  let found = false
  walk(two, (container) => void (found ||= containers.has(container)))
  return found
}

function walk(value: unknown, visit: (container: object) => void): void {
  if (typeof value !== 'object' || value === null) return
  visit(value)
  if (ArrayBuffer.isView(value)) return visit(value.buffer)
  if (value instanceof Map) for (const [, item] of value) walk(item, visit)
  else for (const item of Object.values(value)) walk(item, visit)
}
