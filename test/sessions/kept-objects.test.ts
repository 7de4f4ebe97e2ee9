// Goal: objects of types that say so outlive all members with their room, as their owners left them
// 0.1 s before the end at most, whoever served; others do not.
// Method: whole sessions in virtual time, with the shipped hub; machines are killed.
import { describe, expect, test } from 'vitest'
import {
  action,
  type Fields,
  object,
  type ObjectType,
  text,
  u16,
  u8,
  was,
  withRoom,
} from '../../packages/holdfast/src/index.ts'
import type { JoinOptions } from '../../packages/holdfast/src/join/join.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import {
  type Objects,
  OBJECTS_CHANNEL,
} from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { act } from './acting.ts'

const stays = { onOwnerLeave: 'keep', kept: withRoom() } as const
const Stroke = object('stroke', { x: u8, ink: text(9) }, { take: 'free', ...stays })
const Cursor = object('cursor', { x: u8 }, { onOwnerLeave: 'keep' })
const nothing = action('nothing', () => null)
const types = [Stroke, Cursor, nothing]

function joining(w: SessionWorld, more: Partial<JoinOptions> = {}): Promise<Session> {
  return w.join({ game: 'board', room: 'r', types, ...more })
}

function shown<F extends Fields>(
  session: Session,
  type: ObjectType<F>,
): (readonly [string, object])[] {
  const all = session.all(type).map(({ id, state }) => [id, { ...state }] as const)
  return all.toSorted(([one], [other]) => (one < other ? -1 : 1))
}

describe('objects that are kept', () => {
  test('are there when all have gone, with their ids and states; others are not', async () => {
    const w = world({ seed: 1, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    const grace = await joining(w, { name: 'Grace' })
    ada.create(Stroke, { x: 1, ink: 'red' })
    const moved = grace.create(Stroke, { x: 2, ink: 'blue' })
    const gone = ada.create(Stroke, { x: 3, ink: 'none' })
    ada.create(Cursor, { x: 9 })
    await w.run(500)
    moved.set({ x: 21 })
    gone.destroy()
    await w.run(500)
    // The change of another than the server is the last of all.
    moved.set({ x: 22, ink: 'blue' })
    await w.run(500)
    const before = shown(grace, Stroke)
    expect(before.map(([, state]) => state)).toEqual([
      { x: 1, ink: 'red' },
      { x: 22, ink: 'blue' },
    ])
    await act(w, ada.leave())
    await act(w, grace.leave())
    await w.run(200)
    const linus = await joining(w, { name: 'Linus' })
    expect(shown(linus, Stroke)).toEqual(before)
    expect(linus.all(Cursor).length).toBe(0)
    // They go on as objects do.
    const [one] = linus.all(Stroke)
    one!.set({ ink: 'green' })
    const mary = await joining(w, { name: 'Mary' })
    await w.run(300)
    expect(shown(mary, Stroke)).toEqual(shown(linus, Stroke))
    expect(mary.all(Stroke).map(({ state }) => state.ink)).toContain('green')
    // New ones have ids of their own.
    const made = linus.create(Stroke, { x: 7, ink: '' })
    expect(before.map(([id]) => id)).not.toContain(made.id)
  })

  test.each([0, 40, 90, 150, 400])(
    'who is alone is killed %i ms after a change: what was 0.2 s old is there',
    async (ms) => {
      const w = world({ seed: 2, conditions: 'rtt=20' })
      const ada = await joining(w, { name: 'Ada' })
      const stroke = ada.create(Stroke, { x: 0, ink: 'red' })
      const states: [number, number][] = []
      for (let x = 1; x <= 40; x++) {
        stroke.set({ x })
        states.push([w.now(), x])
        await w.run(25)
      }
      await w.run(ms)
      const at = w.now()
      w.kill(ada)
      const next = await joining(w, { name: 'Grace' })
      const least = states.findLast(([then]) => then <= at - 200)![1]
      const { x } = next.all(Stroke)[0]!.state
      expect([x >= least, x <= 40]).toEqual([true, true])
      if (ms >= 200) expect(x).toBe(40)
    },
  )

  test('belong to their players again who come back, and else to who opened the room', async () => {
    const w = world({ seed: 3, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    const grace = await joining(w, { name: 'Grace' })
    const hers = grace.create(Stroke, { x: 2, ink: 'blue' })
    const his = ada.create(Stroke, { x: 1, ink: 'red' })
    await w.run(1_000)
    // The last that happens is a change of hers, who does not serve.
    hers.set({ x: 99 })
    await w.run(500)
    const ids = [his.id, hers.id]
    const { token } = grace
    for (const one of [ada, grace]) w.kill(one)
    await w.run(70_000)
    const linus = await joining(w, { name: 'Linus' })
    const back = await joining(w, { name: 'Grace', token })
    const mine = (session: Session): string[] =>
      session.all(Stroke).flatMap(({ id, mine: own }) => (own ? [id] : []))
    // Linus holds hers until her member confirms that it has it.
    expect(await w.runUntil(() => mine(linus).length === 1, 10_000)).toBe(true)
    expect([mine(back), mine(linus)]).toEqual([[ids[1]], [ids[0]]])
    expect(linus.all(Stroke).map(({ state }) => state.x)).toContain(99)
    // Each is of the epoch in which the room was opened, or of a later grant.
    const { mounts: slots, session } = linus.member!
    const { state } = slots.find(({ part }) => part.channel === OBJECTS_CHANNEL)!
    const epochs = [...(state as Objects).replicas.values()].map(({ version }) => version.epoch)
    expect(epochs).toEqual(epochs.map(() => session.server.epoch))
    // Whoever did not come back within a minute does not own it any more.
    await w.run(70_000)
    const stroke = linus.all(Stroke).find(({ id }) => id === ids[0])!
    expect([stroke.mine, stroke.away]).toEqual([true, false])
  })

  test('are kept by the next server too, and when nobody owns them', async () => {
    const w = world({ seed: 4, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    const grace = await joining(w, { name: 'Grace' })
    await w.runUntil(() => ada.safety === 'backed-up', 10_000)
    ada.create(Stroke, { x: 1, ink: 'red' })
    await w.run(300)
    w.kill(ada)
    expect(await w.runUntil(() => grace.members.length === 1, 20_000)).toBe(true)
    const stroke = grace.create(Stroke, { x: 2, ink: 'blue' })
    await w.run(300)
    stroke.destroy()
    await w.run(300)
    w.kill(grace)
    const linus = await joining(w, { name: 'Linus' })
    expect(shown(linus, Stroke).map(([, state]) => state)).toEqual([{ x: 1, ink: 'red' }])
  })

  test('have the writes of whoever was cut off and opens the room, but to what was taken', async () => {
    const w = world({ seed: 10, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    const grace = await joining(w, { name: 'Grace' })
    await w.runUntil(() => grace.safety === 'backed-up', 10_000)
    const own = ada.create(Stroke, { x: 1, ink: 'red' })
    const taken = ada.create(Stroke, { x: 2, ink: 'blue' })
    await w.run(500)
    const heard: string[] = []
    for (const one of [own, taken]) one.on('gone', () => heard.push(`gone ${one.id}`))
    own.on('granted', () => heard.push('granted'))
    const mend = w.partition([[w.nodeOf(ada)]])
    await w.runUntil(() => grace.members.length === 1, 30_000)
    // Grace serves now, and takes one; Ada does not know.
    const hers = grace.all(Stroke).find(({ id }) => id === taken.id)!
    expect(await act(w, hers.take())).toEqual({ ok: true })
    hers.set({ x: 22, ink: 'green' })
    own.set({ ink: 'pink' })
    taken.set({ ink: 'black' })
    await w.run(500)
    w.kill(grace)
    mend()
    const { inc } = ada.me
    expect(await w.runUntil(() => ada.me.inc !== inc && ada.status === 'live', 90_000)).toBe(true)
    await w.run(1_000)
    const states = [
      [own.id, { x: 1, ink: 'pink' }],
      [taken.id, { x: 22, ink: 'green' }],
    ]
    expect([own, taken].map(({ id, state }) => [id, { ...state }])).toEqual(states)
    expect([ada.all(Stroke).includes(own), ada.all(Stroke).includes(taken)]).toEqual([true, true])
    expect([own.mine, own.away, taken.away, heard]).toEqual([true, false, true, []])
    // And so the hub has them.
    w.kill(ada)
    expect(shown(await joining(w, { name: 'Linus' }), Stroke)).toEqual(states)
  })

  test('are sealed with the key of the room, and whoever opens it has their own at once', async () => {
    const w = world({ seed: 9, conditions: 'rtt=20' })
    const keepRoom = { key: '5a'.repeat(32) }
    const ada = await joining(w, { name: 'Ada', keepRoom })
    const stroke = ada.create(Stroke, { x: 1, ink: 'red' })
    for (let x = 2; x < 6; x++) {
      stroke.set({ x })
      await act(w, ada.act(nothing, null))
      await w.run(150)
    }
    const { token } = ada
    w.kill(ada)
    const again = await joining(w, { name: 'Ada', token, keepRoom })
    const [found] = again.all(Stroke)
    expect([found!.state.x, found!.mine, found!.away]).toEqual([5, true, false])
  })

  test('are in a saved room, whose next objects have other ids', async () => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    ada.create(Stroke, { x: 1, ink: 'red' })
    ada.create(Stroke, { x: 2, ink: 'blue' })
    await w.run(300)
    const from = await ada.export()
    const copy = await joining(w, { room: 'copy', from })
    expect(shown(copy, Stroke)).toEqual(shown(ada, Stroke))
    const made = copy.create(Stroke, { x: 3, ink: '' })
    expect(new Set([...copy.all(Stroke)].map(({ id }) => id)).size).toBe(3)
    expect(made.id).not.toBe(copy.all(Stroke)[0]!.id)
  })

  test('of another build become those of this one, or the room stays as it was', async () => {
    const w = world({ seed: 6, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    ada.create(Stroke, { x: 200, ink: 'red' })
    await w.run(300)
    await act(w, ada.leave())
    await w.run(200)
    const Small = object('stroke', { x: text(3) }, { take: 'free', ...stays })
    const wrong = joining(w, { types: [Small] })
    await expect(act(w, wrong)).rejects.toMatchObject({
      code: 'schema',
      message: expect.stringContaining('type "stroke", field "x": must be a text: 200'),
    })
    const none = joining(w, { types: [nothing] })
    await expect(act(w, none)).rejects.toMatchObject({ code: 'schema' })
    const Line = object(
      'line',
      { width: u8, at: was('x', u16), colour: was('ink', text(20)) },
      { take: 'free', onOwnerLeave: 'keep', kept: withRoom({ was: 'stroke' }) },
    )
    const next = await joining(w, { types: [Line] })
    expect(shown(next, Line).map(([, state]) => state)).toEqual([
      { width: 0, at: 200, colour: 'red' },
    ])
  })

  test('a thousand of them go into some segments, and come back', async () => {
    const w = world({ seed: 7, conditions: 'rtt=20' })
    const ada = await joining(w, { name: 'Ada' })
    const strokes = Array.from({ length: 1_000 }, (_none, x) => {
      return ada.create(Stroke, { x: x % 256, ink: `ink ${x}` })
    })
    for (let round = 0; round < 20; round++) {
      for (const stroke of strokes) stroke.set({ x: (stroke.state.x + 1) % 256 })
      await w.run(110)
    }
    await w.run(500)
    const before = shown(ada, Stroke)
    expect(ada.safety).toBe('kept')
    w.kill(ada)
    const next = await joining(w, { name: 'Grace' })
    expect(shown(next, Stroke)).toEqual(before)
  })
})

describe('a type that is kept', () => {
  test.each([
    [
      { kept: withRoom() },
      "stroke: what is kept stays when its owner leaves: onOwnerLeave: 'keep'",
    ],
    [{ onOwnerLeave: 'keep', kept: true }, 'stroke: kept is what withRoom() gives: true'],
    [{ ...stays, kept: withRoom({ was: '' }) }, 'stroke: was has 1 to 64 bytes: 0'],
    [{ ...stays, kept: withRoom({ migrate: 7 as never }) }, 'stroke: migrate'],
  ])('%j is refused with a sentence', (options, why) => {
    expect(() => object('stroke', { x: u8 }, options as never)).toThrow(why)
  })
  test('and seen by some alone wants a key for the room', async () => {
    const w = world({ seed: 8, conditions: 'rtt=20' })
    const Secret = object('secret', { x: u8 }, { ...stays, visibleTo: () => false })
    const open = { game: 'board', types: [Secret], keepRoom: '1h' } as const
    await expect(w.join(open)).rejects.toMatchObject({ code: 'bad-value' })
    const ada = await w.join({ game: 'board', types: [Secret] })
    await w.run(500)
    expect(ada.safety).toBe('alone')
  })
})
