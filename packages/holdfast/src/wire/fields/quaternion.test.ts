// Goal: an orientation is three numbers of its bits in one form, which any reader can check.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../../test/calmly.ts'
import { createBitReader, createBitWriter, finishBits, writeBits } from '../bits.ts'
import { createReader, createWriter, finish } from '../bytes.ts'
import { type Quantised, type Quaternion, quaternion } from './fields.ts'
import { quantise, quantiseInto, readFields, schema, u32, valueOf, writeFields } from './schema.ts'

const finite = fc.double({ noDefaultInfinity: true, noNaN: true })
const turns = fc
  .tuple(finite, finite, finite, finite)
  .filter((turn) => turn.some((one) => one !== 0))

/** What is sent: the index of the largest component, and the three others. */
function places(bits: number, turn: Quaternion): Quantised {
  const into: Quantised = []
  calmly(() => quaternion(bits).quantise(turn, into, 0))
  return into
}

/** Whether a reader takes an index and three whole numbers. */
function isTaken(bits: number, index: number, others: readonly number[]): boolean {
  const limit = 2 ** (bits - 1) - 1
  const writer = createBitWriter()
  writeBits(writer, index, 2)
  for (const one of others) writeBits(writer, one + limit, bits)
  const reader = createBitReader(finishBits(writer))
  calmly(() => quaternion(bits).read(reader, [], 0))
  return !reader.failed
}

/** The rule in words: no other is larger than the first of the largest. */
function isInForm(bits: number, index: number, others: readonly number[]): boolean {
  const limit = 2 ** (bits - 1) - 1
  if (others.some((one) => Math.abs(one) > limit)) return false
  const left = others.reduce((rest, one) => rest - one * one, 2 * limit * limit)
  return others.every((one, i) => one * one < left || (one * one === left && i >= index))
}

describe('an orientation', () => {
  test('is taken in its one form, and in no other: all of three bits (PR-2)', () => {
    let [taken, all] = [0, 0]
    const range = [-3, -2, -1, 0, 1, 2, 3, 4]
    for (const index of [0, 1, 2, 3]) {
      for (const a of range) {
        for (const b of range) {
          for (const c of range) {
            const inForm = isInForm(3, index, [a, b, c])
            expect(isTaken(3, index, [a, b, c]), `${index}: ${a} ${b} ${c}`).toBe(inForm)
            taken += inForm ? 1 : 0
            all++
          }
        }
      }
    }
    expect([taken > 200, all]).toEqual([true, 2_048])
  })
  test('is sent in a form that is taken, whatever its length (PR-2)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 16 }), turns, (bits, turn) => {
        const [index, ...others] = places(bits, turn as Quaternion) as number[]
        expect(others).toHaveLength(3)
        expect(isInForm(bits, index!, others)).toBe(true)
        expect(isTaken(bits, index!, others)).toBe(true)
        expect(others.some((one) => Object.is(one, -0))).toBe(false)
      }),
      { seed: 9, numRuns: 500 },
    )
  })
  test('is so near to what was sent as the steps allow, in each component (PR-2)', () => {
    const near = fc.double({ min: -1, max: 1, noNaN: true })
    const four = fc.tuple(near, near, near, near)
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 16 }), four, (bits, drawn) => {
        const length = Math.hypot(...drawn)
        fc.pre(length > 0.01)
        const field = quaternion(bits)
        const back = calmly(() => field.valueAt(places(bits, drawn), 0))
        expect(Math.hypot(...back)).toBeCloseTo(1, 9)
        const same = back.reduce((sum, one, i) => sum + one * drawn[i]!, 0) < 0 ? -1 : 1
        const step = 1 / (Math.SQRT2 * (2 ** (bits - 1) - 1))
        for (const [i, one] of back.entries()) {
          expect(Math.abs(same * one - drawn[i]! / length)).toBeLessThanOrEqual(1.5 * step)
        }
      }),
      { seed: 9, numRuns: 500 },
    )
  })
  test.each<[Quaternion, number[]]>([
    [
      [0, 0, 0, 1],
      [3, 0, 0, 0],
    ],
    [
      [0, 0, 0, -2],
      [3, 0, 0, 0],
    ],
    [
      [1, 1, 0, 0],
      [0, 3, 0, 0],
    ],
    [
      [0, 0, 1, -1],
      [2, 0, 0, -3],
    ],
    [
      [1, 1, 1, 1],
      [0, 2, 2, 2],
    ],
    [
      [-1, 1, -1, 1],
      [0, -2, 2, -2],
    ],
  ])('%j is the whole numbers %j of three bits (PR-2)', (turn, expected) => {
    expect(places(3, turn)).toEqual(expected)
  })
  test('has a length above 0 and four finite components (PR-2)', () => {
    const why = 'must have a length above 0: [0,0,0,0]'
    expect(() => quaternion(4).quantise([0, 0, 0, 0], [], 0)).toThrow(why)
    for (const odd of [NaN, Infinity, '1']) {
      for (let i = 0; i < 4; i++) {
        const turn = [1, 1, 1, 1] as unknown[]
        turn[i] = odd
        const sentence = 'must be a finite number'
        expect(() => quaternion(4).quantise(turn as never, [], 0)).toThrow(sentence)
      }
    }
    expect(() => quaternion(4).quantise([1, 1, 1] as never, [], 0)).toThrow('four numbers')
  })
  test('says nothing of the field behind it (PR-2)', () => {
    const type = schema({ turn: quaternion(6), n: u32 })
    const state = quantise(type, { turn: [0, 0, 0, 1], n: 4_000_000_000 })
    const writer = createWriter()
    writeFields(writer, type, quantise(type, { turn: [1, 1, 1, 1], n: 0 }), 0b01)
    const mask = calmly(() => readFields(createReader(finish(writer)), type, state))
    expect([mask, valueOf(type, state).n]).toEqual([0b01, 4_000_000_000])
    expect(quantiseInto(type, { turn: [1, 1, 1, 1] }, state)).toBe(0)
    expect(valueOf(type, state).n).toBe(4_000_000_000)
  })
})
