// Goal: what the functions of a game throw costs that one call: everything else goes on, and who
// wrote it is told once.
// Method: whole sessions in virtual time; a world keeps what places were told.
import { describe, expect, test } from 'vitest'
import {
  action,
  object,
  piece,
  procedure,
  secret,
  type Session,
  u8,
} from '../../packages/holdfast/src/index.ts'
import { cluster, put, refusal, rejection, Rock, settled, types } from './cluster.ts'

const boom = (): never => {
  throw new Error('boom')
}

describe('a listener that throws', () => {
  test('leaves the others hearing, is told once, and the process lives (AP-5) (OB-8)', async () => {
    const { w, all } = await cluster()
    const [ada] = all as [Session]
    const heard: string[] = []
    const errors: string[] = []
    for (const name of ['members', 'join', 'leave', 'safety'] as const) {
      ada.on(name, boom)
      ada.on(name, () => void heard.push(name))
    }
    ada.all(Rock).on('added', boom)
    ada.all(Rock).on('added', () => void heard.push('added'))
    ada.table.on('changed', boom)
    ada.table.on('changed', () => void heard.push('table'))
    ada.on('error', ({ error, where }) => void errors.push(`${where}: ${String(error)}`))
    ada.create(Rock)
    await settled(w, ada.act(put, { key: 'a', value: 1 }))
    await settled(w, ada.act(put, { key: 'a', value: 2 }))
    const late = await w.join({ game: 'garden', types, name: 'Barbara' })
    await w.run(500)
    await settled(w, late.leave())
    await w.run(500)
    expect(new Set(heard)).toEqual(new Set(['added', 'table', 'join', 'members', 'leave']))
    expect(heard.filter((name) => name === 'table')).toHaveLength(2)
    expect(errors.toSorted()).toEqual(
      ['added', 'changed', 'join', 'leave', 'members'].map(
        (name) => `a listener of "${name}": Error: boom`,
      ),
    )
    expect(w.reported).toEqual([])
    expect(ada.status).toBe('live')
  })
  test('is told by its place where nobody listens to errors, and so is a listener of errors (AP-5)', async () => {
    const { w, all } = await cluster()
    const [ada, grace] = all as [Session, Session]
    ada.all(Rock).on('added', boom)
    grace.all(Rock).on('added', boom)
    grace.on('error', () => {
      throw new Error('again')
    })
    ada.create(Rock)
    await w.run(200)
    expect([...w.reported].toSorted()).toEqual([
      'a listener of "added": Error: boom',
      'a listener of "error": Error: again',
    ])
  })
  test('counts when it is async, or listens to a list (AP-5)', async () => {
    const { w, all } = await cluster()
    const [ada] = all as [Session]
    let heard = 0
    const late = async (): Promise<void> => {
      await Promise.resolve()
      boom()
    }
    ada.all(Rock).on('added', late as () => void)
    ada.all(Rock).subscribe(boom)
    ada.all(Rock).subscribe(() => void heard++)
    ada.create(Rock)
    await w.run(200)
    await new Promise((done) => setImmediate(done))
    await w.run(200)
    expect(heard).toBe(1)
    expect([...w.reported].toSorted()).toEqual([
      'a listener of "added": Error: boom',
      'a listener of a list: Error: boom',
    ])
  })
  test('is heard once, until it is stopped, or until a signal says so', async () => {
    const { w, all } = await cluster({}, 1)
    const [ada] = all as [Session]
    const heard = { once: 0, stopped: 0, signal: 0 }
    const end = new AbortController()
    const rocks = ada.all(Rock)
    rocks.on('added', () => void heard.once++, { once: true })
    const stop = rocks.on('added', () => void heard.stopped++)
    rocks.on('added', () => void heard.signal++, { signal: end.signal })
    rocks.on('added', () => void heard.signal++, { signal: AbortSignal.abort() })
    ada.create(Rock)
    await w.run(100)
    stop()
    ada.create(Rock)
    await w.run(100)
    end.abort()
    ada.create(Rock)
    await w.run(100)
    expect(heard).toEqual({ once: 1, stopped: 1, signal: 2 })
  })
})

describe('a rule that throws', () => {
  test('T76: hides, is told once, and costs nothing else of that tick (OB-3)', async () => {
    let fails = 1
    const Odd = object(
      'odd',
      { n: u8 },
      {
        visibleTo: () => {
          if (fails-- > 0) throw new Error('odd')
          return true
        },
      },
    )
    const { w, all } = await cluster({ types: [Odd, Rock] })
    const [, grace] = all as [Session, Session]
    fails = 1
    grace.create(Odd)
    grace.create(Rock)
    grace.create(Rock)
    await w.run(3_000)
    for (const session of all) {
      expect([session.all(Odd).length, session.all(Rock).length]).toEqual([1, 2])
    }
    expect(w.reported).toEqual(['visibleTo of "odd": Error: odd'])
  })
  test('T76: hides for good where it always throws or gives a promise (OB-3)', async () => {
    const Never = object('never', { n: u8 }, { visibleTo: boom })
    // As an older compiler would make it: no async function by its looks.
    const late = (() => Promise.resolve(true)) as unknown as () => boolean
    const Later = object('later', { n: u8 }, { visibleTo: late })
    const Card = piece('card', { face: secret(u8, late), back: secret(u8, boom) })
    const deal = action('deal', (table) => void table.create(Card, { face: 7, back: 8 }))
    const { w, all } = await cluster({ types: [Never, Later, Card, deal] })
    const [, grace, linus] = all as [Session, Session, Session]
    grace.create(Never)
    grace.create(Later)
    await settled(w, grace.act(deal, null))
    await w.run(1_000)
    expect([linus.all(Never).length, linus.all(Later).length]).toEqual([0, 0])
    expect(linus.all(Card)[0]!.state).toEqual({ face: null, back: null })
    const atOnce = 'gave a promise: it answers at once'
    expect(new Set(w.reported)).toEqual(
      new Set([
        'visibleTo of "never": Error: boom',
        `visibleTo of "later": HoldfastError: visibleTo of "later" ${atOnce}`,
        `secret "face" of "card": HoldfastError: secret "face" of "card" ${atOnce}`,
        'secret "back" of "card": Error: boom',
      ]),
    )
  })
  test('fails that one update, and its author is told', async () => {
    const update = (): never => (undefined as unknown as { x: never }).x
    const Card = piece('card', { at: u8 }, { rules: { update } })
    const deal = action('deal', (table) => void table.create(Card))
    const { w, all } = await cluster({ types: [Card, deal] })
    const [ada, grace] = all as [Session, Session]
    await settled(w, grace.act(deal, null))
    const outcome = await settled(w, grace.all(Card)[0]!.update({ at: 3 }))
    expect(outcome).toMatchObject({ ok: false, code: 'failed' })
    expect(w.reported).toEqual([expect.stringMatching(/^the update rule of "card": TypeError/)])
    expect([ada.status, ada.all(Card)[0]!.state.at]).toEqual(['live', 0])
  })
})

describe('an action', () => {
  test('that is async is refused where it is defined (AP-2)', () => {
    expect(refusal(() => action('a', (async () => {}) as never))).toBe(
      'bad-value: the action "a" answers at once: it may be neither async nor a generator',
    )
    expect(refusal(() => action('a', function* () {} as never))).toMatch(/nor a generator/)
    // @ts-expect-error a promise is no answer
    expect(refusal(() => action('a', async () => 1))).toMatch(/async/)
  })
  test('that gives a promise fails, nothing of it stays, and nothing is left to catch (AP-2)', async () => {
    const write = action('write', ((table: { set(key: string, value: number): void }) => {
      table.set('a', 1)
      return Promise.reject(new Error('later'))
    }) as never)
    const { w, all } = await cluster({ types: [write] })
    const [ada, grace] = all as [Session, Session]
    const outcome = await settled(w, grace.act(write, null))
    const sentence = 'it gave a promise: it answers at once'
    const reason = `the action "write" failed: ${sentence}`
    expect(outcome).toEqual({ ok: false, code: 'failed', reason })
    expect(ada.table.keys()).toEqual([])
    expect(w.reported).toEqual([`the action "write": HoldfastError: ${sentence}`])
  })
  test('that throws by mistake says so to who asked and to its author; its own no is told nobody (AP-6)', async () => {
    const trip = action('trip', (_table, args: { n: number } | null) => args!.n)
    const deny = action('deny', () => {
      throw new Error('not now')
    })
    const { w, all } = await cluster({ types: [trip, deny] })
    const [, grace] = all as [Session, Session]
    expect(await settled(w, grace.act(deny, null))).toEqual({
      ok: false,
      code: 'refused',
      reason: 'not now',
    })
    expect(w.reported).toEqual([])
    expect(await settled(w, grace.act(trip, null))).toEqual({
      ok: false,
      code: 'failed',
      reason: expect.stringMatching(/^the action "trip" failed: TypeError: /),
    })
    expect(w.reported).toHaveLength(1)
  })
  test.each<[string, unknown, string]>([
    ['NaN', NaN, 'at "k" it was given NaN'],
    ['Infinity', Infinity, 'at "k" it was given Infinity'],
    ['undefined', undefined, 'at "k" it was given undefined'],
    ['an object', { a: 1 }, 'at "k" it was given an object'],
    ['an array', [1], 'at "k" it was given an object'],
    ['a long text', 'x'.repeat(5_000), 'has at most 4096 bytes: "k" has 5002'],
  ])('writes no value that the table cannot hold: %s (AP-6) (AP-9)', async (_what, value, why) => {
    const write = action('write', (table) => table.set('k', value as never))
    const { w, all } = await cluster({ types: [write] }, 1)
    const outcome = await settled(w, all[0]!.act(write, null))
    expect(outcome).toMatchObject({ code: 'failed', reason: expect.stringContaining(why) })
    expect(all[0]!.table.keys()).toEqual([])
  })
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  test.each<[string, unknown, string]>([
    ['NaN', NaN, 'is NaN'],
    ['Infinity within', [1, { at: Infinity }], 'gave[1].at cannot be sent: it is Infinity'],
    ['a function', boom, 'is a function'],
    ['a Map', new Map(), 'is a Map'],
    ['a bigint', 1n, 'is a bigint'],
    ['a circle', circle, 'gave.self cannot be sent: it is a circle'],
  ])('gives no answer that cannot be sent: %s (AP-9)', async (_what, value, why) => {
    const give = action('give', () => value)
    const { w, all } = await cluster({ types: [give] }, 1)
    const outcome = await settled(w, all[0]!.act(give, null))
    expect(outcome).toMatchObject({ code: 'failed', reason: expect.stringContaining(why) })
  })
  test('that answers nothing answers null (AP-6)', async () => {
    const nothing = action('nothing', () => {})
    const { w, all } = await cluster({ types: [nothing] }, 1)
    expect(await settled(w, all[0]!.act(nothing, null))).toEqual({ ok: true, value: null })
  })
  test('is asked for by its definition, with arguments that can be sent (AP-6) (AP-7)', async () => {
    const { all } = await cluster({}, 1)
    const [ada] = all as [Session]
    const other = action('other', () => 1)
    const no = (what: unknown, args: unknown): Promise<string> => {
      return rejection(ada.act(what as never, args as never))
    }
    const bad = (args: unknown): Promise<string> => no(put, args)
    expect(await no('put', null)).toMatch(/^bad-value: act takes an action/)
    expect(await no(undefined, null)).toMatch(/^bad-value: act takes an/)
    expect(await no(other, null)).toMatch(/^not-found: .*"other" was not given/)
    expect(await bad({ key: 'a', value: NaN })).toBe(
      'bad-value: the argument of "put".value cannot be sent: it is NaN, not text, finite ' +
        'numbers, true, false, null, arrays and plain objects',
    )
    expect(await bad({ key: 'a', value: 1n })).toMatch(/it is a bigint/)
    expect(await bad({ key: 'a', value: Promise.resolve() })).toMatch(/it is a Promise/)
    expect(await bad({ key: 'a', value: new Date() })).toMatch(/it is a Date/)
  })
})

describe('a procedure', () => {
  test('that fails by mistake, or of which nobody waits for an answer, is told its author', async () => {
    const trip = procedure('trip', () => (undefined as unknown as { x: number }).x)
    const hint = procedure('hint', boom)
    const { w, all } = await cluster({ types: [trip, hint] })
    const [ada, grace] = all as [Session, Session]
    grace.note(ada.me, hint, null as never)
    const tripped = await settled(w, grace.call(ada.me, trip, null as never))
    expect(tripped).toMatchObject({ code: 'failed', reason: expect.stringContaining('undefined') })
    expect(w.reported).toEqual([
      'the procedure "hint": Error: boom',
      expect.stringMatching(/^the procedure "trip": TypeError/),
    ])
  })
  test('is called by its definition, at a member (AP-6)', async () => {
    const { w, all } = await cluster()
    const call = (target: unknown, type: unknown): Promise<unknown> =>
      settled(w, all[0]!.call(target as never, type as never, null as never))
    await expect(call('primary', 'roll')).rejects.toThrow(/made by procedure\(\): "roll"/)
    await expect(call(7, procedure('roll'))).rejects.toThrow(/"roll" was not given to join/)
  })
})

describe('an event', () => {
  test('that there is not is refused, with those that there are (AP-6)', async () => {
    const { all } = await cluster({}, 1)
    const [ada] = all as [Session]
    expect(refusal(() => ada.on('nonsense' as never, () => {}))).toMatch(
      /^bad-value: a session has no event "nonsense"; it has status, safety, /,
    )
    expect(refusal(() => ada.on('join', 'x' as never))).toMatch(/listener of "join" is a function/)
    const subscribe = ada.all(Rock).subscribe as (listener: unknown) => void
    expect(refusal(() => subscribe(7))).toMatch(/is a function: 7/)
  })
})
