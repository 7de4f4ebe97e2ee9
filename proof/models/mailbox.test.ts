// Goal: each letter takes effect once, whoever crashes between any two steps; a restart leaves no
// trace; and each mutant is found.
// Method: the checker over the shipped mailbox, every interleaving of small scopes.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check, type Model } from '../../packages/sim/src/checker/checker.ts'
import { mailboxModel } from './mailbox.ts'
import { GOOD, MUTANTS } from './mailbox-scopes.ts'
import * as restarts from './restarts.ts'

const STATES_MAX = 100_000

function holds<State>(model: Model<State>, states: number): void {
  const report = check(model, { statesMax: STATES_MAX })
  expect(report.violation).toBe(null)
  expect(report.complete).toBe(true)
  expect(report.states).toBeGreaterThanOrEqual(states)
  expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
}

function isFound<State>(model: Model<State>, violates: string, steps: number): void {
  const { violation } = check(model, { statesMax: STATES_MAX })
  expect(violation?.property).toBe(violates)
  expect(violation?.trace.length).toBe(steps)
}

describe('mailboxes, in every interleaving', () => {
  const good = (name: string): void => {
    const { scope, states } = GOOD.find((one) => one.scope.name === name)!
    holds(mailboxModel(scope), states)
  }
  test('S1, S6, S7: MB1: crashes, losses and doubles in any order', () => good('MB1'))
  test('S31: MB3: effect, number and answer are one transaction', () => good('MB3'))
  test('S3, S8, S9: MB4: connections that break, under hello', () => good('MB4'))
  test('S5: MB5: connections that break, under preemptive', () => good('MB5'))
  test('MB6: a handler that throws stops its line, and letters keep their order (N-23)', () => {
    good('MB6')
  })
  test('all scopes that are not deep are among these', () => {
    const names = GOOD.filter(({ deep }) => !deep).map(({ scope }) => scope.name)
    expect(names).toEqual(['MB1', 'MB3', 'MB4', 'MB5', 'MB6'])
    expect(MUTANTS).toHaveLength(6)
  })
})

describe('a mutant is found', () => {
  const found = (name: string): void => {
    const { scope, violates, steps } = MUTANTS.find((one) => one.scope.name === name)!
    isFound(mailboxModel(scope), violates, steps)
  }
  test('S17: MB-X1: duplicates are known in memory alone', () => found('MB-X1'))
  test('S31: MB-X2: an ack before the effect is durable', () => found('MB-X2'))
  test('S31: MB-X3: the effect in one transaction, its number in the next', () => found('MB-X3'))
  test('S1: MB-X4: a letter is gone when it was sent', () => found('MB-X4'))
  test('S31: MB-X5: a letter is sent before it is durable', () => found('MB-X5'))
  test('MB-X6: a letter whose handler throws is set aside (N-23)', () => found('MB-X6'))
})

describe('restarts leave no trace', () => {
  for (const { scope, says, states } of restarts.GOOD) {
    test(`S22, S27: ${scope.name}: ${says}`, () => holds(restarts.restartModel(scope), states))
  }
  for (const { scope, says, steps } of restarts.MUTANTS) {
    test(`S15, S23: ${scope.name} is found after ${steps} steps: ${says}`, () =>
      isFound(restarts.restartModel(scope), 'mail.det', steps))
  }
})
