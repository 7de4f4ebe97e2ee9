// Goal: the goal is where the thing really is, as far as its last samples can tell.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as trails from './trail.ts'
import { REACH_MS, type Track, type Trail } from './trail.ts'

const OPEN = { min: -Infinity, max: Infinity }
const plane: Track = { kind: 'plane', ...OPEN }

function goalAt(trail: Trail, now: number): number[] {
  trails.aim(trail, now)
  return [...trail.goal]
}

function append(trail: Trail, at: number, position: number[], velocity: number[]): void {
  trails.append(trail, at, Float64Array.from(position), Float64Array.from(velocity))
}

/** Samples of a path each `every` ms, up to `last`. */
function follow(path: (t: number) => number[], every: number, last: number): Trail {
  const trail = trails.create([plane])
  for (let at = 0; at <= last; at += every) {
    const here = path(at / 1000)
    const there = path(at / 1000 + 1e-4)
    append(
      trail,
      at,
      here,
      here.map((one, axis) => (there[axis]! - one) / 1e-4),
    )
  }
  return trail
}

const distance = (left: number[], right: number[]): number =>
  Math.hypot(left[0]! - right[0]!, left[1]! - right[1]!)

describe('the goal', () => {
  test('T50: goes on by the velocity, in place and in angle', () => {
    const tracks: Track[] = [plane, { kind: 'line', ...OPEN }, { kind: 'turn', ...OPEN }]
    const trail = trails.create(tracks)
    append(trail, 1_000, [1, 2, 3, 6], [10, -20, 5, 2])
    const wanted = [2, 0, 3.5, 6.2]
    for (const [at, one] of goalAt(trail, 1_100).entries()) expect(one).toBeCloseTo(wanted[at]!, 9)
  })

  test('T50: never further than in 250 ms, and then it stands', () => {
    const trail = trails.create([plane])
    append(trail, 0, [0, 0], [10, 0])
    expect(goalAt(trail, 200)[0]).toBeCloseTo(2, 9)
    let before = 0
    for (let now = 0; now <= 400; now += 5) {
      const [x] = goalAt(trail, now)
      expect(x! >= before && x! <= (10 * REACH_MS) / 1000 + 1e-9).toBe(true)
      // It stops gently: no frame differs from the one before by much more than the last did.
      expect(x! - before).toBeLessThanOrEqual(0.05 + 1e-9)
      before = x!
    }
    expect([goalAt(trail, 300)[0], goalAt(trail, 9_000)[0]]).toEqual([2.5, 2.5])
    expect(trail.pace[0]).toBe(0)
  })

  test('is not moved by a sample from the future', () => {
    const trail = trails.create([plane])
    append(trail, 1e12, [3, 4], [10, 10])
    expect(goalAt(trail, 1_000)).toEqual([3, 4])
  })

  test('follows a bend that the last samples agree on, ten times nearer than a line', () => {
    const circle = (t: number): number[] => [5 * Math.cos(2 * t), 5 * Math.sin(2 * t)]
    const trail = follow(circle, 50, 500)
    const truth = circle(0.65)
    const straight = trails.create([plane])
    append(straight, 500, [...trail.position], [...trail.velocity])
    const found = distance(goalAt(trail, 650), truth)
    expect(found).toBeLessThan(distance(goalAt(straight, 650), truth) / 10)
  })

  test('where others reckon hangs on the newest sample alone', () => {
    const [all, last] = [0, 1].map(() => trails.create([plane], 1_000, false)) as [Trail, Trail]
    for (let at = 0; at <= 500; at += 50) {
      const angle = at / 200
      append(
        all,
        at,
        [Math.cos(angle), Math.sin(angle)],
        [-5 * Math.sin(angle), 5 * Math.cos(angle)],
      )
    }
    append(last, 500, [...all.position], [...all.velocity])
    expect(goalAt(all, 1_200)).toEqual(goalAt(last, 1_200))
  })

  test('follows what speeds up, and brakes to rest but not back', () => {
    const faster = follow((t) => [4 * t + 3 * t * t, 0], 50, 500)
    expect(goalAt(faster, 650)[0]).toBeCloseTo(4 * 0.65 + 3 * 0.65 ** 2, 2)
    const braking = follow((t) => [4 * t - 3.6 * t * t, 0], 50, 500)
    const [rest] = goalAt(braking, 700)
    expect(rest).toBeCloseTo(4 * 0.5556 - 3.6 * 0.5556 ** 2, 1)
    expect(goalAt(braking, 740)[0]).toBeCloseTo(rest!, 9)
  })

  test('takes a bounce for no bend', () => {
    const trail = follow((t) => [Math.abs(t - 0.42) * 10, 0], 50, 450)
    expect([...trail.bend]).toEqual([0, 0])
    expect(goalAt(trail, 550)[0]).toBeCloseTo(1.3, 2)
  })

  test('stays in the range of its field', () => {
    const trail = trails.create([{ kind: 'plane', min: 0, max: 10 }])
    append(trail, 0, [9, 5], [20, 1])
    expect(goalAt(trail, 200)).toEqual([10, expect.closeTo(5.2)])
    expect([...trail.pace]).toEqual([0, 1])
  })

  test.each([1_100, 400])('forgets the bend when the next instant is %d after 500', (next) => {
    const trail = follow((t) => [5 * Math.cos(2 * t), 5 * Math.sin(2 * t)], 50, 500)
    expect(trail.bend[0]).toBeGreaterThan(1)
    append(trail, next, [0, 0], [10, 0])
    expect(goalAt(trail, next + 100)).toEqual([1, 0])
  })

  test('a sample soon after another leaves the bend as it was (PR-2)', () => {
    const circle = (t: number): number[] => [5 * Math.cos(2 * t), 5 * Math.sin(2 * t)]
    const trail = follow(circle, 50, 500)
    const turn = trail.bend[0]
    // Rounded as it may come of a field: over 10 ms that would be a bend of its own.
    append(trail, 510, circle(0.51), [-8.5, 5.2])
    expect(trail.bend[0]).toBe(turn)
    expect(distance(goalAt(trail, 660), circle(0.66))).toBeLessThan(0.1)
  })

  test('is a number, and near, whatever comes and whenever', () => {
    const any = fc.double({ min: -1e3, max: 1e3, noNaN: true })
    const times = fc.double({ min: -1e9, max: 1e9, noNaN: true })
    const pairs = fc.tuple(any, any)
    const samples = fc.array(fc.tuple(times, pairs, pairs), { minLength: 1, maxLength: 9 })
    fc.assert(
      fc.property(samples, times, (all, now) => {
        const trail = trails.create([{ kind: 'plane', min: -1e3, max: 1e3 }])
        for (const [at, position, velocity] of all) append(trail, at, position, velocity)
        for (const one of goalAt(trail, now)) expect(Math.abs(one)).toBeLessThanOrEqual(1e3)
        for (const one of trail.pace) expect(Number.isFinite(one)).toBe(true)
      }),
    )
  })
})
