// Goal: whoever is granted an object, dies, joins or leads, in any order of messages, all end with
// the same owner and state; and each mutant is found.
// Method: the checker over the shipped objects, every interleaving of small scopes.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { objectsModel } from './objects.ts'
import { LARGE } from './index.ts'
import { GOOD, MUTANTS, REQUESTS } from './objects-scopes.ts'

const STATES_MAX = 1_000_000
/** What each scope has at least, and the steps to each mutant. */
const STATES: Record<string, number> = {
  G1: 14_000,
  G2: 1_000,
  G5: 4_700,
  G6: 4_800,
  G9: 8_900,
  G15: 3_000,
  T2: 400,
  S1: 400,
  S2: 3_300,
  S6: 5_700,
  U1: 16_000,
  R1: 13_000,
  Q1: 250,
  Q2: 190,
  Q3: 2_100,
  Q4: 680,
  Q5: 2_100,
  Q7: 3_700,
}
const PROVES: Record<string, string> = {
  G1: 'B23, B48',
  G2: 'B45, B46, B47',
  G5: 'B53',
  G6: 'B26, B53',
  G9: 'B49, B54',
  U1: 'B16, B18, B56',
  R1: 'B9, B11',
  Q1: 'B29',
  Q2: 'B29',
  Q3: 'B29',
  Q4: 'B30',
  Q5: 'B30',
  Q7: 'B29',
}

describe('objects', () => {
  for (const { scope, says, deep } of [...GOOD, ...REQUESTS]) {
    if (deep || LARGE.has(scope.name)) continue
    test(`${PROVES[scope.name] ?? 'B12'}: ${scope.name} holds in every interleaving: ${says}`, () => {
      const report = check(objectsModel(scope), { statesMax: STATES_MAX })
      expect(report.violation).toBe(null)
      expect(report.complete).toBe(true)
      expect(report.states).toBeGreaterThanOrEqual(STATES[scope.name]!)
      expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
    })
  }

  const planted: Record<string, string> = {
    'host-sends-migrate': 'B31, B32',
    X4: 'B41',
    X5: 'B50',
    X6: 'B51',
    U2b: 'B55',
    U3: 'B56',
  }
  for (const { scope, says, violates } of MUTANTS) {
    test(`${planted[scope.name] ?? 'B48'}: ${scope.name} is found: ${says}`, () => {
      const { violation } = check(objectsModel(scope), { statesMax: STATES_MAX })
      expect(violation?.property).toBe(violates)
      expect(violation?.trace.length).toBeLessThanOrEqual(20)
    })
  }
})
