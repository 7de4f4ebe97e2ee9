// Goal: who gives up joining, at whatever moment, is in nobody's list a second later, and the hub
// has no row of it.
// Method: whole sessions in virtual time with the shipped hub; a join is given up at each moment
// of it in steps of a few ms, as the founder and as the second, over quick, slow and lossy paths.
import { describe, expect, test } from 'vitest'
import { joinIn } from '../../packages/holdfast/src/join/join.ts'
import { object, text } from '../../packages/holdfast/src/index.ts'
import {
  environmentOf,
  HUB_URL,
  type SessionWorld,
  world,
} from '../../packages/sim/src/session-world.ts'

const Page = object('page', { words: text(900, 900) }, { onOwnerLeave: 'keep' })
const game = { game: 'book', types: [Page] } as const

/** A page in which somebody joins closes so long after that, and a second passes. */
async function closed(w: SessionWorld, at: number): Promise<string> {
  let came = ''
  let ends = (): void => {}
  const environment = environmentOf(w.sim.node('grace'), 'browser')
  environment.onEnd = (run) => {
    ends = run
    return () => {}
  }
  joinIn(environment, { ...game, name: 'Grace', server: HUB_URL }).then(
    () => (came = 'in'),
    ({ code }: { code: string }) => (came = code),
  )
  await w.run(at)
  ends()
  await w.run(1_000)
  return came
}

/** Somebody joins, gives up so long after that, and then that time passes. */
async function tried(
  w: SessionWorld,
  kind: 'node' | 'browser',
  at: number,
  ms: number,
): Promise<string> {
  const giveUp = new AbortController()
  let came = ''
  const wish = { ...game, name: 'Grace', server: HUB_URL, signal: giveUp.signal }
  joinIn(environmentOf(w.sim.node('grace'), kind), wish).then(
    () => (came = 'in'),
    ({ code }: { code: string }) => (came = code),
  )
  await w.run(at)
  if (came === 'in') return 'in'
  giveUp.abort()
  await w.run(ms)
  return came
}

// To leave takes three trips one after the other: to the server, to the hub's register and back.
// Where each of 150 ms may be lost, and is then sent again, a second is not always enough.
const withinOf = (rtt: number, loss: number): number => (rtt === 150 && loss > 0 ? 2_000 : 1_000)

const CASES = [10, 60, 150].flatMap((rtt) => [0, 10].map((loss) => ({ rtt, loss })))

/** Moments from the call to somewhat after it has returned. */
const moments = (rtt: number): number[] =>
  Array.from({ length: 40 }, (_, n) => Math.round((n * (rtt * 7 + 40)) / 40))

describe.each(CASES)('a join over $rtt ms with $loss % of loss', ({ rtt, loss }) => {
  const ms = withinOf(rtt, loss)
  const conditions = `rtt=${rtt},loss=${loss}%`

  test('that is given up leaves no member behind (N-15)', async () => {
    const ghosts: object[] = []
    for (const at of moments(rtt)) {
      const w = world({ seed: 100 + at, conditions, linesMax: 0 })
      const ada = await w.join({ ...game, name: 'Ada' }, { name: 'ada' })
      await w.run(500)
      for (let n = 0; n < 20; n++) ada.create(Page, { words: 'x'.repeat(800) })
      await w.run(1_000)
      const came = await tried(w, at % 2 === 0 ? 'node' : 'browser', at, ms)
      if (came === 'in') continue
      expect([at, came]).toEqual([at, 'left'])
      const members = ada.members.map(({ name }) => name)
      const listed = [...w.hub()!.hub.registers.rows.values()].map((row) => row.members.length)
      if (`${members.length} ${listed.join()}` !== '1 1') ghosts.push({ at, members, listed })
    }
    expect(ghosts).toEqual([])
  })

  test('of who would found the room leaves none (N-15)', async () => {
    const ghosts: number[] = []
    for (const at of moments(rtt)) {
      const w = world({ seed: 100 + at, conditions, linesMax: 0 })
      if ((await tried(w, 'node', at, ms)) === 'in') continue
      if (w.hub()!.hub.registers.rows.size > 0) ghosts.push(at)
    }
    expect(ghosts).toEqual([])
  })
})

test.each([10, 60, 150])(
  'a page that closes while it joins over %i ms leaves no member behind (N-15)',
  async (rtt) => {
    const ghosts: object[] = []
    for (const at of moments(rtt)) {
      const w = world({ seed: 100 + at, conditions: `rtt=${rtt}`, linesMax: 0 })
      const ada = await w.join({ ...game, name: 'Ada' }, { name: 'ada' })
      await w.run(1_000)
      const came = await closed(w, at)
      const names = ada.members.map(({ name }) => name)
      if (names.length > 1) ghosts.push({ at, came, names })
    }
    expect(ghosts).toEqual([])
  },
)
