// Goal: a seed that is kept draws the same for ever, and a share is exactly what it says.
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../test/calmly.ts'
import * as prng from './prng.ts'

function words(from: prng.Prng): number[] {
  return [0, 1, 2].map(() => prng.word(from))
}

describe('a seed', () => {
  test('that is a text, is large or below 0 draws as it always did, since seeds are kept (PR-2)', () => {
    const seeds = ['', 'a', 'a text as a seed', 0, -1, 2 ** 40 + 5, Number.MIN_SAFE_INTEGER]
    expect(seeds.map((seed) => words(calmly(() => prng.create(seed))))).toEqual(DRAWN)
  })
  test('is a safe integer or a text (PR-2)', () => {
    for (const odd of [0.5, NaN, Infinity, 2 ** 53]) {
      const why = `a seed must be a safe integer or a text: ${odd}`
      expect(() => prng.create(odd)).toThrow(why)
    }
  })
  test('a fork of it draws as it always did, by its label and what was drawn before (PR-2)', () => {
    const parent = prng.create(5)
    const forks = ['', 'a', 'b'].map((label) => words(prng.fork(parent, label)))
    prng.word(parent)
    forks.push(words(prng.fork(parent, 'a')))
    expect(forks).toEqual(FORKED)
  })
})

describe('a draw', () => {
  test('below a count is from 0 to one less; the count is 1 to 2^32 (PR-2)', () => {
    const chance = prng.create(1)
    for (const count of [1, 2, 2 ** 32]) {
      const drawn = Array.from({ length: 50 }, () => calmly(() => prng.below(chance, count)))
      expect(drawn.every((one) => Number.isInteger(one) && one >= 0 && one < count)).toBe(true)
      expect(new Set(drawn).size > 1).toBe(count > 1)
    }
    for (const odd of [0, -1, 1.5, NaN, 2 ** 32 + 1]) {
      const why = `below needs a count from 1 to 2^32: ${odd}`
      expect(() => prng.below(chance, odd)).toThrow(why)
    }
    expect(() => prng.pick(chance, [])).toThrow('a count from 1 to 2^32: 0')
    expect(prng.pick(chance, ['one'])).toBe('one')
  })
  test('with a probability is true if what is drawn is below it (PR-2)', () => {
    const chance = prng.create(2)
    for (let i = 0; i < 20; i++) {
      const drawn = prng.next(structuredClone(chance))
      expect(prng.chance(structuredClone(chance), drawn)).toBe(false)
      expect(prng.chance(structuredClone(chance), drawn + 2 ** -32)).toBe(true)
      prng.word(chance)
    }
  })
  test('for 0 and below, 1 and above no number is drawn (PR-2)', () => {
    const chance = prng.create(3)
    const before = structuredClone(chance)
    expect([-1, 0, 1, 2].map((one) => prng.chance(chance, one))).toEqual([false, false, true, true])
    expect(chance).toEqual(before)
    prng.chance(chance, 0.5)
    expect(chance).not.toEqual(before)
  })
  test('between two numbers is from the one up to the other (PR-2)', () => {
    const chance = prng.create(4)
    const drawn = Array.from({ length: 200 }, () => prng.between(chance, -2, 6))
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(-2)
    expect(Math.max(...drawn)).toBeLessThan(6)
    expect(Math.max(...drawn) - Math.min(...drawn)).toBeGreaterThan(7.5)
  })
  test.each([0, 1, 3, 4, 5, 8, 11])(
    'of %i bytes takes words, the lowest byte first (PR-2)',
    (n) => {
      const [one, other] = [prng.create(6), prng.create(6)]
      const whole = Buffer.alloc(Math.ceil(n / 4) * 4)
      for (let at = 0; at < whole.length; at += 4) whole.writeUInt32LE(prng.word(other), at)
      const bytes = new Uint8Array(n)
      prng.fill(one, bytes)
      expect([...bytes]).toEqual([...whole.subarray(0, n)])
      expect(one).toEqual(other)
    },
  )
})

// As the first build drew them.
const DRAWN = [
  [548786135, 2402531626, 755605153],
  [4108232202, 2837752012, 1333223062],
  [2920782352, 2638583264, 914970053],
  [2711234033, 2066205539, 959237663],
  [4268194029, 1014768342, 3456041534],
  [1945047563, 812811964, 1701461750],
  [180319177, 1586214831, 188691735],
]
const FORKED = [
  [794010377, 3184383579, 2812322713],
  [3405193447, 1870733449, 1709721800],
  [4141352999, 340289308, 4082016760],
  [3916248486, 3338698719, 1078078330],
]
