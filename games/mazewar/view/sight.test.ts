// Goal: an eye sees what is there: walls where walls are, nobody through them, and nothing twice.
// Method: places of the maze with known walls; and every place at odd angles, strip by strip.

import { describe, expect, test } from 'vitest'
import { CELLS, FACINGS, isOpen, sight } from '../rules/maze.ts'
import { angleOf, eyeOf, FOCUS, look, middleOf, type Pose, SETBACK, type Thing } from './sight.ts'

function poseAt(at: number, facing: 0 | 1 | 2 | 3): Pose {
  const [x, y] = middleOf(at)
  return eyeOf({ x, y, angle: angleOf(facing) })
}

function thingAt(at: number, facing: 0 | 1 | 2 | 3): Thing {
  const [x, y] = middleOf(at)
  return { key: `${at}`, x, y, angle: angleOf(facing) }
}

describe('the corridor along the upper edge, cells 0 to 9', () => {
  test('its end is seen ten cells away, in the middle, and full face', () => {
    const { panels } = look(poseAt(0, 3), 1.4, [])
    const end = panels.find(({ left, right }) => left < 0 && right > 0)!
    expect(end.leftNear).toBeCloseTo(1 / (9.5 + SETBACK))
    expect(end.rightNear).toBeCloseTo(end.leftNear)
    expect(end.face).toBeCloseTo(1)
    expect(end.leftEnd).toBe('corner')
    expect(end.left).toBeCloseTo(-end.right)
  })
  test('who stands there is seen with the face or the back to us, and as far as they are', () => {
    const { seen } = look(poseAt(0, 3), 1.4, [thingAt(4, 2), thingAt(7, 3), thingAt(5, 1)])
    expect(seen.map(({ thing }) => thing.key)).toEqual(['7', '5', '4'])
    expect(seen.map(({ near }) => near).at(-1)).toBeCloseTo(1 / (4 + SETBACK))
    expect(Math.abs(seen[0]!.turn)).toBeCloseTo(Math.PI)
    expect(seen[1]!.turn).toBeCloseTo(-Math.PI / 2)
    expect(seen[2]!.turn).toBeCloseTo(0)
    for (const { x } of seen) expect(x).toBeCloseTo(0)
  })
  test('nobody is seen behind the eye, nor through a wall', () => {
    expect(isOpen(5, 1)).toBe(false)
    const { seen } = look(poseAt(5, 3), 1.4, [thingAt(3, 3), thingAt(5 + 32, 0), thingAt(10, 2)])
    expect(seen).toEqual([])
  })
})

// What is seen fills the screen from edge to edge, once: no gap to look through, no overlap.
test('from every cell, each way and on the way there, walls fill the screen and never overlap', () => {
  const aspect = 1.6
  const gaps: [number, number][] = []
  for (let at = 0; at < CELLS; at++) {
    for (const facing of FACINGS) {
      const [x, y] = middleOf(at)
      const angle = angleOf(facing) + ((at * 0.37 + facing) % 1)
      for (const eye of [poseAt(at, facing), eyeOf({ x: x + 0.02, y: y - 0.01, angle })]) {
        const { panels } = look(eye, aspect, [])
        const strips = panels.toSorted((one, other) => one.left - other.left)
        let until = -aspect
        const whole = strips.every(({ left, right, leftNear, rightNear }) => {
          const fits = Math.abs(left - until) < 1e-6 && leftNear > 0 && rightNear > 0
          until = right
          return fits
        })
        if (!whole || Math.abs(until - aspect) > 1e-6) gaps.push([at, facing])
      }
    }
  }
  expect(gaps).toEqual([])
})

test('straight ahead the wall is as far as the maze says', () => {
  for (let at = 0; at < CELLS; at++) {
    for (const facing of FACINGS) {
      const { panels } = look(poseAt(at, facing), 1.4, [])
      const end = panels.find(({ left, right }) => left <= 0 && right > 0)!
      const away = sight(at, facing) + 0.5 + SETBACK
      expect(1 / end.leftNear).toBeCloseTo(away)
      expect(end.right).toBeCloseTo((FOCUS * 0.5) / away)
    }
  }
})
