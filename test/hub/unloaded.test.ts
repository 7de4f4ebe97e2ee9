// Goal: a hub unloads the records of unused stored rooms; players notice only its store's delay.
// Method: a hub by hand, with a disk by hand that answers at once or when the test says.
import { describe, expect, test } from 'vitest'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import { close } from '../../packages/hub/src/machine/closed-rooms.ts'
import { drop, SWEEP_MS } from '../../packages/hub/src/machine/persistence.ts'
import { encodePlace, readPlace } from '../../packages/hub/src/machine/places.ts'
import { importRoom } from '../../packages/hub/src/machine/room-files.ts'
import type { Desk } from './desk.ts'
import { Kept } from './kept-room.ts'

const MAIN = '1 g main'
const MINUTE = 60_000

/** A stored room whose record the hub has unloaded. */
function unloaded(limits: ConstructorParameters<typeof Kept>[0] = {}): Kept {
  const room = new Kept(limits)
  room.keep('one ', 1)
  room.leaves()
  const { desk, founder } = room
  desk.close(founder)
  room.desk.go(2 * MINUTE)
  expect(isUnloaded(room)).toBe(true)
  return room
}

function isUnloaded({ desk: { hub: own }, id }: Kept): boolean {
  const room = own.archive.rooms.get(id)
  return room?.saved === null && room.unloaded !== null && !own.places.has(MAIN)
}

/** A file of another session with what the disk has of that room. */
function fileOf({ desk }: Kept, id: string): Parameters<typeof importRoom>[1] {
  const { session } = readPlace(desk.disk.records.get(MAIN)!.value)!
  const more = { epoch: 1, next: 2, time: 0, index: 1, segments: [] }
  return { ...session.entry, ...session, ...more, session: id }
}

/** Somebody asks for the room, and the disk does not answer yet. @returns the stream */
function asked(room: Kept): number {
  const stream = room.desk.open()
  room.desk.isRead = false
  room.ask(stream, 2)
  return stream
}

function last(desk: Desk, stream: number): FromHub | undefined {
  return desk.heard.get(stream)!.at(-1)
}

describe('a stored room whose record is not loaded', () => {
  test('is that after its session ended, and after a start', () => {
    const room = unloaded()
    room.desk.restart()
    expect(isUnloaded(room)).toBe(true)
  })

  test('is opened with all of its segments, once for all who ask at once', () => {
    const room = unloaded()
    const { desk } = room
    desk.isRead = false
    const streams = [2, 3].map((id) => {
      const stream = desk.open()
      expect(room.ask(stream, id)).toEqual([])
      return stream
    })
    expect(desk.loads).toEqual([MAIN])
    desk.isRead = true
    desk.write()
    const heard = streams.map((stream) => desk.heard.get(stream)!)
    expect(heard.map((said) => room.added(said)!.created)).toEqual([true, false])
    expect(heard[0]!.filter(({ kind }) => kind === 'segment')).toHaveLength(1)
    expect(desk.hub.loads.size).toBe(0)
  })

  test('is refused with the reason if the store cannot read it, and opened another time', () => {
    const room = unloaded()
    const { desk } = room
    const stream = asked(room)
    desk.loads.length = 0
    hub.receiveRecord(desk, MAIN, 'the disk is gone')
    expect(last(desk, stream)).toMatchObject({ kind: 'refused', why: 'the disk is gone' })
    desk.isRead = true
    expect(room.opens(3).text).toBe('one ')
  })

  test('is replaced by a new room if its record is gone', () => {
    const room = unloaded()
    room.desk.disk.records.delete(MAIN)
    expect(room.opens(2)).toMatchObject({ opened: null, text: '' })
    expect(room.desk.hub.archive.rooms.has(room.id)).toBe(false)
  })

  test('is not taken for complete if its record is another one by now', () => {
    const room = unloaded()
    const { desk } = room
    const { value } = desk.disk.records.get(MAIN)!
    desk.disk.change({ ...{ key: MAIN, rev: desk.disk.records.get(MAIN)!.rev, value }, blobs: [] })
    const { opened, text } = room.opens(2)
    expect([text, (opened as { inc: number }).inc > 2]).toEqual(['one ', true])
  })

  test('is loaded before a ticket is read, and again if it was unloaded meanwhile; the ticket is read once', () => {
    const room = unloaded()
    const { desk } = room
    desk.hub.tickets = { closed: null }
    const stream = desk.open()
    room.ask(stream, 2, { ticket: 'a ticket' })
    const claims = { game: 'g', room: null, key: null, rights: RIGHTS.play, id: 't', uses: 1 }
    expect(isUnloaded(room)).toBe(false)
    desk.go(SWEEP_MS)
    expect([isUnloaded(room), desk.tickets.length]).toEqual([true, 1])
    hub.receiveTicket(desk, desk.tickets.shift()!, claims)
    desk.write()
    expect(desk.tickets).toEqual([])
    expect(room.added(desk.heard.get(stream)!)).toMatchObject({ created: true })
  })

  test.each<[string, (desk: Desk, id: string) => void]>([
    ['the operator drops it', (desk, id) => void drop(desk, id)],
    [
      'its room is closed',
      (desk) => {
        close(desk, { game: 'g', room: 'main' }, { why: 'closed', until: desk.now + 1 })
      },
    ],
    ['its time is over', (desk) => desk.go(12 * MINUTE)],
  ])('goes from the disk with its segments when %s', (_when, act) => {
    const { desk, id } = unloaded()
    act(desk, id)
    desk.write()
    const { rooms, places } = desk.hub.archive
    expect([desk.disk.records.size, desk.disk.blobs.size, rooms.size, places.size]).toEqual([
      ...[0, 0, 0, 0],
    ])
    expect(desk.hub.places.size).toBe(0)
  })

  test('goes also if it was loaded, and a sweep came before the disk has that', () => {
    const { desk, id } = unloaded()
    drop(desk, id)
    desk.atOnce = false
    desk.read()
    desk.hub.archivedAt = 0
    desk.wake()
    desk.write()
    expect([desk.disk.records.size, desk.hub.archive.rooms.size]).toEqual([0, 0])
  })

  test('stays as it is if a write was requested that has nothing of it', () => {
    const room = unloaded()
    const { desk } = room
    const before = desk.disk.records.get(MAIN)
    desk.owed.add(MAIN)
    desk.write()
    expect([desk.disk.records.get(MAIN), desk.hub.counters.lost]).toEqual([before, 0])
    expect(isUnloaded(room)).toBe(true)
  })

  test('goes when its time is over, however often somebody asks for it', () => {
    const room = unloaded()
    const { desk } = room
    const { until } = desk.hub.archive.rooms.get(room.id)!.unloaded!
    desk.go(until - desk.now - desk.hub.archive.wallOffset - 1)
    for (let sweeps = 0; sweeps < 2; sweeps++) {
      room.ask(desk.open(), 2, { playersMax: 0 })
      desk.go(SWEEP_MS)
    }
    expect([desk.disk.records.size, desk.hub.archive.rooms.size]).toEqual([0, 0])
  })

  test('stays in memory while its record is being written', () => {
    const room = unloaded()
    const { desk } = room
    room.ask(desk.open(), 2, { playersMax: 0 })
    const change = hub.beginWrite(desk.hub, MAIN)!
    desk.hub.archivedAt = 0
    desk.wake()
    expect(isUnloaded(room)).toBe(false)
    const outcome = desk.disk.change(change)
    hub.confirmWrite(desk, MAIN, (outcome as { rev: number }).rev)
    expect(isUnloaded(room)).toBe(true)
    expect(room.opens(3).text).toBe('one ')
  })

  test('that moves is opened under its new name by who asked for that meanwhile', () => {
    const room = unloaded()
    const { desk } = room
    const [founder, opener] = [desk.open(), desk.open()]
    desk.atOnce = false
    room.ask(founder, 2, { fresh: true })
    desk.read()
    room.ask(opener, 3, { room: `main~${room.id}` })
    const aside = { game: 'g', room: `main~${room.id}` }
    expect(importRoom(desk, fileOf(room, 'new-1'), aside)).toBe('is there')
    // The two writes of the move; the next one has not begun when the sweep comes.
    const passes = [...desk.owed].concat(MAIN)
    for (const place of passes) {
      desk.owed.delete(place)
      const change = hub.beginWrite(desk.hub, place)!
      hub.confirmWrite(desk, place, (desk.disk.change(change) as { rev: number }).rev)
    }
    desk.hub.archivedAt = 0
    desk.wake()
    desk.write()
    expect(room.added(desk.heard.get(founder)!)).toMatchObject({ created: true, opened: null })
    const added = room.added(desk.heard.get(opener)!)
    expect(added).toMatchObject({ created: true, entry: { session: room.id } })
  })

  test('is in use while its session lasts, whatever the record says of its retention', () => {
    const room = unloaded()
    const { desk } = room
    const { rev, value } = desk.disk.records.get(MAIN)!
    const lasting = encodePlace({ ...readPlace(value)!, lasts: true })
    desk.disk.change({ key: MAIN, rev, value: lasting, blobs: [] })
    desk.restart()
    expect([desk.hub.registers.rows.size, isUnloaded(room)]).toEqual([1, false])
  })

  test('goes even if somebody asks for it first, and that player founds a new one', () => {
    const room = unloaded()
    const { desk } = room
    const stream = asked(room)
    drop(desk, room.id)
    expect(desk.loads).toEqual([MAIN])
    desk.isRead = true
    desk.write()
    expect(room.added(desk.heard.get(stream)!)).toMatchObject({ created: true, opened: null })
    expect(desk.disk.blobs.size).toBe(0)
  })

  test('counts as stored: for the limit, for imports, and for its name', () => {
    const room = unloaded({ hub: { kept: 1 } })
    const { desk } = room
    const other = { game: 'g', room: 'other' }
    expect(importRoom(desk, fileOf(room, room.id), other)).toBe('is there')
    expect(importRoom(desk, fileOf(room, 'new-1'), { ...other, room: 'main' })).toBe('is there')
    expect(importRoom(desk, fileOf(room, 'new-1'), other)).toBe('full')
    const stream = desk.open()
    room.ask(stream, 2, { room: `x~${room.id}` })
    expect(last(desk, stream)).toMatchObject({ kind: 'refused' })
  })

  test('is unloaded again after a request for it was refused', () => {
    const room = unloaded()
    const stream = room.desk.open()
    room.ask(stream, 2, { playersMax: 0 })
    expect(last(room.desk, stream)).toMatchObject({ kind: 'refused', why: 'nobody serves it' })
    expect(isUnloaded(room)).toBe(false)
    room.desk.go(SWEEP_MS)
    expect(isUnloaded(room)).toBe(true)
    expect(room.opens(3).text).toBe('one ')
  })

  test('has its founder and its completeness still: the next number leaves no gap', () => {
    const room = unloaded()
    expect(room.opens(2).opened).toMatchObject({ inc: 2 })
    expect(room.desk.hub.archive.rooms.get(room.id)!.founder).not.toBe('')
    const again = unloaded()
    again.desk.restart()
    expect(again.opens(2).opened).not.toMatchObject({ inc: 2 })
  })
})
