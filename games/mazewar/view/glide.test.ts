// Goal: what moves is shown on its way, evenly, the short way round, and never flies.

import { expect, test } from 'vitest'
import { aim, poseAt, stand } from './glide.ts'

const HERE = { x: 1, y: 1, angle: 0 }

test('a step is under way, and then done', () => {
  const glide = aim(stand(HERE), { ...HERE, x: 2 }, 1000)
  expect(poseAt(glide, 1000).x).toBe(1)
  expect(poseAt(glide, 1095).x).toBeCloseTo(1.5)
  expect(poseAt(glide, 1500).x).toBe(2)
  expect(aim(glide, { ...HERE, x: 2 }, 1100)).toBe(glide)
})

test('a turn goes the short way round, and does not stop a step', () => {
  const from = stand({ ...HERE, angle: 1.5 * Math.PI })
  const steps = aim(from, { ...from.to, x: 2 }, 1000)
  const turns = aim(steps, { ...steps.to, angle: 0 }, 1095)
  expect(poseAt(turns, 1095).x).toBeCloseTo(1.5)
  expect(poseAt(turns, 1170).angle).toBeCloseTo(1.75 * Math.PI)
  expect(poseAt(turns, 1190).x).toBeCloseTo(2)
})

test('who is born anew far away is there at once', () => {
  const glide = aim(stand(HERE), { x: 9, y: 4, angle: 1 }, 1000)
  expect(poseAt(glide, 1000)).toEqual({ x: 9, y: 4, angle: 1 })
})
