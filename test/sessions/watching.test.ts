// Goal: who watches sees what a player without secrets sees, changes nothing whatever its program
// says, and is never primary or backup (SE-4).
// Method: whole sessions in virtual time; a watcher whose program lies sends what players send.
import { describe, expect, test } from 'vitest'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { action, object, piece, procedure, slots, u8 } from '../../packages/holdfast/src/index.ts'
import type { JoinOptions } from '../../packages/holdfast/src/index.ts'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import { toyTicket, type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

const Dot = object('dot', { hue: u8 }, { take: 'free', onOwnerLeave: 'keep' })
const Card = piece('card', { face: u8 })
const bump = action('bump', (table) => {
  const sum = ((table.get('sum') as number | undefined) ?? 0) + 1
  table.set('sum', sum)
  return sum
})
const wave = procedure('wave', () => 'hello')
const Count = slots('count', {
  ms: 100,
  start: 0,
  rule: (count: number, acts: readonly unknown[]): number => count + acts.length,
  act: { by: u8 },
})
const types = [Dot, Card, bump, wave, Count]

interface Room {
  w: SessionWorld
  ada: Session
  grace: Session
  eve: Session
}

async function room(more: Partial<JoinOptions> = {}): Promise<Room> {
  const w = world({ seed: 6, conditions: 'rtt=20' })
  const options = { game: 'stage', types, ...more }
  const ada = await w.join({ ...options, name: 'Ada' }, { name: 'ada' })
  const grace = await w.join({ ...options, name: 'Grace' }, { name: 'grace' })
  await w.runUntil(() => ada.safety === 'backed-up', 10_000)
  const eve = await w.join({ ...options, name: 'Eve', watch: true }, { name: 'eve' })
  await w.run(2_000)
  return { w, ada, grace, eve }
}

async function settled<Answer>(w: SessionWorld, asked: Promise<Answer>): Promise<Answer> {
  let answer: { value: Answer } | null = null
  void asked.then((value) => (answer = { value }))
  await w.runUntil(() => answer !== null, 20_000)
  return answer!.value
}

describe.each(['star', 'mesh'] as const)('in a %s', (topology) => {
  test('who watches sees objects, table, pieces and slots, and is seen as one who watches (SE-4)', async () => {
    const { w, ada, grace, eve } = await room({ topology })
    for (const one of [ada, grace, eve]) one.part(Count)
    const dot = ada.create(Dot, { hue: 7 })
    await settled(w, grace.act(bump))
    await w.run(2_000)
    ada.part(Count).act({ by: 1 })
    dot.set({ hue: 9 })
    await w.run(2_000)
    expect(eve.all(Dot)[0]?.state).toEqual({ hue: 9 })
    expect(eve.table.get('sum')).toBe(1)
    expect([ada, grace, eve].map((one) => one.part(Count).state)).toEqual([1, 1, 1])
    expect(ada.members.map(({ name, watches }) => [name, watches])).toEqual([
      ['Ada', false],
      ['Grace', false],
      ['Eve', true],
    ])
    // Who watches may be asked.
    eve.answer(wave, () => 'hello')
    expect(await settled(w, ada.call(eve.me, wave))).toMatchObject({ value: 'hello' })
  })

  test('who watches is told by each verb that it changes nothing (SE-4)', async () => {
    const { w, ada, eve } = await room({ topology })
    ada.create(Dot)
    eve.part(Count)
    await w.run(1_000)
    const message = /this member only watches$/
    expect(() => eve.create(Dot)).toThrow(message)
    expect(() => eve.part(Count).act({ by: 1 })).toThrow(message)
    expect(() => eve.note(ada.me, wave)).toThrow(message)
    const refused = [eve.act(bump), eve.all(Dot)[0]!.take(), eve.kick(ada.me)]
    for (const asked of [...refused, eve.call(ada.me, wave)]) {
      await expect(asked).rejects.toMatchObject({ code: 'watching' })
    }
  })

  test('what a watcher whose program lies sends all the same is not taken (SE-4)', async () => {
    const { w, ada, grace, eve } = await room({ topology })
    for (const one of [ada, grace, eve]) one.part(Count)
    const dot = ada.create(Dot, { hue: 3 })
    let waved = 0
    ada.answer(wave, () => `${++waved}`)
    await w.run(2_000)
    lie(eve)
    const mine = eve.create(Dot, { hue: 1 })
    const take = eve
      .all(Dot)
      .find(({ id }) => id !== mine.id)!
      .take()
    const act = eve.act(bump)
    for (const asked of [take, act, eve.call(ada.me, wave)]) void asked.catch(() => {})
    eve.note(ada.me, wave)
    eve.part(Count).act({ by: 1 })
    for (let times = 0; times < 20; times++) {
      mine.set({ hue: times })
      await w.run(200)
    }
    expect([dot.mine, waved, ada.table.get('sum')]).toEqual([true, 0, undefined])
    for (const one of [ada, grace]) {
      expect(one.all(Dot).map(({ state }) => state)).toEqual([{ hue: 3 }])
      expect(one.part(Count).state).toBe(0)
    }
    expect(ada.member!.counters.watching).toBeGreaterThan(0)
  })
})

/** Its own program takes it for a player. */
function lie(session: Session): void {
  for (const member of session.member!.session.client.view.members) {
    if (member.inc === session.me.inc) member.rights = RIGHTS.play
  }
  Object.assign(session.me, { watches: false })
}

describe('places', () => {
  test('who watches never serves, stands by or recovers (SE-4)', async () => {
    const { w, ada, grace, eve } = await room()
    w.kill(ada)
    await w.runUntil(() => grace.primary?.name === 'Grace', 20_000)
    await w.run(5_000)
    expect([grace.backup, grace.safety]).toEqual([null, 'kept'])
    w.kill(grace)
    await w.run(60_000)
    expect(eve.status).not.toBe('live')
  })

  test('who watches takes no place of a player, nor a player one of theirs (SE-4)', async () => {
    const w = world({ seed: 6, conditions: 'rtt=20' })
    const options = { game: 'stage', playersMax: 1, watchersMax: 1 }
    const ada = await w.join({ ...options, name: 'Ada' })
    const eve = await w.join({ ...options, name: 'Eve', watch: true })
    await expect(w.join({ ...options, name: 'Mo', watch: true })).rejects.toMatchObject({
      code: 'full',
      message: expect.stringContaining('1 watch already'),
    })
    await expect(w.join({ ...options, name: 'Bo' })).rejects.toThrow(
      'the session is full: 1 players',
    )
    // Who watched has no place of a player by having been here.
    const asPlayer = w.join({ ...options, name: 'Eve', token: eve.token })
    await expect(asPlayer).rejects.toMatchObject({ code: 'full' })
    expect(ada.members).toHaveLength(2)
    w.kill(eve)
    await w.runUntil(() => ada.members.length === 1, 10_000)
    const later = w.join({ ...options, name: 'Eve', token: eve.token })
    await expect(later).rejects.toMatchObject({ code: 'full' })
  })

  test('nobody watches where the room says so, and nobody opens a room to watch (SE-4)', async () => {
    const w = world({ seed: 6, conditions: 'rtt=20' })
    let isIn = false
    void w.join({ game: 'stage', name: 'Eve', watch: true }).then(
      () => (isIn = true),
      () => {},
    )
    await w.run(3_000)
    expect(isIn).toBe(false)
    await w.join({ game: 'stage', name: 'Ada' })
    await w.runUntil(() => isIn, 10_000)
    await w.join({ game: 'stage', room: 'shut', name: 'Ada', watchersMax: 0 })
    await expect(w.join({ game: 'stage', room: 'shut', name: 'Eve', watch: true })).rejects.toThrow(
      'nobody watches here',
    )
  })

  test('by a ticket to watch one watches, whatever one asks for (SE-4)', async () => {
    const w = world({ seed: 6, conditions: 'rtt=20', closed: ['stage'] })
    const ticket = (rights: number, id: string): string =>
      toyTicket({ game: 'stage', room: null, rights, id, uses: 1 })
    const ada = await w.join({ game: 'stage', name: 'Ada', ticket: ticket(RIGHTS.play, 'a') })
    const eve = await w.join({ game: 'stage', name: 'Eve', ticket: ticket(RIGHTS.watch, 'b') })
    await w.run(3_000)
    expect([eve.me.watches, ada.backup]).toEqual([true, null])
  })
})
