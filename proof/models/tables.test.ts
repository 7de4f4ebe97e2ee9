// Goal: a timer runs once and on time, a draw is told once, whoever takes over.
// Method: the checker over the shipped table, every interleaving of small scopes; each mutant
// is found.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { tablesModel } from './tables.ts'
import { GOOD, MUTANTS } from './tables-scopes.ts'

const STATES_MAX = 100_000

describe('timers and draws, in every interleaving', () => {
  for (const [name, { scope, says, states, deep }] of Object.entries(GOOD)) {
    if (deep) continue
    test(`${name}: ${says}`, () => {
      const report = check(tablesModel(name, scope), { statesMax: STATES_MAX })
      expect(report.violation).toBe(null)
      expect(report.complete).toBe(true)
      expect(report.states).toBeGreaterThanOrEqual(states)
      expect(Object.values(report.sometimes)).not.toContain(false)
    })
  }

  for (const [name, { scope, says, violates, steps }] of Object.entries(MUTANTS)) {
    test(`${name} is found: ${says}`, () => {
      const { violation } = check(tablesModel(name, scope), { statesMax: STATES_MAX })
      expect(violation?.property).toBe(violates)
      expect(violation?.trace.length).toBe(steps)
    })
  }
})
