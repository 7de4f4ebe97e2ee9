// Goal: a room that all leave in the same moment is open to whoever comes next, and all that was
// acknowledged is in it.
// Method: whole sessions in virtual time, with the shipped hub; all call `leave` at nearly once.
import { describe, expect, test } from 'vitest'
import { SILENT_MS } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { joinIn } from '../../packages/holdfast/src/join/join.ts'
import { action } from '../../packages/holdfast/src/index.ts'
import type { Session } from '../../packages/holdfast/src/index.ts'
import {
  environmentOf,
  HUB_URL,
  type SessionWorld,
  world,
} from '../../packages/sim/src/session-world.ts'
import { act } from './acting.ts'

const add = action('add', (table, [what]: [string]) => {
  table.set(what, ((table.get(what) as number | undefined) ?? 0) + 1)
  return table.get(what) as number
})
const types = [add]

function joining(w: SessionWorld, name: string): Promise<Session> {
  return w.join({ game: 'garden', room: 'r', types, name })
}

/** All leave, each so many ms after the one before. @returns ms until another has come in */
async function reopened(seed: number, count: number, gap: number, rtt: number): Promise<number> {
  const w = world({ seed, conditions: `rtt=${rtt}` })
  const all: Session[] = []
  for (let at = 0; at < count; at++) all.push(await joining(w, `player ${at}`))
  await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
  for (const one of all) expect((await act(w, one.act(add, ['pins']))).ok).toBe(true)
  const left: Promise<void>[] = []
  for (const session of all) {
    left.push(session.leave())
    await w.run(gap)
  }
  await act(w, Promise.all(left))
  const begun = w.now()
  const next = await joining(w, 'next')
  expect(next.table.get('pins')).toBe(count)
  return w.now() - begun
}

describe('a room that all leave at once', () => {
  // How many, how far apart they leave, and the round trip between them, in ms.
  const cases = [2, 3, 5].flatMap((count) =>
    [0, 5, 20, 60].flatMap((gap) => [10, 40, 120].map((rtt) => [count, gap, rtt] as const)),
  )
  test.each(cases)(
    'T20: %i, %i ms apart, with %i ms between them, can be joined at once, and lacks nothing',
    async (count, gap, rtt) => {
      const ms = await reopened(7, count, gap, rtt)
      expect(ms).toBeLessThan(2_000)
    },
  )
})

test('T20: the last to leave is gone once the hub has answered, over a slow path too', async () => {
  const w = world({ seed: 3, conditions: 'rtt=600' })
  const ada = await joining(w, 'Ada')
  await w.run(5_000)
  const begun = w.now()
  await act(w, ada.leave())
  expect(w.now() - begun).toBeLessThan(1_500)
  expect(w.hub()!.hub.registers.rows.size).toBe(0)
})

test.each([1, 2, 3, 4, 5, 6])(
  'T20: a member that leaves is gone in eight round trips, though packets are reordered: seed %i',
  async (seed) => {
    const w = world({ seed, conditions: 'rtt=40,jitter=40' })
    const all: Session[] = []
    for (const name of ['Ada', 'Bea', 'Cy']) all.push(await joining(w, name))
    await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
    await w.run(1_000)
    const begun = w.now()
    await act(w, all[2]!.leave())
    expect(w.now() - begun).toBeLessThan(8 * 40)
  },
)

// The hub is near, and the others are not: by a direct path they forget whoever has left while its
// last messages are under way.
test.each([0, 1])(
  'T20: player %i, who leaves while all play, is gone in four round trips',
  async (who) => {
    const w = world({ seed: 1, conditions: 'rtt=40' })
    const all: Session[] = []
    for (const name of ['Ada', 'Bea', 'Cy']) all.push(await joining(w, name))
    for (const node of ['m1', 'm2', 'm3']) {
      w.sim.conditions(node, 'hub', 'rtt=2')
      w.sim.conditions('hub', node, 'rtt=2')
    }
    await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
    await w.run(50)
    for (const one of all) void one.act(add, ['pins'])
    const begun = w.now()
    await act(w, all[who]!.leave())
    expect(w.now() - begun).toBeLessThan(4 * 40)
  },
)

/** All end at nearly once, as pages that are reloaded. @returns ms until each is in again */
async function reloaded(
  seed: number,
  gaps: readonly number[],
  conditions: string,
  { pauseMs, awayMs = 0 }: { pauseMs: number; awayMs?: number },
): Promise<number> {
  const w = world({ seed, conditions })
  const all: Session[] = []
  for (const at of gaps.keys()) all.push(await joining(w, `player ${at}`))
  await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
  for (const one of all) expect((await act(w, one.act(add, ['pins']))).ok).toBe(true)
  await w.run(pauseMs)
  const players = all.map(({ me }) => me.player)
  const tokens = all.map(({ token }) => token)
  const begun = w.now()
  for (const [at, one] of all.entries()) {
    one.end('the page is gone')
    await w.run(gaps[at]!)
  }
  await w.run(awayMs)
  const back = await Promise.all(
    tokens.map((token) => w.join({ game: 'garden', room: 'r', types, token })),
  )
  expect(back.map(({ me }) => me.player)).toEqual(players)
  for (const one of back) expect(one.table.get('pins')).toBe(gaps.length)
  return w.now() - begun
}

describe('a room whose pages all end at once', () => {
  const cases = [
    [0, 0],
    [3, 0],
    [20, 0],
    [60, 0],
    [200, 0],
    [0, 0, 0],
    [5, 40, 0],
  ].flatMap((gaps) =>
    [10, 40, 120].flatMap((rtt) => [0, 30].map((pause) => [gaps, rtt, pause] as const)),
  )
  test.each(cases)(
    'is there again at once for all of them: %j ms apart, rtt %i, %i ms after the last act (N-1)',
    async (gaps, rtt, pause) => {
      expect(await reloaded(11, gaps, `rtt=${rtt}`, { pauseMs: pause })).toBeLessThan(2_000)
    },
  )

  // The end of a stream may overtake a goodbye that was lost: then the room is shut for a minute.
  test.each([1, 2, 3, 4, 5, 6])(
    'lacks nothing over a lossy network: seed %i (N-1)',
    async (seed) => {
      await reloaded(seed, [seed, 0], 'rtt=40,loss=5%', { pauseMs: 0, awayMs: SILENT_MS + 1_000 })
    },
  )
})

/** A page that was loaded anew joins as who it was. */
function returning(w: SessionWorld, name: string, token: string): Promise<Session> {
  const wish = { game: 'garden', room: 'r', types, token, server: HUB_URL }
  return joinIn(environmentOf(w.sim.node(name), 'browser'), wish)
}

// Who ends first, how long a page takes to come back, and when the other ends.
const early = [0, 1].flatMap((first) =>
  [30, 150, 400].flatMap((load) =>
    [120, 180, 250, 350, 450, 600].map((gap) => [first, load, gap] as const),
  ),
)
test.each(early)(
  'player %i is back %i ms after the page ended, the other ends after %i ms: both have all (N-1)',
  async (first, load, gap) => {
    const w = world({ seed: 5, conditions: 'rtt=10' })
    const all = [await joining(w, 'player 0'), await joining(w, 'player 1')]
    await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
    for (const one of all) expect((await act(w, one.act(add, ['pins']))).ok).toBe(true)
    const begun = w.now()
    const back: Promise<Session>[] = []
    for (const at of [...Array(gap + load + 1).keys()]) {
      for (const [who, start] of [first, 1 - first].map((one, n) => [one, n * gap] as const)) {
        if (at === start) all[who]!.end('the page is gone')
        if (at === start + load) back[who] = returning(w, `again-${who}`, all[who]!.token)
      }
      await w.run(1)
    }
    const both = await act(w, Promise.all(back))
    const areIn = (): boolean =>
      both.every(({ status, members }) => status === 'live' && members.length === 2)
    await w.runUntil(areIn, 20_000)
    expect(w.now() - begun).toBeLessThan(gap + load + 2_000)
    for (const [at, one] of both.entries()) {
      expect([one.status, one.me.player, one.table.get('pins')]).toEqual(['live', at + 1, 2])
    }
    for (const one of both) expect((await act(w, one.act(add, ['pins']))).ok).toBe(true)
  },
)
