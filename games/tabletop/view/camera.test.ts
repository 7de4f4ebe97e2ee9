import fc from 'fast-check'
import { expect, test } from 'vitest'
import { REGIONS, TABLE } from '../rules/places.ts'
import { Camera } from './camera.ts'

function camera(width: number, height: number, turned = false): Camera {
  const made = new Camera()
  made.frame = { width, height, top: 50, bottom: 150 }
  made.turned = turned
  made.fit(REGIONS.free)
  return made
}

const place = fc.tuple(fc.double({ min: 0, max: 1400, noNaN: true }), fc.nat(860))

test('what is shown at a point is the place of that point, from both sides', () => {
  fc.assert(
    fc.property(place, fc.boolean(), ([x, y], turned) => {
      const made = camera(900, 700, turned)
      const back = made.toTable(made.toScreen([x, y]))
      expect(Math.hypot(back[0] - x, back[1] - y)).toBeLessThan(1e-6)
    }),
    { seed: 1 },
  )
})

test.each([
  [1280, 800],
  [390, 844],
])('all of a region is to be seen at %i x %i', (width, height) => {
  for (const region of Object.values(REGIONS)) {
    const made = camera(width, height)
    made.fit(region)
    for (const corner of [region.from, region.to]) {
      const [x, y] = made.toScreen(corner)
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x).toBeLessThanOrEqual(width)
      expect(y).toBeGreaterThanOrEqual(50)
      expect(y).toBeLessThanOrEqual(height - 150)
    }
  }
})

test('zooming leaves what is under the pointer where it is, and panning follows it', () => {
  for (const turned of [false, true]) {
    const made = camera(900, 700, turned)
    const before = made.toTable([500, 300])
    made.zoomBy(1.5, [500, 300])
    expect(Math.hypot(...minus(made.toTable([500, 300]), before))).toBeLessThan(1e-6)
    made.pan(30, -20)
    expect(Math.hypot(...minus(made.toTable([530, 280]), before))).toBeLessThan(1e-6)
    expect(made.isFitted).toBe(false)
  }
})

test('nobody gets lost: the middle of the picture stays on the table', () => {
  const made = camera(900, 700)
  made.pan(1e6, -1e6)
  expect(made.at).toEqual([0, TABLE[1]])
  made.zoomBy(1e9, [450, 350])
  expect(made.zoom).toBeLessThan(5)
})

function minus(a: readonly number[], b: readonly number[]): number[] {
  return a.map((value, at) => value - b[at]!)
}
