import fc from 'fast-check'
import type { Vec2 } from 'holdfast'
import { describe, expect, test } from 'vitest'
import * as arena from './arena.ts'
import { along, distance, dot, length, nearestOn, scale, wayOf } from './plane.ts'

const angle = fc.double({ min: 0, max: 2 * Math.PI, noNaN: true })

/** A place where a disc fits, found from any place. */
function freeAt(at: Vec2, radius: number): Vec2 {
  let place = at
  for (let i = 0; i < 50; i++) {
    const [touch] = arena.touches(place, radius)
    if (!touch) return place
    place = along(place, touch.normal, touch.depth + 1e-6)
  }
  return arena.SPOTS[0]!
}

const free = fc
  .tuple(fc.double({ min: 0, max: 15, noNaN: true }), angle)
  .map(([far, way]) => freeAt(scale(wayOf(way), far), arena.CUBE_RADIUS))

describe('the tray', () => {
  test('every place where pots are put down is clear of everything', () => {
    for (const spot of arena.SPOTS) {
      expect(arena.touches(spot, arena.POT_RADIUS + 0.3)).toEqual([])
    }
  })

  test('what overlaps is told with the way out', () => {
    const [touch] = arena.touches([0, 2.5], arena.POT_RADIUS)
    expect(touch!.normal).toEqual([0, 1])
    expect(touch!.depth).toBeCloseTo(2.7 + 1.2 - 2.5)
    expect(arena.touches([0, 0], 1)[0]!.normal).toEqual([1, 0])
    expect(arena.touches([15.5, 0], 1)[0]).toEqual({ depth: 0.5, normal: [-1, -0] })
  })

  test('a straight way meets the same thing as many small steps do', () => {
    fc.assert(
      fc.property(free, angle, (from, aim) => {
        const way = wayOf(aim)
        const met = arena.meets(from, way, arena.CUBE_RADIUS, 100)!
        expect(met.by).toBeLessThan(2 * arena.TRAY_RADIUS)
        expect(length(met.normal)).toBeCloseTo(1)
        expect(dot(met.normal, way)).toBeLessThanOrEqual(1e-9)
        for (let by = 0.05; by < met.by - 0.01; by += 0.05) {
          const [touch] = arena.touches(along(from, way, by), arena.CUBE_RADIUS - 0.01)
          if (touch) expect(touch).toBe(undefined)
        }
        const after = along(from, way, met.by + 0.02)
        const grazes = Math.abs(dot(met.normal, way)) < 0.1
        if (!grazes) expect(arena.touches(after, arena.CUBE_RADIUS)).not.toEqual([])
      }),
      { seed: 5 },
    )
  })

  test('a spoon throws back from its side and from its ends', () => {
    const spoon = arena.OBSTACLES.find(({ kind }) => kind === 'spoon')!
    const middle = scale([spoon.a[0] + spoon.b[0], spoon.a[1] + spoon.b[1]], 0.5)
    const from: Vec2 = [middle[0], middle[1] + 2.5]
    const met = arena.meets(from, [0, -1], 0.3, 10)!
    const at = along(from, [0, -1], met.by)
    expect(distance(nearestOn(spoon.a, spoon.b, at), at)).toBeCloseTo(0.75)
    expect(met.normal[1]).toBeGreaterThan(0.9)
  })

  test('the farthest place is far from everybody, and the same for all who ask', () => {
    const others = [arena.SPOTS[0]!, arena.SPOTS[1]!]
    const spot = arena.farthestSpot(others, 3)
    expect(spot).toBe(arena.farthestSpot(others, 3))
    expect(Math.min(...others.map((at) => distance(at, arena.SPOTS[spot]!)))).toBeGreaterThan(18)
    expect(arena.farthestSpot([], -1)).toBe(arena.SPOTS.length - 1)
  })
})
