// Goal: a session whose members all said goodbye ends, and its room opens at once, with all that
// was recorded; no goodbye is taken back, and none counts before the disk has what belongs to it.
// Method: a hub by hand, with a disk by hand.
import { describe, expect, test } from 'vitest'
import type { ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import type { Row } from '../../packages/hub/src/machine/register.ts'
import { listed, proof } from './desk.ts'
import { Kept } from './kept-room.ts'

/** A kept room of two, with segments up to index 2 from its primary. */
function two(): { room: Kept; other: number } {
  const room = new Kept()
  const { desk, id: session } = room
  desk.say(room.founder, { kind: 'members', session, members: [listed(1), listed(2)], players: 2 })
  const other = desk.open()
  desk.attach(other, session, 2)
  room.keep('whole ', 1, { acks: 'free', next: 3 })
  room.keep('one ', 2, { acks: 'free', next: 3 })
  return { room, other }
}

function bye(room: Kept, stream: number, epoch: number, index: number): void {
  room.desk.say(stream, { kind: 'gone', session: room.id, epoch, index })
}

/** Member 2 is the registered backup from now on. */
function backUp({ desk, founder, id: session }: Kept): void {
  const change = { session, inc: 1, proof: proof(1), expect: 1, primary: 1, backup: 2 }
  const add = { kind: 'change', request: 2, ...change, why: 'add' } as ToHub
  expect(desk.say(founder, add)).toContainEqual(expect.objectContaining({ request: 2, ok: true }))
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

  test('leave the room to the backup (N-1)', () => {
    const { room, other } = two()
    backUp(room)
    bye(room, room.founder, 2, 2)
    expect(room.opens(3).opened).toBe(null)
    expect(room.desk.heard.get(other)).toContainEqual(
      expect.objectContaining({ kind: 'present', inc: 1, here: false }),
    )
  })

  test('of the primary leave the room to a backup that is cut off just now (N-1)', () => {
    const { room, other } = two()
    backUp(room)
    room.desk.close(other)
    bye(room, room.founder, 2, 2)
    expect(room.opens(3).opened).toBe(null)
  })

  test('of who serves without a backup open it once nobody is attached (N-1)', () => {
    const { room, other } = two()
    bye(room, room.founder, 1, 2)
    expect(room.opens(3).opened).toBe(null)
    room.desk.close(other)
    const { opened, text } = room.opens(3)
    expect(opened).not.toBe(null)
    expect(text).toBe('whole one ')
  })

  test('of who does not serve end nothing (N-1)', () => {
    const { room, other } = two()
    bye(room, other, 0, 0)
    expect(room.desk.hub.registers.rows.has(room.id)).toBe(true)
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
    expect(room.opens(3).heard).toMatchObject([
      { kind: 'refused', why: expect.stringMatching(/opens again in \d+ s$/) },
    ])
  })

  test('count once the disk has the last segment (N-1)', () => {
    const { room, other } = two()
    const { desk } = room
    bye(room, other, 0, 0)
    desk.atOnce = false
    room.keep('two ', 3, { acks: 'free', next: 3 })
    bye(room, room.founder, 1, 3)
    expect(desk.hub.registers.rows.get(room.id)!.pending).toBe(null)
    desk.write()
    expect(desk.hub.registers.rows.get(room.id)?.pending?.register ?? null).toBe(null)
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

  test('a primary gives roles by the stream that speaks for it, so a refusal is final (N-1)', () => {
    const { room } = two()
    const { desk, id: session, founder } = room
    const change = { session, inc: 1, proof: proof(1), expect: 1, primary: 1, backup: 2 }
    const add = { kind: 'change', request: 2, ...change, why: 'add' } as ToHub
    expect(desk.say(desk.open(), add)).toMatchObject([{ kind: 'register', ok: false }])
    expect(desk.say(founder, add)[0]).toMatchObject({ kind: 'register', ok: true })
  })

  test('a stream that was replaced attaches no more, so its late requests count for nothing (N-1)', () => {
    const { room } = two()
    const { desk, id: session, founder: older } = room
    const attach = { kind: 'attach', request: 1, session, inc: 1, proof: proof(1) } as const
    const newer = desk.open()
    expect(desk.say(newer, attach)[0]).toMatchObject({ kind: 'attached' })
    expect(desk.say(older, attach)).toMatchObject([{ kind: 'refused' }])
    const change = { session, inc: 1, proof: proof(1), expect: 1, primary: 1, backup: 2 }
    const add = { kind: 'change', request: 2, ...change, why: 'add' } as ToHub
    expect(desk.say(older, add)).toMatchObject([{ kind: 'register', ok: false }])
    expect(desk.say(newer, add)[0]).toMatchObject({ kind: 'register', ok: true })
  })

  test('come from the member itself: others are not heard (N-1)', () => {
    const { room } = two()
    const stranger = room.desk.open()
    bye(room, stranger, 1, 2)
    expect(room.desk.hub.registers.rows.get(room.id)!.goodbyes.size).toBe(0)
  })

  test('of a primary without a backup let another recover a room that is not kept (N-8)', () => {
    const room = new Kept()
    const { desk } = room
    const [added] = room.ask(desk.open(), 4, { room: 'other', terms: '' })
    const session = (added as { entry: { session: string } }).entry.session
    const [stream, other] = [desk.open(), desk.open()]
    desk.attach(stream, session, 1, 4)
    const members = [{ ...listed(1), hash: listed(4).hash }, listed(2)]
    desk.say(stream, { kind: 'members', session, members, players: 2 })
    desk.attach(other, session, 2)
    const change = { session, inc: 2, proof: proof(2), expect: 1, primary: 2, backup: 0 }
    const recover = { kind: 'change', request: 2, ...change, why: 'recover' } as ToHub
    expect(desk.say(other, recover)).toMatchObject([{ kind: 'register', ok: false }])
    desk.say(stream, { kind: 'gone', session, epoch: 1, index: 0 })
    expect(desk.say(other, recover)).toContainEqual(
      expect.objectContaining({ request: 2, ok: true }),
    )
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
    expect(desk.hub.registers.rows.has(session)).toBe(false)
  })
})

/** The disk refuses the next segment. */
function refuses(room: Kept): void {
  room.desk.atOnce = false
  room.keep('lost ', 4, { acks: 'strict', next: 3 })
  room.desk.write('the disk is full')
  room.desk.atOnce = true
}

describe('a primary that dies without a backup', () => {
  const recover = ({ desk, id: session }: Kept, inc = 2): ToHub => {
    const { epoch: expect } = desk.hub.registers.rows.get(session)!.entry.register
    const change = { session, inc, proof: proof(inc), expect, primary: inc, backup: 0 }
    return { kind: 'change', request: 2, ...change, why: 'recover' }
  }

  /** Member 2 recovers it, and is gone with member 3 here. @returns the stream of that */
  function again(room: Kept, other: number): number {
    const { desk, id } = room
    expect(desk.say(other, recover(room))).toContainEqual(expect.objectContaining({ ok: true }))
    const third = desk.open()
    desk.say(other, { kind: 'members', session: id, members: [listed(2), listed(3)], players: 2 })
    desk.attach(third, id, 3)
    desk.close(other)
    return third
  }

  /** What the other hears as it recovers; and after how long it may, in ms; null for not at all. */
  function recovers(
    acks: 'free' | 'strict' | 'relayed',
    more?: (room: Kept) => void,
  ): { ms: number | null; heard: readonly unknown[] } {
    const { room, other } = two()
    const { desk, founder } = room
    room.keep('two ', 3, { acks, next: 3 })
    more?.(room)
    desk.close(founder)
    for (let ms = 0; ms <= 14_000; ms += 500) {
      const heard = desk.say(other, recover(room))
      if (heard.some((one) => one.kind === 'register' && one.ok)) return { ms, heard }
      desk.go(500)
    }
    return { ms: null, heard: [] }
  }

  test('was strict: another recovers after a redial, and gets what the disk has (N-8)', () => {
    const { ms, heard } = recovers('strict')
    expect(ms).toBe(3_500)
    const segments = heard.flatMap((one) => {
      const { kind, bytes } = one as { kind: string; bytes: Uint8Array }
      return kind === 'segment' ? [new TextDecoder().decode(bytes)] : []
    })
    expect(heard).toContainEqual(expect.objectContaining({ kind: 'stored', segments: 3 }))
    expect(segments).toEqual(['whole ', 'one ', 'two '])
  })

  test.each<[string, (row: Row) => void, unknown[]]>([
    [
      'it hears both at once',
      () => {},
      ['register true', 'stored', 'segment', 'segment', 'segment'],
    ],
    [
      'another leads by then',
      ({ entry }) => void (entry.register = { ...entry.register, epoch: 9 }),
      ['register false'],
    ],
  ])('was strict, and the disk takes its time: %s (N-8)', (_what, meanwhile, kinds) => {
    const { room, other } = two()
    const { desk, founder, id } = room
    room.keep('two ', 3, { acks: 'strict', next: 3 })
    desk.close(founder)
    desk.go(3_500)
    desk.isRead = false
    expect(desk.say(other, recover(room))).toEqual([])
    meanwhile(desk.hub.registers.rows.get(id)!)
    const { length } = desk.heard.get(other)!
    desk.read()
    const heard = desk.heard.get(other)!.slice(length)
    expect(heard.map((one) => (one.kind === 'register' ? `register ${one.ok}` : one.kind))).toEqual(
      kinds,
    )
  })

  test.each<[string, 'free' | 'strict' | 'relayed', ((room: Kept) => void)?]>([
    ['was free', 'free'],
    ['was relayed', 'relayed'],
    ['has a backup', 'strict', backUp],
    ['went on without the disk, which refused a segment', 'strict', refuses],
  ])('%s: others wait for its lease, or the backup (N-8)', (_what, acks, more) => {
    expect(recovers(acks, more).ms).toBe(null)
  })

  test('is not taken for dead while it dials again (N-8)', () => {
    const { room, other } = two()
    const { desk, founder, id } = room
    room.keep('two ', 3, { acks: 'strict', next: 3 })
    desk.close(founder)
    desk.go(2_900)
    desk.attach(desk.open(), id, 1)
    desk.go(10_000)
    expect(desk.say(other, recover(room))).toMatchObject([{ kind: 'register', ok: false }])
  })

  test('and wrote nothing leaves what was published, whatever others wrote before (N-8)', () => {
    const { room, other } = two()
    const { desk, founder } = room
    desk.close(founder)
    desk.go(15_500)
    const third = again(room, other)
    desk.go(15_500)
    expect(desk.say(third, recover(room, 3))).toContainEqual(
      expect.objectContaining({ kind: 'stored', segments: 0 }),
    )
  })

  test('is not strict because one before it was (N-8)', () => {
    const { room, other } = two()
    const { desk, founder } = room
    room.keep('two ', 3, { acks: 'strict', next: 3 })
    desk.close(founder)
    desk.go(3_500)
    const third = again(room, other)
    desk.go(10_000)
    expect(desk.say(third, recover(room, 3))).toMatchObject([{ kind: 'register', ok: false }])
  })
})
