// Goal: whoever plays does not notice what a hub refuses to others: a school behind one address
// joins, rooms outlast a restart of their hub and a line that is cut, and one process fills no
// room.
// Method: whole sessions in virtual time; TABLE as it is shipped.
// Slow: the sessions have 16 to 64 members.
import { describe, expect, test } from 'vitest'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { action } from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

const SILENT_MS = 60_000
const ABSENT_MIN_MS = 30_000
const RESTART_MS = 120_000

const add = action('add', (table, by: number) => {
  const sum = Number(table.get('sum') ?? 0) + by
  table.set('sum', sum)
  return sum
})
const duel = { game: 'duel', types: [add] }

/** What was refused, if anything. */
function refused(w: SessionWorld): Record<string, number> {
  const all = Object.entries(w.hub()!.hub.budgets.refused)
  return Object.fromEntries(all.filter(([, count]) => count > 0))
}

async function seat(w: SessionWorld, room: string, count: number): Promise<Session[]> {
  const coming = Array.from({ length: count }, (_none, at) => {
    return w.join({ ...duel, room, playersMax: count }, { name: `${room}${at}`, kind: 'browser' })
  })
  const all = await Promise.all(coming)
  await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 20_000)
  return all
}

async function acted(w: SessionWorld, session: Session, by: number): Promise<unknown> {
  const outcome = session.act(add, by)
  let settled = false
  void outcome.finally(() => (settled = true)).catch(() => {})
  await w.runUntil(() => settled, 60_000)
  return outcome
}

describe('a school of 64 behind one address', () => {
  test('joins eight rooms at once, and is refused nothing (SE-9, SE-16)', async () => {
    const w = world({ seed: 64, conditions: 'rtt=40,loss=1%', addressOf: () => '192.0.2.1' })
    const rooms = await Promise.all('abcdefgh'.split('').map((room) => seat(w, room, 8)))
    expect(rooms.flat().every(({ members }) => members.length === 8)).toBe(true)
    expect(refused(w)).toEqual({})
    const accounts = [...w.hub()!.hub.budgets.accounts.values()]
    expect(accounts.map(({ streams, rooms: count }) => [streams.size, count])).toEqual([[64, 8]])
    w.killHub()
    await w.run(2_000)
    w.restartHub()
    const epochs = rooms.flat().map((one) => one.debug.figures().epoch)
    const all = rooms.flat()
    await w.runUntil(() => w.hub()!.hub.attached.size === 8, 20_000)
    await w.run(5_000)
    expect(all.map((one) => one.debug.figures().epoch)).toEqual(epochs)
    for (const [first] of rooms) expect(await acted(w, first!, 1)).toMatchObject({ ok: true })
    expect(refused(w)).toEqual({})
  }, 60_000)
  test('joins one room at once (SE-13)', async () => {
    const w = world({ seed: 65, conditions: 'rtt=40', addressOf: () => '192.0.2.1' })
    const all = await seat(w, 'hall', 64)
    expect(all.every(({ members }) => members.length === 64)).toBe(true)
    expect(refused(w)).toEqual({})
  }, 60_000)
})

describe('two rooms of eight', () => {
  async function twoRooms(): Promise<{ w: SessionWorld; rooms: Session[][] }> {
    const w = world({ seed: 28, conditions: 'rtt=40' })
    return { w, rooms: [await seat(w, 'a', 8), await seat(w, 'b', 8)] }
  }
  const ids = (w: SessionWorld): string[] => [...w.hub()!.hub.registers.rows.keys()].toSorted()

  test('whose hub is away for 60 s and is started anew go on as they were (SE-8)', async () => {
    const { w, rooms } = await twoRooms()
    const before = ids(w)
    expect(await acted(w, rooms[0]![3]!, 5)).toEqual({ ok: true, value: 5 })
    const [incs, epochs] = [(): number[] => rooms.flat().map(({ me }) => me.inc), rooms.flat()]
    const [was, were] = [incs(), epochs.map((one) => one.debug.figures().epoch)]
    w.killHub()
    await w.run(60_000)
    w.restartHub()
    await w.runUntil(() => w.hub()!.hub.connections.size === 16, 20_000)
    await w.run(2 * RESTART_MS)
    expect(ids(w)).toEqual(before)
    expect(incs()).toEqual(was)
    expect(rooms.flat().map((one) => one.debug.figures().epoch)).toEqual(were)
    expect(await acted(w, rooms[0]![6]!, 2)).toEqual({ ok: true, value: 7 })
    expect(await acted(w, rooms[1]![6]!, 2)).toEqual({ ok: true, value: 2 })
    expect(w.hub()!.hub.counters.abandoned).toBe(0)
  }, 60_000)
  test('that are cut off from their hub for as long as they played go on (SE-8)', async () => {
    const { w, rooms } = await twoRooms()
    await w.run(ABSENT_MIN_MS * 2)
    const before = ids(w)
    const mend = w.partition([['hub'], rooms.flat().map((one) => w.nodeOf(one))])
    await w.run(ABSENT_MIN_MS * 2 - 10_000)
    mend()
    await w.run(20_000)
    expect(ids(w)).toEqual(before)
    for (const [, second] of rooms) expect(await acted(w, second!, 2)).toMatchObject({ ok: true })
  }, 60_000)
  test('whose members are all killed end within a minute of absence, for they are kept (SE-8)', async () => {
    const { w, rooms } = await twoRooms()
    for (const one of rooms.flat()) w.kill(one)
    await w.run(SILENT_MS + 3_000)
    expect(ids(w)).toEqual([])
    expect(w.hub()!.hub.counters.abandoned).toBe(2)
  })
})
