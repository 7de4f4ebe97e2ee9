// Goal: the chart of the ages of data draws what `session.debug.ages()` says, stage by stage (T73).
// Method: a session of two in virtual time, one of whom moves; and samples made by hand.
import { object, type Session, vec2 } from 'holdfast'
import { world } from 'holdfast/sim'
import { expect, test } from 'vitest'
import { linesOf, STAGE_WORDS } from './stages.ts'

const Ball = object(
  'ball',
  { at: vec2(0, 1000, 0.5), speed: vec2(-1000, 1000, 1) },
  { motion: { follow: { at: 'speed' } } },
)

type Ages = ReturnType<Session['debug']['ages']>

/** Pairs of what is drawn for one stage: seconds before now, and the age. */
function drawn(ages: Ages, now: number, stage: number): [number, number][] {
  const [seconds, line] = linesOf(ages, now)[stage]!
  return seconds.map((second, at) => [second, line[at]!])
}

test('T73: every stage is drawn as it was measured, of the last fifteen seconds', async () => {
  const w = world({ seed: 2, conditions: 'rtt=60' })
  const [ada, grace] = [
    await w.join({ game: 'balls', types: [Ball], name: 'Ada' }),
    await w.join({ game: 'balls', types: [Ball], name: 'Grace' }),
  ]
  const ball = ada.create(Ball, { at: [0, 0], speed: [10, 0] })
  for (let turn = 0; turn < 400; turn++) {
    ball.set({ at: [turn, 0] })
    await w.run(50)
    for (const one of grace.all(Ball)) one.view()
  }
  const [ages, now] = [grace.debug.ages(), grace.now()]
  for (const [stage, [name]] of STAGE_WORDS.entries()) {
    const recent = ages[name].recent.filter(({ at }) => at > now - 15_000)
    const told = new Map(recent.map(({ at, age }) => [(at - now) / 1000, age]))
    const lines = drawn(ages, now, stage)
    expect(lines.length).toBeGreaterThan(50)
    // Of two at one instant either is true.
    expect(lines).toHaveLength(told.size)
    for (const [second, age] of lines) {
      const at = recent.filter((sample) => (sample.at - now) / 1000 === second)
      expect(at.map((sample) => sample.age)).toContain(age)
    }
  }
})

test('T73: what came out of order is drawn in order, and what is old is not drawn', () => {
  const figures = (recent: { at: number; age: number }[]) => {
    return { count: recent.length, mean: 0, p99: 0, recent }
  }
  const none = figures([])
  const ages: Ages = {
    clientSend: figures([
      { at: 30_000, age: 5 },
      { at: 29_000, age: 7 },
      { at: 30_000, age: 6 },
      { at: 14_999, age: 9 },
      { at: 31_001, age: 9 },
    ]),
    serverReceive: figures([{ at: 29_500, age: 40 }]),
    ...{ serverSend: none, clientReceive: none, shown: none },
  }
  expect(drawn(ages, 30_000, 0)).toEqual([
    [-1, 7],
    [0, 5],
  ])
  expect(drawn(ages, 30_000, 1)).toEqual([[-0.5, 40]])
  expect(drawn(ages, 30_000, 4)).toEqual([])
})
