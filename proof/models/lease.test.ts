// Goal: a primary that was cut off tells nothing once somebody has recovered its session.
// Method: the checker over the shipped lease, register and members; time passes in steps.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { leaseModel } from './lease.ts'
import { GOOD, MUTANTS } from './lease-scopes.ts'

const STATES_MAX = 1_000_000

describe('lease', () => {
  for (const { scope, says, states, deep } of GOOD) {
    if (deep) continue
    test(`T30, T43: ${scope.name} holds in every interleaving: ${says}`, () => {
      const report = check(leaseModel(scope), { statesMax: STATES_MAX })
      expect(report.violation).toBe(null)
      expect(report.complete).toBe(true)
      expect(report.states).toBeGreaterThanOrEqual(states)
      expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
    })
  }

  for (const { scope, says, steps } of MUTANTS) {
    test(`T43: ${scope.name} is found after ${steps} steps: ${says}`, () => {
      const { violation } = check(leaseModel(scope), { statesMax: STATES_MAX })
      expect(violation?.property).toBe('lease.safe')
      expect(violation?.trace.length).toBe(steps)
    })
  }
})
