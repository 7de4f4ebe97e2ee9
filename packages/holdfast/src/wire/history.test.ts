// Goal: a history's digest is MurmurHash3 as published, and the last letter that two histories
// have in common is found from their lives alone.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../test/calmly.ts'
import { toHex } from '../../../../test/hex.ts'
import type { Life } from '../ports.ts'
import {
  digestOf,
  fits,
  isSame,
  lastCommon as common,
  livesWith,
  LIVES_MAX,
  NO_DIGEST,
  NO_LIFE,
  type Line,
} from './history.ts'

const MASK = 0xffffffffn
const C = [0x239b961bn, 0xab0e9789n, 0x38b34ae5n, 0xa1e38b93n] as const
const ROUNDS = [
  [15n, 19n, 0x561ccd1bn],
  [16n, 17n, 0x0bcaa747n],
  [17n, 15n, 0x96cd1c35n],
  [18n, 13n, 0x32ac3b17n],
] as const

function turned(value: bigint, by: bigint): bigint {
  return ((value << by) | (value >> (32n - by))) & MASK
}

function stirred(value: bigint): bigint {
  let mixed = ((value ^ (value >> 16n)) * 0x85ebca6bn) & MASK
  mixed = ((mixed ^ (mixed >> 13n)) * 0xc2b2ae35n) & MASK
  return mixed ^ (mixed >> 16n)
}

function wordsOf(bytes: Uint8Array): bigint[] {
  const all = Buffer.alloc(Math.ceil(bytes.length / 16) * 16)
  all.set(bytes)
  return [...Array(all.length / 4).keys()].map((at) => BigInt(all.readUInt32LE(at * 4)))
}

/** MurmurHash3 x86 128 by whole numbers without a limit, with four words of seed. */
function murmur(seed: bigint[], body: Uint8Array): string {
  const h = [...seed]
  const words = wordsOf(body)
  const mixed = (word: bigint, i: number): bigint =>
    (turned((word * C[i]!) & MASK, ROUNDS[i]![0]) * C[(i + 1) % 4]!) & MASK
  for (let at = 0; at < words.length; at += 4) {
    const isWhole = at * 4 + 16 <= body.length
    for (let i = 0; i < 4; i++) {
      h[i]! ^= mixed(words[at + i]!, i)
      if (isWhole) {
        const sum = (turned(h[i]!, ROUNDS[i]![1]) + h[(i + 1) % 4]!) & MASK
        h[i] = (sum * 5n + ROUNDS[i]![2]) & MASK
      }
    }
  }
  const spread = (all: bigint[]): bigint[] => {
    const sum = all.reduce((total, one) => total + one) & MASK
    return [sum, ...all.slice(1).map((one) => (one + sum) & MASK)]
  }
  const sealed = spread(spread(h.map((one) => one ^ BigInt(body.length))).map(stirred))
  const out = Buffer.alloc(16)
  sealed.forEach((one, i) => out.writeUInt32LE(Number(one), i * 4))
  return toHex(out)
}

const digests = fc.uint8Array({ minLength: 16, maxLength: 16 })
const names = fc.uint8Array({ minLength: 8, maxLength: 8 })

describe('the digest of a letter', () => {
  test('it is MurmurHash3 whose seed is the digest before, the life and `mail` (PR-2)', () => {
    fc.assert(
      fc.property(
        digests,
        names,
        fc.uint8Array({ maxLength: 70, size: 'max' }),
        (before, life, body) => {
          const seed = wordsOf(before)
          const [first, second] = wordsOf(life)
          seed[0]! ^= first!
          seed[1]! ^= second!
          seed[2]! ^= 0x6c69616dn
          expect(toHex(digestOf(before, life, body))).toBe(murmur(seed, body))
        },
      ),
      { seed: 4, numRuns: 300 },
    )
  })
  test('an empty letter has one too, and it is not that of none (PR-2)', () => {
    const empty = digestOf(NO_DIGEST, NO_LIFE, new Uint8Array(0))
    expect(isSame(empty, NO_DIGEST)).toBe(false)
    expect(toHex(empty)).toBe(murmur([0n, 0n, 0x6c69616dn, 0n], new Uint8Array(0)))
  })
  test('two fit if they are equal, or if one is not known (PR-2)', () => {
    const [one, other] = [new Uint8Array(16).fill(1), new Uint8Array(16).fill(1)]
    expect(fits(one, other)).toBe(true)
    other[15] = 2
    expect(fits(one, other)).toBe(false)
    expect(fits(one, NO_DIGEST)).toBe(true)
    expect(fits(NO_DIGEST, other)).toBe(true)
  })
  test('runs of other lengths are never the same (PR-2)', () => {
    expect(isSame(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 3))).toBe(false)
    expect(isSame(Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2))).toBe(false)
    expect(isSame(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(true)
    expect(isSame(Uint8Array.of(3, 2), Uint8Array.of(1, 2))).toBe(false)
  })
})

function life(first: number, name: number): Life {
  return { first, life: new Uint8Array(8).fill(name) }
}

describe('lives', () => {
  test('a letter of the same life adds none, one of another begins it (PR-2)', () => {
    const one = calmly(() => livesWith([], 1, life(0, 7).life))
    expect(one).toEqual([life(1, 7)])
    expect(livesWith(one, 2, life(0, 7).life)).toBe(one)
    expect(livesWith(one, 3, life(0, 8).life)).toEqual([life(1, 7), life(3, 8)])
  })
  test(`the last ${LIVES_MAX} are remembered (PR-2)`, () => {
    let lives: readonly Life[] = []
    for (let n = 1; n <= 20; n++) lives = livesWith(lives, n, life(0, n).life)
    expect(LIVES_MAX).toBe(16)
    expect(lives.map(({ first }) => first)).toEqual([...Array(16).keys()].map((n) => n + 5))
  })
})

/** A history in full: the life that posted each letter, from the first one. */
type Told = readonly number[]

function lineOf(told: Told, forgotten = 0): { lives: Life[]; last: number } {
  const lives = told.flatMap((name, i) => (name === told[i - 1] ? [] : [life(i + 1, name)]))
  return { lives: lives.slice(forgotten), last: told.length }
}

function lastCommon(one: Line, other: Line): number | null {
  return calmly(() => common(one, other))
}

/** How many letters two histories share from their beginning. */
function shared(one: Told, other: Told): number {
  const apart = one.findIndex((name, i) => name !== other[i])
  return apart < 0 ? one.length : apart
}

describe('the last letter in common', () => {
  // The lives of a copy are its own, so histories that parted share no life any more.
  const stretch = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 })
  const told = (from: number): fc.Arbitrary<number[]> =>
    stretch.map((lengths) => lengths.flatMap((n, i) => Array<number>(n).fill(from + i)))

  test('it is where two histories parted, when all lives are remembered (PR-2)', () => {
    fc.assert(
      fc.property(told(10), told(20), told(30), (before, mine, theirs) => {
        const [one, other] = [
          [...before, ...mine],
          [...before, ...theirs],
        ]
        expect(lastCommon(lineOf(one), lineOf(other))).toBe(shared(one, other))
      }),
      { seed: 8, numRuns: 500 },
    )
  })
  test('it is found although one side forgot its oldest lives (PR-2)', () => {
    const one = [1, 1, 2, 2, 2, 3, 4]
    const other = [1, 1, 2, 2, 2, 3, 5, 5]
    for (let mine = 0; mine < 3; mine++) {
      for (let theirs = 0; theirs < 3; theirs++) {
        expect(lastCommon(lineOf(one, mine), lineOf(other, theirs)), `${mine} ${theirs}`).toBe(6)
      }
    }
  })
  test('a life that went on here is common as far as there (PR-2)', () => {
    expect(lastCommon(lineOf([1, 1, 1, 1]), lineOf([1, 1]))).toBe(2)
    expect(lastCommon(lineOf([1, 1]), lineOf([1, 1, 1, 1]))).toBe(2)
    expect(lastCommon(lineOf([1, 1, 2]), lineOf([1, 1, 1, 3]))).toBe(2)
    expect(lastCommon(lineOf([1, 2, 3]), lineOf([1, 4, 3]))).toBe(1)
  })
  test('of an empty history it is none, whatever the other has (PR-2)', () => {
    expect(lastCommon({ lives: [], last: 0 }, lineOf([1, 1]))).toBe(0)
    expect(lastCommon(lineOf([1, 1]), { lives: [life(9, 9)], last: 0 })).toBe(0)
    expect(lastCommon({ lives: [life(9, 9)], last: 0 }, lineOf([1, 2], 1))).toBe(0)
  })
  test('without a common life it is none where both know their first, else unknown (PR-2)', () => {
    expect(lastCommon(lineOf([1, 1]), lineOf([2, 2]))).toBe(0)
    expect(lastCommon(lineOf([1, 3], 1), lineOf([2, 2]))).toBe(null)
    expect(lastCommon(lineOf([1, 1]), lineOf([2, 4], 1))).toBe(null)
    const none = { lives: [], last: 3 }
    expect(lastCommon(none, none)).toBe(null)
    // A life of the same name that began with another letter is another.
    expect(lastCommon(lineOf([5, 5]), lineOf([6, 5], 1))).toBe(null)
  })
})
