import { expect, test } from 'vitest'
import { caughtIn, line } from './report.ts'
import { shown } from './sites.ts'

const change = {
  file: 'packages/holdfast/src/link/timing/loss.ts',
  within: 'probeAt',
  text: 'a < b',
  put: 'a <= b',
  nth: 0,
}

test('what a line says is caught is known again, and nothing else', () => {
  const by = 'packages/holdfast/src/link/link.test.ts: verdicts > L5: a wait by whoever waits'
  const lines = [
    line({ change, outcome: 'caught', by, seconds: 1 }, 1, 3),
    line({ change: { ...change, nth: 1 }, outcome: 'survived', by: '', seconds: 1 }, 2, 3),
    line(
      { change: { ...change, nth: 2 }, outcome: 'caught', by: 'an earlier run', seconds: 0 },
      3,
      3,
    ),
  ]
  const known = caughtIn(lines.join('\n'))
  expect(known.has(shown(change))).toBe(true)
  expect(known.has(shown({ ...change, nth: 1 }))).toBe(false)
  expect(known.has(shown({ ...change, nth: 2 }))).toBe(true)
})
