import { expect, test } from 'vitest'
import type { CardHandle } from './kinds.ts'
import { Tray } from './tray.ts'

const frame = { width: 800, height: 600, top: 0, bottom: 0 }

function card(id: string, face: number): CardHandle {
  return { id, state: { face } } as CardHandle
}

function ids(tray: Tray): string {
  return tray.cards.map(({ id }) => id).join(' ')
}

test('a hand keeps its order while cards come and go', () => {
  const tray = new Tray()
  const [a, b, c, d] = [card('a', 5), card('b', 40), card('c', 18), card('d', 0)]
  tray.take([a!, b!, c!])
  tray.put('c', 0, frame)
  tray.take([a!, b!, c!])
  expect(ids(tray)).toBe('c a b')
  tray.take([b!, c!, d!])
  expect(ids(tray)).toBe('c b d')
  tray.sort()
  expect(ids(tray)).toBe('d c b')
})

test('cards lie in the tray from left to right, however many', () => {
  for (const width of [390, 1280]) {
    const tray = new Tray()
    const cards = Array.from({ length: 26 }, (_, face) => card(`card ${face}`, face))
    tray.take(cards)
    const places = cards.map(({ id }) => tray.slotOf(id, { ...frame, width })!)
    for (const [index, [x, y]] of places.entries()) {
      expect(x).toBeGreaterThan(places[index - 1]?.[0] ?? 0)
      expect(x).toBeLessThan(width)
      expect(y).toBeGreaterThan(frame.height / 2)
    }
    expect(tray.slotOf('card 99', frame)).toBe(null)
  }
})
