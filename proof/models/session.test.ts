// Goal: role.unique, role.register, commit.kept, commit.fork, commit.hidden, once, view.linear, and
// kick.kept, kick.once, pardon.kept, vote.kept and vote.fair hold in every interleaving of small
// scopes of the shipped session.
// Method: the checker over `session/` with `replication/` and `hub/`; each claim fails for a
// mutant, after as few steps as are known to be enough.
// Slow: every order of events is gone through, in several scopes and with each mutant.
import { describe, expect, test } from 'vitest'
import { check } from '../../packages/sim/src/checker/checker.ts'
import { LARGE } from './index.ts'
import { createModel } from './session.ts'
import { GOOD, MUTANTS } from './session-scopes.ts'
import type { Scope } from './session-tables.ts'

const STATES_MAX = 3_000_000

const findingOf = ({ kick, vote }: Scope): string => (kick || vote ? ' (SE-4)' : '')

describe('session', () => {
  for (const [name, { scope, says, states, deep }] of Object.entries(GOOD)) {
    if (deep || LARGE.has(name)) continue
    test(`T29, T43: ${name} holds in every interleaving: ${says}${findingOf(scope)}`, () => {
      const report = check(createModel(scope), { statesMax: STATES_MAX })
      expect(report.violation).toBe(null)
      expect(report.complete).toBe(true)
      expect(report.states).toBeGreaterThanOrEqual(states)
      expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
    })
  }
})

const PROVES: Record<string, string> = {
  'F-X1': 'T78: ',
  'F-X2': 'T77: ',
  'F-X3': 'T77: ',
  'F-X6': 'T80: ',
  'F-X7': 'T79: ',
}

describe('a mutant is found', () => {
  for (const [name, { scope, says, violates }] of Object.entries(MUTANTS)) {
    for (const [claim, steps] of violates) {
      const what = `${name} breaks ${claim} after ${steps} steps: ${says}`
      test(`${PROVES[name] ?? ''}${what}${findingOf(scope)}`, () => {
        const model = createModel({ ...scope, claims: [claim] })
        const { violation } = check(model, { statesMax: STATES_MAX })
        expect(violation?.property).toBe(claim)
        expect(violation?.trace.length).toBe(steps)
      })
    }
  }
})
