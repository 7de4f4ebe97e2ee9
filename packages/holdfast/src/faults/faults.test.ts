import { describe, expect, test } from 'vitest'
import * as conditions from './conditions.ts'
import { PERFECT, fate, format, parse } from './conditions.ts'
import * as prng from './prng.ts'

describe('prng', () => {
  test('the same seed gives the same words, another seed others', () => {
    const one = prng.create(7)
    const two = prng.create(7)
    const other = prng.create(8)
    const words = Array.from({ length: 100 }, () => prng.word(one))
    expect(Array.from({ length: 100 }, () => prng.word(two))).toEqual(words)
    expect(Array.from({ length: 100 }, () => prng.word(other))).not.toEqual(words)
  })

  test('its words stay as they are, since seeds are kept as tests', () => {
    const chance = prng.create(1)
    expect([prng.word(chance), prng.word(chance), prng.word(chance)]).toMatchInlineSnapshot(`
      [
        251437872,
        2168974609,
        3960712899,
      ]
    `)
  })

  test('a clone goes on as the original does', () => {
    const chance = prng.create('a text as a seed')
    prng.next(chance)
    const copy = structuredClone(chance)
    expect(prng.word(copy)).toBe(prng.word(chance))
  })

  test('a fork draws nothing from its parent and differs by label', () => {
    const chance = prng.create(3)
    const before = structuredClone(chance)
    const [a, again, b] = ['a', 'a', 'b'].map((label) => prng.word(prng.fork(chance, label)))
    expect(chance).toEqual(before)
    expect(again).toBe(a)
    expect(b).not.toBe(a)
  })

  test('below(6) is even over six sides within four standard deviations', () => {
    const chance = prng.create(11)
    const sides = [0, 0, 0, 0, 0, 0]
    for (let i = 0; i < 60_000; i++) sides[prng.below(chance, 6)]!++
    for (const count of sides) expect(Math.abs(count - 10_000)).toBeLessThan(4 * 92)
  })

  test('fill reaches each byte and every value', () => {
    const bytes = new Uint8Array(4099)
    prng.fill(prng.create(5), bytes)
    expect(new Set(bytes).size).toBe(256)
    expect(bytes.subarray(-3).some((byte) => byte > 0)).toBe(true)
  })

  test('what is out of its limits is refused with limit and value', () => {
    expect(() => prng.create(0.5)).toThrow('a seed must be a safe integer or a text: 0.5')
    expect(() => prng.below(prng.create(1), 0)).toThrow('a count from 1 to 2^32: 0')
  })
})

describe('conditions in words', () => {
  test('all words are read, in any order, with spaces', () => {
    expect(parse('rtt=120, loss=5%,jitter=30,dup=1%,reorder=2.5%,burst=3')).toEqual({
      rttMs: 120,
      lossShare: 0.05,
      jitterMs: 30,
      duplicateShare: 0.01,
      reorderShare: 0.025,
      burst: 3,
    })
    expect(parse('')).toEqual(PERFECT)
    expect(parse('rtt=40ms', { ...PERFECT, jitterMs: 9 })).toMatchObject({ rttMs: 40, jitterMs: 9 })
  })

  test('what is written is what was read', () => {
    const text = 'rtt=120,loss=7%,jitter=30,dup=1.1%,reorder=2%,burst=3'
    expect(format(parse(text))).toBe(text)
    expect(format(PERFECT)).toBe('')
  })

  test.each([
    ['lag=3', 'no condition is called "lag"; there are rtt, loss, jitter, dup, reorder, burst'],
    ['loss=5', 'condition loss must be from 0% to 100%, such as loss=5%: "5"'],
    ['loss=101%', 'condition loss must be from 0% to 100%, such as loss=5%: "101%"'],
    ['rtt=5%', 'condition rtt must be from 0 to 10000 milliseconds, such as rtt=120: "5%"'],
    ['rtt=-1', 'condition rtt must be from 0 to 10000 milliseconds, such as rtt=120: "-1"'],
    ['jitter=20000', 'condition jitter must be from 0 to 10000 milliseconds'],
    ['burst=0', 'condition burst must be from 1 to 100 datagrams, such as burst=3: "0"'],
    ['rtt', 'condition rtt is written rtt=120: "rtt"'],
    ['rtt=1=2', 'condition rtt is written rtt=120: "rtt=1=2"'],
    ['rtt=1,rtt=2', 'condition rtt is given twice: "rtt=1,rtt=2"'],
  ])('%s is refused with the word, the limit and the value', (text, message) => {
    expect(() => parse(text)).toThrow(message)
  })

  test('fields out of their limits are refused by name', () => {
    expect(() => conditions.verify({ lossShare: 5 })).toThrow('lossShare must be from 0 to 1: 5')
    expect(() => conditions.verify({ rttMs: Number.NaN })).toThrow('rttMs must be from 0 to 10000')
    expect(conditions.verify({ rttMs: 5 })).toEqual({ ...PERFECT, rttMs: 5 })
  })

  test('a field that is no number is refused, even if it reads as one (PR-2)', () => {
    for (const value of ['5', null, true]) {
      const given = { rttMs: value as unknown as number }
      expect(() => conditions.verify(given)).toThrow(`rttMs must be from 0 to 10000: ${value}`)
    }
  })
})

describe('the fate of a datagram', () => {
  const many = 50_000

  test('on a quiet wire it arrives once, at once, and no chance is drawn', () => {
    const chance = prng.create(1)
    const before = structuredClone(chance)
    expect(fate(PERFECT, chance)).toEqual({ copies: [0] })
    expect(chance).toEqual(before)
  })

  test('delays lie between half the round trip and that plus jitter', () => {
    const chance = prng.create(2)
    const delays = Array.from(
      { length: 1000 },
      () => fate({ ...PERFECT, rttMs: 100, jitterMs: 30 }, chance).copies[0]!,
    )
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(50)
    expect(Math.min(...delays)).toBeLessThan(51)
    expect(Math.max(...delays)).toBeLessThan(80)
    expect(Math.max(...delays)).toBeGreaterThan(79)
  })

  test('shares are kept: 5 % lost, 3 % twice, 2 % held back', () => {
    const chance = prng.create(3)
    const wire = { ...PERFECT, lossShare: 0.05, duplicateShare: 0.03, reorderShare: 0.02 }
    let lost = 0
    let twice = 0
    let held = 0
    for (let i = 0; i < many; i++) {
      const { copies } = fate(wire, chance)
      if (copies.length === 0) lost++
      if (copies.length === 2) twice++
      if (copies.some((delay) => delay >= 20)) held++
    }
    expect(lost / many).toBeCloseTo(0.05, 2)
    expect(twice / many).toBeCloseTo(0.03, 2)
    expect(held / many).toBeCloseTo(0.02, 2)
  })

  test('without a path that remembers every loss stands alone, whatever the burst (PR-2)', () => {
    const wire = { ...PERFECT, lossShare: 0.5, burst: 4 }
    const lost = (burst: number): boolean[] => {
      const chance = prng.create(5)
      return Array.from({ length: 100 }, () => {
        return fate({ ...wire, burst }, chance).copies.length === 0
      })
    }
    expect(() => lost(4)).not.toThrow()
    expect(lost(4)).toEqual(lost(1))
    expect(new Set(lost(4)).size).toBe(2)
  })

  test.each([
    [0.05, 4, 4],
    [0.1, 10, 10],
    [0.9, 3, 9],
  ])('loss of %d in bursts of %d keeps its share, in runs of %d', (lossShare, burst, mean) => {
    const chance = prng.create(4)
    const path = conditions.createPath()
    let lost = 0
    let runs = 0
    let before = false
    for (let i = 0; i < 4 * many; i++) {
      const vanished = fate({ ...PERFECT, lossShare, burst }, chance, path).copies.length === 0
      if (vanished) lost++
      if (vanished && !before) runs++
      before = vanished
    }
    expect(lost / (4 * many)).toBeCloseTo(lossShare, 1.5)
    expect(Math.abs(lost / runs - mean) / mean).toBeLessThan(0.1)
  })
})
