// Goal: what a user is promised by `join` and Session, on whole sessions in virtual time.
import { describe, expect, test } from 'vitest'
import { action, bool, HoldfastError, object, u8, vec2 } from '../../packages/holdfast/src/index.ts'
import type { Definition, Session } from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

const Dot = object('dot', { pos: vec2(0, 100, 0.1), hue: u8 })
const Flag = object('flag', { up: bool })
const add = action('add', (table, { by }: { by: number }) => {
  const sum = ((table.get('sum') as number | undefined) ?? 0) + by
  table.set('sum', sum)
  return sum
})
const types = [Dot, Flag, add]
const duel = { game: 'duel', types }

async function three(seed: number): Promise<{ w: SessionWorld; all: Session[] }> {
  const w = world({ seed, conditions: 'rtt=20,loss=2%' })
  const all: Session[] = []
  for (const name of ['Ada', 'Grace', 'Linus']) all.push(await w.join({ ...duel, name }))
  await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
  return { w, all }
}

async function failure(promise: Promise<unknown>): Promise<HoldfastError> {
  const error = await promise.then(
    () => null,
    (why: unknown) => why,
  )
  expect(error).toBeInstanceOf(HoldfastError)
  return error as HoldfastError
}

describe('a session', () => {
  test('says how it is, and nobody else does: what it says cannot be set (PR-2)', async () => {
    const { all } = await three(1)
    const [session] = all as unknown as Record<string, unknown>[]
    const said = ['status', 'safety', 'hub', 'reason', 'code', 'laidAside', 'rolledBack', 'me']
    said.push('members', 'primary', 'backup', 'complete', 'token', 'table')
    const before = said.map((name) => session![name])
    for (const name of said) expect(() => (session![name] = 'lost')).toThrow(TypeError)
    expect(said.map((name) => session![name])).toEqual(before)
  })

  test('T13, T18: the first to join serves, the second is its backup, the third is idle', async () => {
    const { all } = await three(1)
    expect(all.map((session) => session.debug.figures().role).sort()).toEqual([
      'backedup',
      'backup',
      'idle',
    ])
    expect(all[2]!.members.map((member) => member.name)).toEqual(['Ada', 'Grace', 'Linus'])
    expect(all.map((session) => session.primary!.name)).toEqual(['Ada', 'Ada', 'Ada'])
  })

  test('T10: every process has a client and a server: each serves when its turn comes', async () => {
    const { w, all } = await three(16)
    const dead: string[] = []
    while (dead.length < 2) {
      const [first] = all.filter((session) => session.status === 'live')
      const primary = all.find((session) => session.me.inc === first!.primary!.inc)!
      dead.push(primary.me.name)
      w.kill(primary)
      all.splice(all.indexOf(primary), 1)
      const serves = (): boolean => all[0]!.primary!.name !== primary.me.name
      expect(await w.runUntil(serves, 10_000)).toBe(true)
      await w.runUntil(() => all.length === 1 || all[0]!.safety === 'backed-up', 10_000)
    }
    expect(all[0]!.debug.figures().role).toBe('alone')
    expect(new Set([...dead, all[0]!.me.name]).size).toBe(3)
  })

  test('what is called backed up names its backup, at the server too', async () => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const ada = await w.join({ ...duel, name: 'Ada' })
    const told: unknown[] = []
    ada.on('safety', (safety) => told.push([safety, ada.backup?.name]))
    await w.join({ ...duel, name: 'Grace' })
    await w.runUntil(() => ada.safety === 'backed-up', 10_000)
    // Alone the hub keeps what it does; then somebody is here who is no backup yet.
    expect(told).toEqual([
      ['kept', undefined],
      ['alone', undefined],
      ['backed-up', 'Grace'],
    ])
  })

  test('T14: the clocks of all members agree, as far as the path is alike both ways', async () => {
    const { w, all } = await three(17)
    await w.run(3_000)
    const times = all.map((session) => session.now())
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(5)
  })

  test('T48: what an owner sets, all see, and the newest state wins', async () => {
    const { w, all } = await three(2)
    const [ada, grace, linus] = all
    const dot = ada!.create(Dot, { pos: [10, 20], hue: 3 })
    for (let i = 0; i < 50; i++) {
      dot.set({ pos: [i, 20] })
      await w.run(5)
    }
    await w.run(1_000)
    for (const session of [grace!, linus!]) {
      const [seen] = session.all(Dot)
      expect(seen!.state.pos[0]).toBeCloseTo(49)
      expect(seen!.state.hue).toBe(3)
      expect(seen!.mine).toBe(false)
      expect(seen!.owner!.name).toBe('Ada')
    }
    dot.destroy()
    await w.run(1_000)
    expect(linus!.all(Dot)).toEqual([])
    const rates = all.map((session) => session.debug.figures().bytesPerSecond)
    const [came, sent] = [rates.reduce((a, b) => a + b.in, 0), rates.reduce((a, b) => a + b.out, 0)]
    // What one sends another gets, but for what is lost.
    expect(came / sent).toBeGreaterThan(0.9)
    expect(came / sent).toBeLessThan(1.02)
  })

  test('T80: an action under way when the server dies happens once, and its promise settles', async () => {
    const { w, all } = await three(3)
    const [ada, grace, linus] = all
    const outcomes: unknown[] = []
    const ask = (session: Session): void =>
      void session.act(add, { by: 1 }).then((o) => outcomes.push(o))
    for (let i = 0; i < 20; i++) ask(linus!)
    w.kill(ada!)
    for (let i = 0; i < 20; i++) ask(grace!)
    await w.runUntil(() => outcomes.length === 40, 20_000)
    expect(outcomes).toHaveLength(40)
    await w.run(1_000)
    expect([grace!.table.get('sum'), linus!.table.get('sum')]).toEqual([40, 40])
  })

  test('a backup that acks in time is never taken for a slow one', async () => {
    const { w, all } = await three(15)
    const [ada, grace, linus] = all
    w.kill(ada!)
    await w.runUntil(
      () => grace!.debug.figures().epoch === 4 && linus!.debug.figures().epoch === 4,
      10_000,
    )
    for (let i = 0; i < 20; i++) {
      void linus!.act(add, { by: 1 })
      await w.run(1_000)
    }
    expect([grace!, linus!].map((session) => session.debug.figures().epoch)).toEqual([4, 4])
  })

  test('T3: who leaves is gone for all at once, and a new one may come', async () => {
    const { w, all } = await three(44)
    const gone: string[] = []
    all[0]!.on('leave', (member) => gone.push(member.name))
    void all[2]!.leave()
    await w.run(500)
    expect(gone).toEqual(['Linus'])
    const fourth = await w.join({ ...duel, name: 'Edsger' })
    expect(fourth.me.player).toBe(4)
    await w.run(500)
    expect(all[0]!.members.map((member) => member.name)).toEqual(['Ada', 'Grace', 'Edsger'])
  })

  test('a server that leaves hands over within a moment: nothing is lost', async () => {
    const { w, all } = await three(5)
    const [ada, grace] = all
    await Promise.all([ada!.act(add, { by: 5 }), w.run(500)])
    void ada!.leave()
    await w.runUntil(() => grace!.primary?.name !== 'Ada', 5_000)
    await w.run(1_000)
    expect(grace!.table.get('sum')).toBe(5)
    expect(grace!.members.map((member) => member.name)).toEqual(['Grace', 'Linus'])
  })

  test('T75: sessions of two games and of two rooms do not notice each other', async () => {
    const w = world({ seed: 6 })
    const one = await w.join({ ...duel, room: 'one' })
    const two = await w.join({ ...duel, room: 'two' })
    const other = await w.join({ game: 'other' })
    await w.run(2_000)
    for (const session of [one, two, other]) expect(session.members).toHaveLength(1)
  })
})

describe('what is refused says why', () => {
  test('a full session', async () => {
    const w = world({ seed: 7 })
    await w.join({ ...duel, playersMax: 1 })
    const error = await failure(w.join(duel))
    expect(error).toMatchObject({ code: 'full' })
    expect(error.message).toContain('1 players')
  })

  test('two builds whose types differ, and in what they differ first', async () => {
    const w = world({ seed: 8 })
    await w.join(duel)
    const finer = object('dot', { pos: vec2(0, 100, 0.05), hue: u8 })
    const more = object('flag', { up: bool, hue: u8 })
    const moving = object(
      'dot',
      { pos: vec2(0, 100, 0.1), vel: vec2(-9, 9, 0.1), hue: u8 },
      { motion: { follow: { pos: 'vel' } } },
    )
    const others: [types: readonly Definition[], first: string][] = [
      [[finer, Flag, add], 'type "dot", field "pos": vec2 0 100 0.05 here, vec2 0 100 0.1 there'],
      [[Dot, more, add], 'type "flag", field "hue": u8 here, none there'],
      [[moving, Flag, add], 'type "dot", field "vel": vec2 -9 9 0.1 here, none there'],
      [[Dot, add], 'type "flag" is there and not here'],
      [[Dot, Flag], 'action "add" is there and not here'],
    ]
    // Their order says nothing (AP-12).
    await w.join({ game: 'duel', types: [add, Flag, Dot] })
    for (const [types, first] of others) {
      const message = `this build and the session do not fit: ${first}`
      expect(await failure(w.join({ game: 'duel', types }))).toMatchObject({
        code: 'schema',
        message,
      })
    }
  })

  test('but not that types are given in another order: they are numbered by name (AP-12)', async () => {
    const w = world({ seed: 8 })
    const ada = await w.join(duel)
    const grace = await w.join({ game: 'duel', types: [add, Flag, Dot].toReversed() })
    const late = await w.join({ game: 'duel', types: [add, Flag, Dot], name: 'Linus' })
    ada.create(Flag, { up: true })
    grace.create(Dot, { hue: 7 })
    await w.run(2_000)
    for (const session of [ada, grace, late]) {
      expect(session.all(Flag).map(({ state }) => state.up)).toEqual([true])
      expect(session.all(Dot).map(({ state }) => state.hue)).toEqual([7])
    }
  })

  test('a hub that is not there', async () => {
    const w = world({ seed: 9 })
    w.killHub()
    expect(await failure(w.join(duel))).toMatchObject({ code: 'unreachable' })
  })

  test('joining that is given up', async () => {
    const w = world({ seed: 10 })
    w.killHub()
    const giveUp = new AbortController()
    const joining = failure(w.join({ ...duel, signal: giveUp.signal }))
    giveUp.abort()
    expect(await joining).toMatchObject({ code: 'left' })
  })

  test.each([
    [{ game: '' }, /game has 1 to 64 bytes: 0/],
    [{ game: 'x'.repeat(65) }, /game has 1 to 64 bytes: 65/],
    [{ ...duel, name: 'a\u001b[2J' }, /name has no control characters: "a\\u001b\[2J"/],
    [{ ...duel, room: 'a\nb' }, /room has no control characters: "a\\nb"/],
    [{ ...duel, name: 'ä'.repeat(33) }, /name has 1 to 64 bytes: 66/],
    [{ ...duel, playersMax: 0 }, /playersMax is 1 to 256: 0/],
    [{ ...duel, condition: 'loss=200%' }, /loss/],
    [{ ...duel, types: [Dot, Dot] }, /two types of this game are called "dot"/],
  ])('bad options %#', async (options, message) => {
    const error = await failure(world({ seed: 11 }).join(options))
    expect(error.code).toBe('bad-value')
    expect(error.message).toMatch(message)
  })

  test('setting what is not mine, or what has no such field', async () => {
    const { w, all } = await three(12)
    const dot = all[0]!.create(Dot)
    await w.run(1_000)
    const [theirs] = all[1]!.all(Dot)
    expect(() => theirs!.set({ hue: 1 })).toThrow(/cannot set dot 1\.1: it is not mine/)
    expect(() => dot.set({ hew: 1 } as never)).toThrow(/dot has no field called "hew"/)
    expect(() => dot.set({ hue: NaN })).toThrow(/dot: field hue: .*finite number: NaN/)
    expect(dot.state.hue).toBe(0)
    expect(() => all[0]!.create(object('cube', { up: bool }))).toThrow(/"cube" was not given/)
  })

  test('64 actions under way: the next is refused, and none is lost', async () => {
    const { w, all } = await three(13)
    const linus = all[2]!
    const settled: number[] = []
    for (let i = 0; i < 64; i++) void linus.act(add, { by: 1 }).then(() => settled.push(i))
    expect(await failure(linus.act(add, { by: 1 }))).toMatchObject({ code: 'overloaded' })
    await w.runUntil(() => settled.length === 64, 10_000)
    await w.run(500)
    expect(linus.table.get('sum')).toBe(64)
  })

  test('a session that was left', async () => {
    const w = world({ seed: 14 })
    const session = await w.join(duel)
    session.end('test')
    expect(() => session.create(Dot)).toThrow(/cannot create: the session was left/)
    expect(session.status).toBe('lost')
  })
})
