// Goal: round trips and timers are those of RFC 9002, with the waits that L5 names.
import { describe, expect, test } from 'vitest'
import {
  LATER_PACKETS,
  moreLater,
  createLoss,
  createRtt,
  isQueueing,
  patience,
  probeAt,
  sample,
  type Loss,
  type Rtt,
} from './loss.ts'

/** Round trips of these lengths, each with how long the peer held its ack back. */
function after(...trips: readonly (readonly [measured: number, held: number])[]): Rtt {
  const rtt = createRtt()
  for (const [measured, held] of trips) sample(rtt, measured, held)
  return rtt
}

describe('a round trip', () => {
  test('before the first it is guessed as 100 ms, give or take 50 (PR-2)', () => {
    expect(after()).toMatchObject({ samples: 0, smoothed: 100, variation: 50 })
  })
  test('the first counts as it is, whatever was held (PR-2)', () => {
    expect(after([80, 30])).toEqual({
      samples: 1,
      latest: 80,
      min: 80,
      smoothed: 80,
      variation: 40,
    })
  })
  test('a later one moves the mean by an eighth and the variation by a quarter (PR-2)', () => {
    const rtt = after([80, 0], [160, 0])
    expect(rtt).toMatchObject({ samples: 2, latest: 160, min: 80, smoothed: 90 })
    expect(rtt.variation).toBeCloseTo(40 + (80 - 40) / 4, 9)
    const shorter = after([80, 0], [40, 0])
    expect(shorter).toMatchObject({ latest: 40, min: 40, smoothed: 75 })
    expect(shorter.variation).toBeCloseTo(40, 9)
  })
  test('what was held is taken off, as far as the shortest allows, and 100 ms at most (PR-2)', () => {
    expect(after([80, 0], [100, 20]).smoothed).toBeCloseTo(80, 9)
    expect(after([80, 0], [100, 21]).smoothed).toBeCloseTo(80 + 20 / 8, 9)
    expect(after([80, 0], [180, 100]).smoothed).toBeCloseTo(80, 9)
    expect(after([80, 0], [190, 110]).smoothed).toBeCloseTo(80 + 10 / 8, 9)
  })
  test('is never below 0, whatever a clock says (PR-2)', () => {
    expect(after([-5, 0])).toMatchObject({ latest: 0, min: 0, smoothed: 0, variation: 0 })
    expect(after([80, 0], [-5, 0])).toMatchObject({ latest: 0, min: 0 })
  })
})

describe('how old an overtaken packet gets', () => {
  test('L5: 9/8 of the longer of mean and latest, and 1 ms at least (PR-2)', () => {
    expect(patience(after([80, 0], [160, 0]))).toBeCloseTo(180, 9)
    expect(patience(after([160, 0], [80, 0]))).toBeCloseTo((9 / 8) * 150, 9)
    expect(patience(after([0.5, 0]))).toBe(1)
  })
})

describe('the probe timer', () => {
  const loss = (probes: number, soonest = 5): Loss => ({
    ...createLoss(1_000),
    probes,
    soonest,
  })
  test('L5: mean, four variations and 25 ms, or 100 ms if only newest state flies (PR-2)', () => {
    const rtt = after([80, 0])
    for (const [oldest, held] of [
      [4, 25],
      [5, 25],
      [6, 100],
    ] as const) {
      expect(probeAt(loss(0), rtt, oldest)).toBe(1_000 + 80 + 160 + held)
    }
    expect(probeAt(createLoss(0), rtt, 0)).toBe(80 + 160 + 100)
  })
  test('L5: of the variation 1 ms counts at least (PR-2)', () => {
    const steady = { ...after([80, 0]), variation: 0 }
    expect(probeAt(loss(0), steady, 5)).toBe(1_000 + 80 + 1 + 25)
    expect(probeAt(loss(0), { ...steady, variation: 0.25 }, 5)).toBe(1_000 + 80 + 1 + 25)
    expect(probeAt(loss(0), { ...steady, variation: 0.5 }, 5)).toBe(1_000 + 80 + 2 + 25)
  })
  test('L5: doubles with each probe, up to a second, or its first length if longer (PR-2)', () => {
    const rtt = after([80, 0])
    const waits = [0, 1, 2, 3, 9, 2_000].map((probes) => probeAt(loss(probes), rtt, 5) - 1_000)
    expect(waits).toEqual([265, 530, 1_000, 1_000, 1_000, 1_000])
    const far = after([600, 0])
    expect([0, 1, 5].map((probes) => probeAt(loss(probes), far, 5) - 1_000)).toEqual([
      1_825, 1_825, 1_825,
    ])
  })
})

describe('a path', () => {
  test('L5: that reorders doubles how many later packets declare a loss, up to 96 (N-7)', () => {
    let later = LATER_PACKETS
    const seen = Array.from({ length: 7 }, () => (later = moreLater(later)))
    expect(seen).toEqual([6, 12, 24, 48, 96, 96, 96])
  })
  test('L7: queues when round trips grow by a quarter, and 10 ms, beyond what they vary by (N-7)', () => {
    const trips = { samples: 9, latest: 0, min: 200, variation: 10 }
    expect(isQueueing({ ...trips, smoothed: 270 })).toBe(false)
    expect(isQueueing({ ...trips, smoothed: 271 })).toBe(true)
    const short = { samples: 9, latest: 0, min: 1, variation: 0 }
    expect(isQueueing({ ...short, smoothed: 11 })).toBe(false)
    expect(isQueueing({ ...short, smoothed: 11.1 })).toBe(true)
    // Nothing measured: nothing says that the path is free.
    expect(isQueueing(createRtt())).toBe(true)
  })
})
