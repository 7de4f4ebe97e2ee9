// Goal: a join whose session ends before `join` has returned is rejected at once, with why.
// Method: whole sessions in virtual time with the shipped hub; the way to what was there before us
// is slow, so that much time lies between the first view and the last object.
import { describe, expect, test } from 'vitest'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { joinIn } from '../../packages/holdfast/src/join/join.ts'
import {
  type HoldfastError,
  type JoinOptions,
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
  said: { code: string; at: number; how: 'came in' | 'rejected' } | null
}

/** Joins on a machine of its own, and notes how that ends. */
function joining(w: SessionWorld, name: string, options: Partial<JoinOptions> = {}): Joining {
  const joined: Joining = { said: null }
  const node = w.sim.node(name)
  const wish = { ...game, name, server: HUB_URL, ...options }
  const done = (how: 'came in' | 'rejected', code: string): void => {
    joined.said = { how, code, at: w.now() }
  }
  void joinIn(environmentOf(node, 'browser'), wish).then(
    ({ status }) => done('came in', status),
    ({ code }: HoldfastError) => done('rejected', code),
  )
  return joined
}

/** A room with so much in it that it takes seconds to tell. */
async function book(pages = 600): Promise<{ w: SessionWorld; ada: Session }> {
  const w = world({ seed: 9, conditions: 'rtt=40', linesMax: 0 })
  const ada = await w.join({ ...game, name: 'Ada' }, { name: 'ada' })
  await w.run(1_000)
  for (let n = 0; n < pages; n++) ada.create(Page, { words: `${n} ${'x'.repeat(800)}` })
  await w.run(5_000)
  return { w, ada }
}

const isIn = (ada: Session, name: string) => () => ada.members.some((one) => one.name === name)
const playerOf = (ada: Session, name: string) => ada.members.find((one) => one.name === name)!

/** How it may end, when the joiner has been seen in the room. */
const ENDS: Readonly<Record<string, (w: SessionWorld, ada: Session) => unknown>> = {
  kicked: (_w, ada) => ada.kick(playerOf(ada, 'grace')),
  banned: (_w, ada) => ada.ban(playerOf(ada, 'grace')),
  unreachable: (_w, ada) => ada.debug.crash(),
}

describe('between the first view and the last object', () => {
  // When the window of its link has room, and when it is full.
  const moments = Object.keys(ENDS).flatMap((code) =>
    [60, 100, 150].map((at) => [code, at] as const),
  )
  test.each(moments)('%s after %i ms: join rejects at once (N-6)', async (code, at) => {
    const { w, ada } = await book()
    const grace = joining(w, 'grace', { recover: false })
    await w.runUntil(isIn(ada, 'grace'), 10_000)
    await w.run(at)
    expect(grace.said).toBe(null)
    const begun = w.now()
    ENDS[code]!(w, ada)
    await w.runUntil(() => grace.said !== null, 60_000)
    expect(grace.said).toMatchObject({ how: 'rejected', code })
    if (code !== 'unreachable') expect(grace.said!.at - begun).toBeLessThan(2_500)
  })
})

describe('two joins with one token at once', () => {
  test.each([0, 10, 30, 60, 100, 200])('%i ms apart: the loser is rejected (N-6)', async (gap) => {
    const { w, ada } = await book()
    const before = await w.join({ ...game, name: 'Grace' }, { name: 'grace', kind: 'browser' })
    const { token } = before
    w.kill(before)
    await w.run(3_000)
    const both = [joining(w, 'one', { token })]
    await w.run(gap)
    both.push(joining(w, 'other', { token }))
    await w.runUntil(() => both.every(({ said }) => said), 60_000)
    const said = both.map((one) => `${one.said!.how}: ${one.said!.code}`).toSorted()
    expect(said).toEqual(['came in: live', 'rejected: elsewhere'])
    const [first, second] = both.map((one) => one.said!.at) as [number, number]
    expect(Math.abs(first - second)).toBeLessThan(10_000)
    expect(ada.members).toHaveLength(2)
  })
})

test('a join into a room that its hub closed for a while says after how long it opens (N-17)', async () => {
  const w = world({ seed: 3, conditions: 'rtt=20' })
  const ada = await w.join({ ...game, name: 'Ada' })
  const place = { game: 'book', room: 'main' }
  let visitors = 0
  const refused = async (): Promise<unknown> => {
    const node = w.sim.node(`visitor-${visitors++}`)
    const wish = { ...game, name: 'Grace', server: HUB_URL }
    let error: unknown
    void joinIn(environmentOf(node, 'browser'), wish).catch((why: unknown) => (error = why))
    await w.run(1_000)
    return error
  }
  w.hub()!.closeRoom(place, 'we close at ten', 90_000)
  await w.run(20_000)
  expect([ada.status, ada.code]).toEqual(['lost', 'forbidden'])
  const error = (await refused()) as HoldfastError
  expect(error).toMatchObject({ code: 'forbidden', retryAfterMs: 70_000 })
  expect(error.message).toBe('we close at ten: it opens again in 70 s')
  // What is no word on time has no time.
  w.hub()!.closeRoom(place, 'x'.repeat(180), 90_000)
  expect(await refused()).toMatchObject({ code: 'forbidden' })
  await w.run(90_000)
  expect(await refused()).toBe(undefined)
})
