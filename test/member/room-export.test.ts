// Goal: a file of the room is made of the pieces that were asked for, and of no others; what a
// server sends beyond its bound takes no room.
// Method: the shipped verbs of a member, by hand.
import { describe, expect, test } from 'vitest'
import * as roomExport from '../../packages/holdfast/src/member/room-export.ts'
import { SAVED_MAX } from '../../packages/holdfast/src/hub-protocol/saved-room.ts'
import {
  type PeerMessage,
  SNAPSHOT_PIECE_MAX,
  type View,
} from '../../packages/holdfast/src/session/messages.ts'
import { Bare } from './bare.ts'

type Room = PeerMessage & { kind: 'room' }

function asking(): Bare {
  const bare = new Bare()
  roomExport.ask(bare.run, 7)
  return bare
}

function hears(bare: Bare, more: Partial<Room> = {}): void {
  const bytes = Uint8Array.of(more.piece ?? 0)
  const said = { request: 7, piece: 0, of: 2, bytes, code: 'ok', why: '' } as const
  roomExport.take(bare.run, { kind: 'room', ...said, ...more })
}

const files = ({ events }: Bare): unknown[] =>
  events.flatMap((event) => (event.kind === 'file' && 'bytes' in event ? [event.bytes] : []))

test('pieces in order make the file, once', () => {
  const bare = asking()
  hears(bare)
  hears(bare, { piece: 1 })
  hears(bare, { piece: 1 })
  expect(files(bare)).toEqual([null, Uint8Array.of(0, 1)])
})

test('pieces of another request are none of it, nor is one that nobody asked for', () => {
  const bare = asking()
  hears(bare, { request: 6 })
  hears(bare)
  hears(bare, { request: 6, piece: 1 })
  hears(new Bare())
  expect(files(bare)).toEqual([null])
})

test('what comes again brings nobody further, and no new begins', () => {
  const bare = asking()
  hears(bare, { of: 3 })
  for (let times = 0; times < 5; times++) hears(bare, { of: 3 })
  expect(files(bare)).toEqual([null])
  hears(bare, { of: 3, piece: 1 })
  expect(bare.run.member.file!.incoming!.pieces.length).toBe(2)
})

describe('a member that serves', () => {
  interface Serving {
    bare: Bare
    /** Somebody asks. @returns how many pieces it was sent */
    sent: (from: number, piece: number, request?: number) => number
  }

  function serving(): Serving {
    const bare = new Bare()
    bare.founds()
    let pieces = 0
    bare.run.out.send = (_to, message) => {
      if (message.kind === 'room') pieces++
    }
    const sent: Serving['sent'] = (from, piece, request = 1) => {
      pieces = 0
      bare.run.now += 200
      roomExport.answer(bare.run, { from, request, piece }, 5)
      return pieces
    }
    return { bare, sent }
  }

  /** The same in the middle of a file of twenty pieces for that member. */
  function begun(from: number): Serving {
    const all = serving()
    const bytes = Uint8Array.of(1)
    const pieces = Array.from({ length: 20 }, (_none, piece) => ({ piece, of: 20, bytes }))
    all.bare.run.member.exports.set(from, { request: 1, pieces, next: 8, at: 0 })
    return all
  }

  test('sends each piece once, in turn', () => {
    const { bare, sent } = begun(2)
    expect([sent(2, 8), sent(2, 8), sent(2, 1), sent(2, 16, 9)]).toEqual([8, 0, 0, 0])
    expect([sent(2, 16), sent(2, 24)]).toEqual([4, 0])
    expect(bare.run.member.exports.size).toBe(0)
  })

  test('has files for four at a time, and forgets who asks for no more', () => {
    const { bare, sent } = begun(2)
    const { exports } = bare.run.member
    const [own] = [...exports.values()]
    for (const inc of [3, 4, 5]) exports.set(inc, { ...own!, at: bare.run.now })
    expect(sent(6, 0)).toBe(0)
    bare.run.now += 11_000
    expect(sent(6, 0)).toBe(1)
    expect([...exports.keys()]).toEqual([])
  })

  test('makes ten a second at most, and one for each member', () => {
    const { bare, sent } = serving()
    expect(sent(2, 0)).toBe(1)
    bare.run.now -= 150
    expect(sent(3, 0)).toBe(0)
    expect(sent(3, 0)).toBe(1)
    expect([sent(2, 0), sent(4, 0), sent(2, 0), sent(3, 0)]).toEqual([0, 1, 0, 0])
    expect([sent(2, 0), sent(3, 0)]).toEqual([1, 1])
  })

  test('forgets who is not here any more, and all when it serves no more', () => {
    const { bare } = begun(2)
    const { exports, exported } = bare.run.member
    exported.set(2, 0)
    const view = { ...bare.run.member.session.client.view, primary: bare.run.member.session.me }
    const members = [{ inc: 2 }] as View['members']
    roomExport.forget(bare.run, { ...view, members })
    expect([exports.size, exported.size]).toEqual([1, 1])
    roomExport.forget(bare.run, { ...view, members: [] })
    expect([exports.size, exported.size]).toEqual([0, 0])
    exported.set(2, 0)
    roomExport.forget(bare.run, { ...view, members, primary: 9 })
    expect(exported.size).toBe(0)
  })
})

test('of more pieces than a file has none is kept', () => {
  const bare = asking()
  hears(bare, { of: SAVED_MAX / SNAPSHOT_PIECE_MAX + 2 })
  expect([files(bare), bare.run.member.counters.malformed]).toEqual([[], 1])
  expect(bare.run.member.file).toEqual({ request: 7, incoming: null })
})

test('why there is none is told, once', () => {
  const bare = asking()
  for (let times = 0; times < 2; times++) hears(bare, { code: 'full', why: 'too\u0000 large' })
  const told = bare.events.filter(({ kind }) => kind === 'file')
  expect(told).toEqual([
    { kind: 'file', unsaved: { code: 'full', why: expect.stringMatching(/^too/) } },
  ])
})
