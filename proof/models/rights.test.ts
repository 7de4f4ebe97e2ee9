// Goal: whatever a liar asks for and calls itself, hosts alone serve a room of hosts, an invitation
// lets in one, and nobody is in as somebody else.
// Method: the checker over the shipped rules of admission and the shipped register.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { rightsModel } from './rights.ts'
import { GOOD, MUTANTS } from './rights-scopes.ts'

const STATES_MAX = 2_000_000

describe('rights', () => {
  for (const { scope, says, states } of GOOD) {
    test(`${scope.name} holds in every interleaving: ${says} (SE-4, SE-18)`, () => {
      const report = check(rightsModel(scope), { statesMax: STATES_MAX })
      expect(report.violation).toBe(null)
      expect(report.complete).toBe(true)
      expect(report.states).toBeGreaterThanOrEqual(states)
      expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
    })
  }

  for (const { scope, says, violates, steps } of MUTANTS) {
    test(`${scope.name} breaks ${violates} after ${steps} steps: ${says} (SE-4, SE-18)`, () => {
      const { violation } = check(rightsModel(scope), { statesMax: STATES_MAX })
      expect(violation?.property).toBe(violates)
      expect(violation?.trace.length).toBe(steps)
    })
  }
})
