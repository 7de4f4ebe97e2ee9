// Goal: who has the key of a room takes nothing of it from the hub that is not sealed with it: no
// state, no settings, and no primary that the hub made up; and writes nothing there in the open.
// Method: whole sessions in virtual time by a hub that says other terms, hands out other segments,
// or lets somebody without the key serve.
import { describe, expect, test } from 'vitest'
import { action, text, u8 } from '../../packages/holdfast/src/index.ts'
import type { JoinOptions } from '../../packages/holdfast/src/join/join.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { act } from '../sessions/acting.ts'
import { diskOf } from './disks.ts'
import { joinBy, termsAs, unsealed } from './lying.ts'

const set = action('set', { key: text(16), to: u8 }, (table, { key, to }) => table.set(key, to))
const KEY = '5a'.repeat(32)
const sealed = { for: '30d', key: KEY } as const
const plain = { for: '30d' } as const
const place = { game: 'garden', room: 'r', types: [set] }

function joining(w: SessionWorld, more: Partial<JoinOptions>): Promise<Session> {
  return w.join({ ...place, ...more })
}

/** What the hub has on disk. */
async function disk(w: SessionWorld): Promise<string> {
  const { records, blobs } = await diskOf(w)
  return [...records.values(), ...blobs.values()]
    .map((bytes) => Buffer.from(bytes).toString('latin1'))
    .join('\n')
}

async function left(w: SessionWorld, ...all: Session[]): Promise<void> {
  for (const one of all) await act(w, one.leave())
  await w.run(1_000)
}

describe('a hub that says that a room has no key', () => {
  test('gets nothing in the open of who founds it (N-2)', async () => {
    const w = world({ seed: 1, conditions: 'rtt=20' })
    const ada = await joinBy(w, unsealed, { ...place, keepRoom: sealed })
    await act(w, ada.act(set, { key: 'a hidden thing', to: 1 }))
    await left(w, ada)
    expect(await disk(w)).not.toContain('hidden')
    expect((await diskOf(w)).blobs.size).toBeGreaterThan(0)
  })

  test('gets nothing in the open of who joins it, or serves next, key or none (N-2)', async () => {
    for (const keepRoom of [sealed, plain]) {
      const w = world({ seed: 2, conditions: 'rtt=20' })
      const ada = await joining(w, { keepRoom: sealed })
      const eve = await joinBy(w, unsealed, { ...place, keepRoom })
      await w.runUntil(() => eve.safety === 'backed-up', 10_000)
      w.kill(ada)
      await w.runUntil(() => eve.primary === eve.me, 20_000)
      await act(w, eve.act(set, { key: 'a hidden thing', to: 1 }))
      await left(w, eve)
      expect(await disk(w)).not.toContain('hidden')
    }
  })

  test('has it opened as it is sealed, and written so again (N-2)', async () => {
    const w = world({ seed: 3, conditions: 'rtt=20' })
    const ada = await joining(w, { keepRoom: sealed, expellers: 'vote' })
    await act(w, ada.act(set, { key: 'a hidden thing', to: 1 }))
    await left(w, ada)
    const lie = termsAs(() => 'keep=10;expellers=hosts')
    const next = await joinBy(w, lie, { ...place, keepRoom: sealed })
    expect(next.table.get('a hidden thing')).toBe(1)
    expect(next.member!.session.terms).toMatch(/^keep=43200;expellers=vote;sealed=/)
    await act(w, next.act(set, { key: 'a hidden thing', to: 2 }))
    await left(w, next)
    expect(await disk(w)).not.toContain('hidden')
    const last = await joining(w, { keepRoom: sealed })
    expect(last.table.get('a hidden thing')).toBe(2)
  })
})

test('a room that was made up in the open does not open for who has the key (N-2)', async () => {
  const w = world({ seed: 4, conditions: 'rtt=20' })
  const mallory = await joining(w, { keepRoom: plain })
  await act(w, mallory.act(set, { key: 'forged', to: 1 }))
  await left(w, mallory)
  const asked = act(w, joining(w, { keepRoom: sealed }))
  await expect(asked).rejects.toMatchObject({
    code: 'forbidden',
    message: 'what the hub has of this room is not sealed, and this link carries a key',
  })
  // Nor as one that is sealed, if the hub says so.
  const lie = termsAs((terms) => `${terms};sealed=000000000000`)
  await expect(joinBy(w, lie, { ...place, keepRoom: sealed })).rejects.toMatchObject({
    code: 'forbidden',
  })
  // Without a key the hub is believed; and `fresh` lays it aside.
  const eve = await joining(w, { keepRoom: plain })
  expect(eve.table.get('forged')).toBe(1)
  await left(w, eve)
  const ada = await joining(w, { keepRoom: sealed, fresh: true })
  expect([ada.table.get('forged'), ada.laidAside?.why]).toEqual([
    undefined,
    'what the hub has of this room is not sealed, and this link carries a key',
  ])
})

describe('a member with the key', () => {
  test('has the settings from the primary, whatever the hub says (N-2)', async () => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    await joining(w, { keepRoom: sealed, expellers: 'vote', playersMax: 5 })
    const lie = termsAs(() => 'expellers=hosts;sealed=000000000000')
    const grace = await joinBy(w, lie, { ...place, keepRoom: sealed })
    const { session } = grace.member!
    expect(session.terms).toMatch(/^keep=43200;expellers=vote;sealed=(?!000)/)
    expect([session.keeps, session.playersMax]).toEqual([true, 5])
  })

  test('writes nothing of what somebody without the key made of the room (N-2)', async () => {
    const w = world({ seed: 6, conditions: 'rtt=20' })
    const ada = await joining(w, { keepRoom: sealed })
    await act(w, ada.act(set, { key: 'true', to: 1 }))
    const mallory = await joining(w, { keepRoom: plain })
    await w.runUntil(() => mallory.safety === 'backed-up', 10_000)
    const grace = await joining(w, { keepRoom: sealed })
    expect(grace.member!.session.keeps).toBe(true)
    w.kill(ada)
    await w.runUntil(() => grace.primary?.inc === mallory.me.inc, 20_000)
    // Who came in by the key, and who comes by it now, follow somebody without it.
    const linus = await joining(w, { keepRoom: sealed })
    expect([grace, linus].map(({ member }) => member!.session.keeps)).toEqual([false, false])
    await act(w, mallory.act(set, { key: 'forged', to: 1 }))
    await w.runUntil(() => mallory.safety === 'backed-up', 10_000)
    w.kill(mallory)
    await w.runUntil(() => grace.primary !== null && grace.primary.inc !== mallory.me.inc, 20_000)
    await w.run(1_000)
    await left(w, grace, linus)
    const next = await joining(w, { keepRoom: sealed })
    expect([next.table.get('true'), next.table.get('forged')]).toEqual([1, undefined])
  })
})
