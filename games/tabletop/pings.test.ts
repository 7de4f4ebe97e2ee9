import { expect, test } from 'vitest'
import { PING_EVERY_MS, PING_MS, Pings } from './pings.ts'

test('who points is seen for a moment, and again only after a while', () => {
  const pings = new Pings()
  expect(pings.point(1, [3, 4], 0)).toBe(true)
  expect(pings.point(1, [5, 6], PING_EVERY_MS - 1)).toBe(false)
  expect(pings.point(2, [7, 8], PING_EVERY_MS - 1)).toBe(true)
  expect(pings.shown(PING_EVERY_MS).map(({ at }) => at)).toEqual([
    [3, 4],
    [7, 8],
  ])
  expect(pings.point(1, [5, 6], PING_EVERY_MS)).toBe(true)
  expect(pings.shown(PING_EVERY_MS + PING_MS)).toEqual([])
})

test('a window that points at every frame is one mark, and what was before one came is none', () => {
  const pings = new Pings()
  pings.hear(3, 77, [1, 1], 0)
  expect(pings.shown(0)).toEqual([])
  const places = new Set<number>()
  for (let count = 78, now = 16; now < 2 * PING_EVERY_MS; count++, now += 16) {
    pings.hear(3, count % 256, [count, 1], now)
    for (const { at } of pings.shown(now)) places.add(at[0])
  }
  expect(places.size).toBe(2)
})
