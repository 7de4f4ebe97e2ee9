// Goal: every `take` and `give` ends, whoever dies, gives, throws or is cut off meanwhile, with a
// reason and a sentence; and an object lives with all or with nobody.
// Method: whole sessions in virtual time, at every timing of some milliseconds.
// Slow: one claim is made for each of dozens of timings, each a session of its own.
import { describe, expect, test } from 'vitest'
import {
  type Asking,
  bytes,
  type GiveOutcome,
  HoldfastError,
  type JoinOptions,
  object,
  type ObjectHandle,
  type ObjectType,
  type Session,
  type TakeOutcome,
  u8,
} from '../../packages/holdfast/src/index.ts'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import { toyTicket, type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import type { Fields } from '../../packages/holdfast/src/wire/fields/schema.ts'
import { settled } from './cluster.ts'

const Ask = object('ask', { x: u8 }, { take: 'ask', onOwnerLeave: 'keep' })
const Free = object('free', { x: u8 }, { take: 'free', onOwnerLeave: 'keep' })
const Theirs = object('theirs', { x: u8 }, { take: 'ask', unanswered: 'take' })
const Raw = object('raw', { d: bytes(8) })
const types = [Ask, Free, Theirs, Raw]

interface Cluster {
  w: SessionWorld
  all: Session[]
}

/** In the order in which they came: the first serves. */
async function cluster(names: string, more: Partial<JoinOptions> = {}, rtt = 40): Promise<Cluster> {
  const w = world({ seed: 3, conditions: `rtt=${rtt}`, linesMax: 0 })
  const all: Session[] = []
  for (const name of names) all.push(await w.join({ game: 'ask', types, name, ...more }, { name }))
  await w.runUntil(() => all.every((one) => all.length < 2 || one.safety === 'backed-up'), 10_000)
  await w.run(1_000)
  return { w, all }
}

function the<F extends Fields>(session: Session, type: ObjectType<F>): ObjectHandle<F> {
  const [found, more] = session.all(type)
  if (!found || more) throw new Error(`${session.me.name} has not one ${type.name}`)
  return found
}

/** What came of a request, as one word; `nothing` if it did not end in time. */
async function ends(
  w: SessionWorld,
  asked: Promise<TakeOutcome | GiveOutcome>,
  ms = 15_000,
): Promise<string> {
  let word = 'nothing'
  void asked.then((outcome) => (word = outcome.ok ? 'granted' : outcome.code))
  await w.runUntil(() => word !== 'nothing', ms)
  return word
}

/** Once all is calm: one owner, the same everywhere, who is here. */
function owner(all: readonly Session[], type: ObjectType<Fields> | typeof Ask): string {
  const owners = new Set(all.map((one) => the(one, type as typeof Ask).owner?.name ?? 'nobody'))
  return [...owners].join()
}

describe('who waits for an owner’s answer', () => {
  test('B29, B30: hears that it was given to another, who dies before it told anybody (OB-1)', async () => {
    for (let wait = 0; wait <= 56; wait += 8) {
      const { w, all } = await cluster('pogt')
      const [p, o, g, t] = all as [Session, Session, Session, Session]
      o.create(Ask)
      o.on('asked', () => {})
      await w.run(2_000)
      const taken = the(t, Ask).take()
      await w.run(wait)
      const given = the(o, Ask).give(g.me)
      await w.run(1)
      w.kill(g)
      expect([wait, await ends(w, taken)]).toEqual([wait, expect.stringMatching(/^(late|held)$/)])
      expect(await ends(w, given)).toBe('away')
      await w.run(15_000)
      expect(owner([p, o, t], Ask)).toBe('o')
    }
  })

  test.each([true, false])(
    'B29: hears it though the object was on its way to another: %s (OB-1)',
    async (yes) => {
      const { w, all } = await cluster('pogty')
      const [p, o, g, t, y] = all as [Session, Session, Session, Session, Session]
      o.create(Ask)
      o.on('asked', (asking) => (yes ? asking.grant() : asking.refuse()))
      await w.run(2_000)
      w.conditions('o', 'p', 'rtt=900')
      w.conditions('p', 'o', 'rtt=900')
      void g.leave()
      await w.runUntil(() => p.members.length === 4, 5_000)
      const taken = the(t, Ask).take()
      await w.run(10)
      // It still shows g.
      const given = the(o, Ask).give(o.members.find(({ name }) => name === 'g') ?? g.me)
      expect(await ends(w, taken)).toBe(yes ? 'granted' : 'denied')
      expect(await ends(w, given)).toBe('away')
      await w.run(3_000)
      expect(await ends(w, the(y, Ask).take())).toBe(yes ? 'denied' : 'denied')
    },
  )

  test.each([2_000, 4_000, 6_000, 8_000, 12_000])(
    'B29: hears it though its ask was lost with the owner’s link, cut for %d ms (OB-1)',
    async (ms) => {
      for (const at of [0, 15, 30]) {
        const { w, all } = await cluster('pogt')
        const [p, o, , t] = all as [Session, Session, Session, Session]
        o.create(Ask)
        o.on('asked', (asking) => asking.grant())
        await w.run(2_000)
        const taken = the(t, Ask).take()
        await w.run(at)
        const mend = w.partition([['o']])
        await w.run(ms)
        mend()
        const word = await ends(w, taken, 20_000)
        expect([ms, at, word]).toEqual([
          ms,
          at,
          expect.stringMatching(/^(granted|late|no-answer)$/),
        ])
        await w.run(5_000)
        expect(owner([p, t], Ask)).toMatch(/^[opt]$/)
      }
    },
  )

  test('B30: asks the next server, which asks the owner, who answers as it did before', async () => {
    const { w, all } = await cluster('pogt')
    const [p, o, , t] = all as [Session, Session, Session, Session]
    o.create(Ask)
    const heard: Asking[] = []
    o.on('asked', (asking) => void heard.push(asking))
    await w.run(2_000)
    const taken = the(t, Ask).take()
    await w.runUntil(() => heard.length === 1, 5_000)
    w.kill(p)
    await w.runUntil(() => t.primary?.name !== 'p' && o.primary?.name !== 'p', 10_000)
    await w.run(1_000)
    expect(heard).toHaveLength(1)
    heard[0]!.refuse()
    expect(await ends(w, taken)).toBe('denied')
  })

  test('B29: hears after ten seconds that the owner did not answer; then others may ask (OB-7)', async () => {
    const { w, all } = await cluster('pogt')
    const [, o, g, t] = all as [Session, Session, Session, Session]
    o.create(Ask)
    let throws = true
    o.on('asked', (asking) => {
      if (throws) throw new Error('oops')
      asking.grant()
    })
    await w.run(2_000)
    const asked = w.now()
    const taken = the(t, Ask).take()
    await w.run(100)
    const other = await settled(w, the(g, Ask).take())
    expect(other).toMatchObject({ code: 'busy', by: t.me })
    expect(await settled(w, taken)).toEqual({
      ok: false,
      code: 'no-answer',
      reason: `o did not answer in time whether ask ${the(t, Ask).id} may be had`,
      by: o.me,
    })
    expect(w.now() - asked).toBeLessThan(12_000)
    expect(w.reported).toEqual(['a listener of "asked": Error: oops'])
    throws = false
    expect(await ends(w, the(g, Ask).take())).toBe('granted')
  })

  test('B29: has it after ten seconds where its type says so (OB-7)', async () => {
    const { w, all } = await cluster('pogt')
    const [p, o, g, t] = all as [Session, Session, Session, Session]
    o.create(Theirs)
    const heard: Asking[] = []
    o.on('asked', (asking) => void heard.push(asking))
    await w.run(2_000)
    expect(await ends(w, the(t, Theirs).take())).toBe('granted')
    await w.run(500)
    // Too late: the say is lost.
    heard[0]!.refuse()
    await w.run(500)
    expect(owner([p, o, g, t], Theirs)).toBe('t')
  })

  test('and is cut off itself has an answer within half a minute, and when it is back', async () => {
    const { w, all } = await cluster('pogt')
    const [p, o, , t] = all as [Session, Session, Session, Session]
    o.create(Ask)
    o.on('asked', (asking) => asking.grant())
    await w.run(2_000)
    const mend = w.partition([['t']])
    const taken = the(t, Ask).take()
    const asked = w.now()
    expect(await ends(w, taken, 60_000)).toBe('no-answer')
    expect(w.now() - asked).toBeLessThan(32_000)
    mend()
    await w.runUntil(() => t.status === 'live', 60_000)
    await w.run(5_000)
    expect(await ends(w, the(t, Ask).take())).toBe('granted')
    await w.run(500)
    expect(owner([p, o, t], Ask)).toBe('t')
  })
})

test('B30: in a mesh nobody is told `gone` of an object that the server has not heard of (OB-4)', async () => {
  const { w, all } = await cluster('pab', { topology: 'mesh' }, 30)
  const [p, a, b] = all as [Session, Session, Session]
  w.conditions('a', 'p', 'rtt=200')
  a.create(Free)
  await w.runUntil(() => b.all(Free).length === 1, 5_000)
  expect(p.all(Free)).toHaveLength(0)
  expect(await ends(w, the(b, Free).take())).toBe('granted')
  await w.run(2_000)
  expect(owner(all, Free)).toBe('b')
})

test('B30: of two who ask at once one is told `granted`, over the death of the server too (OB-5)', async () => {
  for (let wait = 0; wait <= 116; wait += 4) {
    const { w, all } = await cluster('pnobc')
    const [p, n, o, b, c] = all as [Session, Session, Session, Session, Session]
    o.create(Free)
    await w.run(2_000)
    const between = (one: string, other: string, rtt: number): void => {
      w.conditions(one, other, `rtt=${rtt}`)
      w.conditions(other, one, `rtt=${rtt}`)
    }
    between('b', 'n', 240)
    between('c', 'p', 200)
    const asked = [the(b, Free).take(), the(c, Free).take()]
    await w.run(wait)
    w.kill(p)
    const words = [await ends(w, asked[0]!), await ends(w, asked[1]!)]
    await w.run(3_000)
    const granted = words.indexOf('granted')
    expect([wait, words.filter((word) => word === 'granted').length]).toEqual([wait, 1])
    expect([wait, owner([n, o, b, c], Free)]).toEqual([wait, ['b', 'c'][granted]])
  }
})

describe('builds whose rules of a type differ', () => {
  const near = { visibleTo: () => true }
  test.each([
    [
      'take',
      {},
      { take: 'free' },
      'take fixed, onOwnerLeave destroy here, take free, onOwnerLeave',
    ],
    [
      'onOwnerLeave',
      {},
      { onOwnerLeave: 'keep' },
      'onOwnerLeave destroy here, take fixed, onOwnerLeave keep there',
    ],
    ['unanswered', { take: 'ask' }, { take: 'ask', unanswered: 'take' }, 'unanswered take there'],
    ['visibleTo', near, {}, 'onOwnerLeave destroy, visibleTo here'],
    ['weight', {}, { weight: 2 }, 'weight 2 there'],
    ['balance', {}, { balance: true }, 'balance there'],
  ] as const)(
    'are refused, and told what differs: %s (OB-6)',
    async (_what, here, there, words) => {
      const w = world({ seed: 1 })
      const build = (more: object): JoinOptions => ({
        game: 'g',
        types: [object('thing', { x: u8 }, more)],
      })
      await w.join(build(there))
      const error = await w.join(build(here)).catch((why: unknown) => why)
      expect(error).toMatchObject({ code: 'schema' })
      expect((error as Error).message).toContain(words)
    },
  )
})

test('after leave() a handle is nobody’s, and says so as `create` does (OB-9)', async () => {
  const { w, all } = await cluster('pab')
  const [, a, b] = all as [Session, Session, Session]
  const mine = a.create(Free, { x: 1 })
  await w.run(500)
  const now = a.now()
  await settled(w, a.leave())
  const left = { code: 'left', message: expect.stringContaining('the session was left') }
  expect([mine.mine, mine.owner]).toEqual([false, null])
  for (const run of [() => mine.set({ x: 2 }), () => mine.destroy()]) {
    expect(run).toThrow(HoldfastError)
    expect(run).toThrow(/the session was left/)
  }
  await expect(mine.take()).rejects.toMatchObject(left)
  await expect(mine.give(b.me)).rejects.toMatchObject(left)
  expect(mine.state.x).toBe(1)
  expect(a.now()).toBeGreaterThanOrEqual(now)
})

test('bytes of a state cannot be written in place, nor those that were given (OB-11)', async () => {
  const { w, all } = await cluster('pa')
  const given = Uint8Array.of(1, 2, 3)
  const raw = all[1]!.create(Raw, { d: given })
  given[0] = 9
  raw.state.d[1] = 9
  const { d } = raw.state
  d[2] = 9
  expect([...raw.state.d]).toEqual([1, 2, 3])
  await w.run(500)
  const seen = the(all[0]!, Raw)
  seen.state.d[0] = 7
  expect([...seen.state.d]).toEqual([1, 2, 3])
  expect(JSON.stringify({ ...seen.state })).toBe('{"d":{"0":1,"1":2,"2":3}}')
})

describe('an object tells', () => {
  test('whom it comes from, whom it goes to, what was refused, and that it ended (OB-12)', async () => {
    const { w, all } = await cluster('pab')
    const [p, a, b] = all as [Session, Session, Session]
    const mine = a.create(Free)
    const hat = a.create(Ask)
    await w.run(500)
    const told: string[] = []
    const listen = (who: string, handle: ObjectHandle<typeof Free.schema.fields>): void => {
      handle.on('granted', ({ from }) => void told.push(`${who} granted from ${from?.name}`))
      handle.on('lost', ({ to }) => void told.push(`${who} lost to ${to?.name}`))
      handle.on('denied', ({ code, by }) => void told.push(`${who} denied ${code} by ${by?.name}`))
      handle.on('gone', ({ reason }) => void told.push(`${who} gone ${reason}`))
    }
    listen('a', mine)
    listen('b', the(b, Free))
    listen('p', the(p, Free))
    listen('b', the(b, Ask))
    await settled(w, the(b, Free).take())
    await settled(w, the(b, Ask).take())
    await w.run(500)
    expect(told).toEqual(['b granted from a', 'a lost to b', 'b denied denied by a'])
    told.length = 0
    the(b, Free).destroy()
    await w.run(500)
    expect(told.toSorted()).toEqual(['a gone ended', 'b gone ended', 'p gone ended'])
    expect(() => hat.on('moved' as never, () => {})).toThrow(/an object has no event "moved"/)
  })
  test('each change once, for all that came together (OB-12)', async () => {
    const { w, all } = await cluster('pa')
    const [p, a] = all as [Session, Session]
    const mine = a.create(Free)
    await w.run(500)
    const seen: number[] = []
    const own: number[] = []
    the(p, Free).on('changed', () => void seen.push(the(p, Free).state.x))
    mine.on('changed', () => void own.push(mine.state.x))
    mine.set({ x: 1 })
    mine.set({ x: 2 })
    await w.run(500)
    mine.set({ x: 3 })
    await w.run(500)
    expect([seen, own]).toEqual([
      [2, 3],
      // Of own changes the first of a turn within the call.
      [1, 2, 3],
    ])
  })
})

describe('a session that has no room for more objects', () => {
  test('B23: keeps none of its maker alone: two make 6,000 each at once (OB-2)', async () => {
    const { w, all } = await cluster('pab', { objectsPerPlayer: 10_000 })
    const [p, a, b] = all as [Session, Session, Session]
    const gone: string[] = []
    for (const session of [a, b]) {
      for (let n = 0; n < 6_000; n++) {
        const made = session.create(Free)
        made.on('gone', ({ reason }) => void gone.push(reason))
      }
    }
    await w.run(20_000)
    const live = all.map((session) => new Set(session.all(Free).map(({ id }) => id)))
    expect(live.map(({ size }) => size)).toEqual([10_000, 10_000, 10_000])
    expect(new Set(live.flatMap((ids) => [...ids])).size).toBe(10_000)
    expect([gone.length, new Set(gone)]).toEqual([2_000, new Set(['full'])])
    expect(w.reported).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^create: HoldfastError: there is no room for free: a session has 10000 objects/,
        ),
      ]),
    )
    expect(() => p.create(Free)).toThrow(/a session has 10000 objects at most: 10000/)
    for (const handle of a.all(Free)) if (handle.mine) handle.destroy()
    await w.run(70_000)
    b.create(Free)
    await w.run(2_000)
    const sizes = new Set(all.map((session) => session.all(Free).length))
    expect(sizes.size).toBe(1)
  })
  test('lets no player use it up: a quarter of it, unless they are alone, or a host (OB-2)', async () => {
    const w = world({ seed: 4, conditions: 'rtt=20', linesMax: 0 })
    const page = await w.join({ game: 'ask', types, name: 'page' }, { kind: 'browser' })
    for (let n = 0; n < 2_600; n++) page.create(Free)
    const said = { game: 'ask', room: null, id: 'h', uses: 1 }
    const ticket = toyTicket({ ...said, rights: RIGHTS.play | RIGHTS.host })
    const host = await w.join({ game: 'ask', types, name: 'host', ticket })
    await w.run(5_000)
    expect(() => page.create(Free)).toThrow(
      /in this room a player makes 2500 objects at most \(objectsPerPlayer\): 2600/,
    )
    for (let n = 0; n < 3_000; n++) host.create(Free)
    await w.run(5_000)
    expect(page.all(Free)).toHaveLength(5_600)
  })
})
