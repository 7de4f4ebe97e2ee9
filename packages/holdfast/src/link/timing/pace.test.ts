// Goal: how many bytes are under way and how fast they leave is what L7 says, at each bound.
import { describe, expect, test } from 'vitest'
import * as pace from './pace.ts'
import type { Pace } from './pace.ts'

const PACKET_MAX = 1132

const TEN: number = 10 * PACKET_MAX

/** A window of so many bytes, as much of it in flight, and no tokens. */
function flying(window: number, inFlight: number, tokens = 0): Pace {
  return { ...pace.createPace(0), window, flying: inFlight, tokens }
}

describe('the window', () => {
  test('L7: ten packets at first, and room as long as it is not full (PR-2)', () => {
    const fresh = pace.createPace(0)
    expect([fresh.window, fresh.flying]).toEqual([TEN, 0])
    for (let n = 0; n < 10; n++) {
      expect(pace.hasRoom(fresh)).toBe(true)
      pace.left(fresh, PACKET_MAX)
    }
    expect(pace.hasRoom(fresh)).toBe(false)
    pace.arrived(fresh, 0, 1, true)
    expect(pace.hasRoom(fresh)).toBe(true)
  })
  test('L7: grows by what arrived while at least half of it flew (PR-2)', () => {
    const half = flying(TEN, TEN / 2)
    pace.arrived(half, 0, 1_000, true)
    expect([half.window, half.flying]).toEqual([TEN + 1_000, TEN / 2 - 1_000])
    const less = flying(TEN, TEN / 2 - 1)
    pace.arrived(less, 0, 1_000, true)
    expect([less.window, less.flying]).toEqual([TEN, TEN / 2 - 1_001])
  })
  test('L7: never beyond 128 packets (PR-2)', () => {
    const large = 128 * PACKET_MAX
    const near = flying(large - 10, large)
    pace.arrived(near, 0, PACKET_MAX, true)
    expect(near.window).toBe(large)
    pace.arrived(near, 1, PACKET_MAX, true)
    expect(near.window).toBe(large)
  })
  test('L7: a round that loses while packets queue takes it to 0.7, once; then it grows slowly (PR-2)', () => {
    const one = flying(TEN, TEN)
    pace.gone(one, 5, 1_000, 9, true)
    expect([one.window, one.flying, one.slowFrom]).toEqual([TEN * 0.7, TEN - 1_000, TEN * 0.7])
    // Packets that left before the loss was known are of the same round.
    pace.gone(one, 6, 1_000, 12, true)
    pace.gone(one, 9, 1_000, 12, true)
    pace.arrived(one, 9, 1_000, true)
    expect([one.window, one.flying]).toEqual([TEN * 0.7, TEN - 4_000])
    pace.arrived(one, 10, 1_000, true)
    const gain = (PACKET_MAX * 1_000) / (TEN * 0.7)
    expect(one.window).toBeCloseTo(TEN * 0.7 + gain, 6)
    pace.gone(one, 10, 1_000, 12, true)
    expect(one.window).toBeCloseTo((TEN * 0.7 + gain) * 0.7, 6)
  })
  test('L7: losses on a path where nothing queues leave it, up to an eighth of a round (N-7)', () => {
    const window = 32 * PACKET_MAX
    const one = flying(window, window)
    for (const sequence of [5, 11, 17, 23]) pace.gone(one, sequence, PACKET_MAX, 31, false)
    expect([one.window, one.slowFrom]).toEqual([window, Infinity])
    pace.gone(one, 29, PACKET_MAX, 31, false)
    expect([one.window, one.slowFrom]).toEqual([window * 0.7, window * 0.7])
    // The next round counts from nothing.
    for (const sequence of [32, 40]) pace.gone(one, sequence, PACKET_MAX, 60, false)
    expect(one.window).toBe(window * 0.7)
  })
  test('L7: of a small window two packets may be lost in a round, and no third (N-7)', () => {
    const one = flying(TEN, TEN)
    for (const sequence of [5, 6]) pace.gone(one, sequence, PACKET_MAX, 9, false)
    expect(one.window).toBe(TEN)
    pace.gone(one, 7, PACKET_MAX, 9, false)
    expect(one.window).toBe(TEN * 0.7)
  })
  test('L7: where nothing queues it grows by an eighth a round trip after congestion (N-7)', () => {
    const one = { ...flying(40 * PACKET_MAX, 40 * PACKET_MAX), slowFrom: 0 }
    pace.arrived(one, 0, PACKET_MAX, false)
    expect(one.window).toBe(40 * PACKET_MAX + PACKET_MAX / 8)
    const queued = { ...flying(40 * PACKET_MAX, 40 * PACKET_MAX), slowFrom: 0 }
    pace.arrived(queued, 0, PACKET_MAX, true)
    expect(queued.window).toBe(40 * PACKET_MAX + PACKET_MAX / 40)
  })
  test('L7: never falls below two packets (PR-2)', () => {
    const small = flying(2 * PACKET_MAX + 10, TEN)
    pace.gone(small, 0, 1, 0, true)
    pace.gone(small, 1, 1, 1, true)
    expect(small.window).toBe(2 * PACKET_MAX)
  })
})

describe('the bucket', () => {
  test('L7: lets ten packets leave at once, and one more into debt (PR-2)', () => {
    const fresh = pace.createPace(0)
    for (let n = 0; n < 11; n++) {
      expect(pace.mayLeave(fresh, 0, 100)).toBe(true)
      pace.left(fresh, PACKET_MAX)
    }
    expect(pace.mayLeave(fresh, 0, 100)).toBe(false)
  })
  test('L7: fills by 1.25 windows in a round trip; at no debt the next may leave (PR-2)', () => {
    const rate = (1.25 * TEN) / 100
    expect(pace.mayLeave(flying(TEN, TEN, -rate * 8), 7.99, 100)).toBe(false)
    const debt = flying(TEN, TEN, -rate * 8)
    expect([pace.mayLeave(debt, 8, 100), debt.tokens]).toEqual([true, 0])
  })
  test('L7: neither the same instant nor an earlier one changes it (PR-2)', () => {
    const one = { ...flying(TEN, 0, 500), filledAt: 50 }
    for (const now of [50, 40]) {
      pace.mayLeave(one, now, 100)
      expect([one.tokens, one.filledAt]).toEqual([500, 50])
    }
  })
  test('L7: holds ten packets, or 4 ms of its rate where that is more (PR-2)', () => {
    const slow = flying(TEN, 0)
    pace.mayLeave(slow, 10_000, 100)
    expect(slow.tokens).toBe(TEN)
    const fast = flying(128 * PACKET_MAX, 0)
    pace.mayLeave(fast, 10_000, 10)
    expect(fast.tokens).toBeCloseTo((4 * 1.25 * 128 * PACKET_MAX) / 10, 6)
  })
  test('L7: a round trip of nothing counts as 0.05 ms (PR-2)', () => {
    for (const trip of [0, 0.05]) {
      const near = flying(TEN, 0, -1_000_000)
      pace.mayLeave(near, 1, trip)
      expect(near.tokens).toBeCloseTo((1.25 * TEN) / 0.05 - 1_000_000, 3)
    }
  })
  test('L7: says when a packet may leave, and then one may (PR-2)', () => {
    for (const tokens of [0, 700]) {
      expect(pace.leavesAt({ ...flying(TEN, 0, tokens), filledAt: 30 }, 100)).toBe(30)
    }
    for (const tokens of [-0.5, -1, -400, -5_000]) {
      const debt = { ...flying(TEN, 0, tokens), filledAt: 30 }
      const at = pace.leavesAt(debt, 100)
      const rate = (1.25 * TEN) / 100
      expect(at).toBeCloseTo(30 + (1 - tokens) / rate, 9)
      expect(pace.mayLeave(debt, at, 100)).toBe(true)
    }
  })
})
