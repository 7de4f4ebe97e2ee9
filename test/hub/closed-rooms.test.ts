// Goal: a room that its owner closed is over whatever is under way, and stays closed as long as it
// was said, for that room alone (SE-4).
// Method: the hub's machine at a desk whose disk the test writes.
import { beforeEach, describe, expect, test } from 'vitest'
import { close } from '../../packages/hub/src/machine/closed-rooms.ts'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { Desk, proof } from './desk.ts'
import { Kept } from './kept-room.ts'

const PLACE = { game: 'g', room: 'main' }

let desk: Desk
beforeEach(() => {
  desk = new Desk()
})

function shut(forMs: number): number {
  const until = desk.now + forMs
  const ended = close(desk, PLACE, { why: 'closed', until })
  if (desk.atOnce) desk.write()
  return ended
}

const found = (room = 'main'): FromHub | undefined => desk.add(desk.open(), room).at(-1)

describe('a closed room', () => {
  test('ends its session, tells each attached member, and takes nobody until its time is over (SE-4)', () => {
    const { id, streams } = desk.session(2)
    expect(shut(1_000)).toBe(1)
    for (const [at, stream] of streams.entries()) {
      const said = desk.heard.get(stream)!
      expect(said).toContainEqual({ kind: 'present', session: id, inc: at + 1, here: false })
    }
    expect(desk.hub.registers.rows.size).toBe(0)
    expect(found()).toMatchObject({
      kind: 'refused',
      why: expect.stringMatching(/^not admitted: closed: it opens again in \d+ s$/),
    })
    expect(found('beside')).toMatchObject({ kind: 'added' })
    desk.now += 1_000
    expect(found()).toMatchObject({ kind: 'added', created: true })
  })

  test('is over too where a change was on its way to the disk (SE-4)', () => {
    const { id, streams } = desk.session(2)
    desk.atOnce = false
    const { epoch } = desk.hub.registers.rows.get(id)!.entry.register
    const change = { kind: 'change', request: 9, session: id, inc: 1, why: 'add' } as const
    desk.say(streams[0]!, { ...change, proof: proof(1), expect: epoch, primary: 1, backup: 2 })
    shut(1_000)
    desk.write()
    desk.write()
    expect(desk.hub.registers.rows.size).toBe(0)
    expect(desk.news.map(({ kind }) => kind).at(-1)).toBe('ended')
  })

  test('is over once the disk takes it, if it refused before (SE-4)', () => {
    desk.session(2)
    desk.atOnce = false
    shut(60_000)
    desk.write('the disk is full')
    expect(desk.hub.registers.rows.size).toBe(1)
    // As the runtime does: what took effect without the disk is to be written.
    desk.owed.add('1 g main')
    desk.write()
    expect(desk.hub.registers.rows.size).toBe(0)
  })

  test('is not kept once the disk takes that, if it refused before (SE-4)', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    room.leaves()
    const { desk: own } = room
    own.atOnce = false
    close(own, PLACE, { why: 'closed', until: own.now + 60_000 })
    own.write('the disk is full')
    expect(own.disk.records.has('1 g main')).toBe(true)
    own.atOnce = true
    own.wake()
    expect([own.disk.records.has('1 g main'), own.disk.blobs.size]).toEqual([false, 0])
    expect(own.hub.archive.rooms.size).toBe(0)
    own.go(61_000)
    expect(room.opens()).toMatchObject({ opened: null, heard: [{ kind: 'added', created: true }] })
  })

  test('that nobody is in is closed as well, and what was closed is forgotten (SE-4)', () => {
    expect(shut(1_000)).toBe(0)
    expect(found()).toMatchObject({
      why: expect.stringMatching(/^not admitted: closed: it opens again in \d+ s$/),
    })
    desk.now += 2_000
    for (let room = 0; room < 50; room++) {
      close(desk, { game: 'g', room: `${room}` }, { why: 'x', until: desk.now })
    }
    expect(desk.hub.closedRooms.size).toBe(1)
  })
})
