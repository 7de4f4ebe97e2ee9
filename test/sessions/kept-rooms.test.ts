// Goal: a room outlives its members: whoever comes after the last of them goes on with what was
// acknowledged, however all others went, and as the player that they were.
// Method: whole sessions in virtual time, with the shipped hub; machines are killed.
import { describe, expect, test } from 'vitest'
import { action, object, piece, text, u8 } from '../../packages/holdfast/src/index.ts'
import type { JoinOptions } from '../../packages/holdfast/src/join/join.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { diskOf } from '../stored/disks.ts'
import { act } from './acting.ts'

const add = action('add', (table, [what]: [string]) => {
  table.set(what, ((table.get(what) as number | undefined) ?? 0) + 1)
  return table.get(what) as number
})
const ring = action('ring', (table) => table.set('rang', table.now))
const wait = action('wait', (table, [ms]: [number]) => table.later(ms, ring))
const types = [add, ring, wait]

function joining(w: SessionWorld, more: Partial<JoinOptions> = {}): Promise<Session> {
  return w.join({ game: 'garden', room: 'r', types, ...more })
}

describe('a room that everybody left', () => {
  test('goes on with the same players, table and session time', async () => {
    const w = world({ seed: 1, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    const grace = await joining(w, { name: 'Grace' })
    expect(await act(w, ada.act(add, ['pins']))).toMatchObject({ ok: true, value: 1 })
    expect(await act(w, grace.act(add, ['pins']))).toMatchObject({ ok: true, value: 2 })
    const { token } = grace
    const { id } = ada.member!.session
    const time = ada.now()
    await act(w, ada.leave())
    await act(w, grace.leave())
    await w.run(200)
    expect(w.hub()!.hub.registers.rows.size).toBe(0)
    const again = await joining(w, { token, name: 'Grace' })
    expect(again.member!.session.id).toBe(id)
    expect([again.me.player, again.table.get('pins')]).toEqual([2, 2])
    expect(again.now()).toBeGreaterThanOrEqual(time)
    expect(again.now()).toBeLessThan(time + 5_000)
    expect(await act(w, again.act(add, ['pins']))).toMatchObject({ ok: true, value: 3 })
    const linus = await joining(w, { name: 'Linus' })
    expect(linus.table.get('pins')).toBe(3)
    expect(linus.me.player).toBeGreaterThan(2)
  })
})

const KEY = '5a'.repeat(32)

test('who was banned does not open the room that all others left; others do (SE-4)', async () => {
  const w = world({ seed: 13, conditions: 'rtt=20' })
  const ada = await joining(w, { name: 'Ada' })
  const grace = await joining(w, { name: 'Grace' })
  const { token } = grace
  expect(await act(w, ada.ban(grace.me, 'spam'))).toMatchObject({ ok: true })
  await act(w, ada.act(add, ['pins']))
  await act(w, ada.leave())
  await expect(act(w, joining(w, { name: 'Grace', token }))).rejects.toMatchObject({
    code: 'banned',
    message: 'this player was banned: spam',
  })
  await w.run(1_000)
  const linus = await joining(w, { name: 'Linus' })
  expect([linus.table.get('pins'), linus.banned]).toMatchObject([1, [{ player: 2, why: 'spam' }]])
})

describe('how a room is left', () => {
  test('a player alone is killed: all that was acknowledged is there, and nothing twice', async () => {
    const w = world({ seed: 2, conditions: 'rtt=40,jitter=10' })
    let sum = 0
    let token: string | undefined
    for (let round = 0; round < 8; round++) {
      const ada: Session = await joining(w, { name: 'Ada', ...(token ? { token } : {}) })
      expect(ada.me.player).toBe(1)
      expect(ada.table.get('moves') ?? 0).toBeGreaterThanOrEqual(sum)
      sum = (ada.table.get('moves') as number | undefined) ?? 0
      const asked = Array.from({ length: 10 }, () => ada.act(add, ['moves']))
      for (const one of asked) void one.then((said) => said.ok && sum++)
      await w.run(round * 17)
      token = ada.token
      w.kill(ada, { silent: round % 2 === 1 })
    }
    const last = await joining(w, { name: 'Ada', token: token! })
    expect(last.table.get('moves')).toBeGreaterThanOrEqual(sum)
    expect(last.table.get('moves')).toBeLessThanOrEqual(80)
  })

  test('what a player did last is counted: the next operation is the next one', async () => {
    const w = world({ seed: 12, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    for (const value of [1, 2, 3]) {
      expect(await act(w, ada.act(add, ['pins']))).toMatchObject({ ok: true, value })
    }
    const { token } = ada
    w.kill(ada)
    const again = await joining(w, { name: 'Ada', token })
    expect(await act(w, again.act(add, ['pins']))).toMatchObject({ ok: true, value: 4 })
  })

  test('server and backup are killed at once: a minute later it opens, and lacks 0.1 s at most', async () => {
    const w = world({ seed: 3, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    const grace = await joining(w, { name: 'Grace' })
    await w.runUntil(() => ada.safety === 'backed-up' && grace.safety === 'backed-up', 10_000)
    await act(w, ada.act(add, ['pins']))
    await w.run(300)
    for (const one of [ada, grace]) w.kill(one)
    await w.run(5_000)
    const before = w.now()
    const next = await joining(w, { name: 'Linus' })
    expect(w.now() - before).toBeGreaterThan(40_000)
    expect(w.now() - before).toBeLessThan(65_000)
    expect([next.table.get('pins'), next.me.player > 2]).toEqual([1, true])
  })

  test('the hub is killed with them, and starts from its disk', async () => {
    const w = world({ seed: 4, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    await act(w, ada.act(add, ['pins']))
    const [time, at] = [ada.now(), w.now()]
    w.killHub()
    w.kill(ada)
    await w.run(2_000)
    w.restartHub()
    const next = await joining(w, { name: 'Grace' })
    expect(next.table.get('pins')).toBe(1)
    expect(Math.abs(next.now() - time - (w.now() - at))).toBeLessThan(100)
  })

  test('while the hub is away what a player alone does waits for it', async () => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    await act(w, ada.act(add, ['pins']))
    w.killHub()
    let done = false
    const asked = ada.act(add, ['pins'])
    void asked.then(() => (done = true))
    await w.run(3_000)
    expect(done).toBe(false)
    w.restartHub()
    expect(await act(w, asked)).toMatchObject({ ok: true, value: 2 })
  })

  test('timers go on, and one that was due meanwhile runs as the room is opened', async () => {
    const w = world({ seed: 6, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    await act(w, ada.act(wait, [60_000]))
    const due = ada.now() + 60_000
    await act(w, ada.leave())
    await w.run(20_000)
    const grace = await joining(w, { name: 'Grace' })
    await w.run(5_000)
    expect(grace.table.get('rang')).toBe(undefined)
    await w.runUntil(() => grace.table.get('rang') !== undefined, 60_000)
    expect(grace.table.get('rang')).toBeGreaterThanOrEqual(due - 200)
    expect(grace.table.get('rang')).toBeLessThan(due + 1_000)
  })
})

describe('how long it is kept', () => {
  test('for ten minutes, and as long as its founder says, over restarts of the hub', async () => {
    for (const [keepRoom, after, is] of [
      [undefined, 590_000, 1],
      [undefined, 630_000, undefined],
      ['2h', 7_100_000, 1],
      [false, 5_000, undefined],
    ] as const) {
      const w = world({ seed: 7, conditions: 'rtt=20' })
      const more = keepRoom === undefined ? {} : { keepRoom }
      const ada = await joining(w, { name: 'Ada', ...more })
      await act(w, ada.act(add, ['pins']))
      await act(w, ada.leave())
      await w.run(after)
      const next = await joining(w, { name: 'Grace', ...more })
      expect([keepRoom, after, next.table.get('pins')]).toEqual([keepRoom, after, is])
    }
  })

  test('the owner of the hub closes a room: nothing of it is kept', async () => {
    const w = world({ seed: 8, conditions: 'rtt=20' })
    const ada = await joining(w)
    await act(w, ada.act(add, ['pins']))
    expect(w.hub()!.closeRoom({ game: 'garden', room: 'r' }, 'over', 1_000)).toBe(1)
    await w.run(3_000)
    const next = await joining(w)
    expect(next.table.get('pins')).toBe(undefined)
  })

  test.each([
    [{ keepRoom: '0m' }, 'keepRoom is false, or a time from 1m to 365d such as \'30d\': "0m"'],
    [{ keepRoom: '366d' }, 'keepRoom is false, or a time from 1m to 365d such as \'30d\': "366d"'],
    [{ keepRoom: true }, 'keepRoom takes its options as an object: true'],
    [{ keepRoom: { key: 'abc' } }, 'keepRoom.key is 64 hexadecimal digits: "abc"'],
    [{ keepRoom: { strict: 1 } }, 'keepRoom.strict is true or false: 1'],
  ])('%j is refused with a sentence', async (wrong, why) => {
    const w = world({ seed: 1 })
    await expect(joining(w, wrong as never)).rejects.toMatchObject({
      code: 'bad-value',
      message: why,
    })
  })
})

describe('a room with a key', () => {
  test('is kept sealed, and opened by whoever has the key alone', async () => {
    const w = world({ seed: 9, conditions: 'rtt=20' })
    const keepRoom = { key: KEY }
    const ada = await joining(w, { name: 'Ada', keepRoom })
    await act(w, ada.act(add, ['a hidden thing']))
    const { token } = ada
    await act(w, ada.leave())
    const { records, blobs } = await diskOf(w)
    const written = [...records.values(), ...blobs.values()].map((bytes) =>
      Buffer.from(bytes).toString('latin1'),
    )
    expect(written.length).toBeGreaterThan(1)
    expect(written.filter((one) => one.includes('hidden thing'))).toEqual([])
    const others = [{}, { keepRoom: { key: 'b7'.repeat(32) } }]
    for (const other of others) {
      await expect(act(w, joining(w, other))).rejects.toMatchObject({ code: 'forbidden' })
    }
    const again = await joining(w, { name: 'Ada', token, keepRoom })
    expect([again.me.player, again.table.get('a hidden thing')]).toEqual([1, 1])
  })

  test('who joins without it plays on, and keeps nothing as the server', async () => {
    const w = world({ seed: 10, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada', keepRoom: { key: KEY } })
    const eve = await joining(w, { name: 'Eve' })
    await w.runUntil(() => eve.safety === 'backed-up', 10_000)
    await act(w, ada.act(add, ['pins']))
    await w.run(300)
    w.kill(ada)
    await w.runUntil(() => eve.primary?.name === 'Eve', 10_000)
    expect(await act(w, eve.act(add, ['pins']))).toMatchObject({ ok: true, value: 2 })
    await act(w, eve.leave())
    const next = await joining(w, { keepRoom: { key: KEY } })
    expect(next.table.get('pins')).toBe(1)
  })
})

describe('another build', () => {
  const Card = piece('card', { x: u8 })
  const deal = action('deal', (table) => void table.create(Card, { x: 3 }))

  test('with other actions and objects, and with pieces that were not there, goes on', async () => {
    const w = world({ seed: 11, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    await act(w, ada.act(add, ['pins']))
    await act(w, ada.leave())
    const newer = [add, wait, action('other', () => null), object('dot', { x: u8 }), Card, deal]
    const grace = await joining(w, { name: 'Grace', types: newer })
    expect(await act(w, grace.act(add, ['pins']))).toMatchObject({ ok: true, value: 2 })
    await act(w, grace.act(deal, null))
    expect(grace.all(Card).length).toBe(1)
    await act(w, grace.leave())
    // What is kept of pieces is not for a build that has none.
    await expect(act(w, joining(w))).rejects.toMatchObject({
      code: 'schema',
      message: expect.stringContaining('type "card" is there and not here'),
    })
    const next = await joining(w, { types: newer })
    expect([next.table.get('pins'), next.all(Card).length]).toEqual([2, 1])
  })

  test('with other pieces is refused with what differs, and the room stays as it was', async () => {
    const w = world({ seed: 11, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada', types: [...types, Card, deal] })
    await act(w, ada.act(deal, null))
    await act(w, ada.leave())
    const other = piece('card', { x: text(9) })
    await expect(act(w, joining(w, { types: [...types, other] }))).rejects.toMatchObject({
      code: 'schema',
      message: expect.stringMatching(/another build: type "card", field "x": must be a text: 3/),
    })
    const next = await joining(w, { types: [...types, Card, deal] })
    expect(next.all(Card)[0]!.state.x).toBe(3)
  })
})
