// Goal: a room of which something is kept that one cannot read begins anew where that is asked for;
// what is kept is not lost: it has another name, and whoever can read it opens it there.
// Method: whole sessions in virtual time, with the shipped hub.
import { describe, expect, test } from 'vitest'
import { action, piece, u8 } from '../../packages/holdfast/src/index.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { act } from './acting.ts'

const PLACE = { game: 'garden', room: 'friday' } as const
const Card = piece('card', { rank: u8 })
const deal = action('deal', (table, rank: number) => table.create(Card, { rank }).id)
const OLD = { ...PLACE, types: [Card, deal] }
const Pawn = piece('pawn', { x: u8 })
const place = action('place', (table, x: number) => table.create(Pawn, { x }).id)
const NEW = { ...PLACE, types: [Pawn, place] }

/** Somebody has dealt, and went. */
async function kept(w: SessionWorld, more: object = {}): Promise<void> {
  const ada = await w.join({ ...OLD, ...more })
  await act(w, ada.act(deal, 7))
  await act(w, ada.leave())
  await w.run(200)
}

const ranks = (session: Session): number[] => session.all(Card).map(({ state }) => state.rank)

/** A room that begins anew, as somebody else keeps it. */
async function anew(w: SessionWorld, more: object): Promise<Session> {
  const bob = await w.join({ ...more, fresh: true } as never)
  await w.run(300)
  return bob
}

describe('fresh', () => {
  test('of a room that can be read changes nothing', async () => {
    const w = world({ seed: 1, conditions: 'rtt=20' })
    await kept(w)
    const ada = await anew(w, OLD)
    expect([ranks(ada), ada.laidAside]).toEqual([[7], null])
  })

  test('of a room of other types begins anew, and what was there is opened by its new name', async () => {
    const w = world({ seed: 2, conditions: 'rtt=20' })
    await kept(w)
    await expect(w.join(NEW)).rejects.toMatchObject({ code: 'schema' })
    const bob = await anew(w, NEW)
    const { room, why } = bob.laidAside!
    expect([room, why]).toEqual([expect.stringMatching(/^friday~[0-9a-z-]+$/), expect.any(String)])
    expect(bob.me.player).toBe(1)
    await act(w, bob.act(place, 3))
    const ada = await w.join({ ...OLD, room: room! })
    expect(ranks(ada)).toEqual([7])
    await act(w, bob.leave())
    // The new one is kept in its place.
    const again = await anew(w, NEW)
    expect(again.all(Pawn).map(({ state }) => state.x)).toEqual([3])
    expect(again.laidAside).toBe(null)
  })

  test('of a sealed room without its key leaves it to who has the key', async () => {
    const w = world({ seed: 3, conditions: 'rtt=20' })
    const key = 'a6'.repeat(32)
    await kept(w, { keepRoom: { key } })
    const eve = await anew(w, OLD)
    expect(ranks(eve)).toEqual([])
    const { room } = eve.laidAside!
    await expect(w.join({ ...OLD, room: room! })).rejects.toMatchObject({
      code: 'forbidden',
    })
    const ada = await w.join({ ...OLD, room: room!, keepRoom: { key } })
    expect(ranks(ada)).toEqual([7])
  })

  test('outlives the hub in both rooms', async () => {
    const w = world({ seed: 4, conditions: 'rtt=20' })
    await kept(w)
    const bob = await anew(w, NEW)
    await act(w, bob.act(place, 4))
    await act(w, bob.leave())
    const { room } = bob.laidAside!
    w.killHub()
    await w.run(100)
    w.restartHub()
    await w.run(4_000)
    const ada = await w.join({ ...OLD, room: room! })
    expect(ranks(ada)).toEqual([7])
    const next = await w.join(NEW)
    expect(next.all(Pawn).length).toBe(1)
  })

  test('of a room that somebody is in joins, or not, as without', async () => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const ada = await w.join(OLD)
    await act(w, ada.act(deal, 7))
    await expect(w.join({ ...NEW, fresh: true })).rejects.toMatchObject({ code: 'schema' })
    const bob = await anew(w, OLD)
    expect([ranks(bob), bob.laidAside, bob.me.player]).toEqual([[7], null, 2])
  })

  test('does not let in who was banned', async () => {
    const w = world({ seed: 6, conditions: 'rtt=20' })
    const ada = await w.join(OLD)
    const bob = await w.join({ ...OLD, name: 'Bob' })
    const { token } = bob
    await act(w, ada.ban(bob.me, 'too loud'))
    await act(w, ada.leave())
    await w.run(1_000)
    const again = w.join({ ...OLD, token, fresh: true })
    await expect(again).rejects.toMatchObject({ code: 'banned' })
  })

  test.each([1, 'yes', null])('takes true or false, and not %j', async (fresh) => {
    const w = world({ seed: 7, conditions: 'rtt=20' })
    await expect(w.join({ ...OLD, fresh: fresh as never })).rejects.toMatchObject({
      code: 'bad-value',
    })
  })
})
