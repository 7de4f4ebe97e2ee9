// Goal: whoever opens a kept room has all that was acknowledged to who was alone, and nobody who
// served before writes into what it goes on from, whatever is killed, cut off, late or refused.
// Method: the checker over the whole shipped hub and the shipped writing of sheets.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { keptModel } from './kept.ts'
import { GOOD, MUTANTS } from './kept-scopes.ts'

const STATES_MAX = 2_000_000

describe('kept rooms', () => {
  for (const { scope, says, states } of GOOD.filter(({ scope: { deep } }) => !deep)) {
    test(`${scope.name} holds in every interleaving: ${says} (AP-1)`, () => {
      const report = check(keptModel(scope), { statesMax: STATES_MAX })
      expect(report.violation).toBe(null)
      expect(report.complete).toBe(true)
      expect(report.states).toBeGreaterThanOrEqual(states)
      expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
    })
  }

  for (const { scope, says, violates, steps } of MUTANTS) {
    test(`${scope.name} breaks ${violates} after ${steps} steps: ${says} (AP-1)`, () => {
      const { violation } = check(keptModel(scope), { statesMax: STATES_MAX })
      expect(violation?.property).toBe(violates)
      expect(violation?.trace.length).toBe(steps)
    })
  }
})
