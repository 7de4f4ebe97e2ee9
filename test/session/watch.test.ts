// Goal: a failure is noticed in time, and what is no failure is not taken for one.
import { describe, expect, test } from 'vitest'
import * as watch from '../../packages/holdfast/src/session/failure-detector.ts'
import type {
  HubContact,
  FailureDetector,
} from '../../packages/holdfast/src/session/failure-detector.ts'

const UP: HubContact = { up: true, since: 0 }

/** Heard every `gap` ms until `until`. */
function steady(gap: number, until: number, relayed = false): FailureDetector {
  const seen = watch.create(0, relayed ? 'relay' : 'udp')
  for (let now = gap; now <= until; now += gap) watch.markAlive(seen, now)
  return seen
}

/** When it is suspected if it is silent from now on, looked at whenever it says. */
function suspectedAt(seen: FailureDetector, from: number, hub = UP): number {
  for (let now = from, looks = 0; looks < 100; looks++) {
    if (watch.suspects(seen, hub, now)) return now
    now = Math.max(now, watch.deadline(seen, hub))
  }
  return Infinity
}

describe('the failure detector', () => {
  test('T39: on a quiet path with heartbeats every 10 ms silence is suspected after 50', () => {
    const at = suspectedAt(steady(10, 2_000), 2_000)
    expect(at - 2_000).toBeLessThanOrEqual(watch.BOUND_MIN_MS + watch.SECOND_LOOK_MS)
    expect(at - 2_000).toBeGreaterThanOrEqual(watch.BOUND_MIN_MS)
  })

  test('the bound follows the longest gap met lately, and forgets it', () => {
    const seen = steady(10, 1_000)
    watch.markAlive(seen, 1_060)
    expect(watch.bound(seen)).toBeGreaterThan(100)
    for (let now = 1_070; now < 40_000; now += 10) watch.markAlive(seen, now)
    expect(watch.bound(seen)).toBe(watch.BOUND_MIN_MS)
  })

  test('where little is known, and behind the relay, it waits for a second', () => {
    expect(watch.bound(steady(10, 100))).toBe(watch.BOUND_MAX_MS)
    expect(watch.bound(steady(10, 2_000, true))).toBe(watch.BOUND_MAX_MS)
  })

  test('an expired clock is looked at twice: what waits in the socket comes first', () => {
    const seen = steady(10, 2_000)
    expect(watch.suspects(seen, UP, 2_051)).toBe(false)
    watch.markAlive(seen, 2_052)
    expect(watch.suspects(seen, UP, 2_053)).toBe(false)
  })

  test('a stall of our own is taken off the clocks', () => {
    const seen = steady(10, 2_000)
    watch.forgive(seen, 7_000, 4_990)
    expect(watch.suspects(seen, UP, 7_000)).toBe(false)
    expect(suspectedAt(seen, 7_000)).toBeGreaterThanOrEqual(7_040)
    expect(suspectedAt(seen, 7_000)).toBeLessThan(7_100)
  })

  test('while the hub is out of reach the silence of a relayed peer proves nothing', () => {
    const seen = steady(100, 2_000, true)
    expect(suspectedAt(seen, 60_000, { up: false, since: 0 })).toBe(Infinity)
    const back: HubContact = { up: true, since: 60_000 }
    const at = suspectedAt(seen, 60_000, back)
    expect(at).toBeGreaterThanOrEqual(60_000 + watch.HUB_GRACE_MS)
    watch.markAlive(seen, 60_500)
    expect(suspectedAt(seen, 60_500, back)).toBeLessThan(62_000)
  })

  test('a direct peer is watched whether the hub is there or not', () => {
    expect(suspectedAt(steady(10, 2_000), 2_000, { up: false, since: 0 })).toBeLessThan(2_100)
  })
})

describe('the bound of a peer', () => {
  /** Heard so often, each time so long after the last; the first at 0. */
  function rhythm(gaps: readonly number[]): FailureDetector {
    const seen = watch.create(0, 'udp')
    let now = 0
    for (const gap of gaps) watch.markAlive(seen, (now += gap))
    return seen
  }
  test('adapts once twenty gaps were measured over two seconds, and not before (PR-2)', () => {
    const many = (count: number, gap: number): readonly number[] => {
      return Array.from({ length: count }, () => gap)
    }
    expect(watch.bound(rhythm(many(19, 110)))).toBe(watch.BOUND_MAX_MS)
    expect(watch.bound(rhythm(many(20, 100)))).toBe(2 * 100 + 10)
    expect(watch.bound(rhythm(many(20, 99)))).toBe(watch.BOUND_MAX_MS)
    expect(watch.bound(rhythm(many(400, 5)))).toBe(watch.BOUND_MIN_MS)
    expect(watch.bound(rhythm(many(20, 495)))).toBe(watch.BOUND_MAX_MS)
    expect(watch.bound(rhythm(many(20, 600)))).toBe(watch.BOUND_MAX_MS)
  })
  test('leaves out the first gap, keeps the longest, and lets it fade by half in four seconds (PR-2)', () => {
    const seen = rhythm([900, 100])
    expect(seen.gapMax).toBe(100)
    watch.markAlive(seen, 1_020)
    expect(seen.gapMax).toBeCloseTo(100 * 0.5 ** (20 / 4_000), 9)
    watch.markAlive(seen, 1_320)
    expect(seen.gapMax).toBe(300)
  })
  test('of a peer that the hub vouched for is the longest (PR-2)', () => {
    const seen = rhythm(Array.from({ length: 300 }, () => 10))
    expect(watch.bound(seen)).toBe(watch.BOUND_MIN_MS)
    seen.vouched = true
    expect(watch.bound(seen)).toBe(watch.BOUND_MAX_MS)
  })
  test('is counted from after a stall of our own, which ends a second look and is no gap (PR-2)', () => {
    const seen = rhythm([100, 100])
    seen.secondLook = 5
    watch.forgive(seen, 1_000, 300)
    expect(seen).toMatchObject({ since: 500, lastReceived: 500, secondLook: Infinity })
    watch.forgive(seen, 1_000, 900)
    expect(seen).toMatchObject({ since: 1_000, lastReceived: 1_000 })
  })
  test('is looked at again once, and a word in between ends that (PR-2)', () => {
    const seen = watch.create(0, 'udp')
    const at = watch.BOUND_MAX_MS
    expect(watch.suspects(seen, UP, at)).toBe(false)
    expect([seen.secondLook, watch.deadline(seen, UP)]).toEqual([at, at])
    watch.markAlive(seen, at)
    expect([seen.secondLook, watch.deadline(seen, UP)]).toEqual([Infinity, 2 * at])
    expect(watch.suspects(seen, UP, 2 * at)).toBe(false)
    // Once silence proves nothing, the second look is off; later ones wait for both.
    seen.relayed = true
    expect(watch.suspects(seen, { up: true, since: 2 * at }, 2 * at)).toBe(false)
    expect(seen.secondLook).toBe(Infinity)
    seen.secondLook = 9_999
    expect(watch.deadline(seen, UP)).toBe(9_999)
    expect(watch.deadline(seen, { up: true, since: 2 * at })).toBe(9_999)
    seen.secondLook = 7
    expect(watch.deadline(seen, UP)).toBe(2 * at)
  })
  test('does not begin before it: silence is never less than none (PR-2)', () => {
    const seen = watch.create(100, 'relay')
    expect(watch.silence(seen, UP, 50)).toBe(0)
    expect(watch.silence(seen, { up: false, since: 0 }, 9_999)).toBe(0)
    expect(watch.silence(seen, UP, 350)).toBe(250)
    // Heard at the instant at which the hub came back it has been heard since.
    expect(watch.silence(seen, { up: true, since: 100 }, 350)).toBe(250)
  })
})
