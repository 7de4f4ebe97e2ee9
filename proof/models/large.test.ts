// Goal: what the small scopes show of sessions, objects and slots holds in larger ones.
// Method: the checker over the shipped machines, every interleaving.
// Slow: the scopes are the largest that end within minutes.
import { describe, expect, test } from 'vitest'
import { ROOMS } from './index.ts'

const PROVES: Readonly<Record<string, string>> = {
  session: 'T29, T43',
  slots: 'M31, M32, M36',
}

describe('large scopes', () => {
  for (const [room, models] of Object.entries(ROOMS)) {
    for (const { name, says, row, explore } of models.filter(({ row }) => row.size === 'large')) {
      test(`${row.proves ?? PROVES[room]!}: ${name} holds in every interleaving: ${says}`, () => {
        const report = explore()
        expect(report.violation).toBe(null)
        expect(report.complete).toBe(true)
        expect(report.states).toBeGreaterThanOrEqual(row.states!)
        expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
      })
    }
  }
})
