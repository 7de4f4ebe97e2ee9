// Goal: what is kept of a room is written by whoever leads it alone, all of a write or nothing, and
// is opened by one who leads from then on.
// Method: a hub by hand, with a disk by hand.
import { describe, expect, test } from 'vitest'
import {
  type AckPolicy,
  NOT_NEXT,
  SEGMENT_PIECE_MAX,
  TIME_MAX,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { INC_MAX, MEMBERS_MAX } from '../../packages/holdfast/src/machine.ts'
import * as register from '../../packages/hub/src/machine/register.ts'
import { close } from '../../packages/hub/src/machine/closed-rooms.ts'
import { Desk, linkOf, listed, proof } from './desk.ts'
import { Kept } from './kept-room.ts'

const BACK_MS = 3_000
const RECOVER_MS = 15_000
const SILENT_MS = 60_000

const kept = (index: number, acks: AckPolicy = 'strict', why = ''): object => {
  return { kind: 'kept', index, acks, why }
}

describe('writing', () => {
  test('is answered once the disk has it, all that waits by one write', () => {
    const room = new Kept()
    room.desk.atOnce = false
    expect([room.keep('whole ', 1), room.keep('one ', 2), room.keep('two ', 3)]).toEqual([
      [],
      [],
      [],
    ])
    room.desk.write()
    const heard = room.desk.heard.get(room.founder)!.filter(({ kind }) => kind === 'kept')
    expect(heard).toMatchObject([kept(1), kept(2), kept(3)])
    room.leaves()
    room.desk.write()
    room.desk.atOnce = true
    expect(room.opens().text).toBe('whole one two ')
  })

  test('entries that do not follow are not taken, and a whole replaces all before', () => {
    const room = new Kept()
    expect(room.keep('one', 2)).toMatchObject([kept(2, 'strict', NOT_NEXT)])
    room.keep('whole ', 1)
    room.keep('one ', 2)
    expect(room.keep('four ', 4, { from: 3 })).toMatchObject([kept(4, 'strict', NOT_NEXT)])
    expect(room.keep('anew ', 4, { from: null })).toMatchObject([kept(4)])
    room.keep('five ', 5)
    expect([...room.desk.disk.blobs.keys()]).toEqual([`${room.id} 0`, `${room.id} 1`])
    room.leaves()
    expect(room.opens().text).toBe('anew five ')
  })

  test('a word without entries changes how many are here, and adds no segment', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    expect(room.keep('', 1, { from: 1, acks: 'free' })).toMatchObject([kept(1, 'free')])
    room.desk.close(room.founder)
    room.desk.go(BACK_MS + 1)
    expect(room.opens().heard).toMatchObject([
      { kind: 'refused', why: expect.stringMatching(/opens again in \d+ s$/) },
    ])
    room.desk.go(SILENT_MS)
    expect(room.opens().opened).toMatchObject({ segments: 1 })
  })

  test.each<[string, (room: Kept) => number]>([
    ['a stranger', (room) => room.desk.open()],
    [
      'another member',
      (room) => {
        const stream = room.desk.open()
        const members = [listed(1), listed(2)]
        room.desk.say(room.founder, { kind: 'members', session: room.id, members, players: 2 })
        room.desk.attach(stream, room.id, 2)
        return stream
      },
    ],
  ])('%s writes nothing', (_who, strangerOf) => {
    const room = new Kept()
    room.keep('whole ', 1)
    const stream = strangerOf(room)
    expect(room.keep('evil ', 2, {}, stream)).toEqual([])
    expect(room.keep('evil ', 1, {}, stream)).toEqual([])
    expect(room.desk.hub.counters.forged).toBe(2)
    room.desk.close(stream)
    room.leaves()
    expect(room.opens().text).toBe('whole ')
  })

  test('a room whose terms do not say so is not kept', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(1)
    const said = {
      number: 1,
      from: null,
      index: 1,
      time: 0,
      next: 2,
      acks: 'strict' as const,
      piece: 0,
      of: 1,
    }
    const bytes = new Uint8Array(1)
    expect(desk.say(streams[0]!, { kind: 'keep', session: id, ...said, bytes })).toEqual([])
    expect(desk.hub.archive.rooms.size).toBe(0)
  })

  test('of a room no more is kept than the limit, and it is told so', () => {
    const room = new Kept({ room: { kept: 20 } })
    expect(room.keep('whole ', 1)).toMatchObject([kept(1)])
    const [said] = room.keep('a long entry of the log ', 2)
    expect(said).toMatchObject({
      kind: 'kept',
      why: 'limit room.kept: at most 20 stored bytes of one room',
    })
    expect(room.keep('two ', 2)).toMatchObject([kept(2)])
    const of = 33
    expect(room.keep('x', 3, { of })[0]).toMatchObject({
      why: expect.stringMatching(/^limit room.kept/),
    })
    expect(room.desk.hub.budgets.refused['room.kept']).toBe(2)
  })

  test('a segment in pieces is one segment', () => {
    const room = new Kept()
    const bytes = new Uint8Array(SEGMENT_PIECE_MAX).fill(0x61)
    expect(room.keep('', 1, { piece: 0, of: 2, bytes })).toEqual([])
    expect(room.keep('', 1, { piece: 1, of: 2, bytes })).toMatchObject([kept(1)])
    room.leaves()
    expect(room.opens().text).toBe('a'.repeat(2 * SEGMENT_PIECE_MAX))
  })

  test('what the disk does not take never was: its sentence is the answer, and what came before stays', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    room.desk.atOnce = false
    room.keep('one ', 2)
    room.desk.write('the disk is full')
    const said = room.desk.heard.get(room.founder)!.at(-1)
    expect(said).toMatchObject(kept(2, 'strict', 'the disk is full'))
    room.desk.atOnce = true
    expect(room.keep('two ', 3)).toMatchObject([kept(3, 'strict', NOT_NEXT)])
    expect(room.keep('anew ', 3, { from: null })).toMatchObject([kept(3)])
    room.leaves()
    expect(room.opens().text).toBe('anew ')
  })
})

describe('opening', () => {
  test('makes a new epoch and a new primary first; whoever led before writes nothing any more', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    room.leaves()
    const { opened, text, heard, stream } = room.opens()
    const inc = 2
    expect([opened, text]).toEqual([
      { inc, time: 5_000 + BACK_MS + 1, segments: 1, imported: false },
      'whole ',
    ])
    const { entry, leader } = room.added(heard)!
    expect(entry.register).toEqual({ epoch: 2, primary: inc, backup: 0 })
    expect(leader!.link).toEqual(linkOf(2))
    const back = room.desk.open()
    expect(room.desk.attach(back, room.id, 1)).toMatchObject([{ kind: 'refused' }])
    expect(room.keep('late ', 2, {}, back)).toEqual([])
    room.desk.attach(stream, room.id, inc, 2)
    expect(room.keep('anew ', 2, { from: null, next: inc + 1 }, stream)).toMatchObject([kept(2)])
    expect(room.keep('late ', 3, {}, back)).toEqual([])
  })

  test('of two who ask at once one opens it, and the other finds it', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    room.leaves()
    const [one, other] = [room.desk.open(), room.desk.open()]
    room.desk.atOnce = false
    room.ask(one, 2)
    room.ask(other, 3)
    room.desk.write()
    const told = [one, other].map((stream) => room.added(room.desk.heard.get(stream)!))
    expect(told.map((said) => [said?.created, said?.opened === null])).toEqual([
      [true, false],
      [false, true],
    ])
  })

  test('one that does not come, or leaves at once, leaves it as it was; no number is given twice', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    room.leaves()
    const incs = [2, 3, 4].map((id) => {
      const { opened, stream, text } = room.opens(id)
      expect(text).toBe('whole ')
      room.desk.close(stream)
      return (opened as { inc: number }).inc
    })
    expect(incs).toEqual([2, 3, 4])
  })

  test('who opened it and went before it wrote anything is waited for no longer', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    room.leaves()
    const { opened, stream } = room.opens(2)
    room.desk.attach(stream, room.id, (opened as { inc: number }).inc, 2)
    expect(room.opens(3).opened).toBe(null)
    room.desk.close(stream)
    room.desk.go(BACK_MS - 10)
    expect(room.opens(3).opened).toBe(null)
    room.desk.go(20)
    expect(room.opens(3)).toMatchObject({ opened: { inc: 3 }, text: 'whole ' })
  })

  test('who opened it and wrote that others are here is waited for, for they may play on', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    room.leaves()
    const { opened, stream } = room.opens(2)
    const { inc } = opened as { inc: number }
    room.desk.attach(stream, room.id, inc, 2)
    // The disk takes nothing of it, and the room goes on without the hub.
    room.desk.atOnce = false
    room.keep('anew ', 2, { from: null, next: inc + 1, acks: 'free' }, stream)
    room.desk.close(stream)
    room.desk.atOnce = true
    room.desk.go(BACK_MS + 10)
    expect(room.opens(3).opened).toBe(null)
  })

  test.each<[string, (room: Kept) => void]>([
    ['others were here', (room) => void room.keep('', 1, { from: 1, acks: 'free' })],
    ['a hub that was started since', ({ desk }) => desk.restart()],
    [
      'somebody else who led',
      ({ desk, founder, id }) => {
        const members = [listed(1), listed(2)]
        desk.say(founder, { kind: 'members', session: id, members, players: 2 })
        const other = desk.open()
        desk.attach(other, id, 2)
        const change = { kind: 'change', request: 3, session: id, inc: 1, proof: proof(1) } as const
        desk.say(founder, { ...change, expect: 1, primary: 1, backup: 2, why: 'add' })
        desk.say(founder, { ...change, expect: 2, primary: 2, backup: 0, why: 'handover' })
        desk.close(other)
      },
    ],
    [
      'a segment that the disk refused',
      (room) => {
        const { desk } = room
        desk.atOnce = false
        room.keep('one ', 2)
        desk.write('the disk is full')
        desk.atOnce = true
      },
    ],
    ['a segment that was too large', (room) => void room.keep('x'.repeat(80), 2, { from: null })],
  ])('after %s members may have numbers that the hub does not know', (_, happens) => {
    const room = new Kept({ room: { kept: 60 } })
    room.keep('whole ', 1)
    happens(room)
    room.leaves()
    room.desk.go(SILENT_MS)
    expect(room.opens().opened).toMatchObject({ inc: 2 + MEMBERS_MAX })
  })

  test('of a session that was left there are none', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    const end = { expect: 1, primary: 1, backup: 0, why: 'end' } as const
    const { desk, founder, id } = room
    desk.say(founder, { kind: 'change', request: 3, session: id, inc: 1, proof: proof(1), ...end })
    expect(room.opens().opened).toMatchObject({ inc: 2 })
  })

  test('no member has a number that objects cannot be named by', () => {
    const room = new Kept()
    room.keep('whole ', 1, { next: INC_MAX })
    room.leaves()
    const why = '1048576 members came and went in this room: found another'
    expect(room.opens().heard).toMatchObject([{ kind: 'refused', why }])
    expect(room.desk.disk.blobs.has(`${room.id} 0`)).toBe(true)
  })

  test('of a primary with a backup that the relay alone reaches waits for its lease (N-1)', () => {
    const room = new Kept()
    room.keep('whole ', 1, { acks: 'relayed', next: 3 })
    room.desk.close(room.founder)
    room.desk.go(RECOVER_MS - 100)
    expect(room.opens().heard).toMatchObject([
      { kind: 'refused', why: expect.stringMatching(/opens again in 1 s$/) },
    ])
    room.desk.go(200)
    expect(room.opens()).toMatchObject({ opened: { inc: 3 + MEMBERS_MAX }, text: 'whole ' })
  })

  test('waits longer where a segment of such a one was refused since (N-1)', () => {
    const room = new Kept({ room: { kept: 100 } })
    room.keep('whole ', 1, { acks: 'relayed', next: 3 })
    room.keep('x'.repeat(200), 2, { acks: 'relayed', next: 3 })
    room.desk.close(room.founder)
    room.desk.go(RECOVER_MS + 100)
    expect(room.opens().opened).toBe(null)
    room.desk.go(SILENT_MS - RECOVER_MS)
    expect(room.opens().opened).not.toBe(null)
  })

  test('waits while a primary that was alone may come back', () => {
    const alone = new Kept()
    alone.keep('whole ', 1)
    expect(alone.opens().opened).toBe(null)
    alone.desk.close(alone.founder)
    alone.desk.go(BACK_MS - 10)
    expect(alone.opens().opened).toBe(null)
    alone.desk.go(20)
    expect(alone.opens().opened).not.toBe(null)
  })

  test('a segment that is not there: who opens it is told so, and may be right another time', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    room.leaves()
    const name = `${room.id} 0`
    const { blobs } = room.desk.disk
    const bytes = blobs.get(name)!
    blobs.delete(name)
    const why = 'what is kept of this room cannot be read'
    expect(room.opens().heard).toMatchObject([{ kind: 'refused', why }])
    blobs.set(name, bytes)
    expect(room.opens().text).toBe('whole ')
  })

  describe('takes until its segments are read, and meanwhile', () => {
    const begun = (): { room: Kept; desk: Desk; opener: number } => {
      const room = new Kept()
      room.keep('one ', 1)
      room.leaves()
      room.desk.isRead = false
      const opener = room.desk.open()
      expect(room.ask(opener, 2)).toEqual([])
      expect(room.desk.reads).toEqual([{ read: 1, names: [`${room.id} 0`] }])
      return { room, desk: room.desk, opener }
    }
    const kindsOf = (desk: Desk, stream: number): string[] => {
      const kinds = desk.heard.get(stream)!.map(({ kind }) => kind)
      return kinds.filter((kind) => !['welcome', 'signs'].includes(kind))
    }

    test('others and the opener itself ask again: they wait, and find the session then', () => {
      const { room, desk, opener } = begun()
      const other = desk.open()
      expect([room.ask(other, 3), room.ask(opener, 2)]).toEqual([[], []])
      desk.go(BACK_MS + 100)
      room.ask(other, 3)
      desk.read()
      expect(kindsOf(desk, opener)).toEqual(['added', 'segment', 'added'])
      expect(room.added(desk.heard.get(opener)!)!.created).toBe(true)
      expect(room.added(desk.heard.get(other)!)).toMatchObject({ created: false, opened: null })
      // Its time to attach begins with the answer.
      desk.go(2_900)
      expect(room.added(room.ask(desk.open(), 4))).toMatchObject({ created: false })
      expect(desk.hub.pendingReads.size).toBe(0)
    })

    test('its opener goes: the room is as it was', () => {
      const { room, desk, opener } = begun()
      desk.close(opener)
      desk.read()
      desk.isRead = true
      expect([kindsOf(desk, opener), room.opens(3).text]).toEqual([[], 'one '])
      expect(desk.hub.pendingReads.size).toBe(0)
    })

    test('the operator closes the room: its opener gets the reason', () => {
      const { desk, opener } = begun()
      close(desk, { game: 'g', room: 'main' }, { why: 'a pause', until: desk.now + 60_000 })
      desk.write()
      desk.read()
      expect(desk.heard.get(opener)!.at(-1)).toMatchObject({
        why: expect.stringContaining('a pause') as string,
      })
      expect(desk.hub.archive.rooms.size).toBe(0)
    })

    test('the session ends: its opener opens the room again, and who asks meanwhile joins', () => {
      const { room, desk, opener } = begun()
      expect(register.endSession(desk.hub.registers, room.id, desk.out)).toBe(true)
      desk.write()
      const other = desk.open()
      expect(room.ask(other, 3)).toEqual([])
      desk.isRead = true
      desk.write()
      const added = room.added(desk.heard.get(opener)!)!
      expect([added.created, added.entry.register.epoch]).toEqual([true, 3])
      expect(kindsOf(desk, opener)).toEqual(['added', 'segment'])
      expect(room.added(desk.heard.get(other)!)!.created).toBe(false)
      // The session that ended has cost it nothing.
      expect(desk.hub.connections.get(opener)!.created).toBe(1)
    })
  })

  test('who may not serve opens none', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    room.leaves()
    const stream = room.desk.open()
    const said = room.ask(stream, 2, { playersMax: 0 })
    expect(said).toMatchObject([{ kind: 'refused', why: 'nobody serves it' }])
    expect(room.opens().text).toBe('whole ')
  })
})

describe('numbers that no room has', () => {
  test.each([
    ['time', { time: TIME_MAX + 1 }],
    ['next', { next: INC_MAX + 1 }],
  ])('in a segment (%s) are not taken, and counted', (_, more) => {
    const room = new Kept()
    expect(room.keep('whole ', 1, more)).toEqual([])
    expect([room.desk.hub.counters.forged, room.desk.hub.archive.rooms.size]).toEqual([1, 0])
  })

  test('the largest time is told to who opens the room, however late', () => {
    const room = new Kept()
    room.keep('whole ', 1, { time: TIME_MAX })
    room.leaves()
    expect(room.opens().opened).toMatchObject({ time: TIME_MAX + BACK_MS + 1 })
  })
})

describe('a hub that is killed', () => {
  test('has all that it said it keeps, and the time goes on', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    room.keep('one ', 2)
    room.desk.restart()
    room.desk.go(BACK_MS + 1)
    const { text, opened } = room.opens()
    expect(text).toBe('whole one ')
    expect(opened).toMatchObject({ time: 5_000 + BACK_MS + 1 })
  })

  test('a room whose time is over is gone from the disk, also where the hub did not run meanwhile', () => {
    const room = new Kept()
    room.keep('whole ', 1)
    const { desk, founder, id } = room
    const end = { expect: 1, primary: 1, backup: 0, why: 'end' } as const
    desk.say(founder, { kind: 'change', request: 3, session: id, inc: 1, proof: proof(1), ...end })
    expect([[...desk.disk.records.keys()], [...desk.disk.blobs.keys()]]).toEqual([
      ['1 g main'],
      [`${id} 0`],
    ])
    desk.now += 600_001
    desk.restart()
    desk.go(20_000)
    const { records, blobs } = desk.disk
    expect([records.size, blobs.size, desk.hub.archive.rooms.size]).toEqual([0, 0, 0])
    expect(room.opens().opened).toBe(null)
  })
})
