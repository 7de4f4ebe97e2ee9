// Goal: whoever leaves just as the hub's disk refuses a segment leaves a room that is read by
// whoever comes next, with all that was acknowledged, sealed or not.
// Method: whole sessions in virtual time; a disk that refuses one write.
import { describe, expect, test } from 'vitest'
import { action, HoldfastError, object, u8, withRoom } from '../../packages/holdfast/src/index.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { act } from './acting.ts'

const stays = { onOwnerLeave: 'keep', kept: withRoom() } as const
const Stroke = object('stroke', { x: u8 }, { take: 'free', ...stays })
const add = action('add', (table) => {
  const count = Number(table.get('count') ?? 0) + 1
  table.set('count', count)
  return count
})
const SEALED = { for: '10m', key: 'a6'.repeat(32) } as const
const PLACE = { game: 'b', room: 'r', name: 'host', types: [Stroke, add] }

/** A segment is on its way, and something changes behind it. */
async function changing(w: SessionWorld, ada: Session, fill: () => void): Promise<void> {
  expect(await act(w, ada.act(add, null))).toMatchObject({ ok: true })
  const stroke = ada.create(Stroke, { x: 1 })
  await w.run(3_000)
  fill()
  stroke.set({ x: 2 })
  const { server } = ada.member!.session
  const isFlying = (): boolean => 'lead' in server && server.lead.persistence.inFlight
  expect(await w.runUntil(isFlying, 5_000)).toBe(true)
  stroke.set({ x: 3 })
}

const found = (session: Session): unknown[] => [
  session.table.get('count'),
  ...session.all(Stroke).map(({ state }) => state.x),
]

/** What was acknowledged is there; the stroke is as it was once, for it is kept a moment later. */
function expectRead(session: Session): void {
  const [count, x] = found(session)
  expect(count).toBe(1)
  expect([1, 2, 3]).toContain(x)
}

const CASES = [0, 2, 5, 10, 20].flatMap((ms) =>
  ([SEALED, '10m'] as const).map((keepRoom) => [ms, keepRoom] as const),
)

describe('a segment is refused, and its primary leaves', () => {
  test.each(CASES)('at the hub, %i ms later: %j', async (ms, keepRoom) => {
    const w = world({ seed: 3, conditions: 'rtt=20' })
    const ada = await w.join({ ...PLACE, keepRoom })
    const { store } = w.sim.node('hub')
    const cas = store.cas.bind(store)
    let isFull = false
    store.cas = (change, done) => {
      if (!isFull || change.blobs.length === 0) return cas(change, done)
      isFull = false
      w.sim.at(w.now() + 1, () => done(new HoldfastError('store', 'no room')))
    }
    await changing(w, ada, () => (isFull = true))
    await w.run(ms)
    await act(w, ada.leave())
    await w.run(5_000)
    expectRead(await w.join({ ...PLACE, keepRoom }))
  })
})
