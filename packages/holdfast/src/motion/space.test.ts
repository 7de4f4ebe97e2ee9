// Goal: what moves in space, and what turns there, is shown as smoothly as in the plane.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as motion from './motion.ts'
import type { Motion } from './motion.ts'
import { turnBetween, turned } from './rotation.ts'
import * as trails from './trail.ts'
import type { Track, Trail } from './trail.ts'

const OPEN = { min: -Infinity, max: Infinity }
const plane: Track = { kind: 'plane', ...OPEN }
const space: Track = { kind: 'space', ...OPEN }
const rotation: Track = { kind: 'rotation', ...OPEN }

const some = fc.double({ min: -20, max: 20, noNaN: true })
const arrows = fc.tuple(some, some, some)
const units = fc
  .tuple(some, some, some, some)
  .filter((four) => Math.hypot(...four) > 0.01)
  .map((four) => four.map((one) => one / Math.hypot(...four)))

/** By how much two orientations, or two places in space, are apart. */
function apart(one: ArrayLike<number>, other: ArrayLike<number>): number {
  if (one.length === 3) {
    return Math.hypot(...Array.from(one, (number, i) => number - other[i]!))
  }
  const between = [0, 0, 0]
  turnBetween(Array.from(one), 0, Array.from(other), 0, between, 0)
  return Math.hypot(...between)
}

function turnedBy(from: number[], [x, y, z]: readonly number[]): number[] {
  const into = [0, 0, 0, 0]
  turned(from, 0, x!, y!, z!, into, 0)
  return into
}

function give(
  moving: Motion,
  at: number,
  position: number[],
  velocity: number[],
  factor: number,
): void {
  moving.came.position.set(position)
  moving.came.velocity.fill(0)
  moving.came.velocity.set(velocity)
  motion.addSample(moving, at, at, factor, Infinity)
}

function shown(moving: Motion, now: number, factor: number): number[] {
  motion.look(moving, now, factor)
  return [...moving.shown]
}

function goalAt(trail: Trail, now: number): number[] {
  trails.aim(trail, now)
  return [...trail.goal]
}

function append(trail: Trail, at: number, position: number[], velocity: number[]): void {
  const row = (from: number[]): Float64Array => {
    const made = new Float64Array(trail.goal.length)
    made.set(from)
    return made
  }
  trails.append(trail, at, row(position), row(velocity))
}

describe('a turn', () => {
  test('between two orientations, done, gives the second, and is half round at most (AP-19)', () => {
    fc.assert(
      fc.property(units, units, (from, to) => {
        const by = [0, 0, 0]
        turnBetween(from, 0, to, 0, by, 0)
        expect(Math.hypot(...by)).toBeLessThanOrEqual(Math.PI + 1e-9)
        expect(apart(turnedBy(from, by), to)).toBeLessThan(1e-7)
        const back = to.map((one) => -one)
        const same = [0, 0, 0]
        turnBetween(from, 0, back, 0, same, 0)
        expect(Math.abs(Math.hypot(...same) - Math.hypot(...by))).toBeLessThan(1e-9)
      }),
    )
  })

  test('keeps the length of a quaternion, and adds up about one axis (AP-19)', () => {
    fc.assert(
      fc.property(units, arrows, some, some, (from, axis, one, other) => {
        const by = (share: number): number[] => axis.map((number) => number * share)
        const twice = turnedBy(turnedBy(from, by(one)), by(other))
        expect(Math.abs(Math.hypot(...twice) - 1)).toBeLessThan(1e-9)
        expect(apart(twice, turnedBy(from, by(one + other)))).toBeLessThan(1e-6)
      }),
    )
  })

  test('a quarter about z takes x to y, seen from the world (AP-19)', () => {
    const half = Math.SQRT1_2
    const wanted = [0, 0, half, half].map((one): unknown => expect.closeTo(one, 12))
    expect(turnedBy([0, 0, 0, 1], [0, 0, Math.PI / 2])).toEqual(wanted)
    // What was turned about x before turns about the world's z, not about its own.
    const tilted = turnedBy([half, 0, 0, half], [0, 0, Math.PI / 2])
    expect(tilted).toEqual([0.5, 0.5, 0.5, 0.5].map((one): unknown => expect.closeTo(one, 12)))
  })
})

describe('the goal', () => {
  test('T50: goes on by the velocity in space, and by the angular velocity (AP-19)', () => {
    fc.assert(
      fc.property(arrows, arrows, units, arrows, (place, velocity, turn, spin) => {
        const trail = trails.create([space, rotation])
        append(trail, 1_000, [...place, ...turn], [...velocity, ...spin])
        const goal = goalAt(trail, 1_100)
        expect(
          apart(
            goal.slice(0, 3),
            place.map((one, i) => one + velocity[i]! / 10),
          ),
        ).toBeLessThan(1e-9)
        expect(
          apart(
            goal.slice(3),
            turnedBy(
              turn,
              spin.map((one) => one / 10),
            ),
          ),
        ).toBeLessThan(1e-6)
      }),
    )
  })

  test('is in space what it is in the plane, whichever way the plane lies (AP-19)', () => {
    const whole = fc.integer({ min: -20, max: 20 })
    const samples = fc.array(fc.tuple(whole, whole, whole, whole), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(samples, units, (all, way) => {
        // In the plane straight back is half a turn; in space there is no axis for it.
        fc.pre(all.every(([, , vx, vy], i) => i === 0 || !isBack(all[i - 1]!, vx, vy)))
        const flat = trails.create([plane])
        const deep = trails.create([space])
        for (const [i, [x, y, vx, vy]] of all.entries()) {
          append(flat, i * 60, [x, y], [vx, vy])
          append(deep, i * 60, rotated(way, [x, y, 0]), rotated(way, [vx, vy, 0]))
        }
        const now = (all.length - 1) * 60 + 130
        const [x, y] = goalAt(flat, now)
        expect(apart(goalAt(deep, now), rotated(way, [x!, y!, 0]))).toBeLessThan(1e-6)
        const [px, py] = flat.pace
        expect(apart(deep.pace, rotated(way, [px!, py!, 0]))).toBeLessThan(1e-5)
      }),
    )
  })

  test('of what stood and goes again is no turn, in whichever direction (T50)', () => {
    for (const speed of [
      [-1, -1],
      [1, 1],
      [-3, 0],
      [0, -2],
    ]) {
      const trail = trails.create([plane])
      for (const [i, velocity] of [speed, [0, 0], speed].entries()) {
        append(trail, i * 60, [0, 0], velocity)
      }
      const [x, y] = goalAt(trail, 250)
      expect(Math.abs(x! * speed[1]! - y! * speed[0]!)).toBeLessThan(1e-9)
      expect(x! * speed[0]! + y! * speed[1]!).toBeGreaterThan(0)
    }
  })

  test('goes round a screw that the samples agree on, ten times nearer than a line (AP-19)', () => {
    const place = (t: number): number[] => [5 * Math.cos(2 * t), 5 * Math.sin(2 * t), 3 * t]
    const speed = (t: number): number[] => [-10 * Math.sin(2 * t), 10 * Math.cos(2 * t), 3]
    const trail = trails.create([space])
    for (let at = 0; at <= 500; at += 50) append(trail, at, place(at / 1000), speed(at / 1000))
    const line = trails.create([space])
    append(line, 500, place(0.5), speed(0.5))
    const found = apart(goalAt(trail, 650), place(0.65))
    expect(found).toBeLessThan(apart(goalAt(line, 650), place(0.65)) / 10)
  })

  test('turns faster and faster, where the samples agree on that (AP-19)', () => {
    const truth = (t: number): number[] => turnedBy([0, 0, 0, 1], [0, t + 2 * t * t, 0])
    const trail = trails.create([rotation])
    for (let at = 0; at <= 500; at += 50) append(trail, at, truth(at / 1000), [0, 1 + at / 250, 0])
    expect(apart(goalAt(trail, 650), truth(0.65))).toBeLessThan(1e-6)
    append(trail, 550, truth(0.55), [0, -3, 0])
    for (const one of trail.bend) expect(Math.abs(one)).toBe(0)
  })

  test('stays in the range of its field, and takes a throw back for no bend (AP-19)', () => {
    const trail = trails.create([{ kind: 'space', min: 0, max: 10 }])
    for (const [i, vx] of [20, 20, -20].entries()) append(trail, i * 50, [9, 5, 0.5], [vx, 1, -5])
    expect([...trail.bend]).toEqual([0, 0, 0, 0])
    append(trail, 1_000, [9, 5, 0.5], [20, 1, -5])
    expect(goalAt(trail, 1_200)).toEqual([10, expect.closeTo(5.2), 0])
    expect([...trail.pace]).toEqual([0, 1, 0])
  })

  test('is a number, and an orientation of length 1, whatever comes and whenever (AP-19)', () => {
    const any = fc.double({ min: -1e3, max: 1e3, noNaN: true })
    const times = fc.double({ min: -1e9, max: 1e9, noNaN: true })
    const threes = fc.tuple(any, any, any)
    const samples = fc.array(fc.tuple(times, threes, threes, units, threes), { minLength: 1 })
    fc.assert(
      fc.property(samples, times, (all, now) => {
        const trail = trails.create([{ kind: 'space', min: -1e3, max: 1e3 }, rotation])
        for (const [at, place, velocity, turn, spin] of all) {
          append(trail, at, [...place, ...turn], [...velocity, ...spin])
        }
        const goal = goalAt(trail, now)
        for (const one of goal.slice(0, 3)) expect(Math.abs(one)).toBeLessThanOrEqual(1e3)
        expect(Math.hypot(...goal.slice(3))).toBeCloseTo(1, 9)
        for (const one of trail.pace) expect(Number.isFinite(one)).toBe(true)
      }),
    )
  })
})

function isBack([, , x, y]: readonly number[], vx: number, vy: number): boolean {
  return x! * vy - y! * vx === 0 && x! * vx + y! * vy < 0
}

/** A place in space, turned about the origin. */
function rotated([x, y, z, w]: number[], [a, b, c]: number[]): number[] {
  const [i, j, k] = [2 * (y! * c! - z! * b!), 2 * (z! * a! - x! * c!), 2 * (x! * b! - y! * a!)]
  return [
    a! + w! * i + y! * k - z! * j,
    b! + w! * j + z! * i - x! * k,
    c! + w! * k + x! * j - y! * i,
  ]
}

describe('what is shown', () => {
  const factors = fc.double({ min: 0.05, max: 0.98, noNaN: true })
  const gaps = fc.double({ min: 1, max: 400, noNaN: true })
  const streams = fc
    .array(fc.tuple(gaps, arrows, arrows, units, arrows), { minLength: 2, maxLength: 8 })
    .map((all) => {
      let at = 0
      return all.map(([gap, place, velocity, turn, spin]) => {
        at += gap
        return { at, position: [...place, ...turn], velocity: [...velocity, ...spin] }
      })
    })
  const far = (one: number[], other: number[]): number =>
    Math.max(apart(one.slice(0, 3), other.slice(0, 3)), apart(one.slice(3), other.slice(3)))

  test('T54: warp.cont: no update makes a jump, in space or in orientation (AP-19)', () => {
    fc.assert(
      fc.property(streams, factors, (stream, factor) => {
        const moving = motion.create([space, rotation])
        let looked = false
        for (const { at, position, velocity } of stream) {
          const before = looked ? shown(moving, at, factor) : null
          give(moving, at, position, velocity, factor)
          const after = shown(moving, at, factor)
          if (before) expect(far(before, after)).toBeLessThan(1e-6)
          looked = true
        }
      }),
    )
  })

  test('T53: warp.zero: a factor of zero shows the goal (AP-19)', () => {
    fc.assert(
      fc.property(streams, (stream) => {
        const moving = motion.create([space, rotation])
        for (const { at, position, velocity } of stream) {
          give(moving, at, position, velocity, 0)
          expect(far(shown(moving, at + 7, 0), goalAt(moving.trail, at + 7))).toBeLessThan(1e-7)
        }
      }),
    )
  })

  test('warp.rate: two half frames are one (AP-19)', () => {
    fc.assert(
      fc.property(streams, factors, gaps, (stream, factor, frame) => {
        const once = motion.create([space, rotation])
        for (const { at, position, velocity } of stream) {
          give(once, at, position, velocity, factor)
          motion.look(once, at, factor)
        }
        const twice = structuredClone(once)
        const start = stream.at(-1)!.at
        motion.look(twice, start + frame / 2, factor)
        const [one, other] = [once, twice].map((each) => shown(each, start + frame, factor))
        expect(far(one!, other!)).toBeLessThan(1e-6)
      }),
    )
  })

  test('T54: warp.conv: it comes to the goal on the shorter way round, and does not flip (AP-19)', () => {
    fc.assert(
      fc.property(units, units, factors, (from, to, factor) => {
        const moving = motion.create([rotation])
        give(moving, 0, from, [0, 0, 0], factor)
        let before = shown(moving, 0, factor)
        const whole = apart(from, to)
        give(moving, 1, to, [0, 0, 0], factor)
        let last = whole
        for (let now = 17; now < 6_000; now += 17) {
          const seen = shown(moving, now, factor)
          const left = apart(seen, to)
          expect(left).toBeLessThanOrEqual(last + 1e-6)
          expect(seen.reduce((sum, one, i) => sum + one * before[i]!, 0)).toBeGreaterThan(-1e-9)
          last = left
          before = seen
        }
        expect(last).toBeLessThan(0.01)
      }),
      { numRuns: 30 },
    )
  })

  test('an error in space beyond `snap` is a teleport, one of orientation never is (AP-19)', () => {
    const at = (snap: number): number[] => {
      const moving = motion.create([space, rotation])
      give(moving, 0, [0, 0, 0, 0, 0, 0, 1], [], 0.8)
      motion.look(moving, 0, 0.8)
      moving.came.position.set([2, 3, 6, 1, 0, 0, 0])
      motion.addSample(moving, 9, 9, 0.8, snap)
      return shown(moving, 9, 0.8)
    }
    expect(at(6.9).slice(0, 3)).toEqual([2, 3, 6])
    expect(apart(at(7.1), [0, 0, 0, 0, 0, 0, 1])).toBeLessThan(1e-9)
  })
})
