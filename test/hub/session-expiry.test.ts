// Goal: a room that nobody plays in ends in seconds, one that people played in outlasts their
// absence.
// Method: the hub's machine with streams and a disk by hand; time moves as the hub asks to be
// woken.
import { describe, expect, test } from 'vitest'
import { ASK_MS } from '../../packages/hub/src/machine/register.ts'
import { Desk, proof } from './desk.ts'

const ABSENT_MAX_MS = 600_000
const ABSENT_MIN_MS = 30_000
const NEVER_MS = 10_000
const RESTART_MS = 120_000

const rooms = (desk: Desk): [number, number] => [
  desk.hub.registers.rows.size,
  desk.disk.records.size,
]
/** A session that was attended for so long, and whose member then went. */
function attended(desk: Desk, ms: number): void {
  const { streams } = desk.session(1)
  desk.go(ms)
  desk.close(streams[0]!)
}

describe('a room that nobody ever attended', () => {
  test('ends with the stream of its founder, from the disk too (SE-8)', () => {
    const desk = new Desk()
    const stream = desk.open()
    for (const room of ['a', 'b']) desk.add(stream, room)
    expect(rooms(desk)).toEqual([2, 2])
    desk.close(stream)
    expect(rooms(desk)).toEqual([0, 0])
    expect(desk.hub.expiries.size).toBe(0)
    expect(desk.hub.counters.abandoned).toBe(2)
  })
  test('ends so too when the disk takes it after the founder went (SE-8)', () => {
    const desk = new Desk()
    const stream = desk.open()
    desk.atOnce = false
    desk.add(stream, 'main')
    desk.close(stream)
    expect(desk.hub.registers.rows.size).toBe(1)
    desk.atOnce = true
    desk.write()
    expect(rooms(desk)).toEqual([0, 0])
  })
  test('ends after 10 s while its founder waits, and not before (SE-8)', () => {
    const desk = new Desk()
    desk.add(desk.open(), 'main')
    desk.go(NEVER_MS - 1)
    expect(rooms(desk)).toEqual([1, 1])
    desk.go(1 + ASK_MS)
    expect(rooms(desk)).toEqual([0, 0])
  })
  test('leaves no account behind where the disk did not take it (SE-8)', () => {
    const desk = new Desk()
    desk.atOnce = false
    const stream = desk.open('192.0.2.1')
    desk.add(stream, 'main')
    desk.write('the disk is full')
    expect(desk.hub.expiries.size).toBe(0)
    expect(desk.hub.budgets.accounts.get('192.0.2.1')!.rooms).toBe(0)
  })
})

describe('a room whose members are away', () => {
  test.each([
    [0, ABSENT_MIN_MS],
    [ABSENT_MIN_MS - 1, ABSENT_MIN_MS],
    [90_000, 90_000],
    [ABSENT_MAX_MS + 60_000, ABSENT_MAX_MS],
  ])('after %i ms of play is kept for %i (SE-8)', (playedMs, keptMs) => {
    const desk = new Desk()
    attended(desk, playedMs)
    desk.go(keptMs - 1)
    expect(rooms(desk)).toEqual([1, 1])
    desk.go(1 + ASK_MS)
    expect(rooms(desk)).toEqual([0, 0])
  })
  test('is kept while one of them is here, and what they played adds up (SE-8)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    desk.go(40_000)
    desk.close(streams[0]!)
    desk.go(100_000)
    desk.close(streams[1]!)
    desk.go(100_000)
    const again = desk.open()
    expect(desk.attach(again, id, 2)).toMatchObject([{ kind: 'attached' }])
    desk.go(60_000)
    desk.close(again)
    desk.go(199_999)
    expect(rooms(desk)).toEqual([1, 1])
    desk.go(1 + ASK_MS)
    expect(rooms(desk)).toEqual([0, 0])
  })
  test('is not ended while a change of it is on its way to the disk (SE-8)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(1)
    desk.close(streams[0]!)
    desk.go(ABSENT_MIN_MS - 1)
    const row = desk.hub.registers.rows.get(id)!
    const { register } = row.entry
    row.pending = { register, isNew: false, before: null, isWriting: false }
    desk.go(5_000)
    expect(rooms(desk)).toEqual([1, 1])
    row.pending = null
    desk.go(ASK_MS)
    expect(rooms(desk)).toEqual([0, 0])
  })
})

describe('after a start of the hub', () => {
  test('rooms wait two minutes for members that are on their way back (SE-8)', () => {
    const desk = new Desk()
    const { id } = desk.session(1, 'a')
    desk.session(1, 'b')
    desk.restart()
    desk.go(RESTART_MS - 1)
    expect(rooms(desk)).toEqual([2, 2])
    expect(desk.attach(desk.open(), id, 1)).toMatchObject([{ kind: 'attached' }])
    desk.go(1 + ASK_MS)
    expect([...desk.hub.registers.rows.keys()]).toEqual([id])
  })
  test('the address of whoever comes back has the room (SE-8)', () => {
    const desk = new Desk({ address: { rooms: 1 } })
    const { id } = desk.session(1, 'a')
    desk.restart()
    const stream = desk.open('192.0.2.1')
    desk.attach(stream, id, 1)
    expect(desk.hub.budgets.accounts.get('192.0.2.1')!.rooms).toBe(1)
    expect(desk.add(desk.open('192.0.2.1'), 'b')).toMatchObject([{ kind: 'refused' }])
  })
})

test('to found rooms and to leave them fills the hub with no more than an address may have (SE-8)', () => {
  const desk = new Desk()
  let most = 0
  for (let second = 0; second < 300; second++) {
    for (let i = 0; i < 4; i++) {
      const stream = desk.open('192.0.2.1')
      if (desk.closed.has(stream)) continue
      const [answer] = desk.add(stream, `${second} ${i}`)
      if (answer?.kind === 'added') desk.attach(stream, answer.entry.session, 1)
      desk.close(stream)
    }
    desk.go(1_000)
    most = Math.max(most, desk.hub.registers.rows.size)
  }
  expect(most).toBeGreaterThan(60)
  expect(most).toBeLessThanOrEqual(128)
  desk.go(ABSENT_MIN_MS + ASK_MS)
  expect(desk.hub.registers.rows.size).toBe(0)
})

test('a room belongs to the address that opened it, whoever comes later, and once (SE-8, PR-2)', () => {
  const desk = new Desk()
  const { id } = desk.session(2, 'main', '192.0.2.1')
  const roomsOf = (place: string): number => desk.hub.budgets.accounts.get(place)?.rooms ?? 0
  const comes = (place: string): void => {
    expect(desk.attach(desk.open(place), id, 2)).toMatchObject([{ kind: 'attached' }])
  }
  comes('192.0.2.2')
  expect([roomsOf('192.0.2.1'), roomsOf('192.0.2.2')]).toEqual([1, 0])
  desk.restart()
  comes('192.0.2.2')
  comes('192.0.2.3')
  comes('192.0.2.2')
  expect([roomsOf('192.0.2.2'), roomsOf('192.0.2.3')]).toEqual([1, 0])
})

test('those whose time is over are looked for once a second, however often the hub wakes (PR-2)', () => {
  const desk = new Desk()
  desk.session(1)
  const { rows } = desk.hub.registers
  const looks: number[] = []
  const keys = rows.keys.bind(rows)
  rows.keys = () => {
    looks.push(desk.now)
    return keys()
  }
  desk.pass(2_100)
  expect(looks).toEqual([0, 1_000, 2_000])
})

test('of rooms that are left for equally long the one that was opened first gives its place (PR-2)', () => {
  const desk = new Desk({ hub: { rooms: 2 } })
  const both = ['a', 'b'].map((room) => desk.session(1, room))
  for (const { streams } of both) desk.close(streams[0]!)
  desk.go(NEVER_MS + 1)
  expect(desk.add(desk.open(), 'c')).toMatchObject([{ kind: 'refused' }])
  expect([...desk.hub.registers.rows.keys()]).toEqual([both[1]!.id])
})

test('with a room goes what was spent on it, and its founder may go before or after (PR-2)', () => {
  const desk = new Desk()
  const { id, streams } = desk.session(1)
  const caller = desk.open()
  desk.add(caller, 'main', 9)
  desk.knock(caller, Uint8Array.of(1))
  expect([...desk.hub.budgets.rooms.keys()]).toEqual([id])
  const end = { kind: 'change', request: 9, session: id, inc: 1, proof: proof(1) } as const
  desk.say(streams[0]!, { ...end, expect: 1, primary: 1, backup: 0, why: 'end' })
  expect([desk.hub.budgets.rooms.size, desk.hub.expiries.size]).toEqual([0, 0])
  desk.close(streams[0]!)
  expect(desk.hub.counters.abandoned).toBe(0)
})

test('a disk that does not take the end of a room keeps it, and it ends later (SE-8, PR-2)', () => {
  const desk = new Desk()
  const { streams } = desk.session(1, 'main', '192.0.2.1')
  desk.close(streams[0]!)
  desk.go(ABSENT_MIN_MS - 1)
  desk.atOnce = false
  desk.go(ASK_MS)
  desk.write('the disk is full')
  expect(desk.hub.expiries.size).toBe(1)
  expect(desk.hub.budgets.accounts.get('192.0.2.1')!.rooms).toBe(1)
  desk.atOnce = true
  desk.go(ASK_MS)
  expect(rooms(desk)).toEqual([0, 0])
})
