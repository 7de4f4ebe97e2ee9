// Goal: link.order, link.truth, link.fate and link.live in every interleaving of a small scope.
// Method: the checker over the shipped link; and each mutant must be found.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { DEEP, GOOD, MUTANTS, linkModel } from './link.ts'

describe('link', () => {
  test('B2, B3: the good link holds its properties in every interleaving, all reached', () => {
    const report = check(linkModel('link', GOOD), {
      statesMax: 2_000_000,
    })
    expect(report.violation).toBe(null)
    expect(report.complete).toBe(true)
    expect(report.states).toBeGreaterThan(60_000)
    expect(Object.values(report.sometimes)).not.toContain(false)
  })

  test('B2, B3: where nothing is doubled, all else is reached', () => {
    const report = check(linkModel('link', { ...GOOD, doubles: DEEP.doubles }), {
      statesMax: 2_000_000,
    })
    expect([report.violation, report.complete]).toEqual([null, true])
    expect(Object.values(report.sometimes)).not.toContain(false)
  })

  for (const [name, { scope, violates }] of Object.entries(MUTANTS)) {
    test(`${name}: ${scope.bug} violates ${violates}`, () => {
      const report = check(linkModel(name, scope), {
        statesMax: 2_000_000,
      })
      expect(report.violation?.property).toBe(violates)
    })
  }
})
