// Goal: a file of the room is made of the pieces that were asked for, and of no others; what a
// server sends beyond its bound takes no room.
// Method: the shipped verbs of a member, by hand.
import { expect, test } from 'vitest'
import * as saving from '../../src/member/saving.ts'
import { SAVED_MAX } from '../../src/directory/saved-room.ts'
import { type PeerMessage, SNAPSHOT_PIECE_MAX } from '../../src/session/messages.ts'
import { Bare } from './bare.ts'

type Room = PeerMessage & { kind: 'room' }

function asking(): Bare {
  const bare = new Bare()
  saving.ask(bare.run, 7)
  return bare
}

function hears(bare: Bare, more: Partial<Room> = {}): void {
  const bytes = Uint8Array.of(more.piece ?? 0)
  const said = { request: 7, piece: 0, of: 2, bytes, code: 'ok', why: '' } as const
  saving.take(bare.run, { kind: 'room', ...said, ...more })
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
