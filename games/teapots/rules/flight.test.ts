import fc from 'fast-check'
import type { Vec2 } from 'holdfast'
import { describe, expect, test } from 'vitest'
import { CUBE_RADIUS, SPOTS, touches } from './arena.ts'
import * as flight from './flight.ts'
import { distance } from './plane.ts'

const thrown = fc
  .tuple(fc.nat(11), fc.double({ min: -7, max: 7, noNaN: true }))
  .map(([spot, aim]) => flight.rounded(1000, SPOTS[spot]!, aim))

describe('a cube', () => {
  test('T8: its way is a function of the throw and the time: continuous, on the tray, slowing', () => {
    fc.assert(
      fc.property(thrown, (start) => {
        const way = flight.trace(start)
        const wrong: flight.Place[] = []
        let before = flight.placeAt(way, 0)
        expect(before.pos).toEqual(start.pos)
        for (let ms = 5; ms <= way.ms; ms += 5) {
          const now = flight.placeAt(way, ms)
          const far = distance(before.pos, now.pos) > (before.speed * 5) / 1000 + 1e-6
          const back = now.bounces < before.bounces || now.speed >= before.speed
          if (far || back || touches(now.pos, CUBE_RADIUS - 1e-3).length > 0) wrong.push(now)
          before = now
        }
        expect(wrong).toEqual([])
        expect(before.bounces).toBeLessThanOrEqual(flight.BOUNCES_MAX)
        expect(flight.trace(start)).toEqual(way)
      }),
      { seed: 11 },
    )
  })

  test('comes as far in so long as it takes so long to come so far', () => {
    for (const ms of [0, 10, 500, 1700]) expect(flight.timeFor(flight.reach(ms))).toBeCloseTo(ms)
    expect(flight.timeFor(1000)).toBe(Infinity)
  })

  test('bounces when it says it does', () => {
    const way = flight.trace({ pos: SPOTS[0]!, aim: 0.3 })
    const [first] = flight.bounceTimes(way)
    expect(flight.placeAt(way, first! - 1).bounces).toBe(0)
    expect(flight.placeAt(way, first! + 1).bounces).toBe(1)
  })

  test('is thrown in numbers that the wire can say, and rounding twice is rounding once', () => {
    fc.assert(
      fc.property(thrown, ({ at, pos, aim }) => {
        expect(flight.rounded(at, pos, aim)).toEqual({ at, pos, aim })
        expect(aim).toBeGreaterThanOrEqual(0)
        expect(aim).toBeLessThan(2 * Math.PI)
      }),
      { seed: 13 },
    )
    expect(flight.rounded(0.2, [1 / 3, 0], 0)).toEqual({ at: 1, pos: [21 / 64, 0], aim: 0 })
  })

  test('meets who moves on as they move', () => {
    const [from, at, vel]: Vec2[] = [
      [-13, -5],
      [-13, 2],
      [4, 0],
    ] as Vec2[]
    const led = flight.lead(from!, at!, vel!)!
    const way = flight.trace({ pos: from!, aim: led.aim })
    const ms = flight.timeFor(distance(from!, led.at))
    const there: Vec2 = [at![0] + (vel![0] * ms) / 1000, at![1]]
    expect(distance(flight.placeAt(way, ms).pos, there)).toBeLessThan(0.1)
    expect(flight.lead([0, -15], [0, 15], [0, 12])).toBe(null)
  })
})
