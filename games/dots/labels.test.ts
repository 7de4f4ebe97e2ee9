// Goal: names of dots that are near each other can be read (N-27).
import { expect, test } from 'vitest'
import { HEIGHT, type Label, place } from './labels.ts'

const named = (x: number, y: number): Label => ({ x, y, text: 'Wilhelmina' })

test('a name is below its dot; at the lower edge above it; at the side within the field', () => {
  expect(place([named(200, 100)], [80], [400, 400])).toEqual([[200, 129]])
  expect(place([named(200, 390)], [80], [400, 400])).toEqual([[200, 369]])
  expect(place([named(2, 100)], [80], [400, 400])).toEqual([[44, 129]])
})

test('eight names at one place do not lie over each other', () => {
  const dots = Array.from({ length: 8 }, (_, at) => named(200 + at, 200 - at))
  const feet = place(
    dots,
    dots.map(() => 80),
    [400, 400],
  ).map(([, y]) => y)
  const sorted = feet.toSorted((a, b) => a - b)
  const gaps = sorted.slice(1).map((foot, at) => foot - sorted[at]!)
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(HEIGHT)
})

test('names side by side stay where they are', () => {
  const places = place([named(100, 100), named(200, 104)], [80, 80], [400, 400])
  expect(places).toEqual([
    [100, 129],
    [200, 133],
  ])
})
