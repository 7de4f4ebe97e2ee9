// Goal: whoever is on the way of two ends that seal, they have one link or none, nothing comes
// twice, and nothing goes to who did not answer; and each mutant is found.
// Method: the checker over the shipped machine, every interleaving of small scopes.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { GOOD, MUTANTS } from './seal-scopes.ts'
import { sealModel } from './seal.ts'

const STATES_MAX = 400_000

describe('seal', () => {
  for (const { scope, says, states, deep } of GOOD) {
    if (deep) continue
    test(`${scope.name} holds in every interleaving: ${says} (SE-2) (SE-12)`, () => {
      const report = check(sealModel(scope), { statesMax: STATES_MAX })
      expect(report.violation).toBe(null)
      expect(report.complete).toBe(true)
      expect(report.states).toBeGreaterThanOrEqual(states)
      expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
    })
  }
  for (const { scope, violates, steps } of MUTANTS) {
    test(`${scope.name} is found: ${scope.bug!} (SE-12)`, () => {
      const { violation } = check(sealModel(scope), { statesMax: STATES_MAX })
      expect(violation?.property).toBe(violates)
      expect(violation?.trace.length).toBe(steps)
    })
  }
})
