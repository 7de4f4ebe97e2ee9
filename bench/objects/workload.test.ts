// Goal: all processes of the bench know the same truth, and it is the workload that is promised.
import { expect, test } from 'vitest'
import { focus, HZ, paths, place, SIGHT, sideOf, SPEED, VISIBLE } from './workload.ts'

const OBJECTS = 300
const SIDE = sideOf(OBJECTS)

test('a place is a function of seed, object and tick, in whatever order it is asked for', () => {
  const [forth, back] = [paths(7, OBJECTS), paths(7, OBJECTS)]
  const ticks = Array.from({ length: 50 }, (_, index) => index * 7.3)
  const there = ticks.map((tick) => forth.map((path) => ({ ...path(tick, place()) })))
  const again = ticks.toReversed().map((tick) => back.map((path) => ({ ...path(tick, place()) })))
  expect(again.toReversed()).toEqual(there)
})

test('who moves keeps its speed, stays within the walls and goes where its velocity says', () => {
  const step = 1e-4
  for (const [object, path] of paths(3, OBJECTS).entries()) {
    for (let tick = 0; tick < 400; tick += 13.7) {
      const { x, y, vx, vy } = { ...path(tick, place()) }
      expect(Math.min(x, y, SIDE - x, SIDE - y)).toBeGreaterThanOrEqual(-1e-9)
      const speed = Math.hypot(vx, vy)
      expect(speed).toBeGreaterThanOrEqual(SPEED[0] - 1e-9)
      expect(speed).toBeLessThanOrEqual(SPEED[1] + 1e-9)
      const next = path(tick + step * HZ, place())
      const moved = Math.hypot(next.x - x - vx * step, next.y - y - vy * step)
      expect([object, moved < speed * step * 2.1]).toEqual([object, true])
    }
  }
})

test('about as many are near a focus as are to be visible', () => {
  const objects = 1000
  const all = paths(1, objects)
  const counts: number[] = []
  for (let client = 0; client < 20; client++) {
    const eyes = focus(1, objects, client)(40, place())
    const near = all.filter((path) => {
      const { x, y } = path(40, place())
      return Math.hypot(x - eyes.x, y - eyes.y) < SIGHT
    })
    counts.push(near.length)
  }
  const mean = counts.reduce((sum, one) => sum + one, 0) / counts.length
  expect(Math.abs(mean - VISIBLE)).toBeLessThan(VISIBLE * 0.15)
})
