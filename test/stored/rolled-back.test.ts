// Goal: who saw what is on the disk of the hub is told if the room goes on without it, once, and
// how much that is; and nobody is told so where nothing was lost that was stored.
// Method: whole sessions in virtual time, whose hub starts again from an older disk, or from that
// of a copy of the room with which others played on; and sessions that die in every way, by seed.
// Slow: eight seeds open, play and kill a room three times each.
import { describe, expect, test } from 'vitest'
import { action, object, text, u8, withRoom } from '../../packages/holdfast/src/index.ts'
import type { JoinOptions } from '../../packages/holdfast/src/join/join.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { dropRoom } from '../../packages/hub/src/rooms.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { act } from '../sessions/acting.ts'
import { diskOf, EMPTY, putBack } from './disks.ts'

const set = action('set', { key: text(16), to: u8 }, (table, { key, to }) => table.set(key, to))
const Note = object('note', { x: u8 }, { onOwnerLeave: 'keep', kept: withRoom() })
const place = { game: 'garden', room: 'r', types: [set, Note] }

/** A member, and all that it was told of losses. */
interface Told {
  session: Session
  losses: unknown[]
}

async function joining(w: SessionWorld, more: Partial<JoinOptions>): Promise<Told> {
  const session = await w.join({ ...place, ...more })
  const losses: unknown[] = session.rolledBack ? [session.rolledBack] : []
  session.on('rolledBack', (loss) => losses.push(loss))
  return { session, losses }
}

async function acts(w: SessionWorld, session: Session, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    expect(await act(w, session.act(set, { key, to: 1 }))).toMatchObject({ ok: true })
  }
}

async function left(w: SessionWorld, ...all: Session[]): Promise<void> {
  for (const one of all) await act(w, one.leave())
  await w.run(1_000)
}

const plain = { keepRoom: '30d' } as const
const sealed = { keepRoom: { for: '30d', key: '5a'.repeat(32) } } as const

describe.each([
  ['open', plain],
  ['sealed', sealed],
])('a room that is %s, and an older copy of it', (_name, keepRoom) => {
  test('is told to its player, once, with how much is missing (N-2)', async () => {
    const w = world({ seed: 1, conditions: 'rtt=20' })
    const { session: ada } = await joining(w, { ...keepRoom, name: 'Ada' })
    await acts(w, ada, 'one')
    await w.run(500)
    const old = await diskOf(w)
    await acts(w, ada, 'two', 'three')
    await w.run(500)
    await left(w, ada)
    const { token } = ada
    await putBack(w, old)
    const again = await joining(w, { ...keepRoom, name: 'Ada', token })
    expect(again.session.me.player).toBe(1)
    expect(again.losses).toEqual([{ entries: 2, imported: false }])
    expect(again.session.rolledBack).toEqual({ entries: 2, imported: false })
    await acts(w, again.session, 'four')
    await left(w, again.session)
    const last = await joining(w, { ...keepRoom, name: 'Ada', token: again.session.token })
    expect([last.session.table.get('four'), last.losses]).toEqual([1, []])
  })

  test('on which others played on is no less old, however high its epoch is (N-2)', async () => {
    const w = world({ seed: 2, conditions: 'rtt=20' })
    const { session: ada } = await joining(w, { ...keepRoom, name: 'Ada' })
    await acts(w, ada, 'one')
    await left(w, ada)
    const old = await diskOf(w)
    // One copy.
    const first = await joining(w, { ...keepRoom, name: 'Ada', token: ada.token })
    await acts(w, first.session, 'two')
    await left(w, first.session)
    expect(first.losses).toEqual([])
    // The other, in the same epoch and then in later ones.
    await putBack(w, old)
    for (let round = 0; round < 3; round++) {
      const { session: eve, losses } = await joining(w, { ...keepRoom, name: 'Eve' })
      await acts(w, eve, 'a', 'b', 'c', 'd')
      await left(w, eve)
      expect(losses).toEqual([])
    }
    const again = await joining(w, { ...keepRoom, name: 'Ada', token: first.session.token })
    expect(again.session.table.get('two')).toBe(undefined)
    expect(again.losses).toMatchObject([{ imported: false }])
  })
})

test('a member hears of its primary what is stored, and misses it as well; who is new does not (N-2)', async () => {
  const w = world({ seed: 3, conditions: 'rtt=20' })
  const { session: ada } = await joining(w, { ...sealed, name: 'Ada' })
  const { session: grace } = await joining(w, { ...sealed, name: 'Grace' })
  await w.runUntil(() => grace.safety === 'backed-up', 10_000)
  await acts(w, ada, 'one')
  await w.run(2_000)
  const old = await diskOf(w)
  await acts(w, ada, 'two', 'three')
  await w.run(3_000)
  w.kill(ada)
  w.kill(grace)
  await putBack(w, old)
  await w.run(61_000)
  const linus = await joining(w, { ...sealed, name: 'Linus' })
  const again = await joining(w, { ...sealed, name: 'Grace', token: grace.token })
  expect([again.session.me.player, again.session.table.get('two')]).toEqual([2, undefined])
  expect(again.losses).toMatchObject([{ entries: 2 }])
  expect(linus.losses).toEqual([])
})

test('of objects that are kept an older copy is told as well (N-2)', async () => {
  const w = world({ seed: 4, conditions: 'rtt=20' })
  const { session: ada } = await joining(w, { ...plain, name: 'Ada' })
  const note = ada.create(Note, { x: 1 })
  await w.run(1_000)
  const old = await diskOf(w)
  note.set({ x: 2 })
  await w.run(1_000)
  w.kill(ada)
  await putBack(w, old)
  const again = await joining(w, { ...plain, name: 'Ada', token: ada.token })
  expect(again.session.all(Note).map(({ state }) => state.x)).toEqual([1])
  expect(again.losses).toEqual([{ entries: 0, imported: false }])
})

test('an older copy that whoever runs the hub imports is named as such, to all (N-2)', async () => {
  const w = world({ seed: 5, conditions: 'rtt=20' })
  const { session: ada } = await joining(w, { ...sealed, name: 'Ada' })
  await acts(w, ada, 'one')
  await left(w, ada)
  const saved = (await act(w, w.hub()!.exportRoom(place)))!
  const first = await joining(w, { ...sealed, name: 'Ada', token: ada.token })
  await acts(w, first.session, 'two')
  const { session: grace } = await joining(w, { ...sealed, name: 'Grace' })
  await w.run(3_000)
  await left(w, first.session, grace)
  expect(dropRoom(w.hub()!, place.game, place.room)).toBe(true)
  await w.run(200)
  expect(await act(w, w.hub()!.restoreRoom(saved, place))).toBe(null)
  w.killHub()
  w.restartHub()
  const again = await joining(w, { ...sealed, name: 'Ada', token: first.session.token })
  const { losses } = await joining(w, { ...sealed, name: 'Grace', token: grace.token })
  expect([again.losses, losses]).toMatchObject([[{ imported: true }], [{ imported: true }]])
})

test('members whose hub is gone for good meet at another one, and are told what they left (N-9)', async () => {
  const w = world({ seed: 7, conditions: 'rtt=20' })
  const ada = await joining(w, { ...sealed, name: 'Ada' })
  const grace = await joining(w, { ...sealed, name: 'Grace' })
  await w.runUntil(() => ada.session.safety === 'backed-up', 10_000)
  await acts(w, ada.session, 'one', 'two', 'three')
  await w.run(3_000)
  const before = ada.session.member!.session.id
  // The hub that listens there now has another file, and so another key.
  await putBack(w, EMPTY)
  const isThere = (): boolean => w.hub()!.hub.registers.rows.size > 0
  expect(await w.runUntil(isThere, 120_000)).toBe(true)
  await w.run(5_000)
  for (const { session, losses } of [ada, grace]) {
    expect([session.status, session.member!.session.id === before]).toEqual(['live', false])
    expect(session.table.get('one')).toBe(undefined)
    expect(losses).toMatchObject([{ imported: false }])
    expect(session.rolledBack!.entries).toBeGreaterThanOrEqual(3)
  }
})

test('a token says what is stored, and with the key of the room opens it (N-2)', async () => {
  const w = world({ seed: 6, conditions: 'rtt=20' })
  const { session: ada } = await joining(w, { ...sealed, name: 'Ada' })
  expect(ada.token).toMatch(/^[\w-]+\.1\.[0-9a-f]{64}\.(5a){32}(\.|$)/)
  await acts(w, ada, 'one')
  await left(w, ada)
  const { token } = ada
  expect(token).toMatch(/\.(5a){32}\.\d+-\d+-\d+-[0-9a-f]{32}$/)
  // As the game of a page that was opened without the fragment of its link.
  const again = await joining(w, { name: 'Ada', token })
  expect([again.session.me.player, again.session.table.get('one')]).toEqual([1, 1])
  await acts(w, again.session, 'two')
  await left(w, again.session)
  // Of a session without a key it has none, and of 0.2 it is as it was.
  const [id, player, seed] = token.split('.')
  const asked = joining(w, { name: 'Ada', token: [id, player, seed].join('.') })
  await expect(act(w, asked)).rejects.toMatchObject({ code: 'forbidden' })
  const open = await joining(w, { ...plain, room: 'other', name: 'Ada' })
  await w.run(1_000)
  expect(open.session.token).toMatch(/^[\w-]+\.1\.[0-9a-f]{64}\.\.\d+-\d+-\d+-[0-9a-f]{32}$/)
})

describe('nobody is told of a loss', () => {
  test.each(Array.from({ length: 8 }, (_none, seed) => seed))(
    'where all that was stored is there, however all died, seed %i (N-2)',
    async (seed) => {
      const w = world({ seed: 100 + seed, conditions: 'rtt=40,jitter=10,loss=2%' })
      const tokens = new Map<string, string>()
      for (let round = 0; round < 3; round++) {
        const here: Told[] = []
        for (const name of ['Ada', 'Grace', 'Linus']) {
          const token = tokens.get(name)
          here.push(await joining(w, { ...sealed, name, ...(token && { token }) }))
        }
        for (let n = 0; n < 12; n++) {
          const { session } = here[(seed + n) % 3]!
          void session.act(set, { key: `${round}/${n}`, to: n }).catch(() => {})
          await w.run(40 + 13 * seed)
          if (n === 5 + (seed % 4)) w.kill(here[0]!.session)
        }
        await w.run(200 * seed)
        for (const { session } of here) tokens.set(session.me.name, session.token)
        for (const { session } of here) w.kill(session)
        if (seed % 2 === 1) {
          w.killHub()
          await w.run(500)
          w.restartHub()
        }
        await w.run(62_000)
        expect(here.map(({ losses }) => losses)).toEqual([[], [], []])
      }
      const last = await joining(w, { ...sealed, name: 'Ada', token: tokens.get('Ada')! })
      expect(last.losses).toEqual([])
    },
  )
})
