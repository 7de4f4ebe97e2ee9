import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SEQUENCE_MODULUS, unwrap, wrap } from './sequence.ts'

test('a number is found again from its low bits when it is less than half the modulus away', () => {
  const near = fc.integer({ min: -1, max: 10_000_000 })
  const ahead = fc.integer({ min: -SEQUENCE_MODULUS / 2, max: SEQUENCE_MODULUS / 2 - 1 })
  fc.assert(
    fc.property(near, ahead, (from, step) => {
      expect(unwrap(wrap(from + step), from)).toBe(from + step)
    }),
    { seed: 7 },
  )
})

test('the low bits of a number are from 0 to one less than the modulus (PR-2)', () => {
  const numbers = [-65_537, -65_536, -65_535, -1, 0, 1, 65_535, 65_536, 65_537]
  expect(numbers.map((one) => wrap(one) + 0)).toEqual([65_535, 0, 1, 65_535, 0, 1, 65_535, 0, 1])
  expect([-4, -1, 0, 3, 4, 5].map((one) => wrap(one, 4) + 0)).toEqual([0, 3, 0, 3, 0, 1])
})

test('exactly half way counts as behind, across the wrap too', () => {
  expect(unwrap(32768, 0)).toBe(-32768)
  expect(unwrap(1, 65535)).toBe(65537)
  expect(unwrap(65535, 65536)).toBe(65535)
  expect(unwrap(2, 0, 4)).toBe(-2)
  expect(unwrap(1, 4, 4)).toBe(5)
})
