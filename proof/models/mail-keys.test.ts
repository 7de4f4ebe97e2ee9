// Goal: mailboxes whose keys change are never shut out by each other, know each other by their
// newest keys in the end, and never again by an old one; and each mutant is found.
// Method: the checker over the shipped mailbox and its greeting, each interleaving of small scopes.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { keyModel } from './mail-keys.ts'
import { GOOD, MUTANTS } from './mail-keys-scopes.ts'

const STATES_MAX = 20_000

for (const { scope, says, states, deep = false } of GOOD) {
  if (deep) continue
  test(`S31: ${scope.name}: ${says} (MB-21)`, () => {
    const report = check(keyModel(scope), { statesMax: STATES_MAX })
    expect(report.violation).toBe(null)
    expect(report.complete).toBe(true)
    expect(report.states).toBeGreaterThanOrEqual(states)
    expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
  })
}

for (const { scope, violates, steps } of MUTANTS) {
  test(`S31: ${scope.name}: ${scope.bug!} is found (MB-21)`, () => {
    const { violation } = check(keyModel(scope), { statesMax: STATES_MAX })
    expect(violation?.property).toBe(violates)
    expect(violation?.trace.length).toBe(steps)
  })
}
