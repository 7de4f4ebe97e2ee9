import { expect, test } from 'vitest'
import { pageOf } from './pages.ts'

test('a room of an example is entered by its page, and one that has none by nothing (AP-24)', () => {
  expect(pageOf({ game: 'cards', room: 'main' })).toBe('./examples/preact/')
  expect(pageOf({ game: 'cards', room: 'other' })).toBe(null)
  for (const game of ['chess', '', 'constructor', '__proto__', 'https://example.org']) {
    expect(pageOf({ game, room: 'main' })).toBe(null)
  }
})
