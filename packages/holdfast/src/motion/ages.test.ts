// Goal: the figures of a stage are those of its newest samples, and it counts all that there were.
import { describe, expect, test } from 'vitest'
import * as ages from './ages.ts'

function figuresOf(samples: readonly number[]): ages.AgeFigures {
  const all = ages.create()
  for (const [at, age] of samples.entries()) ages.note(all, 'shown', at * 10, age)
  return ages.figures(all.shown)
}

describe('the age of data', () => {
  test('without samples there are no figures', () => {
    expect(figuresOf([])).toEqual({ count: 0, mean: NaN, p99: NaN, recent: [] })
  })
  test('T73: a sample is noted when and how old it came, at its own stage alone (PR-2)', () => {
    const all = ages.create()
    ages.note(all, 'serverSend', 1_000, 30)
    ages.note(all, 'serverSend', 1_010, 50)
    expect(ages.figures(all.serverSend)).toEqual({
      count: 2,
      mean: 40,
      p99: 50,
      recent: [
        { at: 1_030, age: 30 },
        { at: 1_060, age: 50 },
      ],
    })
    const others = ages.STAGES.filter((stage) => stage !== 'serverSend')
    expect(others.map((stage) => ages.figures(all[stage]).count)).toEqual([0, 0, 0, 0])
  })
  test.each([511, 512, 513, 1_300])('T73: of %i samples the last 512 count (PR-2)', (count) => {
    const samples = Array.from({ length: count }, (_, n) => (n * 7) % 1_001)
    const { recent, mean, p99, ...rest } = figuresOf(samples)
    const last = samples.slice(-512)
    expect(rest.count).toBe(count)
    expect(recent.map(({ age }) => age)).toEqual(last)
    expect(recent[0]!.at).toBe((count - last.length) * 10 + last[0]!)
    expect(mean).toBeCloseTo(last.reduce((sum, one) => sum + one, 0) / last.length, 9)
    const sorted = last.toSorted((a, b) => a - b)
    expect(p99).toBe(sorted[Math.ceil(last.length * 0.99) - 1])
  })
  test('T73: the 99th percentile is above 99 of 100 samples, not above all (PR-2)', () => {
    expect(figuresOf(Array.from({ length: 100 }, (_, n) => n)).p99).toBe(98)
    expect(figuresOf([5]).p99).toBe(5)
  })
})
