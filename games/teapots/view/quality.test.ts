import { expect, test } from 'vitest'
import { createGovernor, DEGREES, PATIENCE, took, WINDOW } from './quality.ts'

function frames(governor: ReturnType<typeof createGovernor>, windows: number, ms: number): void {
  for (let i = 0; i < windows * WINDOW; i++) took(governor, ms)
}

test('slow frames make the picture plainer, down to the plainest and no further', () => {
  const governor = createGovernor(4)
  frames(governor, 1, 30)
  expect(governor.degree).toBe(3)
  frames(governor, 1, 90)
  expect(governor.degree).toBe(1)
  frames(governor, 9, 90)
  expect(governor.degree).toBe(0)
})

test('room makes it finer after a while, and what was too much once takes longer the next time', () => {
  const governor = createGovernor(3)
  frames(governor, PATIENCE, 16)
  expect(governor.degree).toBe(4)
  frames(governor, 1, 30)
  frames(governor, PATIENCE, 16)
  expect(governor.degree).toBe(3)
  frames(governor, PATIENCE, 16)
  expect(governor.degree).toBe(4)
})

test('it never gets finer than it may, and a pause counts for nothing', () => {
  const governor = createGovernor(DEGREES.length - 1, DEGREES.length - 1)
  frames(governor, 50, 16)
  expect(governor.degree).toBe(DEGREES.length - 1)
  frames(governor, 2, 5_000)
  expect(governor.degree).toBe(DEGREES.length - 1)
})
