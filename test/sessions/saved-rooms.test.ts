// Goal: a room is saved into bytes by who holds it, and begins again from them anywhere, with the
// same players, pieces, table, timers and session time; bytes that are none are named.
// Method: whole sessions in virtual time, with the shipped hub; files are changed byte by byte.
import { describe, expect, test } from 'vitest'
import { action, piece, secret, text, u8 } from '../../packages/holdfast/src/index.ts'
import type { JoinOptions } from '../../packages/holdfast/src/join/join.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import {
  readSaved,
  type Saved,
  writeSaved,
} from '../../packages/holdfast/src/hub-protocol/saved-room.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { act } from './acting.ts'
import { snapshotLayout } from '../../packages/holdfast/src/replication/layouts.ts'
import { snapshotSegmentLayout } from '../../packages/holdfast/src/session/segments.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'

const add = action('add', (table, [what]: [string]) => {
  table.set(what, ((table.get(what) as number | undefined) ?? 0) + 1)
  return table.get(what) as number
})
const ring = action('ring', (table) => table.set('rang', table.now))
const wait = action('wait', (table, [ms]: [number]) => table.later(ms, ring))
const Pawn = piece('pawn', { at: u8 })
const Card = piece('card', { rank: secret(u8, (_card, who) => who < 0) })
const put = action('put', (table, [at]: [number]) => void table.create(Pawn, { at }))
const deal = action('deal', (table) => void table.create(Card, { rank: 217 }))
const fill = action('fill', (table, [what]: [string]) => table.set(what, 'x'.repeat(1_000)))
const types = [add, fill, ring, wait, put, Pawn]
const KEY = '5a'.repeat(32)
const sealed = { for: '10m', key: KEY } as const

function joining(w: SessionWorld, more: Partial<JoinOptions> = {}): Promise<Session> {
  return w.join({ game: 'garden', room: 'r', types, ...more })
}

/** A room of two, with a pawn and a timer of a minute, and its file. */
async function played(
  w: SessionWorld,
): Promise<{ ada: Session; grace: Session; file: Uint8Array }> {
  const ada = await joining(w, { name: 'Ada' })
  const grace = await joining(w, { name: 'Grace' })
  expect(await act(w, grace.act(add, ['pins']))).toMatchObject({ ok: true, value: 1 })
  expect(await act(w, ada.act(wait, [60_000]))).toMatchObject({ ok: true })
  expect(await act(w, ada.act(put, [5]))).toMatchObject({ ok: true })
  await w.runUntil(() => ada.safety === 'backed-up' && grace.safety === 'backed-up', 10_000)
  return { ada, grace, file: await ada.export() }
}

describe('a saved room', () => {
  test('begins in another room with the same players, pieces, timers and session time', async () => {
    const w = world({ seed: 1, conditions: 'rtt=20' })
    const { ada, grace, file } = await played(w)
    const time = ada.now()
    expect(await act(w, ada.act(add, ['pins']))).toMatchObject({ ok: true, value: 2 })
    await w.run(100_000)
    const linus = await joining(w, { room: 'copy', name: 'Linus', from: file })
    expect([linus.table.get('pins'), linus.table.get('rang')]).toEqual([1, undefined])
    expect(linus.all(Pawn).map((pawn) => pawn.state.at)).toEqual([5])
    expect([linus.now() >= time, linus.now() < time + 1_000]).toEqual([true, true])
    const back = await joining(w, { room: 'copy', name: 'Grace', token: grace.token })
    expect([back.me.player, linus.me.player]).toEqual([grace.me.player, 3])
    expect(await act(w, back.act(add, ['pins']))).toMatchObject({ ok: true, value: 2 })
    expect(await w.runUntil(() => linus.table.get('rang') !== undefined, 70_000)).toBe(true)
    expect((linus.table.get('rang') as number) - time).toBeGreaterThan(50_000)
    // The room that it was saved from went its own way.
    expect(ada.table.get('pins')).toBe(2)
  })
  test('is the same from the server and from its backup', async () => {
    const w = world({ seed: 2, conditions: 'rtt=20' })
    const { ada, grace } = await played(w)
    await w.run(1_000)
    const files = await Promise.all([ada.export(), grace.export()])
    const found = []
    for (const [at, from] of files.entries()) {
      const one = await joining(w, { room: `copy ${at}`, from })
      found.push([one.table.get('pins'), one.all(Pawn).map((pawn) => [pawn.id, pawn.state.at])])
    }
    expect(found[1]).toEqual(found[0])
  })
  test('comes back as its player who saved it', async () => {
    const w = world({ seed: 3, conditions: 'rtt=20' })
    const { ada, file } = await played(w)
    const { token } = ada
    const again = await joining(w, { room: 'copy', name: 'Ada', token, from: file })
    expect(again.me.player).toBe(1)
    for (const value of [2, 3]) {
      expect(await act(w, again.act(add, ['pins']))).toMatchObject({ ok: true, value })
    }
  })
  test('is kept and saved like any other, and its file begins again', async () => {
    const w = world({ seed: 4, conditions: 'rtt=20' })
    const { file } = await played(w)
    const one = await joining(w, { room: 'copy', from: file })
    await act(w, one.act(add, ['pins']))
    const second = await one.export()
    w.kill(one)
    const opened = await joining(w, { room: 'copy' })
    const loaded = await joining(w, { room: 'copy of it', from: second })
    expect([opened, loaded].map((room) => room.table.get('pins'))).toEqual([2, 2])
  })
  test('does not begin where somebody is, or where a room is kept', async () => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const { ada, grace, file } = await played(w)
    const where = { code: 'exists', message: expect.stringContaining('garden/r is there already') }
    await expect(act(w, joining(w, { from: file }))).rejects.toMatchObject(where)
    for (const one of [ada, grace]) await act(w, one.leave())
    await w.run(200)
    await expect(act(w, joining(w, { from: file }))).rejects.toMatchObject(where)
    await w.run(5_000)
    expect((await joining(w)).table.get('pins')).toBe(1)
  })
  test('goes on when who began it is cut off and comes back', async () => {
    const w = world({ seed: 6, conditions: 'rtt=20' })
    const { file } = await played(w)
    const one = await joining(w, { room: 'copy', name: 'Linus', from: file })
    const other = await joining(w, { room: 'copy', name: 'Mary' })
    expect(await w.runUntil(() => one.safety === 'backed-up', 10_000)).toBe(true)
    expect(await act(w, one.act(add, ['pins']))).toMatchObject({ ok: true, value: 2 })
    w.partition([[w.nodeOf(one)], [w.nodeOf(other), 'hub']])
    expect(await w.runUntil(() => other.members.length === 1, 60_000)).toBe(true)
    w.heal()
    const isBack = (): boolean => one.me.inc > 1 && one.members.length === 2
    expect(await w.runUntil(isBack, 60_000)).toBe(true)
    await w.run(1_000)
    expect([one, other].map((room) => room.table.get('pins'))).toEqual([2, 2])
  })
})

describe('who neither serves nor stands by', () => {
  /** A third player, with so many pawns on the board. */
  async function third(w: SessionWorld, pawns = 0): Promise<{ ada: Session; linus: Session }> {
    const { ada } = await played(w)
    const linus = await joining(w, { name: 'Linus' })
    for (let count = 0; count < pawns; count++) {
      expect(await act(w, linus.act(put, [count % 256]))).toMatchObject({ ok: true })
    }
    return { ada, linus }
  }

  test('has the room saved by who serves, all of it', async () => {
    const w = world({ seed: 14, conditions: 'rtt=20' })
    const { ada, linus } = await third(w)
    const file = await act(w, linus.export())
    expect(readSaved(file)).toMatchObject({ next: 4, session: ada.member!.session.id })
    const copy = await joining(w, { room: 'copy', from: file })
    expect([copy.table.get('pins'), copy.all(Pawn).length]).toEqual([1, 1])
  })

  test('who asks twice at once has the same, and asks once', async () => {
    const w = world({ seed: 15, conditions: 'rtt=20' })
    const { linus } = await third(w)
    const [one, other] = await act(w, Promise.all([linus.export(), linus.export()]))
    expect(one).toBe(other)
  })

  test('gets it over a line that loses, in many pieces', async () => {
    const w = world({ seed: 16, conditions: 'rtt=60,loss=10%' })
    const { linus } = await third(w)
    for (let count = 0; count < 120; count++) {
      expect(await act(w, linus.act(fill, [`long ${count}`]))).toMatchObject({ ok: true })
    }
    const file = await act(w, linus.export())
    expect(file.length).toBeGreaterThan(3 * 32 * 1024)
    const copy = await joining(w, { room: 'copy', from: file })
    expect(copy.table.get('long 119')).toBe('x'.repeat(1_000))
  })

  test('gets a room that is larger than a link holds at a time, and stays in touch', async () => {
    const w = world({ seed: 20, conditions: 'rtt=20' })
    const { linus } = await third(w)
    for (let count = 0; count < 1_300; count += 10) {
      const all = Array.from({ length: 10 }, (_none, at) => linus.act(fill, [`k ${count + at}`]))
      await act(w, Promise.all(all))
    }
    const statuses: string[] = []
    linus.on('status', (status) => statuses.push(status))
    const file = await act(w, linus.export())
    expect(file.length).toBeGreaterThan(1_300_000)
    expect([statuses, 'why' in readSaved(file)]).toEqual([[], false])
  })

  test('gets it of the next who serves, if the server dies', async () => {
    const w = world({ seed: 17, conditions: 'rtt=100' })
    const { ada, linus } = await third(w, 20)
    const asked = linus.export()
    await w.run(20)
    w.kill(ada)
    const file = await act(w, asked)
    expect((await joining(w, { room: 'copy', from: file })).all(Pawn).length).toBe(21)
  })

  test('gets no more than one a second, however often it asks', async () => {
    const w = world({ seed: 18, conditions: 'rtt=20' })
    const { ada, linus } = await third(w)
    const came: number[] = []
    for (let count = 0; count < 4; count++) {
      await act(w, linus.export())
      came.push(w.now())
    }
    const { exported } = ada.member!
    expect([...exported.keys()]).toEqual([linus.me.inc])
    await act(w, linus.leave())
    await w.run(500)
    expect(exported.size).toBe(0)
    const spans = came.slice(1).map((at, before) => at - came[before]!)
    expect(Math.min(...spans)).toBeGreaterThan(900)
  })

  test('gets none of a room with secrets, sealed or not', async () => {
    const w = world({ seed: 19, conditions: 'rtt=20' })
    for (const [room, keepRoom] of [
      ['sealed', sealed],
      ['open', false],
    ] as const) {
      const place = { game: 'cards', room, types: [Card, deal], keepRoom }
      const [, , linus] = [await w.join(place), await w.join(place), await w.join(place)]
      await w.run(2_000)
      await expect(act(w, linus!.export())).rejects.toMatchObject({
        code: 'forbidden',
        message: 'cannot export: it has secrets, so its server alone may',
      })
    }
  })
})

describe('a room with secrets', () => {
  const cards = { game: 'cards', types: [Card, deal] }
  test('is saved sealed by its key, and by nobody who has none', async () => {
    const w = world({ seed: 7, conditions: 'rtt=20' })
    const open = await w.join({ ...cards, room: 'open' })
    await expect(open.export()).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('it has secrets, and without keepRoom.key'),
    })
    const ada = await w.join({ ...cards, room: 'r', keepRoom: sealed })
    expect(await act(w, ada.act(deal, null))).toMatchObject({ ok: true })
    const file = await ada.export()
    const without = w.join({ ...cards, room: 'copy', from: file })
    await expect(act(w, without)).rejects.toMatchObject({ code: 'forbidden' })
    const other = { for: '10m', key: 'a5'.repeat(32) } as const
    const wrong = w.join({ ...cards, room: 'copy 2', from: file, keepRoom: other })
    await expect(act(w, wrong)).rejects.toMatchObject({ code: 'forbidden' })
    const grace = await w.join({ ...cards, room: 'copy 3', from: file, keepRoom: sealed })
    expect(grace.all(Card).length).toBe(1)
  })
  test('is saved by its server alone: a backup may lack what it may not see', async () => {
    const w = world({ seed: 13, conditions: 'rtt=20' })
    const ada = await w.join({ ...cards, room: 'r', keepRoom: sealed })
    const grace = await w.join({ ...cards, room: 'r', keepRoom: sealed })
    expect(await w.runUntil(() => grace.safety === 'backed-up', 10_000)).toBe(true)
    await expect(grace.export()).rejects.toMatchObject({
      code: 'forbidden',
      message: 'cannot export: it has secrets, so its server alone may',
    })
    expect((await ada.export()).length).toBeGreaterThan(100)
  })
  test('who serves a sealed room and has no key does not save it', async () => {
    const w = world({ seed: 8, conditions: 'rtt=20' })
    await w.join({ ...cards, room: 'r', keepRoom: sealed })
    const grace = await w.join({ ...cards, room: 'r' })
    await w.runUntil(() => grace.safety === 'backed-up', 10_000)
    await w.run(1_000)
    await expect(act(w, grace.export())).rejects.toMatchObject({
      code: 'forbidden',
      message: 'cannot export: this room is sealed: whoever saves it needs its key',
    })
  })
})

describe('what cannot be', () => {
  test('who has left does not save, and who leaves meanwhile is told so', async () => {
    const w = world({ seed: 9, conditions: 'rtt=20' })
    await played(w)
    const linus = await joining(w, { name: 'Linus' })
    const asked = linus.export()
    linus.debug.crash()
    await expect(act(w, asked)).rejects.toMatchObject({ code: 'left' })
    await expect(linus.export()).rejects.toMatchObject({ code: 'left' })
  })
  test('no byte of a file can be another', async () => {
    const w = world({ seed: 10, conditions: 'rtt=20' })
    const { file } = await played(w)
    for (let at = 0; at < file.length; at++) {
      const from = file.slice()
      from[at]! ^= 1 << (at % 8)
      await expect(joining(w, { room: 'copy', from })).rejects.toMatchObject({ code: 'bad-value' })
    }
    for (let length = 0; length < file.length; length++) {
      const cut = joining(w, { room: 'copy', from: file.slice(0, length) })
      await expect(cut).rejects.toMatchObject({ code: 'bad-value' })
    }
  })
  test('a file whose members have no numbers left is none: objects are named by them', async () => {
    const w = world({ seed: 14, conditions: 'rtt=20' })
    const { file } = await played(w)
    const saved = readSaved(file) as Saved
    const whole = decode(snapshotSegmentLayout, saved.segments[0]!)!
    const snapshot = { ...decode(snapshotLayout, whole.snapshot)!, nextInc: 2 ** 20 }
    const segments = [
      encode(snapshotSegmentLayout, { ...whole, snapshot: encode(snapshotLayout, snapshot) }),
    ]
    const from = writeSaved({ ...saved, segments })
    await expect(act(w, joining(w, { room: 'copy', from }))).rejects.toMatchObject({
      code: 'store',
    })
  })
  test.each([
    ['text', 'a file', 'from is what session.export gave, a Uint8Array: "a file"'],
    ['other bytes', new Uint8Array(64), 'from is no saved room'],
    ['null', null, 'from is what session.export gave, a Uint8Array: null'],
  ])('%s is named', async (_what, from, message) => {
    const w = world({ seed: 11 })
    const asked = joining(w, { from: from as Uint8Array })
    await expect(asked).rejects.toMatchObject({ code: 'bad-value', message })
  })
  test('a room of another game, or of another build, is named', async () => {
    const w = world({ seed: 12, conditions: 'rtt=20' })
    const { file } = await played(w)
    await expect(w.join({ game: 'duel', types, from: file })).rejects.toMatchObject({
      code: 'bad-value',
      message: 'from is a room of "garden", and this is "duel"',
    })
    const Other = piece('pawn', { at: text(9) })
    const other = joining(w, { room: 'copy', types: [add, Other], from: file })
    await expect(act(w, other)).rejects.toMatchObject({ code: 'schema' })
    // Nothing stands in the way of who comes with the right build.
    await w.run(15_000)
    expect((await joining(w, { room: 'copy', from: file })).table.get('pins')).toBe(1)
  })
})
