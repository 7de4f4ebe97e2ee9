import fc from 'fast-check'
import type { Vec2 } from 'holdfast'
import { describe, expect, test } from 'vitest'
import { POT_RADIUS, SPOTS, touches, TRAY_RADIUS } from './arena.ts'
import * as lumps from './lumps.ts'
import { distance, dot, length, scale, wayOf } from './plane.ts'
import { type Body, bodyAt, type Intent, type Other, step, STEP_MS } from './pot.ts'

const STEPS = 1000 / STEP_MS
const still = (pos: Vec2): Other => ({ pos, vel: [0, 0] })

function run(
  lump: lumps.Lump,
  seconds: number,
  pots: Other[] = [],
  others: Other[] = [],
): lumps.Lump {
  let now = lump
  for (let i = 0; i < seconds * STEPS; i++) now = lumps.slide(now, pots, others)
  return now
}

/** A pot that pushes a lump with all its might. @returns both, after each step */
function push(pot: Body, lump: lumps.Lump, move: Vec2, seconds: number): [Body, lumps.Lump][] {
  const intent: Intent = { move, aim: null, fire: false }
  const seen: [Body, lumps.Lump][] = []
  for (let i = 0; i < seconds * STEPS; i++) {
    pot = lumps.slowed(step(pot, intent, []), [lump])
    lump = lumps.slide(lump, [pot], [])
    seen.push([pot, lump])
  }
  return seen
}

const place = fc
  .tuple(fc.double({ min: 0, max: 15, noNaN: true }), fc.double({ min: 0, max: 6.3, noNaN: true }))
  .map(([far, way]) => scale(wayOf(way), far))
const velocity = fc
  .tuple(fc.double({ min: 0, max: 15, noNaN: true }), fc.double({ min: 0, max: 6.3, noNaN: true }))
  .map(([fast, way]) => scale(wayOf(way), fast))
const anyLump = fc.record({
  pos: place,
  vel: velocity,
  turn: fc.double({ min: 0, max: 6.28, noNaN: true }),
  spin: fc.double({ min: -11, max: 11, noNaN: true }),
})

describe('a lump', () => {
  test('has a home that is clear of everything, and of the places where pots are put down', () => {
    for (const [i, home] of lumps.HOMES.entries()) {
      expect(touches(home, lumps.LUMP_RADIUS + 0.3)).toEqual([])
      for (const spot of SPOTS) expect(distance(home, spot)).toBeGreaterThan(2.5)
      for (const other of lumps.HOMES.slice(i + 1)) expect(distance(home, other)).toBeGreaterThan(4)
      expect(lumps.rests(lumps.lumpAt(i))).toBe(true)
    }
    expect(lumps.lumpAt(lumps.HOMES.length).pos).toEqual(lumps.HOMES[0])
  })

  test('that lies still and is not touched stays the very same', () => {
    const lump = lumps.lumpAt(2)
    expect(lumps.slide(lump, [still([0, 8])], [still([5, 5])])).toBe(lump)
  })

  test('slides on and comes to rest exactly, and soon', () => {
    fc.assert(
      fc.property(anyLump, (lump) => {
        const rest = run(lump, 4)
        expect(lumps.rests(rest)).toBe(true)
        expect(rest.vel).toEqual([0, 0])
        expect(lumps.slide(rest, [], [])).toBe(rest)
      }),
      { seed: 11 },
    )
  })

  test('never leaves the tray, lies in nothing that stands there, and is never too fast', () => {
    fc.assert(
      fc.property(anyLump, fc.array(place, { maxLength: 3 }), velocity, (lump, pots, vel) => {
        const pushing = pots.map((pos) => ({ pos, vel }))
        let now = lump
        for (let i = 0; i < 2 * STEPS; i++) {
          now = lumps.slide(now, pushing, [])
          expect(lumps.isOff(now)).toBe(false)
          expect(length(now.vel)).toBeLessThanOrEqual(lumps.SLIDE_MAX + 1e-9)
        }
        const rest = run(now, 4)
        expect(touches(rest.pos, lumps.LUMP_RADIUS - 0.25)).toEqual([])
        expect(length(rest.pos) + lumps.LUMP_RADIUS).toBeLessThan(TRAY_RADIUS + 0.2)
      }),
      { seed: 12, numRuns: 60 },
    )
  })

  test('goes where a pot pushes it, and slows the pot a little', () => {
    const start = { ...lumps.lumpAt(4), pos: [12, -4] as Vec2, turn: 0 }
    const seen = push(bodyAt([12, -7]), start, [0, 1], 1)
    const [pot, lump] = seen.at(-1)!
    expect(lump.pos[1]).toBeGreaterThan(-1)
    expect(Math.abs(lump.pos[0] - 12)).toBeLessThan(0.2)
    expect(pot.pos[1]).toBeLessThan(lump.pos[1])
    const deepest = Math.max(
      ...seen.map(([at, of]) => lumps.pushOf(of, at.pos, POT_RADIUS)?.depth ?? 0),
    )
    expect(deepest).toBeLessThan(0.3)
    let free = bodyAt([12, -7])
    for (const _ of seen) free = step(free, { move: [0, 1], aim: null, fire: false }, [])
    expect(pot.pos[1]).toBeLessThan(free.pos[1])
  })

  test('turns when it is pushed beside its middle, the way it is pushed', () => {
    const start = { ...lumps.lumpAt(4), pos: [12, -4] as Vec2, turn: 0 }
    const left = push(bodyAt([11.4, -7]), start, [0, 1], 0.6).at(-1)![1]
    const right = push(bodyAt([12.6, -7]), start, [0, 1], 0.6).at(-1)![1]
    expect(left.turn).toBeGreaterThan(Math.PI)
    expect(right.turn).toBeGreaterThan(0.1)
    expect(right.turn).toBeLessThan(Math.PI)
  })

  test('bounces a little off the rim and off what stands there, never faster than it came', () => {
    const into = { ...lumps.lumpAt(0), pos: [13, 0] as Vec2, vel: [10, 0] as Vec2 }
    let now: lumps.Lump = into
    while (now.vel[0] > 0) now = lumps.slide(now, [], [])
    expect(now.vel[0]).toBeLessThan(-1)
    expect(now.vel[0]).toBeGreaterThan(-5)
    let cake: lumps.Lump = { ...into, pos: [0, 5], vel: [0, -8] }
    while (cake.vel[1] < 0) cake = lumps.slide(cake, [], [])
    expect(cake.pos[1]).toBeCloseTo(2.7 + lumps.LUMP_RADIUS, 5)
  })

  test('knocks another away; each owner moves its own, and they do not overlap for long', () => {
    let left: lumps.Lump = { ...lumps.lumpAt(0), pos: [10, -3], vel: [0, 9] }
    let right: lumps.Lump = { ...lumps.lumpAt(1), pos: [10, 0] }
    const before = left.vel[1] + right.vel[1]
    for (let i = 0; i < 3 * STEPS; i++) {
      const next = lumps.slide(left, [], [right])
      right = lumps.slide(right, [], [left])
      left = next
      expect(left.vel[1] + right.vel[1]).toBeLessThanOrEqual(before)
    }
    expect(right.pos[1]).toBeGreaterThan(0.5)
    expect(distance(left.pos, right.pos)).toBeGreaterThan(2 * lumps.LUMP_RADIUS - 0.02)
    expect([lumps.rests(left), lumps.rests(right)]).toEqual([true, true])
    expect(lumps.slide(left, [], [right])).toBe(left)
  })

  test('is pushed out by a pot that was put down on it, whichever way', () => {
    fc.assert(
      fc.property(place, (pos) => {
        const lump = { ...lumps.lumpAt(3), pos: [10.5, 0] as Vec2 }
        const near: Vec2 = [10.5 + pos[0] / 16, pos[1] / 16]
        const after = run(lump, 0.5, [still(near)])
        expect(lumps.pushOf(after, near, POT_RADIUS)?.depth ?? 0).toBeLessThan(0.02)
      }),
      { seed: 13 },
    )
  })

  test('that is nowhere on the tray is to be put back', () => {
    const off = (x: number): boolean => lumps.isOff({ pos: [x, 0] })
    expect([15, 17, Infinity, NaN].map(off)).toEqual([false, true, true, true])
  })

  test('moves the same way from the same start', () => {
    fc.assert(
      fc.property(anyLump, place, (lump, pot) => {
        const once = run(lump, 1, [still(pot)])
        expect(run(structuredClone(lump), 1, [still(pot)])).toEqual(once)
        expect(dot(once.vel, once.vel)).toBeLessThanOrEqual(dot(lump.vel, lump.vel) + 1e-9)
      }),
      { seed: 14, numRuns: 50 },
    )
  })
})
