// Goal: what actions and procedures are given is what their fields say, at who gives it and at who
// runs it, though a member may send anything.
// Method: whole sessions in virtual time. A liar has definitions with the same text as the others,
// so it is let in, and neither checks what it gives nor gives what it promised.
import { describe, expect, test } from 'vitest'
import { ANY } from '../../packages/holdfast/src/api/arguments.ts'
import type { Kind } from '../../packages/holdfast/src/kind/kind.ts'
import {
  action,
  bool,
  bytes,
  list,
  oneOf,
  procedure,
  secret,
} from '../../packages/holdfast/src/index.ts'
import { type Session, struct, text, u16, u8 } from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { answered, refusal, rejection, settled } from './cluster.ts'

let ran: unknown[] = []

const deal = action('deal', { count: u8, to: oneOf('north', 'south') }, (table, args) => {
  ran.push(args)
  table.set('dealt', args.count)
  return args.count > 100 ? 'lots' : args.count
})
const tick = action('tick', { left: u8 }, (table, { left }, by) => {
  ran.push({ left, by: by.player })
  table.set('left', left)
})
const wind = action('wind', (table, { left, byName }: { left: unknown; byName: boolean }) =>
  byName ? table.later(50, 'tick', { left }) : table.later(50, tick, { left: left as number }),
)
const count = action('count', { of: text(8) }, (table, { of }) => Number(table.get(of) ?? -1), {
  answer: u8,
})
const wrong = action('wrong', { n: u8 }, (_table, { n }) => (n > 9 ? 'many' : n) as number, {
  answer: u8,
})
const roll = procedure(
  'roll',
  { sides: u8 },
  ({ sides }) => {
    ran.push({ sides })
    return (sides === 13 ? 'none' : sides - 0.4) as number
  },
  { answer: u8 },
)
const ask = procedure('ask', { question: text(20) }, null, { answer: bool })
const types = [deal, tick, wind, count, wrong, roll, ask]

// One kind for all of a word, as a session wants it.
const kinds = new Map<Kind, Kind>()
const lies = types.map((type) => {
  const { kind } = type
  const said = new Map(types.map((one) => [one.name, one]))
  const lying = kinds.get(kind) ?? { ...kind, text: ({ name }) => kind.text(said.get(name)!) }
  kinds.set(kind, lying)
  return { ...type, signature: ANY, kind: lying }
})

/** What a liar has in place of a definition. */
function lie<Type extends { name: string }>(type: Type): Type {
  return lies.find(({ name }) => name === type.name) as unknown as Type
}

interface Scene {
  w: SessionWorld
  /** Serves. */
  ada: Session
  grace: Session
}

async function scene(primary: readonly object[], other: readonly object[]): Promise<Scene> {
  ran = []
  const w = world({ seed: 9, conditions: 'rtt=20' })
  const [ada, grace] = [
    await w.join({ game: 'cards', types: primary as typeof types, name: 'Ada' }),
    await w.join({ game: 'cards', types: other as typeof types, name: 'Grace' }),
  ]
  await w.run(2_000)
  expect([ada.status, grace.status]).toEqual(['live', 'live'])
  return { w, ada, grace }
}

const HOSTILE = [
  [null, 'it must be an object of the fields count, to: null'],
  [{ m: 'no' }, 'no field is called "m", there is count, to'],
  [{ count: 3 }, 'field to: is missing'],
  [{ count: '3', to: 'north' }, 'field count: must be a finite number: "3"'],
  [{ count: 3, to: 'east' }, 'field to: must be north or south: "east"'],
  [[[[[]]]], 'it must be an object of the fields count, to: [[[[]]]]'],
] as const

describe('an action with fields', () => {
  test('T49: runs with the values that the fields have (AP-3)', async () => {
    const { w, grace } = await scene(types, types)
    expect(await answered(w, grace.act(deal, { count: 3.2, to: 'south' }))).toBe(3)
    expect(await answered(w, grace.act(deal, { count: 999, to: 'north' }))).toBe('lots')
    expect(ran).toEqual([
      { count: 3, to: 'south' },
      { count: 255, to: 'north' },
    ])
    expect(ran.every((args) => Object.isFrozen(args))).toBe(true)
  })

  test('rejects arguments of another shape, and a value that does not fit is an outcome (AP-3)', async () => {
    const { w, grace } = await scene(types, types)
    for (const [args, why] of HOSTILE) {
      const asked = grace.act(deal, args as never)
      const reason = `the action "deal": ${why}`
      if (why.includes('"east"')) expect(await asked).toEqual({ ok: false, code: 'unfit', reason })
      else expect(await rejection(asked)).toBe(`bad-value: ${reason}`)
    }
    await w.run(500)
    expect(ran).toEqual([])
  })

  test('T49: is not run with what a liar sends, who is told why, and nobody else is (AP-3)', async () => {
    const { w, ada, grace } = await scene(types, lies)
    for (const [args, why] of HOSTILE) {
      const outcome = await settled(w, grace.act(lie(deal), args as never))
      expect(outcome).toMatchObject({ code: 'refused', reason: `the action "deal": ${why}` })
    }
    const deep: unknown = JSON.parse('['.repeat(60) + ']'.repeat(60))
    const huge = Array.from({ length: 4_000 }, () => 1)
    for (const args of [deep, huge, { count: deep, to: huge }, 'x'.repeat(8_000)]) {
      const outcome = await settled(w, grace.act(lie(deal), args as never))
      expect(outcome).toMatchObject({
        code: 'refused',
        reason: expect.stringMatching(/^the action "deal"/),
      })
    }
    expect(await answered(w, grace.act(lie(deal), { count: 1e9, to: 'north' }))).toBe('lots')
    expect(ran).toEqual([{ count: 255, to: 'north' }])
    expect([ada.table.get('dealt'), ada.status, w.reported]).toEqual([255, 'live', []])
  })

  test('runs by a timer with values that fit, and a timer takes no others (AP-3)', async () => {
    const { w, ada, grace } = await scene(types, types)
    for (const byName of [true, false]) {
      await answered(w, grace.act(wind, { left: 4.4, byName }))
      expect(await settled(w, grace.act(wind, { left: 'x', byName }))).toEqual({
        ok: false,
        code: 'failed',
        reason:
          'the action "wind" failed: ' +
          'a timer for the action "tick": field left: must be a finite number: "x"',
      })
    }
    await w.run(1_000)
    expect(ran).toEqual([
      { left: 4, by: 0 },
      { left: 4, by: 0 },
    ])
    expect(ada.table.get('left')).toBe(4)
  })

  test('is not run by a timer that a liar set while it served (AP-3)', async () => {
    const { w, ada, grace } = await scene(lies, types)
    const errors: string[] = []
    grace.on('error', ({ error }) => void errors.push(String(error)))
    await answered(w, ada.act(lie(wind), { left: 'x', byName: true }))
    w.kill(ada)
    await w.run(20_000)
    expect(grace.primary?.player).toBe(grace.me.player)
    expect(ran).toEqual([])
    expect(errors).toEqual(['Error: the action "tick": field left: must be a finite number: "x"'])
  })

  test('that gives what its answer is not has made a mistake: nothing stays, its author is told (AP-3)', async () => {
    const { w, grace } = await scene(types, types)
    expect(await answered(w, grace.act(wrong, { n: 4 }))).toBe(4)
    expect(await answered(w, grace.act(count, { of: 'dealt' }))).toBe(0)
    const why = 'its answer: must be a finite number: "many"'
    expect(await settled(w, grace.act(wrong, { n: 10 }))).toEqual({
      ok: false,
      code: 'failed',
      reason: `the action "wrong" failed: ${why}`,
    })
    expect(w.reported).toEqual([`the action "wrong": HoldfastError: ${why}`])
  })

  test('gives its caller no answer of a liar that does not fit (AP-3)', async () => {
    const { w, grace } = await scene(lies, types)
    expect(await answered(w, grace.act(wrong, { n: 4 }))).toBe(4)
    expect(await settled(w, grace.act(wrong, { n: 10 }))).toEqual({
      ok: false,
      code: 'failed',
      reason:
        'it ran, and what came back does not fit: its answer: must be a finite number: "many"',
    })
  })
})

describe('a procedure with fields', () => {
  test('B4: runs with the values that the fields have, and its answer is one of its field (AP-3)', async () => {
    const { w, ada, grace } = await scene(types, types)
    expect(await answered(w, grace.call('primary', roll, { sides: 6.4 }))).toBe(6)
    ada.answer(ask, ({ question }) => question === 'war?')
    expect(await answered(w, grace.call(ada.me, ask, { question: 'war?' }))).toBe(true)
    grace.note('all', roll, { sides: 1000 })
    await w.run(500)
    expect(ran).toEqual([{ sides: 6 }, { sides: 255 }])
  })

  test('refuses what does not fit where it is given (AP-3)', async () => {
    const { w, ada, grace } = await scene(types, types)
    const why = 'the procedure "roll": field sides: must be a finite number: "x"'
    const bad = { sides: 'x' } as never
    await expect(settled(w, grace.call(ada.me, roll, bad))).rejects.toMatchObject({
      code: 'bad-value',
      message: why,
    })
    expect(refusal(() => grace.note('all', roll, bad))).toBe(`bad-value: ${why}`)
    await w.run(500)
    expect(ran).toEqual([])
  })

  test('is not run with what a liar sends, who is told that nothing ran (AP-3)', async () => {
    const { w, ada, grace } = await scene(types, lies)
    const deep: unknown = JSON.parse('['.repeat(60) + ']'.repeat(60))
    for (const args of [
      null,
      deep,
      { sides: deep },
      { sides: 'x' },
      {},
      [6],
      { sides: 6, by: 1 },
    ]) {
      grace.note(ada.me, lie(roll), args as never)
      expect(await settled(w, grace.call(ada.me, lie(roll), args as never))).toMatchObject({
        code: 'away',
        reason: expect.stringMatching(/^nothing answers to such arguments there: /),
      })
    }
    expect([ran, ada.status, w.reported]).toEqual([[], 'live', []])
    expect(await answered(w, grace.call(ada.me, lie(roll), { sides: 6 }))).toBe(6)
  })

  test('whose answer does not fit has failed, at who runs it and at who asked a liar (AP-3)', async () => {
    const { w, ada, grace } = await scene(types, lies)
    const why = 'its answer: must be a finite number: "none"'
    expect(await settled(w, grace.call(ada.me, lie(roll), { sides: 13 }))).toMatchObject({
      code: 'failed',
      reason: `the procedure "roll": ${why}`,
    })
    expect(w.reported).toEqual([
      `the procedure "roll": HoldfastError: the procedure "roll": ${why}`,
    ])
    expect(await settled(w, ada.call(grace.me, roll, { sides: 13 }))).toMatchObject({
      code: 'failed',
      reason: `it ran, and what came back does not fit: ${why}`,
    })
  })
})

describe('fields of arguments', () => {
  test('are checked where they are defined, and hold neither bytes nor secrets (AP-3)', () => {
    const of = (fields: object, more?: object): string =>
      refusal(() => action('a', fields as never, () => 0, more as never))
    expect(of({})).toBe('bad-value: the action "a": a type has 1 to 32 fields: 0')
    expect(of({ n: 'u8' })).toMatch(/^bad-value: the action "a": field n is no field/)
    const sentence = 'takes no bytes: it travels as JSON, so give them as text'
    expect(of({ run: bytes(8) })).toBe(`bad-value: the action "a": field run ${sentence}`)
    expect(of({ runs: list(struct({ run: bytes(8) }), 3) })).toMatch(/field runs takes no bytes/)
    expect(of({ n: u8 }, { answer: bytes(8) })).toBe(
      `bad-value: the action "a": its answer ${sentence}`,
    )
    expect(of({ n: u8 }, { answer: 'u8' })).toMatch(
      /^bad-value: the action "a": field answer is no/,
    )
    expect(of({ n: u8 }, { answers: u8 })).toMatch(/takes no option "answers": did you mean/)
    expect(of({ n: secret(u8, () => true) })).toMatch(
      /field n is no secret: a secret is a field of a piece/,
    )
    expect(refusal(() => action('a', { n: u8 }, 3 as never))).toMatch(/is a function: 3/)
    expect(refusal(() => procedure('a', { n: u8 }, 3 as never))).toMatch(/is a function: 3/)
    expect(refusal(() => procedure('a', { run: bytes(8) }))).toMatch(
      /^bad-value: the procedure "a"/,
    )
  })

  test('are told where two builds differ in them (AP-3)', async () => {
    const { w } = await scene(types, types)
    const other = action('deal', { count: u16, to: oneOf('north', 'south') }, () => 0)
    const theirs = types.map((type) => (type === (deal as object) ? other : type))
    const joining = w.join({ game: 'cards', types: theirs as typeof types, name: 'Linus' })
    await expect(settled(w, joining)).rejects.toMatchObject({
      code: 'schema',
      message: expect.stringContaining('action "deal", field "count": u16 here, u8 there'),
    })
  })
})
