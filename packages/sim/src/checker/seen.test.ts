import { expect, test } from 'vitest'
import * as seen from './seen.ts'

// Goal: what a search has met is known again, with the way by which it came there, however much
// more was met since.

/** Many hashes that stand close to each other in the table, and some far up. */
const KEYS = Array.from({ length: 5_000 }, (_, i) => (i % 3 === 0 ? i * 4096 : i + 2 ** 40))

test('a state that was added is known, with whence and by what it was reached (PR-2)', () => {
  const all = seen.create()
  expect(all.parents.length).toBe(1_024)
  for (const [i, key] of KEYS.entries()) {
    expect(seen.has(all, key)).toBe(false)
    expect(seen.add(all, key, i - 1, i % 7)).toBe(i)
  }
  expect(all.count).toBe(KEYS.length)
  const off = KEYS.filter((key, i) => {
    return !seen.has(all, key) || all.parents[i] !== i - 1 || all.ordinals[i] !== i % 7
  })
  expect(off).toEqual([])
  expect(seen.has(all, KEYS.at(-1)! + 1)).toBe(false)
  expect(seen.has(all, 0.5)).toBe(false)
})

test('the table is never more than half full (PR-2)', () => {
  const all = seen.create()
  for (let i = 0; i < 3_000; i++) {
    seen.add(all, i, -1, 0)
    expect(all.slots.length).toBeGreaterThanOrEqual(2 * all.count)
  }
  expect(all.slots.filter((mark) => mark !== 0)).toHaveLength(3_000)
})
