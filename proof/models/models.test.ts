// Goal: the claims of every model hold in every interleaving of its scopes, and each scope is large
// enough to say something.
// Method: the checker over the shipped machines; the tables of scopes say what each proves.
// Slow: every order of events is gone through.
import { describe, expect, test } from 'vitest'
import { MODELS } from './index.ts'

/** What the scopes of a model prove, where their rows say nothing else; and findings. */
const PROVES: Readonly<Record<string, readonly [numbers: string, findings: string]>> = {
  kept: ['', '(AP-1)'],
  places: ['T23', ''],
  tender: ['T43', ''],
  register: ['', ''],
  link: ['B2, B3', ''],
  seal: ['', '(SE-2) (SE-12)'],
  session: ['T29, T43', '(SE-4)'],
  lease: ['T30, T43', ''],
  takeover: ['T36, T77', '(SE-3)'],
  recall: ['T30', '(SE-4)'],
  rights: ['', '(SE-4, SE-18)'],
  'room-key': ['', '(N-2)'],
  objects: ['B12', ''],
  pieces: ['O58', '(PI-4) (PI-5) (PR-3)'],
  tables: ['', ''],
  mailbox: ['S1', '(N-23)'],
  histories: ['S1, S8', '(MB-1)'],
  'mail-keys': ['S31', '(MB-21)'],
  restarts: ['S22, S27', ''],
  slots: ['M31, M32, M36', ''],
}

for (const [model, scopes] of Object.values(MODELS).flatMap((models) => Object.entries(models))) {
  const [numbers, findings] = PROVES[model]!
  describe(`${model} ${findings}`, () => {
    for (const { name, says, row, explore } of scopes) {
      if (row.violates || row.size) continue
      const proves = row.proves ?? numbers
      test(`${proves}${proves && ': '}${name} holds in every interleaving: ${says}`, () => {
        const report = explore()
        expect(report.violation).toBe(null)
        expect(report.complete).toBe(true)
        expect(report.states).toBeGreaterThanOrEqual(row.states!)
        expect(Object.entries(report.sometimes).filter(([, reached]) => !reached)).toEqual([])
      })
    }
  })
}
