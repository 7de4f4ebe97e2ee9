// Goal: of two who type into one text, neither loses a character, wherever their edits are.
// Method: examples, and random edits with fast-check.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { merge, moved } from './text.ts'

describe('two edits of one text', () => {
  test.each([
    ['both at the end: the other first', 'Bread', 'Breadg', 'BreadA', 'BreadAg'],
    ['apart', 'milk and tea', 'milk, and tea', 'milk and green tea', 'milk, and green tea'],
    [
      'apart, the other before',
      'milk and tea',
      'milk and green tea',
      'oat milk and tea',
      'oat milk and green tea',
    ],
    ['one word, replaced twice', 'red', 'green', 'blue', 'bluegreen'],
    ['deleted by one, changed by the other', 'a red car', 'a car', 'a red big car', 'a big car'],
    ['deleted by both', 'abc', 'ac', 'ac', 'ac'],
    ['emptied, and typed into', 'abc', '', 'abcd', 'd'],
    ['nothing by this user', 'abc', 'abc', 'xyz', 'xyz'],
    ['nothing by the other', 'abc', 'xyz', 'abc', 'xyz'],
  ])('%s', (_what, base, own, other, both) => {
    expect(merge(base, own, other)).toBe(both)
  })

  test('keep all that was typed, in any place', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 })
    const edit = fc.tuple(fc.nat(8), fc.nat(8))
    const typed = (base: string, [at, cut]: [number, number], word: string): string => {
      const start = Math.min(at, base.length)
      return base.slice(0, start) + word + base.slice(start + cut)
    }
    fc.assert(
      fc.property(text, edit, edit, (base, mine, theirs) => {
        const merged = merge(base, typed(base, mine, 'MMM'), typed(base, theirs, 'TTT'))
        expect(merged).toContain('MMM')
        expect(merged).toContain('TTT')
      }),
    )
  })

  test('deletions of both are done, and nothing that neither touched goes', () => {
    fc.assert(
      fc.property(fc.nat(7), fc.nat(7), (one, two) => {
        const base = 'abcdefgh'
        const without = (at: number): string => base.slice(0, at) + base.slice(at + 1)
        const merged = merge(base, without(one), without(two))
        expect(merged).toBe(
          Array.from(base, (letter, at) => (at === one || at === two ? '' : letter)).join(''),
        )
      }),
    )
  })
})

test('a caret stays before or behind the same text', () => {
  expect(moved('bread', 'rye bread', 5)).toBe(9)
  expect(moved('bread', 'bread!', 5)).toBe(5)
  expect(moved('bread', 'bed', 2)).toBe(1)
})
