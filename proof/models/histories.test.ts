// Goal: a store that goes back in time or lives twice never loses a letter in silence, and one that
// does neither is never told that it did.
// Method: the checker over the shipped mailbox, with every earlier state of either store.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { GOOD, historyModel, MUTANTS } from './histories.ts'

const STATES_MAX = 400_000

for (const { scope, says, states, deep = false } of GOOD) {
  if (deep) continue
  test(`S1, S8: ${scope.name}: ${says} (MB-1)`, () => {
    const report = check(historyModel(scope), { statesMax: STATES_MAX })
    expect(report.violation).toBe(null)
    expect(report.complete).toBe(true)
    expect(report.states).toBeGreaterThanOrEqual(states)
    expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
  })
}

for (const { scope, violates, steps } of MUTANTS) {
  test(`S1: ${scope.name}: ${scope.bug!} is found (MB-1)`, () => {
    const { violation } = check(historyModel(scope), { statesMax: STATES_MAX })
    expect(violation?.property).toBe(violates)
    expect(violation?.trace.length).toBe(steps)
  })
}
