// Goal: whatever shape the state of an object or a piece has, all members see the same.
// Method: whole sessions in virtual time.
import { describe, expect, test } from 'vitest'
import {
  action,
  bytes,
  list,
  map,
  object,
  oneOf,
  optional,
  piece,
  ranged,
  struct,
  text,
  u8,
} from '../../packages/holdfast/src/index.ts'
import { cluster, settled } from './cluster.ts'

/** Its state has 1,024 bytes, the most that there may be. */
const Book = object(
  'book',
  { page: text(1_000, 1_000), at: ranged(0, 10, 1), go: ranged(-5, 5, 1), raw: bytes(20) },
  { motion: { follow: { at: 'go' } } },
)
const Board = object('board', {
  phase: oneOf('lobby', 'play', 'over'),
  winner: optional(text(20)),
  hands: map(list(u8, 7), 4),
  turn: struct({ of: u8, dice: list(u8, 5) }),
})
const Card = piece('card', { mark: optional(struct({ by: u8, note: text(20) })) })
const deal = action('deal', (table) => void table.create(Card, {}))

describe.each(['star', 'mesh'] as const)('in a %s', (topology) => {
  test('the largest state there is reaches all, by updates and by telling (AP-19)', async () => {
    const { w, all } = await cluster({ topology, types: [Book] }, 3)
    expect(Book.schema.bytesMax).toBe(1_024)
    const mine = all[1]!.create(Book)
    for (let n = 0; n < 20; n++) {
      const page = String.fromCharCode(97 + n).repeat(1_000)
      mine.set({ page, at: n % 10, go: 1, raw: new Uint8Array(20).fill(n) })
      await w.run(50)
    }
    await w.run(1_000)
    for (const session of all) {
      const [book] = session.all(Book)
      const { page, raw, at } = book!.state
      expect([page, raw, at]).toEqual(['t'.repeat(1_000), new Uint8Array(20).fill(19), 9])
    }
  })

  test('fields within fields reach all, as a whole and alone (AP-19)', async () => {
    const { w, all } = await cluster({ topology, types: [Board] }, 3)
    const board = all[2]!.create(Board, { hands: { Ada: [1, 2], Grace: [] } })
    await w.run(1_000)
    const { hands } = all[0]!.all(Board)[0]!.state
    board.set({ phase: 'play', turn: { of: 2, dice: [6, 6] } })
    await w.run(1_000)
    board.set({ winner: 'Ada', hands: { ...board.state.hands, Linus: [3] } })
    await w.run(1_000)
    const said = {
      phase: 'play',
      winner: 'Ada',
      hands: { Ada: [1, 2], Grace: [], Linus: [3] },
      turn: { of: 2, dice: [6, 6] },
    }
    for (const session of all) expect(session.all(Board)[0]!.state).toEqual(said)
    expect(hands).toEqual({ Ada: [1, 2], Grace: [] })
    expect(() => board.set({ turn: { of: 1, dice: [1, NaN] } })).toThrow(
      'board: field turn: field dice: value 1: must be a finite number: NaN',
    )
  })
})

test('pieces have fields within fields (AP-19)', async () => {
  const { w, all } = await cluster({ types: [Card, deal] }, 3)
  await settled(w, all[0]!.act(deal, {}))
  await w.run(500)
  const [card] = all[1]!.all(Card)
  const done = card!.update({ mark: { by: 2, note: 'mine' } })
  await w.run(1_000)
  expect(await done).toMatchObject({ ok: true })
  const marks = all.map((session) => session.all(Card)[0]!.state.mark)
  expect(marks).toEqual(Array.from({ length: 3 }, () => ({ by: 2, note: 'mine' })))
})
