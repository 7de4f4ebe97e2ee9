// Goal: whatever the hub says of a room with a key, what its members wrote is nowhere in the open,
// and what they open was written by who has the key.
// Method: the checker over the shipped code that believes, reads and writes.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { roomKeyModel } from './room-key.ts'
import { GOOD, MUTANTS } from './room-key-scopes.ts'

const STATES_MAX = 2_000_000

describe('the key of a room', () => {
  for (const { scope, says, states } of GOOD) {
    test(`${scope.name} holds in every interleaving: ${says} (N-2)`, () => {
      const report = check(roomKeyModel(scope), { statesMax: STATES_MAX })
      expect(report.violation).toBe(null)
      expect(report.complete).toBe(true)
      expect(report.states).toBeGreaterThanOrEqual(states)
      expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
    })
  }

  for (const { scope, says, violates, steps } of MUTANTS) {
    test(`${scope.name} breaks ${violates} after ${steps} steps: ${says} (N-2)`, () => {
      const { violation } = check(roomKeyModel(scope), { statesMax: STATES_MAX })
      expect(violation?.property).toBe(violates)
      expect(violation?.trace.length).toBe(steps)
    })
  }
})
