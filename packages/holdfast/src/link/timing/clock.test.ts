// Goal: L9, the peer's clock is known to within half a round trip, and session time is smooth.
import { describe, expect, test } from 'vitest'
import { calmly } from '../../../../../test/calmly.ts'
import { createPair, numbered, run, send } from '../../../../../test/link/pair.ts'
import {
  ask,
  createClock,
  createSamples,
  offsetOf,
  shouldAsk,
  steer,
  takeAnswer,
  timeAt,
} from './clock.ts'
import * as link from '../link.ts'

test('the offset is that of the sample with the shortest round trip of the last 16', () => {
  const clock = createSamples()
  for (let round = 0; round < 40; round++) {
    const trip = round === 30 ? 10 : 50 + round
    const there = trip * 0.8
    const t0 = round * 1000
    ask(clock, t0, 0)
    // The peer's clock is 5000 ahead; the way there takes longer than the way back.
    const t1 = t0 + there + 5000
    takeAnswer(clock, t0 + trip + 3, 0, t0, t1, t1 + 3)
  }
  expect(clock.samples.length).toBe(16)
  expect(offsetOf(clock)).toBeCloseTo(5000 + 3)
})

test('an answer that was not asked for, or that cannot be, is ignored', () => {
  const clock = createSamples()
  takeAnswer(clock, 10, 0, 5, 7, 8)
  ask(clock, 5, 0)
  takeAnswer(clock, 10, 0, 5, 8, 7)
  ask(clock, 5, 0)
  takeAnswer(clock, 10, 0, 5, 0, 100)
  expect(clock.samples).toEqual([])
  expect(offsetOf(clock)).toBe(null)
})

test('two ends agree on session time within half a round trip of jitter', () => {
  const pair = createPair(3, { delay: 20, jitter: 10 })
  pair.ends[1].link.clock.shift = 1234
  for (let count = 0; count < 20; count++) {
    send(pair, 0, numbered(count))
    run(pair, pair.now + 100)
  }
  expect(Math.abs(link.offset(pair.ends[0].link)! - 1234)).toBeLessThan(5)
  expect(Math.abs(link.offset(pair.ends[1].link)!)).toBeLessThan(5)
})

test('session time is set once, then runs at most 5 % off and never backwards', () => {
  const clock = createClock(100)
  expect(timeAt(clock, 150)).toBe(150)
  steer(clock, 200, 1000)
  expect(timeAt(clock, 200)).toBe(1200)
  let before = timeAt(clock, 200)
  for (let now = 210; now < 9000; now += 10) {
    steer(clock, now, now < 4000 ? 900 : 1300)
    const time = timeAt(clock, now)
    expect(time - before).toBeGreaterThanOrEqual(9.5 - 1e-9)
    expect(time - before).toBeLessThanOrEqual(10.5 + 1e-9)
    before = time
  }
  // 5 % of the 5 s since the target moved on by 400 ms is 250 ms.
  expect(timeAt(clock, 9000) - 9000).toBeGreaterThan(1140)
  expect(timeAt(clock, 5)).toBe(clock.time)
})

test('an error is worked off and no more, also when nobody is heard again', () => {
  for (const error of [-400, -20, 0, 3, 60, 1_000]) {
    const clock = createClock(0)
    steer(clock, 0, 5_000)
    steer(clock, 100, 5_000 + error)
    expect(timeAt(clock, 60_000)).toBeCloseTo(65_000 + error, 6)
    expect(timeAt(clock, 61_000) - timeAt(clock, 60_000)).toBeCloseTo(1_000, 6)
  }
})

test('an answer by another path than its question counts only until there is a better one', () => {
  const clock = createSamples()
  const answered = (by: number, trip: number, offset: number): void => {
    ask(clock, 0, 1)
    takeAnswer(clock, trip, by, 0, trip / 2 + offset, trip / 2 + offset)
  }
  answered(2, 10, 77)
  expect(offsetOf(clock)).toBe(77)
  answered(2, 4, 88)
  expect(offsetOf(clock)).toBe(77)
  answered(1, 60, 5)
  expect([offsetOf(clock), clock.samples.length]).toEqual([5, 1])
})

describe('questions and answers', () => {
  /** Samples of these round trips, each with its place as the offset. */
  function sampled(...trips: number[]): ReturnType<typeof createSamples> {
    const clock = createSamples()
    for (const [n, trip] of trips.entries()) {
      const t0 = n * 1_000
      ask(clock, t0, 0)
      takeAnswer(clock, t0 + trip, 0, t0, t0 + n, t0 + n)
    }
    return clock
  }
  test('L9: the first four are asked as soon as the last was answered (PR-2)', () => {
    for (let count = 0; count < 6; count++) {
      const clock = { ...sampled(...Array<number>(count).fill(10)), askedAt: 500 }
      expect(shouldAsk(clock, 501, 40)).toBe(count < 4)
      ask(clock, 500, 0)
      expect(shouldAsk(clock, 501, 40)).toBe(false)
    }
  })
  test('L9: then, or without an answer, one is asked a second (PR-2)', () => {
    for (const asked of [[], [{ at: 500, by: 0 }]]) {
      const clock = { ...sampled(10, 10, 10, 10), askedAt: 500, asked }
      expect([1_499, 1_500].map((now) => shouldAsk(clock, now, 40))).toEqual([false, true])
    }
  })
  test.each([
    [0, 250],
    [125, 250],
    [126, 252],
    [499, 998],
    [5_000, 1_000],
  ])(
    'L9: one of the first four, over a round trip of %i ms, is lost after %i ms',
    (rttMs, lost) => {
      const clock = { ...sampled(10, 10, 10), asked: [{ at: 500, by: 0 }], askedAt: 500 }
      const late = [lost - 1, lost].map((since) => shouldAsk(clock, 500 + since, rttMs))
      expect(late).toEqual([false, true])
    },
  )
  test('L9: an answer counts once, and one that took no time counts (PR-2)', () => {
    const clock = createSamples()
    ask(clock, 100, 0)
    takeAnswer(clock, 100, 0, 100, 700, 700)
    expect(clock.samples).toEqual([{ trip: 0, offset: 600 }])
    takeAnswer(clock, 100, 0, 100, 700, 700)
    expect(clock.samples).toHaveLength(1)
    expect(clock.asked).toEqual([])
  })
  test('L9: an answer counts that comes after the next question has left', () => {
    const clock = createSamples()
    for (const at of [0, 250, 500]) ask(clock, at, 0)
    takeAnswer(clock, 510, 0, 250, 1_250, 1_250)
    expect(offsetOf(clock)).toBe(1_250 - 380)
    // The one before it is given up, the one after it waits.
    takeAnswer(clock, 520, 0, 0, 1_000, 1_000)
    expect(clock.samples).toHaveLength(1)
    takeAnswer(clock, 760, 0, 500, 1_500, 1_500)
    expect(clock.samples).toHaveLength(2)
  })
  test('L9: of five questions without an answer the first is given up', () => {
    const clock = createSamples()
    for (const at of [0, 250, 500, 750, 1_000]) ask(clock, at, 0)
    takeAnswer(clock, 1_010, 0, 0, 1_000, 1_000)
    expect(clock.samples).toEqual([])
    takeAnswer(clock, 1_010, 0, 250, 1_250, 1_250)
    expect(clock.samples).toHaveLength(1)
  })
  test('L9: of 16 samples the shortest counts, and of equals the newest (PR-2)', () => {
    expect(calmly(() => offsetOf(createSamples()))).toBe(null)
    const best = (...trips: number[]): unknown => calmly(() => offsetOf(sampled(...trips)))
    const at = (n: number, trip: number): number => n - trip / 2
    expect(best(30, 20, 40)).toBe(at(1, 20))
    expect(best(30, 20, 20, 40)).toBe(at(2, 20))
    const many = [5, ...Array<number>(15).fill(20)]
    expect(best(...many)).toBe(at(0, 5))
    expect(best(...many, 30)).toBe(at(15, 20))
  })
})

test('L9: a steer of an earlier instant turns nothing back (PR-2)', () => {
  const clock = createClock(0)
  steer(clock, 100, 1_000)
  steer(clock, 60, 1_000)
  expect(clock.at).toBe(100)
  expect([60, 100].map((now) => timeAt(clock, now))).toEqual([1_100, 1_100])
})
