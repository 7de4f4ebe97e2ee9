// Goal: two hands on one card, in any order of words, failovers, absences and recoveries: what the
// source claims holds, and each mutant is found.
// Method: the checker over the shipped pieces, every interleaving of small scopes.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { piecesModel } from './pieces.ts'
import { GOOD, MUTANTS } from './pieces-scopes.ts'

const STATES_MAX = 1_000_000

function holds(name: string): void {
  const { scope, states } = GOOD.find((one) => one.scope.name === name)!
  const report = check(piecesModel(scope), { statesMax: STATES_MAX })
  expect(report.violation).toBe(null)
  expect(report.complete).toBe(true)
  expect(report.states).toBeGreaterThanOrEqual(states)
  expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
}

function isFound(name: string): void {
  const { scope, violates, steps } = MUTANTS.find((one) => one.scope.name === name)!
  const { violation } = check(piecesModel(scope), { statesMax: STATES_MAX })
  expect(violation?.property).toBe(violates)
  expect(violation?.trace.length).toBe(steps)
}

describe('pieces, in every interleaving', () => {
  test('O4, O5, O14, O15, O16, O17, O18, O19, O20, O26: P1: two updates here, two there', () =>
    holds('P1'))
  test('O2, O3, O8, O9, O10, O25: P2: three here, three there', () => holds('P2'))
  test('O58, O59: P3: two here, one there, a failover', () => holds('P3'))
  test('O39, O40, O45, O46: P5: one that is refused, one that is clamped', () => holds('P5'))
  test('O47, O50, O51, O52: P6: a loose grab that is honoured', () => holds('P6'))
  test('O47, O58: P7: a loose grab that is honoured, a failover', () => holds('P7'))
  test('O24, O56: P8: loose grabs that are discarded', () => holds('P8'))
  test('O57, O58: P9: a failover to a backup that lags', () => holds('P9'))
  test('O1, O57: P11: a link that breaks', () => holds('P11'))
  test('O34, O35, O36, O37: P12: two cards raised at once', () => holds('P12'))
  test('O53: P13: a face that comes and goes', () => holds('P13'))
  test('O58: P14: a recovery from what was told', () => holds('P14'))
  test('O57, O58: P15: a link that breaks, and a recovery', () => holds('P15'))
  test('O40, O45: P19: some that are refused, here and there', () => holds('P19'))
  test('O40, O45, O58: P20: some that are refused, a failover', () => holds('P20'))
  test('O33: P22: a hold that is wrested, and let go of (PI-4)', () => holds('P22'))
  test('O33: P23: actions that take what is held (PI-4)', () => holds('P23'))
  test('O33: P24: a holder who is away, and is let go for (PI-4, PI-5)', () => holds('P24'))
  test('O33, O58: P26: a hold that is wrested, and a recovery (PI-4)', () => holds('P26'))
  test('O33, O58: P27: a hold, an action of its holder, a failover (PI-4)', () => holds('P27'))
  test('O48: P28: a loose grab is honoured of who let go last alone (PR-3)', () => holds('P28'))

  test('all scopes that are not deep are among these', () => {
    const names = GOOD.filter(({ deep }) => !deep).map(({ scope }) => scope.name)
    expect(names).toEqual([
      'P1',
      'P2',
      'P3',
      'P5',
      'P6',
      'P7',
      'P8',
      'P9',
      'P11',
      'P12',
      'P13',
      'P14',
      'P15',
      'P19',
      'P20',
      'P22',
      'P23',
      'P24',
      'P26',
      'P27',
      'P28',
    ])
    expect(MUTANTS).toHaveLength(14)
  })
})

describe('a mutant is found', () => {
  test('O12, O13: P-X1: a tag that is newer than what was processed', () => isFound('P-X1'))
  test('O23: P-X2: > for >=', () => isFound('P-X2'))
  test('O22, O27: P-X3: own updates count as those of others', () => isFound('P-X3'))
  test('O59: P-X4: what was performed is not known to the backup', () => isFound('P-X4'))
  test('O57: P-X5: who was away goes on with what is void', () => isFound('P-X5'))
  test('O36: P-X6: a new level keeps its old generation', () => isFound('P-X6'))
  test('O56: P-X7: what is refused in silence', () => isFound('P-X7'))
  test('O58: P-X8: told before the backup has it', () => isFound('P-X8'))
  test('O53: P-X9: the same bytes for all', () => isFound('P-X9'))
  test('O45: P-X10: who is refused makes stale what others do', () => isFound('P-X10'))
  test('O40: P-X11: who is refused goes on from what never came to be', () => isFound('P-X11'))
  test('O33: P-X12: who holds what is let go of is not told (PI-4)', () => isFound('P-X12'))
  test('O33: P-X13: a loss is told to who did not hold (PI-4)', () => isFound('P-X13'))
  test('O48: P-X14: a loose grab is honoured from anybody (PR-2)', () => isFound('P-X14'))
})
