// Goal: what is shown follows the goal as F says, without jumps, and the same at any frame rate.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as motion from './motion.ts'
import { FRAME_MS, type Motion } from './motion.ts'
import type { Track } from './trail.ts'
import { step, type Warp } from '../../../../test/motion/warp.ts'

const OPEN = { min: -Infinity, max: Infinity }
const plane: Track = { kind: 'plane', ...OPEN }
const line: Track = { kind: 'line', ...OPEN }
const turn: Track = { kind: 'turn', ...OPEN }

/** One update: made and come at these instants, numbers of all tracks in a row. */
interface Sample {
  madeAt: number
  comesAt: number
  position: number[]
  velocity: number[]
}

function give(moving: Motion, sample: Sample, factor: number, snap = Infinity): void {
  moving.came.position.set(sample.position)
  moving.came.velocity.set(sample.velocity)
  motion.addSample(moving, sample.comesAt, sample.madeAt, factor, snap)
}

function shown(moving: Motion, now: number, factor: number): number[] {
  motion.look(moving, now, factor)
  return [...moving.shown]
}

const factors = fc.double({ min: 0.05, max: 0.98, noNaN: true })
const places = fc.double({ min: -100, max: 100, noNaN: true })
const speeds = fc.double({ min: -30, max: 30, noNaN: true })
const gaps = fc.double({ min: 1, max: 400, noNaN: true })
const three = <Value>(one: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> =>
  fc.array(one, { minLength: 4, maxLength: 4 })
/** Samples of a plane, a line and an angle, later and later made, with delays of their own. */
const streams = fc
  .array(fc.tuple(gaps, gaps, three(places), three(speeds)), { minLength: 2, maxLength: 8 })
  .map((all) => {
    let madeAt = 0
    let comesAt = 0
    return all.map(([gap, delay, position, velocity]): Sample => {
      madeAt += gap
      comesAt = Math.max(comesAt + 1, madeAt + delay)
      return { madeAt, comesAt, position, velocity }
    })
  })

function far(left: number[], right: number[]): number {
  const round = Math.abs(left[3]! - right[3]!)
  const angle = Math.min(round, 2 * Math.PI - round)
  return Math.max(...left.slice(0, 3).map((one, at) => Math.abs(one - right[at]!)), angle)
}

describe('the source’s warp', () => {
  test('T52: W goes on by its own velocity, then W = F W + (1 - F) G', () => {
    const warp: Warp = { place: 10, velocity: 6 }
    step(warp, 20, 12, FRAME_MS, 0.8)
    expect(warp.place).toBeCloseTo(0.8 * 10.1 + 0.2 * 20)
    expect(warp.velocity).toBeCloseTo(0.8 * 6 + 0.2 * 12)
  })

  test('T53: warp.zero: a factor of zero is the goal', () => {
    fc.assert(
      fc.property(places, places, speeds, (place, goal, velocity) => {
        const warp = { place, velocity }
        step(warp, goal, 3, FRAME_MS, 0)
        expect(warp.place === goal && warp.velocity === 3).toBe(true)
      }),
    )
  })

  test('warp.cont: a frame jumps by (1 - F) of the error and its own speed at most', () => {
    fc.assert(
      fc.property(factors, places, speeds, places, speeds, (factor, place, own, goal, speed) => {
        const warp = { place, velocity: own }
        const error = Math.abs(place + (own * FRAME_MS) / 1000 - goal)
        step(warp, goal, speed, FRAME_MS, factor)
        const most = (1 - factor) * error + (Math.abs(own) * FRAME_MS) / 1000
        expect(Math.abs(warp.place - place)).toBeLessThanOrEqual(most + 1e-9)
      }),
    )
  })

  test('warp.conv: in straight motion each frame leaves F of the error', () => {
    fc.assert(
      fc.property(factors, places, speeds, (factor, place, velocity) => {
        const warp = { place, velocity }
        const goal = (velocity * FRAME_MS) / 1000
        step(warp, goal, velocity, FRAME_MS, factor)
        expect(warp.place - goal).toBeCloseTo(factor * place, 9)
      }),
    )
  })

  test('warp.rate: two half frames are one', () => {
    fc.assert(
      fc.property(factors, places, speeds, speeds, gaps, (factor, place, own, speed, frame) => {
        const once = { place, velocity: own }
        const twice = { ...once }
        const goal = (at: number): number => 5 + (speed * at) / 1000
        step(once, goal(frame), speed, frame, factor)
        for (const at of [frame / 2, frame]) step(twice, goal(at), speed, frame / 2, factor)
        expect(Math.abs(once.place - twice.place)).toBeLessThan(1e-9)
        expect(Math.abs(once.velocity - twice.velocity)).toBeLessThan(1e-9)
      }),
    )
  })
})

describe('what is shown', () => {
  const create = (): Motion => motion.create([plane, line, turn])

  test('T53: warp.zero: a factor of zero shows the goal, exactly, as does the first look', () => {
    fc.assert(
      fc.property(streams, (stream) => {
        const moving = create()
        for (const sample of stream) {
          give(moving, sample, 0)
          const seen = shown(moving, sample.comesAt + 7, 0)
          const fresh = create()
          Object.assign(fresh, { trail: structuredClone(moving.trail) })
          expect(seen).toEqual(shown(fresh, sample.comesAt + 7, 0.8))
        }
      }),
    )
  })

  test('T53: warp.zero: a factor that falls to zero shows the goal at once, with no error left (PR-2)', () => {
    const moving = motion.create([line])
    give(moving, { madeAt: 0, comesAt: 0, position: [0], velocity: [0] }, 0.8)
    motion.look(moving, 0, 0.8)
    give(moving, { madeAt: 1, comesAt: 1, position: [9], velocity: [0] }, 0.8)
    expect(shown(moving, 1, 0.8)).toEqual([0])
    expect(shown(moving, 2, 0)).toEqual([9])
    expect(shown(moving, 3, 0.8)).toEqual([9])
  })

  test('T54: warp.cont: no update makes a jump', () => {
    fc.assert(
      fc.property(streams, factors, (stream, factor) => {
        const moving = create()
        let looked = false
        for (const sample of stream) {
          const before = looked ? shown(moving, sample.comesAt, factor) : null
          give(moving, sample, factor)
          const after = shown(moving, sample.comesAt, factor)
          if (before) expect(far(before, after)).toBeLessThan(1e-9)
          looked = true
        }
      }),
    )
  })

  test('T54: warp.cont: a frame jumps by (1 - F) of the error and both speeds at most', () => {
    const sample = fc.tuple(three(places), three(speeds))
    const some = fc.double({ min: 0.3, max: 0.98, noNaN: true })
    fc.assert(
      fc.property(sample, sample, some, ([from, own], [to, speed], factor) => {
        const moving = motion.create([plane, line])
        give(moving, { madeAt: 0, comesAt: 0, position: from.slice(1), velocity: own.slice(1) }, 0)
        const before = shown(moving, 150, factor)
        const next = { madeAt: 90, comesAt: 150, position: to.slice(1), velocity: speed.slice(1) }
        moving.trail.basisAt = NaN
        give(moving, next, factor)
        const errors = [...moving.error].map(Math.abs)
        for (const [at, one] of shown(moving, 150 + FRAME_MS, factor).entries()) {
          const speedsOf = Math.abs(own[at + 1]!) + 2 * Math.abs(speed[at + 1]!)
          const most = (1 - factor) * errors[at]! + (speedsOf * FRAME_MS) / 1000
          expect(Math.abs(one - before[at]!)).toBeLessThanOrEqual(most + 1e-9)
        }
      }),
    )
  })

  test('T54: warp.conv: it comes to the goal, and sooner with a smaller factor', () => {
    const left = (factor: number, frames: number): number => {
      const moving = motion.create([line])
      give(moving, { madeAt: 0, comesAt: 0, position: [0], velocity: [5] }, factor)
      motion.look(moving, 0, factor)
      give(moving, { madeAt: 1, comesAt: 1, position: [1], velocity: [5] }, factor)
      motion.look(moving, 1 + frames * FRAME_MS, factor)
      return Math.abs(moving.error[0]!)
    }
    for (const factor of [0.5, 0.8, 0.9]) {
      const falling = [0, 3, 6, 12, 24, 48].map((frames) => left(factor, frames))
      expect(falling).toEqual(falling.toSorted((a, b) => b - a))
      expect(left(factor, 200)).toBeLessThan(1e-6)
      expect(left(factor, 6)).toBeLessThan(left(factor + 0.05, 6))
    }
  })

  test('warp.conv: an error lasts as long on the whole as by the source’s formula', () => {
    for (const factor of [0.3, 0.8, 0.9]) {
      const moving = motion.create([line])
      const still = { position: [0], velocity: [0] }
      give(moving, { madeAt: 0, comesAt: 0, ...still }, factor)
      motion.look(moving, 0, factor)
      give(moving, { madeAt: 1, comesAt: 1, position: [1], velocity: [0] }, factor)
      let sum = 0
      for (let at = 1; at < 8_000; at += 0.25) {
        motion.look(moving, at, factor)
        sum += Math.abs(moving.error[0]!) * 0.25
      }
      expect(sum / (FRAME_MS / -Math.log(factor))).toBeCloseTo(1, 1)
    }
  })

  test('warp.rate: two half frames are one', () => {
    fc.assert(
      fc.property(streams, factors, gaps, (stream, factor, frame) => {
        const once = create()
        for (const sample of stream) {
          give(once, sample, factor)
          motion.look(once, sample.comesAt, factor)
        }
        const twice = structuredClone(once)
        const start = stream.at(-1)!.comesAt
        motion.look(twice, start + frame / 2, factor)
        const ends = [once, twice].map((one) => shown(one, start + frame, factor))
        expect(far(ends[0]!, ends[1]!)).toBeLessThan(1e-9 * 100)
        expect(Math.abs(once.drift[0]! - twice.drift[0]!)).toBeLessThan(1e-6)
      }),
    )
  })

  test('turns go the short way', () => {
    const moving = motion.create([turn])
    give(moving, { madeAt: 0, comesAt: 0, position: [6.2], velocity: [0] }, 0.8)
    motion.look(moving, 0, 0.8)
    give(moving, { madeAt: 100, comesAt: 100, position: [0.1], velocity: [0] }, 0.8)
    const seen = [100, 120, 140, 160, 200, 400, 900].map((at) => shown(moving, at, 0.8)[0]!)
    const apart = seen.map((angle) => (angle > Math.PI ? 2 * Math.PI - angle : -angle) + 0.1)
    expect(apart[0]).toBeCloseTo(2 * Math.PI - 6.1)
    expect(apart).toEqual(apart.toSorted((a, b) => b - a))
    expect(seen.at(-1)).toBeCloseTo(0.1)
    for (const angle of seen) expect(angle >= 0 && angle < 2 * Math.PI).toBe(true)
  })

  test('an error beyond `snap` is a teleport: it is shown at once', () => {
    const at = (snap: number): number => {
      const moving = motion.create([plane])
      give(moving, { madeAt: 0, comesAt: 0, position: [0, 0], velocity: [0, 0] }, 0.8)
      motion.look(moving, 0, 0.8)
      give(moving, { madeAt: 9, comesAt: 9, position: [3, 4], velocity: [0, 0] }, 0.8, snap)
      return shown(moving, 9, 0.8)[0]!
    }
    expect([at(4.9), at(5.1)]).toEqual([3, 0])
  })

  test('what was not shown yet has no error, nor what comes before the time is known', () => {
    const moving = motion.create([line])
    const sample = { madeAt: 0, position: [1], velocity: [0] }
    give(moving, { ...sample, comesAt: NaN }, 0.8)
    give(moving, { ...sample, madeAt: 50, comesAt: 60, position: [9] }, 0.8)
    expect(shown(moving, 60, 0.8)).toEqual([9])
  })
})

// Data made each second comes a second later; between the samples of 1 and of 2 it turned.
describe('figure 19', () => {
  const DATA: Sample[] = [
    { madeAt: 0, comesAt: 1_000, position: [0, 0], velocity: [10, 0] },
    { madeAt: 1_000, comesAt: 2_000, position: [10, 0], velocity: [10, 0] },
    { madeAt: 2_000, comesAt: 3_000, position: [17, 7], velocity: [0, 10] },
    { madeAt: 3_000, comesAt: 4_000, position: [17, 17], velocity: [0, 10] },
  ]

  /** Every place that is shown, frame by frame, and the largest step of one frame. */
  function path(factor: number): { places: [number, number][]; jump: number } {
    const moving = motion.create([plane], Infinity)
    const places: [number, number][] = []
    let next = 0
    for (let now = 1_000; now < 5_000; now += FRAME_MS) {
      while (DATA[next] && DATA[next]!.comesAt <= now) give(moving, DATA[next++]!, factor)
      motion.look(moving, now, factor)
      places.push([moving.shown[0]!, moving.shown[1]!])
    }
    const jumps = places.slice(1).map(([x, y], at) => {
      return Math.hypot(x - places[at]![0], y - places[at]![1])
    })
    return { places, jump: Math.max(...jumps) }
  }

  test('T51, T55: without warping the sample of 2 makes it jump from one line to another', () => {
    const { places, jump } = path(0)
    const index = Math.round(2_000 / FRAME_MS)
    // Until 3 it goes along the line of 1, as far as (30, 0); then it is on that of 2, at (17, 17).
    expect(places[index - 1]).toEqual([expect.closeTo(30, 0), 0])
    expect(places[index + 1]).toEqual([17, expect.closeTo(17, 0)])
    expect(jump).toBeGreaterThan(20)
  })

  test('T54, T55: with warping there is no jump, and it comes to the same line', () => {
    const { places, jump } = path(0.85)
    expect(jump).toBeLessThan(3)
    expect(places.at(-1)).toEqual([expect.closeTo(17, 1), expect.closeTo(37, 0)])
  })

  test('T55: nor with the source’s own formula', () => {
    const warps: Warp[] = [
      { place: 10, velocity: 10 },
      { place: 0, velocity: 0 },
    ]
    let jump = 0
    for (let now = 1_000; now < 5_000; now += FRAME_MS) {
      const { position, velocity, madeAt } = DATA.findLast(({ comesAt }) => comesAt <= now)!
      const before = warps.map(({ place }) => place)
      for (const [at, warp] of warps.entries()) {
        const goal = position[at]! + (velocity[at]! * (now - madeAt)) / 1000
        step(warp, goal, velocity[at]!, FRAME_MS, 0.85)
      }
      jump = Math.max(jump, Math.hypot(...warps.map(({ place }, at) => place - before[at]!)))
    }
    expect(jump).toBeLessThan(5)
    expect(warps[1]!.place).toBeCloseTo(37, 0)
  })
})
