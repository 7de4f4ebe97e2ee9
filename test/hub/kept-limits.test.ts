// Goal: a hub keeps so many rooms, and so many of one address, and no room longer than it said.
// Method: rooms at a hub by hand; each limit is met, and is free again when a room is gone.
import { expect, test } from 'vitest'
import { sweep, SWEEP_MS } from '../../packages/hub/src/machine/persistence.ts'
import { Desk } from './desk.ts'
import { Kept } from './kept-room.ts'

const KEEP_MS = 10 * 60_000
const HERE = '198.51.100.1'
const THERE = '198.51.100.2'

const why = (room: Kept): string => {
  const [said] = room.keep('whole ', 1)
  return said && 'why' in said ? (said.why as string) : 'no answer'
}

test('a hub keeps no more rooms than the limit says, and those that it has go on', () => {
  const desk = new Desk({ hub: { kept: 2 } })
  const [one, two, three] = ['a', 'b', 'c'].map((name) => new Kept(desk, name)) as Kept[]
  expect([one, two].map((room) => why(room!))).toEqual(['', ''])
  expect(why(three!)).toMatch(/^limit hub.kept: at most 2 stored rooms/)
  // Who is kept already writes on.
  expect(one!.keep('one ', 2)).toMatchObject([{ kind: 'kept', why: '' }])
  expect(desk.hub.archive.rooms.size).toBe(2)
})

test('of one address it keeps no more than the limit says, and of others as many again', () => {
  const desk = new Desk({ address: { kept: 2 } })
  const rooms = ['a', 'b', 'c'].map((name) => new Kept(desk, name, HERE))
  const other = new Kept(desk, 'd', THERE)
  expect(rooms.slice(0, 2).map(why)).toEqual(['', ''])
  expect(why(rooms[2]!)).toMatch(/^limit address.kept: at most 2 stored rooms/)
  expect(why(other)).toBe('')
})

test('a room is kept until its time is over, and from that instant no longer', () => {
  const room = new Kept()
  room.keep('whole ', 1)
  room.leaves()
  const { hub, out } = room.desk
  const [kept] = [...hub.archive.rooms.values()]
  // The session ends when all have been away for long enough.
  for (let turn = 0; turn < 100 && !kept!.unloaded; turn++) room.desk.go(SWEEP_MS)
  const { until } = kept!.unloaded!
  expect(until).toBeGreaterThan(KEEP_MS)
  const wall = (at: number): number => at - hub.archive.wallOffset
  for (const [at, left] of [
    [until - 1, 1],
    [until, 0],
  ] as const) {
    hub.archivedAt = 0
    room.desk.now = wall(at)
    sweep({ hub, now: wall(at), out })
    room.desk.write()
    expect(hub.archive.rooms.size).toBe(left)
  }
})
