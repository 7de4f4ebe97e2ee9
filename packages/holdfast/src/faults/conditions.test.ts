// Goal: conditions have limits that hold on both sides, and a path remembers what it should.
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../test/calmly.ts'
import * as conditions from './conditions.ts'
import { fate, parse, PERFECT, verify, type Conditions } from './conditions.ts'
import * as prng from './prng.ts'

type Field = keyof Conditions

/** Each word with its field, its limits as written and as a number, and what is beyond them. */
const LIMITS: readonly [
  word: string,
  Field,
  least: string,
  number,
  most: string,
  number,
  over: string,
][] = [
  ['rtt', 'rttMs', '0', 0, '10000', 10_000, '10001'],
  ['rtt', 'rttMs', '0ms', 0, '10000ms', 10_000, '10000.1ms'],
  ['jitter', 'jitterMs', '0', 0, '10000', 10_000, '10001'],
  ['loss', 'lossShare', '0%', 0, '100%', 1, '100.1%'],
  ['dup', 'duplicateShare', '0%', 0, '100%', 1, '101%'],
  ['reorder', 'reorderShare', '0%', 0, '100%', 1, '101%'],
  ['burst', 'burst', '1', 1, '100', 100, '101'],
]

describe('limits', () => {
  test.each(LIMITS)('of %s hold in words and as numbers: %s (PR-2)', (word, field, ...limits) => {
    const [least, min, most, max, over] = limits
    expect(calmly(() => parse(`${word}=${least}`))).toEqual({ ...PERFECT, [field]: min })
    expect(calmly(() => parse(`${word}=${most}`))).toEqual({ ...PERFECT, [field]: max })
    expect(() => parse(`${word}=${over}`)).toThrow(`condition ${word} must be from`)
    for (const value of [min, max]) {
      expect(calmly(() => verify({ [field]: value }))).toEqual({ ...PERFECT, [field]: value })
    }
    const step = (max - min) / 1_000
    for (const value of [min - step, max + step, NaN]) {
      const why = `${field} must be from ${min} to ${max}: ${value}`
      expect(() => verify({ [field]: value })).toThrow(why)
    }
  })
  test('what is no number, or has a unit that is not its own, is refused (PR-2)', () => {
    for (const text of ['rtt=x', 'rtt=', 'rtt=5%', 'rtt=5s', 'loss=5', 'loss=5ms', 'loss=x']) {
      const [word] = text.split('=')
      expect(() => parse(text)).toThrow(`condition ${word} must be from`)
    }
    expect(() => parse('burst=0.5')).toThrow('condition burst must be from 1 to 100 datagrams')
  })
  test('nothing between commas is nothing (PR-2)', () => {
    expect(calmly(() => parse(' , rtt=5,, '))).toEqual({ ...PERFECT, rttMs: 5 })
  })
})

test('perfect is what changes no datagram, however long its runs of losses would be (PR-2)', () => {
  expect(conditions.isPerfect(PERFECT)).toBe(true)
  expect(conditions.isPerfect({ ...PERFECT, burst: 5 })).toBe(true)
  for (const field of [
    'rttMs',
    'jitterMs',
    'lossShare',
    'duplicateShare',
    'reorderShare',
  ] as const) {
    expect(conditions.isPerfect({ ...PERFECT, [field]: 0.5 })).toBe(false)
  }
})

describe('a path', () => {
  /** Which of a hundred datagrams arrive, and the generator after them. */
  function arrive(wire: Partial<Conditions>, path: conditions.Path | null): [boolean[], prng.Prng] {
    const chance = prng.create(9)
    const all = { ...PERFECT, ...wire }
    const came = Array.from({ length: 100 }, () => fate(all, chance, path).copies.length > 0)
    return [came, chance]
  }
  test('remembers nothing where losses come one by one (PR-2)', () => {
    for (const burst of [1, 0.5]) {
      const wire = { lossShare: 0.3, burst }
      expect(arrive(wire, conditions.createPath())).toEqual(arrive(wire, null))
    }
    const runs = { lossShare: 0.3, burst: 3 }
    expect(arrive(runs, conditions.createPath())).not.toEqual(arrive(runs, null))
  })
  test.each([0, 1])('on which the share of losses is %i draws no chance (PR-2)', (lossShare) => {
    for (const vanishing of [false, true]) {
      const [came, chance] = arrive({ lossShare, burst: 4 }, { vanishing })
      expect(came).toEqual(Array(100).fill(lossShare === 0))
      expect(chance).toEqual(prng.create(9))
    }
  })
  test('holds back by 20 to 40 ms, beside jitter and half the round trip (PR-2)', () => {
    const chance = prng.create(8)
    const wire = { ...PERFECT, rttMs: 100, reorderShare: 1 }
    const delays = Array.from({ length: 300 }, () => fate(wire, chance).copies[0]! - 50)
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(20)
    expect(Math.min(...delays)).toBeLessThan(21)
    expect(Math.max(...delays)).toBeLessThan(40)
    expect(Math.max(...delays)).toBeGreaterThan(39)
  })
  test('delivers each of two copies with a jitter of its own (PR-2)', () => {
    const chance = prng.create(8)
    const wire = { ...PERFECT, jitterMs: 30, duplicateShare: 1 }
    const { copies } = fate(wire, chance)
    expect(copies).toHaveLength(2)
    expect(copies[0]).not.toBe(copies[1])
  })
})
