// Goal: whoever waits for `join` is told for what, why, and how long at most; and a session that
// is there before all objects are says so, and when they are.
// Method: whole sessions in virtual time with the shipped hub: one that is away, a room that is
// shut, and a path so slow that the objects take longer than `join` waits for them.
import { expect, test } from 'vitest'
import { joinIn } from '../../packages/holdfast/src/join/join.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import {
  type JoinOptions,
  type JoinProgress,
  object,
  text,
} from '../../packages/holdfast/src/index.ts'
import {
  environmentOf,
  HUB_URL,
  type SessionWorld,
  world,
} from '../../packages/sim/src/session-world.ts'

const Page = object('page', { words: text(900, 900) }, { onOwnerLeave: 'keep' })
const game = { game: 'book', types: [Page] } as const

interface Joining {
  said: JoinProgress[]
  session: Session | null
}

function joining(w: SessionWorld, options: Partial<JoinOptions> = {}): Joining {
  const joined: Joining = { said: [], session: null }
  const onProgress = (progress: JoinProgress): void => void joined.said.push(progress)
  const wish = { ...game, name: 'Grace', server: HUB_URL, ...options, onProgress }
  void joinIn(environmentOf(w.sim.node('grace'), 'browser'), wish).then(
    (session) => (joined.session = session),
    () => {},
  )
  return joined
}

test('a join that waits for the hub says so (N-17)', async () => {
  const w = world({ seed: 2, conditions: 'rtt=20' })
  w.killHub()
  const grace = joining(w)
  await w.run(2_000)
  const [first, last] = [grace.said[0]!, grace.said.at(-1)!]
  expect(first).toMatchObject({ waitingFor: 'hub', loaded: 0 })
  expect(last.reason).not.toBe('')
  expect(last.leftMs).toBeLessThanOrEqual(15_000)
  // A page counts the seconds down, which are fewer once it is known that there is no hub.
  const seconds = new Set(grace.said.map(({ leftMs }) => Math.ceil(leftMs! / 1_000)))
  expect([...seconds]).toEqual([15, 5, 4])
})

test('a join that waits for a room that is shut says why, and until when (N-17)', async () => {
  const w = world({ seed: 2, conditions: 'rtt=20' })
  const ada = await w.join({ ...game, name: 'Ada', keepRoom: '1d' })
  const bob = await w.join({ ...game, name: 'Bob' })
  await w.runUntil(() => ada.safety === 'backed-up', 10_000)
  w.kill(ada)
  w.kill(bob)
  await w.run(100)
  const grace = joining(w)
  await w.run(20_000)
  const shut = grace.said.find(({ reason }) => reason.includes('opens again in'))!
  expect(shut.waitingFor).toBe('room')
  const seconds = Number(/opens again in (\d+) s/.exec(shut.reason)![1])
  expect(Math.abs(shut.leftMs! - seconds * 1_000)).toBeLessThan(1_500)
})

test('a session that is there before its objects says so, and when they are (N-17)', async () => {
  const w = world({ seed: 2, conditions: 'rtt=40', linesMax: 0 })
  const ada = await w.join({ ...game, name: 'Ada' }, { name: 'ada' })
  await w.run(1_000)
  for (let n = 0; n < 2_400; n++) ada.create(Page, { words: `${n} ${'x'.repeat(800)}` })
  await w.run(5_000)
  const grace = joining(w, { condition: 'loss=20%,rtt=200' })
  await w.runUntil(() => grace.session !== null, 60_000)
  const { session, said } = grace
  expect(said.at(-1)).toMatchObject({ waitingFor: 'state' })
  expect(said.map(({ loaded }) => loaded)).toEqual(
    said.map(({ loaded }) => loaded).toSorted((a, b) => a - b),
  )
  expect([...new Set(said.map(({ total }) => total))]).toEqual([null, 2_400])
  expect(said.every(({ loaded, total }) => total !== null || loaded === 0)).toBe(true)
  expect(session!.complete).toBe(false)
  let told = 0
  session!.on('complete', () => told++)
  await w.runUntil(() => told > 0, 300_000)
  expect([told, session!.complete, session!.all(Page).length]).toEqual([1, true, 2_400])
})

test('a session on a quick path is complete, and progress ends with the join (N-17)', async () => {
  const w = world({ seed: 2, conditions: 'rtt=20' })
  await w.join({ ...game, name: 'Ada' })
  await w.run(1_000)
  const grace = joining(w)
  await w.runUntil(() => grace.session !== null, 10_000)
  expect(grace.session!.complete).toBe(true)
  const count = grace.said.length
  await w.run(5_000)
  expect(grace.said).toHaveLength(count)
})

test.each([
  ['star', 99, [null]],
  ['star', 100, [null, 100]],
  ['mesh', 200, [null, 200]],
] as const)(
  'in a %s of %d objects a join is told how many come, if these are many (N-17)',
  async (topology, count, told) => {
    const w = world({ seed: 2, conditions: 'rtt=20' })
    const ada = await w.join({ ...game, name: 'Ada', topology })
    const bob = await w.join({ ...game, name: 'Bob' })
    await w.run(1_000)
    const words = 'x'.repeat(800)
    for (let n = 0; n < count; n++) (n % 2 === 0 ? ada : bob).create(Page, { words })
    await w.run(3_000)
    const grace = joining(w, { condition: 'rtt=600,loss=20%' })
    await w.runUntil(() => grace.session !== null, 60_000)
    expect([...new Set(grace.said.map(({ total }) => total))]).toEqual(told)
    expect(grace.said.every(({ loaded, total }) => loaded <= (total ?? Infinity))).toBe(true)
  },
)
