// Goal: a newer build opens what an older one kept: what both have is taken over, what is new has
// its initial value, what fell away is gone; what does not fit is refused, and nothing is lost.
// Method: whole sessions in virtual time, with the shipped hub; two builds after one another.
import { describe, expect, test } from 'vitest'
import {
  action,
  type Field,
  i8,
  list,
  oneOf,
  optional,
  piece,
  type PieceType,
  ranged,
  secret,
  struct,
  text,
  u16,
  u8,
  vec2,
  was,
} from '../../packages/holdfast/src/index.ts'
import type { Definition } from '../../packages/holdfast/src/index.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { act } from './acting.ts'

const PLACE = { game: 'garden', room: 'r' } as const

/** An action that makes pieces of a type. */
function making(type: PieceType<never>): Definition & { kind: never } {
  return action('make', (table, all: object[]) => {
    for (const state of all) table.create(type, state as never)
  }) as never
}

/** One build makes pieces, and its player goes. */
async function kept(
  w: SessionWorld,
  type: PieceType<never>,
  all: object[],
  more: object = {},
): Promise<void> {
  const make = making(type)
  const ada = await w.join({ ...PLACE, types: [type, make], ...more })
  expect(await act(w, ada.act(make as never, all as never))).toMatchObject({ ok: true })
  await act(w, ada.leave())
  await w.run(200)
}

const states = (session: Session, type: unknown): unknown[] =>
  session.all(type as PieceType<never>).map(({ state }) => state)

/** What another build finds of it. */
async function found(
  before: Record<string, Field<unknown>>,
  all: object[],
  after: PieceType<never>,
): Promise<unknown[]> {
  const w = world({ seed: 1, conditions: 'rtt=20' })
  await kept(w, piece('card', before) as never, all)
  const ada = await w.join({ ...PLACE, types: [after] })
  const shown = states(ada, after)
  // It is kept anew in the form of this build.
  await w.run(500)
  await act(w, ada.leave())
  await w.run(200)
  const again = await w.join({ ...PLACE, types: [after] })
  expect(states(again, after)).toEqual(shown)
  return shown
}

describe('what is taken over', () => {
  test('fields by name, in whatever place; new ones have their initial value, others fall away', async () => {
    const before = { rank: u8, at: vec2(0, 100, 0.1), old: text(20) }
    const after = piece('card', {
      note: text(9),
      at: vec2(0, 100, 0.1),
      rank: u8,
      up: optional(u8),
    })
    const all = [
      { rank: 7, at: [5, 5.5], old: 'gone' },
      { rank: 255, at: [0, 100], old: '' },
    ]
    expect(await found(before, all, after as never)).toEqual([
      { note: '', at: [5, 5.5], rank: 7, up: null },
      { note: '', at: [0, 100], rank: 255, up: null },
    ])
  })
  test('fields and types under another name', async () => {
    const after = piece('face', { rank: was('value', u8), suit: u8 }, { was: 'card' })
    expect(await found({ value: u8, suit: u8 }, [{ value: 12, suit: 3 }], after as never)).toEqual([
      { rank: 12, suit: 3 },
    ])
  })
  test('into wider fields, and structs, lists and words', async () => {
    const before = { a: u8, b: i8, c: text(4), d: oneOf('x', 'y'), e: list(u8, 3) }
    const after = piece('card', {
      ...{ a: u16, b: ranged(-200, 200, 1), c: text(40) },
      ...{ d: oneOf('w', 'x', 'y'), e: list(u16, 5) },
    })
    const state = { a: 200, b: -100, c: 'four', d: 'y', e: [1, 2, 3] }
    expect(await found(before, [state], after as never)).toEqual([state])
  })
  test('texts of a build that counted their bytes, short and long (N-26)', async () => {
    // These two have the text and the bits that `text(20)` and `text(200)` had there.
    const before = { name: text(20), words: text(200, 200) }
    expect(Object.values(before).map((field) => field.text)).toEqual(['text 20', 'text 200'])
    const after = piece('card', { name: text(20), words: text(200) })
    const all = [
      { name: 'Ada', words: 'é'.repeat(100) },
      { name: '', words: 'x'.repeat(200) },
    ]
    expect(await found(before, all, after as never)).toEqual(all)
  })
  test('by migrate, which is given the fields of that build as text, and what they hold', async () => {
    const given: unknown[] = []
    const after = piece(
      'card',
      { at: struct({ x: u8, y: u8 }), rank: u8 },
      {
        migrate: (from, state) => {
          given.push([from, state])
          return { at: { x: state['x'] as number, y: 9 } }
        },
      },
    )
    expect(await found({ x: u8, rank: u8 }, [{ x: 4, rank: 5 }], after as never)).toEqual([
      { at: { x: 4, y: 9 }, rank: 5 },
    ])
    expect(given).toEqual([
      [
        { x: 'u8', rank: 'u8' },
        { x: 4, rank: 5 },
      ],
    ])
  })
  test('holds, levels and ids, and changes behind the last whole state', async () => {
    const w = world({ seed: 2, conditions: 'rtt=20' })
    const Old = piece('card', { rank: u8 })
    const make = making(Old as never)
    const ada = await w.join({ ...PLACE, name: 'Ada', types: [Old, make] })
    await act(w, ada.act(make as never, [{ rank: 1 }, { rank: 2 }] as never))
    const [one, two] = ada.all(Old)
    await act(w, two!.update({ rank: 22 }, { hold: 'grab' } as never))
    await act(w, one!.update({ rank: 11 }))
    const before = ada.all(Old).map(({ id, holder }) => [id, holder?.player ?? 0])
    const { token } = ada
    w.kill(ada)
    const New = piece('card', { rank: u16, up: u8 })
    const again = await w.join({ ...PLACE, name: 'Ada', token, types: [New] })
    expect(states(again, New)).toEqual([
      { rank: 11, up: 0 },
      { rank: 22, up: 0 },
    ])
    expect(again.all(New).map(({ id, holder }) => [id, holder?.player ?? 0])).toEqual(before)
  })
  test('secrets, with the key of the room', async () => {
    const w = world({ seed: 3, conditions: 'rtt=20' })
    const hidden = (field: typeof u8): Field<number | null> =>
      secret(field, (one) => one.heldBy > 0)
    const keepRoom = { key: '5a'.repeat(32) }
    await kept(w, piece('card', { face: hidden(u8) }) as never, [{ face: 77 }], { keepRoom })
    const New = piece('card', { face: hidden(u8), up: u8 })
    const make = making(New as never)
    const ada = await w.join({ ...PLACE, types: [New, make], keepRoom })
    expect(states(ada, New)).toEqual([{ face: null, up: 0 }])
    await act(w, ada.all(New)[0]!.grab() as Promise<unknown>)
    expect(await w.runUntil(() => ada.all(New)[0]!.state.face === 77, 5_000)).toBe(true)
  })
  test('of a saved room too', async () => {
    const w = world({ seed: 4, conditions: 'rtt=20' })
    const Old = piece('card', { rank: u8 })
    const make = making(Old as never)
    const ada = await w.join({ ...PLACE, types: [Old, make] })
    await act(w, ada.act(make as never, [{ rank: 3 }] as never))
    const from = await ada.export()
    const New = piece('card', { worth: was('rank', u16) })
    const next = await w.join({ ...PLACE, room: 'copy', types: [New], from })
    expect(states(next, New)).toEqual([{ worth: 3 }])
  })
})

describe('what does not fit', () => {
  const Old = piece('card', { rank: u16, name: text(20) })
  const all = [{ rank: 300, name: 'a long name' }]
  test.each<[string, unknown, string]>([
    [
      'a number that is too large',
      piece('card', { rank: u8, name: text(20) }),
      'field "rank": 300 does not fit u8',
    ],
    ['a text that is too long', piece('card', { rank: u16, name: text(4) }), 'field "name"'],
    ['another kind of field', piece('card', { rank: text(9), name: text(20) }), 'field "rank"'],
    ['a type that is not here', piece('other', { rank: u16 }), 'type "card" is there and not here'],
    [
      'a migrate that throws',
      piece('card', { rank: u8 }, { migrate: () => JSON.parse('{') as never }),
      'migrate of "card" threw',
    ],
    [
      'a migrate that gives another field',
      piece('card', { rank: u8 }, { migrate: () => ({ rang: 1 }) as never }),
      'gives "rang", which is no field',
    ],
    ['a build without pieces', action('other', () => null), '"card" is there and not here'],
  ])('%s is named, and the room stays as it was', async (_what, other, why) => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    await kept(w, Old as never, all)
    const wrong = w.join({ ...PLACE, types: [other as Definition] })
    await expect(act(w, wrong)).rejects.toMatchObject({
      code: 'schema',
      message: expect.stringContaining(why),
    })
    await w.run(5_000)
    const right = await w.join({ ...PLACE, types: [Old] })
    expect(states(right, Old)).toEqual(all)
  })
})
