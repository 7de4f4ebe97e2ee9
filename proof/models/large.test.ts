// Goal: what the small scopes show of sessions, objects and slots holds in larger ones.
// Method: the checker over the shipped machines, every interleaving.
// Slow: the scopes are the largest that end within minutes.
import { describe, expect, test } from 'vitest'
import { LARGE, ROOMS } from './index.ts'

/** What each is to show, and how many states it has at least. */
const SCOPES: Record<string, { proves: string; states: number }> = {
  F1: { proves: 'T29, T43', states: 520_000 },
  F4: { proves: 'T29, T43', states: 102_000 },
  F5: { proves: 'T29, T43', states: 104_000 },
  G3: { proves: 'B23', states: 110_000 },
  G7: { proves: 'B51', states: 33_000 },
  G8: { proves: 'B54', states: 100_000 },
  G17: { proves: 'B12', states: 70_000 },
  Q6: { proves: 'B30', states: 70_000 },
  S7: { proves: 'B12', states: 20_000 },
  SL2: { proves: 'M31, M32, M36', states: 23_000 },
}

describe('large scopes', () => {
  const all = Object.values(ROOMS).flatMap((models) => models.filter(({ name }) => LARGE.has(name)))
  for (const model of all) {
    const { proves, states } = SCOPES[model.name]!
    test(`${proves}: ${model.name} holds in every interleaving: ${model.says}`, () => {
      const report = model.explore()
      expect(report.violation).toBe(null)
      expect(report.complete).toBe(true)
      expect(report.states).toBeGreaterThanOrEqual(states)
      expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
    })
  }

  test('each is listed once', () => {
    expect(all.map(({ name }) => name).toSorted()).toEqual(Object.keys(SCOPES).toSorted())
  })
})
