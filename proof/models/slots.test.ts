// Goal: whatever the order of acts, frames and ticks, all members come to the same world.
// Method: the checker over the shipped slots, every interleaving of small scopes; each mutant
// is found.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { LARGE } from './index.ts'
import { slotsModel } from './slots.ts'
import { GOOD, MUTANTS } from './slots-scopes.ts'

const STATES_MAX = 1_000_000

describe('slots, in every interleaving', () => {
  for (const [name, { scope, says, states, deep }] of Object.entries(GOOD)) {
    if (deep || LARGE.has(name)) continue
    test(`M31, M32, M36: ${name}: ${says}`, () => {
      const report = check(slotsModel(name, scope), { statesMax: STATES_MAX })
      expect(report.violation).toBe(null)
      expect(report.complete).toBe(true)
      expect(report.states).toBeGreaterThanOrEqual(states)
      expect(Object.values(report.sometimes)).not.toContain(false)
    })
  }

  for (const [name, { scope, says, violates, steps }] of Object.entries(MUTANTS)) {
    test(`M55, M56: ${name} is found: ${says}`, () => {
      const { violation } = check(slotsModel(name, scope), { statesMax: STATES_MAX })
      expect(violation?.property).toBe(violates)
      expect(violation?.trace.length).toBe(steps)
    })
  }
})
