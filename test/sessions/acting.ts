/** Waiting in virtual time. */

import { expect } from 'vitest'
import type { SessionWorld } from '../../packages/sim/src/session-world.ts'

/** Lets time pass until what was asked has its answer, and gives or throws that. */
export async function act<Answer>(w: SessionWorld, asked: Promise<Answer>): Promise<Answer> {
  let done = false
  void asked.then(
    () => (done = true),
    () => (done = true),
  )
  expect(await w.runUntil(() => done, 30_000)).toBe(true)
  return asked
}
