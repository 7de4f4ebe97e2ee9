// Goal: what somebody typed into a form and does not fit is an outcome of every request that has
// outcomes, as a refusal of the game is; and what only a mistake in the program can cause throws.
import { describe, expect, test } from 'vitest'
import {
  action,
  bytes,
  list,
  map,
  object,
  oneOf,
  piece,
  procedure,
} from '../../packages/holdfast/src/index.ts'
import {
  quaternion,
  ranged,
  type Session,
  type StateOf,
} from '../../packages/holdfast/src/index.ts'
import { struct, text, u8, vec2 } from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { refusal, rejection, settled } from './cluster.ts'

const fields = {
  name: text(8),
  side: oneOf('north', 'south'),
  count: u8,
  turn: quaternion(9),
  tags: list(text(3), 2),
  won: map(u8, 1),
  at: struct({ x: ranged(0, 10, 1), to: vec2(0, 9, 1) }),
}
const fine: StateOf<typeof fields> = {
  ...{ name: 'Ada', side: 'north', count: 3, turn: [0, 0, 0, 1], tags: ['a'] },
  ...{ won: {}, at: { x: 1, to: [1, 1] } },
}
const say = action('say', fields, (_, { name }) => name)
const tell = procedure('tell', fields, ({ name }) => name)
const Card = piece('card', fields)
const Stone = object('stone', { ...fields, raw: bytes(3) })
const open = action('open', (_, args: unknown) => String(args).length)
const ask = procedure('ask', (args: unknown) => String(args).length)
const deal = action('deal', (table) => void table.create(Card, fine))
const none = action('none', (_, args: unknown) => JSON.stringify(args ?? null))
const ping = procedure('ping', (args: unknown) => JSON.stringify(args ?? null))
const types = [none, ping, say, tell, Card, Stone, open, ask, deal]

/** What people type, choose or measure, with what is said of it. */
const MISFITS: readonly [change: object, sentence: string][] = [
  [{ name: 'Grace Hopper' }, 'field name: takes 8 characters: 12'],
  [{ side: 'east' }, 'field side: must be north or south: "east"'],
  [{ count: NaN }, 'field count: must be a finite number: NaN'],
  [{ turn: [0, 0, 0, 0] }, 'field turn: must have a length above 0: [0,0,0,0]'],
  [{ tags: ['a', 'b', 'c'] }, 'field tags: takes 2 values: 3'],
  [{ tags: ['a', 'long'] }, 'field tags: value 1: takes 3 characters: 4'],
  [{ won: { a: 1, b: 2 } }, 'field won: takes 1 keys: 2'],
  [{ won: { ['k'.repeat(65)]: 1 } }, 'field won: a key takes 64 bytes: 65'],
  [{ at: { x: Infinity, to: [1, 1] } }, 'field at: field x: must be a finite number: Infinity'],
  [{ at: { x: 1, to: [1, NaN] } }, 'field at: field to: must be a finite number: NaN'],
]

/** What only a mistake in the program gives. */
const MISTAKES: readonly [change: object, sentence: RegExp][] = [
  [{ name: 7 }, /field name: must be a text: 7/],
  [{ side: 7 }, /field side: must be north or south: 7/],
  [{ count: '3' }, /field count: must be a finite number: "3"/],
  [{ tags: 'a' }, /field tags: must be a list: "a"/],
  [{ turn: [1, 2] }, /field turn: must be four numbers/],
  [{ at: { x: 1 } }, /field at: field to: must be two numbers/],
  [{ at: { x: 1, to: [1, 1], y: 1 } }, /field at: has no field called "y"/],
  [{ nonsense: 1 }, /"nonsense"/],
]

async function two(): Promise<{ w: SessionWorld; ada: Session; grace: Session }> {
  const w = world({ seed: 4, conditions: 'rtt=20' })
  const [ada, grace] = [
    await w.join({ game: 'form', types, name: 'Ada' }),
    await w.join({ game: 'form', types, name: 'Grace' }),
  ]
  await w.run(2_000)
  await settled(w, ada.act(deal))
  await w.run(500)
  return { w, ada, grace }
}

describe('a value that does not fit', () => {
  test('is an outcome of an action, a call and a change of a piece, with the sentence (N-26)', async () => {
    const { w, ada, grace } = await two()
    const [card] = grace.all(Card)
    const before = card!.state
    for (const [change, why] of MISFITS) {
      const given = { ...fine, ...change } as never
      const unfit = (what: string): object => {
        return { ok: false, code: 'unfit', reason: `${what}: ${why}` }
      }
      expect(await grace.act(say, given)).toEqual(unfit('the action "say"'))
      expect(await grace.call(ada.me, tell, given)).toEqual(unfit('the procedure "tell"'))
      expect(await card!.update(change)).toEqual(unfit('card'))
      expect(await card!.release(change)).toEqual(unfit('card'))
    }
    expect([card!.state, card!.pending]).toEqual([before, false])
    await w.run(500)
    expect(w.reported).toEqual([])
    expect(await settled(w, grace.act(say, fine))).toEqual({ ok: true, value: 'Ada' })
  })
  test('is one too where arguments have no fields, and are too many bytes (N-26)', async () => {
    const { ada, grace } = await two()
    const long = 'x'.repeat(8_200)
    expect(await grace.act(open, long)).toMatchObject({ ok: false, code: 'unfit' })
    expect(await grace.call(ada.me, ask, long)).toMatchObject({ ok: false, code: 'unfit' })
  })
  test('is one of a kick and a ban whose reason is too long (N-26)', async () => {
    const { ada, grace } = await two()
    const reason = 'a reason has at most 200 bytes of UTF-8: 201'
    const unfit = { ok: false, code: 'unfit', reason }
    expect(await ada.kick(grace.me, 'x'.repeat(201))).toEqual(unfit)
    expect(await ada.ban(grace.me, 'x'.repeat(201))).toEqual(unfit)
    expect(await rejection(ada.kick(grace.me, 7 as never))).toBe('bad-value: a reason is a text: 7')
    expect(grace.status).toBe('live')
  })
  test('throws where a call has no outcome: create, set and note (N-26)', async () => {
    const { grace } = await two()
    const stone = grace.create(Stone, fine)
    const before = stone.state
    const cases = [...MISFITS, [{ raw: new Uint8Array(4) }, 'field raw: takes 3 bytes: 4'] as const]
    for (const [change, why] of cases) {
      expect(refusal(() => grace.create(Stone, change))).toBe(`bad-value: stone: ${why}`)
      expect(refusal(() => stone.set(change))).toBe(`bad-value: stone: ${why}`)
    }
    expect(stone.state).toBe(before)
    const [change, why] = MISFITS[0]!
    expect(refusal(() => grace.note('all', tell, { ...fine, ...change }))).toBe(
      `bad-value: the procedure "tell": ${why}`,
    )
  })
  test('is left to nobody once the session was left (N-26)', async () => {
    const { w, ada, grace } = await two()
    const [card] = grace.all(Card)
    const { me } = ada
    await settled(w, grace.leave())
    const [change] = MISFITS[0]!
    const given = { ...fine, ...change }
    for (const asked of [
      grace.act(say, given),
      grace.call(me, tell, given),
      card!.update(change),
      grace.kick(me, 'x'.repeat(201)),
    ]) {
      expect(await rejection(asked)).toMatch(/^left: /)
    }
  })
})

test('a mistake in the program rejects, whatever else is wrong with the values (N-26)', async () => {
  const { ada, grace } = await two()
  const [card] = grace.all(Card)
  for (const [change, why] of MISTAKES) {
    const given = { ...fine, ...change } as never
    for (const asked of [
      grace.act(say, given),
      grace.call(ada.me, tell, given),
      card!.update(change as never),
    ]) {
      const said = await rejection(asked)
      expect(said).toMatch(/^bad-value: /)
      expect(said).toMatch(why)
    }
  }
  const { name: _, ...missing } = fine
  expect(await rejection(grace.act(say, missing as never))).toMatch(/field name: is missing/)
})

test('what takes no arguments is called without, and what takes some is not (N-26)', async () => {
  const { w, ada, grace } = await two()
  const nothing = { ok: true, value: 'null' }
  expect(await settled(w, grace.act(none))).toEqual(nothing)
  expect(await settled(w, grace.call(ada.me, ping))).toEqual(nothing)
  expect(await settled(w, grace.call(ada.me, ping, undefined, { timeoutMs: 900 }))).toEqual(nothing)
  expect(() => grace.note('all', ping)).not.toThrow()
  const lacking = grace as unknown as { act(type: object): Promise<unknown> }
  expect(await rejection(lacking.act(say))).toMatch(/an object of the fields .*: undefined/)
})
