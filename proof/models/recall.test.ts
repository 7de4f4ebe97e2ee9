// Goal: whom one of those who are left knows to be out stays out as the session is recovered,
// whatever that one says and asks for.
// Method: the checker over the shipped register and members, with a liar among them.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { recallModel } from './recall.ts'
import { GOOD, MUTANTS } from './recall-scopes.ts'

const STATES_MAX = 1_000_000

describe('recall', () => {
  for (const { scope, says, states, deep } of GOOD) {
    if (deep) continue
    test(`T30: ${scope.name} holds in every interleaving: ${says} (SE-4)`, () => {
      const report = check(recallModel(scope), { statesMax: STATES_MAX })
      expect(report.violation).toBe(null)
      expect(report.complete).toBe(true)
      expect(report.states).toBeGreaterThanOrEqual(states)
      expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
    })
  }

  for (const { scope, says, violates, steps } of MUTANTS) {
    test(`T30: ${scope.name} breaks ${violates} after ${steps} steps: ${says} (SE-4)`, () => {
      const { violation } = check(recallModel(scope), { statesMax: STATES_MAX })
      expect(violation?.property).toBe(violates)
      expect(violation?.trace.length).toBe(steps)
    })
  }
})
