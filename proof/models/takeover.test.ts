// Goal: no primary loses its place that answers and serves, none keeps it that does not, and the
// register alone decides.
// Method: the checker over the shipped challenge, register and sessions; time passes in steps.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { takeoverModel } from './takeover.ts'
import { GOOD, MUTANTS } from './takeover-scopes.ts'

const STATES_MAX = 300_000

describe('a takeover that is asked for', () => {
  for (const { scope, says, states } of GOOD) {
    test(`T36, T77: ${scope.name} holds in every interleaving: ${says} (SE-3)`, () => {
      const report = check(takeoverModel(scope), { statesMax: STATES_MAX })
      expect(report.violation).toBe(null)
      expect(report.complete).toBe(true)
      expect(report.states).toBeGreaterThanOrEqual(states)
      expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
    })
  }

  for (const { scope, says, violates, steps } of MUTANTS) {
    test(`${scope.name} breaks ${violates} after ${steps} steps: ${says} (SE-3)`, () => {
      const { violation } = check(takeoverModel(scope), { statesMax: STATES_MAX })
      expect(violation?.property).toBe(violates)
      expect(violation?.trace.length).toBe(steps)
    })
  }
})
