// Goal: what a user is promised of objects: owners that change, handles that stay, collections that
// may be compared, errors that say what is wrong; in a star and in a mesh alike.
// Method: whole sessions in virtual time.
// Slow: it has three dozen sessions, each claim in a star and in a mesh.
import { describe, expect, test } from 'vitest'
import {
  action,
  type Asking,
  bytes,
  HoldfastError,
  type JoinOptions,
  object,
  type ObjectHandle,
  type ObjectType,
  procedure,
  type Session,
  text,
  u8,
  vec2,
} from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import type { Fields } from '../../packages/holdfast/src/wire/fields/schema.ts'
import { openRow, TYPES as ROWS } from '../slots/row.ts'

const Rock = object(
  'rock',
  { weight: u8, at: vec2(0, 100, 1) },
  { take: 'free', onOwnerLeave: 'keep' },
)
const Hat = object('hat', { name: text(16) }, { take: 'ask' })
const Pot = object('pot', { tea: u8 })
const game = { game: 'garden', types: [Rock, Hat, Pot] }
const NAMES = ['Ada', 'Grace', 'Linus', 'Edsger']

interface Cluster {
  w: SessionWorld
  all: Session[]
}

async function cluster(more: Partial<JoinOptions> = {}, count = 3, seed = 1): Promise<Cluster> {
  const w = world({ seed, conditions: 'rtt=20,loss=2%' })
  const all: Session[] = []
  for (const name of NAMES.slice(0, count)) all.push(await w.join({ ...game, name, ...more }))
  await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
  return { w, all }
}

/** The only object of a type, as a session has it. */
function one<F extends Fields>(session: Session, type: ObjectType<F>): ObjectHandle<F> {
  const [found, more] = session.all(type)
  if (!found || more) throw new Error(`${session.me.name} has not one ${type.name}`)
  return found
}

async function settled<Value>(w: SessionWorld, promise: Promise<Value>): Promise<Value> {
  let done = false
  void promise.finally(() => (done = true)).catch(() => {})
  await w.runUntil(() => done, 20_000)
  return promise
}

function failure(run: () => unknown): [string, string] {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(HoldfastError)
    return [(error as HoldfastError).code, (error as Error).message]
  }
  return expect.unreachable('nothing was thrown')
}

const owners = (all: Session[]): (string | undefined)[] =>
  all.map((session) => one(session, Rock).owner?.name)

describe.each(['star', 'mesh'] as const)('in a %s', (topology) => {
  async function rocks(): Promise<Cluster & { mine: ObjectHandle<typeof Rock.schema.fields> }> {
    const { w, all } = await cluster({ topology })
    const mine = all[1]!.create(Rock, { weight: 7 })
    await w.run(1_000)
    return { w, all, mine }
  }

  test('B6, B8: the same game runs in both, with the services that it wants', async () => {
    const { all, w } = await cluster({ topology, types: [Rock] })
    all[1]!.create(Rock, { weight: 7 })
    await w.run(1_000)
    expect(all.map((session) => one(session, Rock).state.weight)).toEqual([7, 7, 7])
    const poke = action('poke', () => 1)
    const other = await cluster({ topology, types: [poke] })
    const outcome = other.all[2]!.act(poke, {})
    await other.w.run(1_000)
    expect(await outcome).toEqual({ ok: true, value: 1 })
    const double = procedure('double', (count: number) => count * 2)
    const third = await cluster({ topology, types: [double] })
    // In a mesh two who have just come have no link for a moment.
    await third.w.run(500)
    const doubled = third.all[2]!.call(third.all[1]!.me, double, 4)
    expect(await settled(third.w, doubled)).toEqual({ ok: true, value: 8 })
  })

  test('B6, B8: and with a world of slots alone (PR-4)', async () => {
    const { w, all } = await cluster({ topology, types: ROWS })
    const rows = all.map((session) => openRow(session))
    await w.runUntil(() => rows.every((row) => row.status === 'live'), 20_000)
    // What it does while the worlds of a mesh become one may be void, which it is told.
    rows[2]!.on('void', () => rows[2]!.act({ to: 4 }))
    rows[2]!.act({ to: 4 })
    await w.runUntil(() => rows.every((row) => row.state.at[3] === 4), 10_000)
    expect(rows.map((row) => row.state.at)).toEqual([{ 3: 4 }, { 3: 4 }, { 3: 4 }])
  })

  test('B10, B11: server and client create, change and destroy, and all see that', async () => {
    const { w, all, mine } = await rocks()
    mine.set({ weight: 9, at: [3, 4] })
    const theirs = all[0]!.create(Pot, { tea: 1 })
    await w.run(1_000)
    for (const session of all) {
      expect(one(session, Rock).state).toEqual({ weight: 9, at: [3, 4] })
      expect(one(session, Pot).owner!.name).toBe('Ada')
      expect(one(session, Rock).mine).toBe(session === all[1])
    }
    mine.destroy()
    theirs.destroy()
    await w.run(1_000)
    expect(all.map((session) => session.all(Rock).length + session.all(Pot).length)).toEqual([
      0, 0, 0,
    ])
    expect([mine.alive, theirs.alive]).toEqual([false, false])
  })

  test('B28: who takes what is free owns it, under the same id and by the same handle', async () => {
    const { w, all, mine } = await rocks()
    const seen = one(all[2]!, Rock)
    expect(await settled(w, seen.take())).toMatchObject({ ok: true })
    expect([seen.mine, seen.id, seen.version.count]).toEqual([true, mine.id, 1])
    seen.set({ weight: 11 })
    await w.run(1_000)
    expect(owners(all)).toEqual(['Linus', 'Linus', 'Linus'])
    expect(one(all[2]!, Rock)).toBe(seen)
    expect([mine.mine, mine.state.weight]).toEqual([false, 11])
    expect(await settled(w, seen.take())).toMatchObject({ ok: true })
  })

  test('B30: of many that take at once one gets it, and each hears what came of it', async () => {
    const { w, all } = await rocks()
    for (let round = 0; round < 10; round++) {
      const before = one(all[0]!, Rock).owner!.name
      const rivals = all.filter(({ me }) => me.name !== before)
      const answers = await settled(w, Promise.all(rivals.map((s) => one(s, Rock).take())))
      await w.run(500)
      const words = answers.map((answer) => (answer.ok ? 'granted' : answer.code))
      expect(words.toSorted()).toEqual(['granted', expect.stringMatching(/^(late|held)$/)])
      const winner = rivals[words.indexOf('granted')]!.me.name
      expect(owners(all)).toEqual([winner, winner, winner])
    }
  })

  test('who gives loses no write, and may not change it from then on', async () => {
    const { w, all, mine } = await rocks()
    mine.set({ weight: 42 })
    const given = mine.give(all[2]!.me)
    expect(failure(() => mine.set({ weight: 1 }))[0]).toBe('not-owner')
    expect(await settled(w, given)).toMatchObject({ ok: true })
    await w.run(500)
    expect(owners(all)).toEqual(['Linus', 'Linus', 'Linus'])
    expect(one(all[0]!, Rock).state.weight).toBe(42)
  })

  test('an owner is asked for what is asked for, and answers once', async () => {
    const { w, all } = await cluster({ topology })
    const hat = all[1]!.create(Hat, { name: 'bowler' })
    await w.run(500)
    // Nobody listens: that is a no.
    expect(await settled(w, one(all[2]!, Hat).take())).toMatchObject({
      ok: false,
      code: 'denied',
      reason: `Grace does not let hat ${hat.id} go`,
      by: all[1]!.me,
    })
    const asked: Asking[] = []
    const forget = all[1]!.on('asked', (asking) => asked.push(asking))
    const first = one(all[2]!, Hat).take()
    await w.runUntil(() => asked.length === 1, 5_000)
    expect([asked[0]!.object, asked[0]!.by.name]).toEqual([hat, 'Linus'])
    asked[0]!.refuse()
    asked[0]!.grant()
    expect(await settled(w, first)).toMatchObject({ code: 'denied' })
    const second = one(all[0]!, Hat).take()
    await w.runUntil(() => asked.length === 2, 5_000)
    asked[1]!.grant()
    expect(await settled(w, second)).toMatchObject({ ok: true })
    forget()
    await w.run(500)
    expect(all.map((session) => one(session, Hat).owner!.name)).toEqual(['Ada', 'Ada', 'Ada'])
  })

  test('what is fixed is refused, what is gone is gone', async () => {
    const { w, all } = await cluster({ topology })
    const pot = all[1]!.create(Pot)
    await w.run(500)
    const seen = one(all[2]!, Pot)
    expect(await settled(w, seen.take())).toMatchObject({ code: 'fixed' })
    pot.destroy()
    await w.run(500)
    expect(await settled(w, seen.take())).toMatchObject({ code: 'gone' })
  })

  test('B26: when its server dies with what it owns, that lives on, owned by the next', async () => {
    const { w, all } = await cluster({ topology })
    all[0]!.create(Rock, { weight: 5 })
    await w.run(1_000)
    w.kill(all[0]!)
    const rest = all.slice(1)
    await w.runUntil(() => rest.every((s) => one(s, Rock).owner?.name === 'Grace'), 20_000)
    for (const session of rest) {
      expect(one(session, Rock)).toMatchObject({ state: { weight: 5 }, away: true })
    }
  })

  test('a request under way when the server dies is answered by the next', async () => {
    const { w, all } = await rocks()
    const taken = one(all[2]!, Rock).take()
    w.kill(all[0]!)
    expect(await settled(w, taken)).toMatchObject({ ok: true })
    await w.run(1_000)
    expect(owners(all.slice(1))).toEqual(['Linus', 'Linus'])
  })

  test('S-5: who was cut off comes back to what was its own: same handle, same id, its writes kept', async () => {
    const { w, all } = await cluster({ topology }, 4)
    const linus = all[2]!
    const rock = linus.create(Rock, { weight: 1 })
    const { id } = rock
    await w.run(1_000)
    const mend = w.partition([[w.nodeOf(linus)]])
    await w.runUntil(() => one(all[0]!, Rock).away, 30_000)
    rock.set({ weight: 99 })
    expect([rock.mine, rock.state.weight]).toEqual([true, 99])
    mend()
    const back = (): boolean => all.every((s) => one(s, Rock).state.weight === 99)
    expect(await w.runUntil(back, 30_000)).toBe(true)
    expect(one(linus, Rock)).toBe(rock)
    expect([rock.id, rock.mine, rock.alive, rock.away]).toEqual([id, true, true, false])
    expect(all.map((s) => one(s, Rock).owner!.name)).toEqual(NAMES.map(() => 'Linus'))
    rock.set({ weight: 100 })
    await w.run(1_000)
    expect(one(all[0]!, Rock).state.weight).toBe(100)
  })

  test('what somebody takes and ends meanwhile has ended, also for who comes back', async () => {
    const { w, all } = await cluster({ topology }, 4)
    const [ada, , linus] = all as [Session, Session, Session]
    const rock = linus.create(Rock, { weight: 1 })
    await w.run(1_000)
    const mend = w.partition([[w.nodeOf(linus)]])
    await w.runUntil(() => one(ada, Rock).away, 30_000)
    expect(await settled(w, one(ada, Rock).take())).toMatchObject({ ok: true })
    one(ada, Rock).destroy()
    await w.run(500)
    mend()
    expect(await w.runUntil(() => !rock.alive, 30_000)).toBe(true)
    expect(all.map((session) => session.all(Rock).length)).toEqual([0, 0, 0, 0])
  })

  test('what somebody takes meanwhile is theirs, and who comes back hears so', async () => {
    const { w, all } = await cluster({ topology }, 4)
    const linus = all[2]!
    const rock = linus.create(Rock, { weight: 1 })
    await w.run(1_000)
    const mend = w.partition([[w.nodeOf(linus)]])
    await w.runUntil(() => one(all[3]!, Rock).away, 30_000)
    expect(await settled(w, one(all[3]!, Rock).take())).toMatchObject({ ok: true })
    mend()
    const back = (): boolean => all.every((s) => one(s, Rock).owner?.name === 'Edsger')
    expect(await w.runUntil(back, 30_000)).toBe(true)
    expect([rock.mine, rock.alive]).toEqual([false, true])
  })
})

describe('a collection', () => {
  test('is the same until something of its type changes, and never changes itself', async () => {
    const { w, all } = await cluster()
    const empty = all[2]!.all(Rock)
    expect(all[2]!.all(Rock)).toBe(empty)
    all[0]!.create(Pot)
    await w.run(500)
    expect(all[2]!.all(Rock)).toBe(empty)
    const rock = all[0]!.create(Rock)
    await w.run(500)
    const filled = all[2]!.all(Rock)
    expect([empty.length, filled.length]).toEqual([0, 1])
    await w.run(2_000)
    expect(all[2]!.all(Rock)).toBe(filled)
    rock.set({ weight: 3 })
    await w.run(500)
    expect(all[2]!.all(Rock)).not.toBe(filled)
    expect(all[2]!.all(Rock)[0]).toBe(filled[0])
    expect(Object.isFrozen(filled)).toBe(true)
    expect(JSON.stringify(Object.keys(filled))).toBe('["0"]')
  })

  test('keeps the contract of useSyncExternalStore: stable functions, a stable snapshot, told after', async () => {
    const { w, all } = await cluster()
    const { snapshot, subscribe } = all[2]!.all(Rock)
    const rock = all[0]!.create(Rock)
    await w.run(500)
    expect(all[2]!.all(Rock).snapshot).toBe(snapshot)
    expect(all[2]!.all(Rock).subscribe).toBe(subscribe)
    expect(snapshot()).toBe(all[2]!.all(Rock))
    const seen: number[] = []
    const stop = subscribe(() => seen.push(snapshot()[0]!.state.weight))
    rock.set({ weight: 3 })
    await w.run(500)
    expect(seen).toEqual([3])
    stop()
    rock.set({ weight: 4 })
    await w.run(500)
    expect(seen).toEqual([3])
  })

  test('tells of each that came, changed or went, once for all that came together (AP-10)', async () => {
    const { w, all } = await cluster()
    const told: string[] = []
    const rocks = all[2]!.all(Rock)
    const before = all[0]!.create(Rock, { weight: 9 })
    await w.run(500)
    for (const name of ['added', 'changed', 'removed'] as const) {
      rocks.on(name, ({ state }) => told.push(`${name} ${state.weight}`))
    }
    const stop = rocks.on('added', () => told.push('once'), { once: true })
    const rock = all[0]!.create(Rock, { weight: 1 })
    await w.run(500)
    rock.set({ weight: 2 })
    rock.set({ weight: 3 })
    await w.run(500)
    before.destroy()
    await w.run(500)
    expect(told).toEqual(['added 1', 'once', 'changed 3', 'removed 9'])
    stop[Symbol.dispose]()
    const brief = all[2]!.create(Rock, { weight: 4 })
    brief.destroy()
    await w.run(500)
    expect(told.slice(4)).toEqual(['added 4', 'removed 4'])
    expect(() => rocks.on('gone' as never, () => {})).toThrow(/a list has no event "gone"/)
  })

  test('is told of once, however many came with one word', async () => {
    const { w, all } = await cluster()
    let told = 0
    all[2]!.all(Rock).subscribe(() => told++)
    for (let i = 0; i < 20; i++) all[0]!.create(Rock, { weight: i })
    await w.run(1_000)
    expect(all[2]!.all(Rock).map(({ state }) => state.weight)).toEqual(
      Array.from({ length: 20 }, (_, i) => i),
    )
    expect(told).toBeLessThanOrEqual(3)
  })

  test('is told of one’s own changes too', async () => {
    const { all } = await cluster({}, 2)
    const seen: number[] = []
    const rocks = all[1]!.all(Rock)
    rocks.subscribe(() => seen.push(rocks.snapshot().length))
    const rock = all[1]!.create(Rock)
    expect(all[1]!.all(Rock)).toEqual([rock])
    rock.destroy()
    expect(all[1]!.all(Rock)).toEqual([])
  })
})

describe('errors name the object, the field and what is wrong', () => {
  test('of values, types and names', async () => {
    const { all } = await cluster({}, 2)
    const [ada] = all
    const Other = object('other', { x: u8 })
    const cases: [() => unknown, string, string[]][] = [
      [() => ada!.create(Rock, { weight: Infinity }), 'bad-value', ['rock', 'weight', 'Infinity']],
      [() => ada!.create(Rock, { weight: '1' as never }), 'bad-value', ['rock', 'weight', '"1"']],
      [() => ada!.create(Rock, { at: [NaN, 0] }), 'bad-value', ['rock', 'at', 'NaN']],
      [() => ada!.create(Rock, { wait: 1 } as never), 'bad-value', ['rock', 'wait']],
      [() => ada!.create(Hat, { name: 'x'.repeat(17) }), 'bad-value', ['hat', 'name', '16']],
      [() => ada!.create(Other), 'not-found', ['other']],
      [() => ada!.all(Other), 'not-found', ['other']],
    ]
    for (const [run, code, words] of cases) {
      const [got, sentence] = failure(run)
      expect([got, sentence]).toEqual([code, sentence])
      for (const word of words) expect(sentence).toContain(word)
    }
    expect(ada!.all(Rock)).toEqual([])
  })

  test('of what is not mine, and of what is gone; nothing changes by them', async () => {
    const { w, all } = await cluster({}, 2)
    const rock = all[0]!.create(Rock, { weight: 7 })
    await w.run(500)
    const seen = one(all[1]!, Rock)
    for (const run of [() => seen.set({ weight: 1 }), () => seen.destroy()]) {
      const [code, sentence] = failure(run)
      expect(code).toBe('not-owner')
      expect(sentence).toContain(rock.id)
    }
    await expect(seen.give(all[1]!.me)).rejects.toMatchObject({ code: 'not-owner' })
    await expect(rock.give('Grace' as never)).rejects.toThrow(/is given to a member: "Grace"/)
    expect(failure(() => rock.set({ weight: NaN }))[0]).toBe('bad-value')
    expect(rock.state.weight).toBe(7)
    rock.destroy()
    for (const run of [() => rock.destroy(), () => rock.set({ weight: 1 })]) {
      const [code, sentence] = failure(run)
      expect([code, sentence.includes('has ended')]).toEqual(['not-found', true])
    }
  })

  test('of types that cannot be', () => {
    const cases: [() => unknown, string][] = [
      [() => object('', { x: u8 }), 'characters'],
      [() => object('x', { x: u8 }, { take: 'any' as never }), 'take'],
      [() => object('x', { x: u8 }, { onOwnerLeave: 'stay' as never }), 'onOwnerLeave'],
      [() => object('x', { x: u8 }, { weight: 0 }), 'weight'],
      [() => object('x', { x: u8 }, { eyes: 'x' }), 'vec2'],
      [() => object('x', { x: bytes(700), y: bytes(400) }), '1024'],
    ]
    for (const [run, word] of cases) {
      const [code, sentence] = failure(run)
      expect(code).toBe('bad-value')
      expect(sentence).toContain(word)
    }
  })

  test('of a session that was left: what waits hears it too', async () => {
    const { w, all } = await cluster({}, 3)
    const hat = all[1]!.create(Hat)
    await w.run(500)
    all[1]!.on('asked', () => {})
    const waits = one(all[2]!, Hat).take()
    await w.run(200)
    all[2]!.end('test')
    expect(await waits).toMatchObject({ ok: false, code: 'lost' })
    await expect(one(all[2]!, Hat).take()).rejects.toMatchObject({ code: 'left' })
    expect(failure(() => all[2]!.create(Rock))[0]).toBe('left')
    expect(hat.alive).toBe(true)
  })
})
