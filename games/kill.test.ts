// Goal: whoever serves dies by the wish of another only where it obeys; else the other is told.
// Method: whole sessions in virtual time; only how long a wish stands is a timer of its own.
import type { Session } from 'holdfast'
import { type SessionWorld, world } from 'holdfast/sim'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Kill, obey, wish, WISH_MS } from './kill.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }))
afterEach(() => void vi.useRealTimers())

async function cluster(): Promise<{ w: SessionWorld; ada: Session; grace: Session }> {
  const w = world({ seed: 6, conditions: 'rtt=20' })
  const ada = await w.join({ game: 'dots', name: 'Ada', types: [Kill] })
  const grace = await w.join({ game: 'dots', name: 'Grace', types: [Kill] })
  await w.runUntil(() => grace.safety === 'backed-up', 10_000)
  return { w, ada, grace }
}

test('a server that obeys dies at once, and the backup goes on', async () => {
  const { w, ada, grace } = await cluster()
  obey(ada, () => ada.debug.crash())
  const ignored = vi.fn<() => void>()
  wish(grace, ignored)
  await w.runUntil(() => grace.primary?.name === 'Grace', 10_000)
  expect(ada.status).toBe('lost')
  vi.advanceTimersByTime(WISH_MS)
  expect(ignored).not.toHaveBeenCalled()
})

test('one that does not obey lives, the wish goes, and who wished it is told (AP-24)', async () => {
  const { w, ada, grace } = await cluster()
  const ignored = vi.fn<() => void>()
  wish(grace, ignored)
  await w.runUntil(() => ada.all(Kill).length === 1, 10_000)
  vi.advanceTimersByTime(WISH_MS)
  await w.runUntil(() => ada.all(Kill).length === 0, 10_000)
  expect([ada.status, grace.primary?.name]).toEqual(['live', 'Ada'])
  expect(ignored).toHaveBeenCalledOnce()
})

test('who does not serve is not meant, and lives', async () => {
  const { w, ada, grace } = await cluster()
  const died = vi.fn<() => void>()
  obey(grace, died)
  wish(ada, () => {})
  await w.runUntil(() => grace.all(Kill).length === 1, 10_000)
  await w.run(500)
  expect(died).not.toHaveBeenCalled()
})
