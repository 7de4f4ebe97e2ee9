import { expect, test } from 'vitest'
import type { CardHandle } from './kinds.ts'
import { Tray } from './tray.ts'

const frame = { width: 800, height: 600, top: 0, bottom: 0 }

function card(id: number, face: number): CardHandle {
  return { id, state: { face } } as CardHandle
}

function ids(tray: Tray): number[] {
  return tray.cards.map(({ id }) => id)
}

test('a hand keeps its order while cards come and go', () => {
  const tray = new Tray()
  const [a, b, c, d] = [card(1, 5), card(2, 40), card(3, 18), card(4, 0)]
  tray.take([a!, b!, c!])
  tray.put(3, 0, frame)
  tray.take([a!, b!, c!])
  expect(ids(tray)).toEqual([3, 1, 2])
  tray.take([b!, c!, d!])
  expect(ids(tray)).toEqual([3, 2, 4])
  tray.sort()
  expect(ids(tray)).toEqual([4, 3, 2])
})

test('cards lie in the tray from left to right, however many', () => {
  for (const width of [390, 1280]) {
    const tray = new Tray()
    const cards = Array.from({ length: 26 }, (_, face) => card(face + 1, face))
    tray.take(cards)
    const places = cards.map(({ id }) => tray.slotOf(id, { ...frame, width })!)
    for (const [index, [x, y]] of places.entries()) {
      expect(x).toBeGreaterThan(places[index - 1]?.[0] ?? 0)
      expect(x).toBeLessThan(width)
      expect(y).toBeGreaterThan(frame.height / 2)
    }
    expect(tray.slotOf(99, frame)).toBe(null)
  }
})
