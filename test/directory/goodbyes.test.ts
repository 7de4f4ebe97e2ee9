// Goal: a session whose members all said goodbye ends, and its room opens at once, with all that
// was recorded; no goodbye is taken back, and none counts before the disk has what belongs to it.
// Method: a hub by hand, with a disk by hand.
import { describe, expect, test } from 'vitest'
import type { ToHub } from '../../src/directory/messages.ts'
import { listed, proof } from './desk.ts'
import { Kept } from './kept-room.ts'

/** A kept room of two, with sheets up to index 2 from its primary. */
function two(): { room: Kept; other: number } {
  const room = new Kept()
  const { desk, id: session } = room
  desk.say(room.founder, { kind: 'members', session, members: [listed(1), listed(2)], players: 2 })
  const other = desk.open()
  desk.attach(other, session, 2)
  room.keep('whole ', 1, { lone: false, next: 3 })
  room.keep('one ', 2, { lone: false, next: 3 })
  return { room, other }
}

function bye(room: Kept, stream: number, epoch: number, index: number): void {
  room.desk.say(stream, { kind: 'gone', session: room.id, epoch, index })
}

describe('goodbyes', () => {
  test.each([[true], [false]])(
    'of all open the room at once; the primary first: %s (N-1)',
    (first) => {
      const { room, other } = two()
      if (first) bye(room, room.founder, 1, 2)
      bye(room, other, 0, 0)
      if (!first) bye(room, room.founder, 1, 2)
      const { opened, text } = room.opens(3)
      expect(opened).not.toBe(null)
      expect(text).toBe('whole one ')
    },
  )

  test('of some leave the room to the others, where one of these stands by (N-1)', () => {
    const { room, other } = two()
    const { desk, id: session, founder } = room
    const change = { session, inc: 1, proof: proof(1), expect: 1, primary: 1, backup: 2 }
    desk.say(founder, { kind: 'change', request: 2, ...change, why: 'add' })
    bye(room, founder, 1, 2)
    expect(room.opens(3).opened).toBe(null)
    expect(desk.heard.get(other)).toContainEqual(
      expect.objectContaining({ kind: 'present', inc: 1, here: false }),
    )
  })

  test('of who serves without a backup open it for those who are left, too (N-1)', () => {
    const { room } = two()
    bye(room, room.founder, 1, 2)
    const { opened, text } = room.opens(3)
    expect(opened).not.toBe(null)
    expect(text).toBe('whole one ')
  })

  test('of who does not serve end nothing (N-1)', () => {
    const { room, other } = two()
    bye(room, other, 0, 0)
    expect(room.desk.hub.directory.rows.has(room.id)).toBe(true)
    expect(room.opens(3).opened).toBe(null)
  })

  test.each<[string, (room: Kept) => void]>([
    ['the disk lacks the end of the log', (room) => bye(room, room.founder, 1, 3)],
    ['the primary did not say that it led', (room) => bye(room, room.founder, 0, 0)],
    ['the primary is silent', (room) => room.desk.close(room.founder)],
  ])('do not open it where %s (N-1)', (_why, goes) => {
    const { room, other } = two()
    goes(room)
    bye(room, other, 0, 0)
    expect(room.opens(3).opened).toBe(null)
    room.desk.go(30_000)
    expect(room.opens(3).heard).toMatchObject([{ kind: 'refused', why: /opens again in \d+ s$/ }])
  })

  test('count once the disk has the last sheet (N-1)', () => {
    const { room, other } = two()
    const { desk } = room
    bye(room, other, 0, 0)
    desk.atOnce = false
    room.keep('two ', 3, { lone: false, next: 3 })
    bye(room, room.founder, 1, 3)
    expect(desk.hub.directory.rows.get(room.id)!.pending).toBe(null)
    desk.write()
    expect(desk.hub.directory.rows.get(room.id)?.pending?.register ?? null).toBe(null)
    desk.write()
    desk.atOnce = true
    expect(room.opens(3).text).toBe('whole one two ')
  })

  test('are not taken back: nobody speaks for that member, or gives it a role (N-1)', () => {
    const { room, other } = two()
    const { desk, id: session, founder } = room
    bye(room, other, 0, 0)
    const again = desk.open()
    const attach = { kind: 'attach', request: 1, session, inc: 2, proof: proof(2) } as const
    expect(desk.say(again, attach)).toMatchObject([{ kind: 'refused' }])
    const change = { session, inc: 1, proof: proof(1), expect: 1, primary: 1, backup: 2 }
    const add = { kind: 'change', request: 2, ...change, why: 'add' } as ToHub
    expect(desk.say(founder, add)).toMatchObject([{ kind: 'register', ok: false }])
  })

  test('come from the member itself: others are not heard (N-1)', () => {
    const { room } = two()
    const stranger = room.desk.open()
    bye(room, stranger, 1, 2)
    expect(room.desk.hub.directory.rows.get(room.id)!.goodbyes.size).toBe(0)
  })

  test('end a room that is not kept as well (N-1)', () => {
    const room = new Kept()
    const { desk } = room
    const lone = desk.open()
    const [added] = room.ask(lone, 4, { room: 'other', terms: '' })
    const session = (added as { entry: { session: string } }).entry.session
    const stream = desk.open()
    desk.attach(stream, session, 1, 4)
    desk.say(stream, { kind: 'gone', session, epoch: 1, index: 0 })
    expect(desk.hub.directory.rows.has(session)).toBe(false)
  })
})
