// Goal: a stored room opens at a hub whose store takes seconds, however often its opener asks.
// Method: a whole client and hub in the simulator, with a store that answers late.
import { expect, test } from 'vitest'
import { action } from '../../packages/holdfast/src/index.ts'
import { world } from '../../packages/sim/src/session-world.ts'
import { act } from '../sessions/acting.ts'

const add = action('add', (table, [what]: [string]) => table.set(what, 1))
const place = { game: 'garden', room: 'r', types: [add] }

test.each([
  [600, 0],
  [1_300, 0],
  [0, 600],
  [300, 300],
  [0, 2_500],
])('writes that take %d ms more, and reads %d ms', async (writeMs, readMs) => {
  const w = world({ seed: 1, conditions: 'rtt=60' })
  const ada = await w.join({ ...place, name: 'Ada' })
  await act(w, ada.act(add, ['pins']))
  await act(w, ada.leave())
  await w.run(500)
  const { store, loop } = w.sim.node('hub')
  const own = { ...store }
  const later = (ms: number, run: () => void): void => loop.alarm(run).set(loop.now() + ms)
  Object.assign(store, {
    get: (key, done) => own.get(key, (found) => later(readMs, () => done(found))),
    blobs: (key, names, done) => own.blobs(key, names, (found) => later(readMs, () => done(found))),
    cas: (change, done) => own.cas(change, (outcome) => later(writeMs, () => done(outcome))),
  } satisfies Partial<typeof store>)
  const bob = await w.join({ ...place, name: 'Bob' })
  expect(bob.table.get('pins')).toBe(1)
})
