// Goal: a model finds each bug that is planted in it, by the claim that breaks, after as few steps
// as are enough.
// Method: the checker over the shipped machines with one rule altered.
// Slow: every order of events is gone through until a claim breaks.
import { describe, expect, test } from 'vitest'
import { MODELS } from './index.ts'

/** What is proved by the mutants of a model, where their rows say nothing else; and findings. */
const PROVES: Readonly<Record<string, readonly [numbers: string, findings: string]>> = {
  kept: ['', '(AP-1)'],
  places: ['T23', ''],
  tender: ['T43', ''],
  seal: ['', '(SE-12)'],
  session: ['', '(SE-4)'],
  lease: ['T43', ''],
  takeover: ['', '(SE-3)'],
  recall: ['T30', '(SE-4)'],
  rights: ['', '(SE-4, SE-18)'],
  'room-key': ['', '(N-2)'],
  objects: ['B48', ''],
  pieces: ['', '(PI-4) (PR-2)'],
  mailbox: ['', '(N-23)'],
  histories: ['S1', '(MB-1)'],
  'mail-keys': ['S31', '(MB-21)'],
  restarts: ['S15, S23', ''],
  slots: ['M55, M56', ''],
}

for (const [model, scopes] of Object.values(MODELS).flatMap((models) => Object.entries(models))) {
  const [numbers, findings] = PROVES[model] ?? ['', '']
  describe(`${model} ${findings}`, () => {
    for (const { name, says, row, explore } of scopes) {
      const proves = row.proves ?? numbers
      for (const [claim, steps] of row.violates ?? []) {
        const what = `${name} breaks ${claim} after ${steps} steps: ${says}`
        test(`${proves}${proves && ': '}${what}`, () => {
          const { violation } = explore(undefined, claim)
          expect(violation?.property).toBe(claim)
          expect(violation?.trace.length).toBe(steps)
        })
      }
    }
  })
}
