import { expect, test } from 'vitest'
import { personalLink, readLink } from './tab.ts'

const room = 'http://127.0.0.1:8700/teapots/?room=main'

test('a personal link carries the player, and nothing of it is said to the server', () => {
  const player = { token: 'k3f-1.7.00ff', who: { name: 'Ada & Co', glaze: '3' } }
  const link = new URL(personalLink(room, player))
  expect(link.href.replace(link.hash, '')).toBe(room)
  expect(readLink(link.hash)).toEqual(player)
})

test('a fragment that names nobody is none, and what it says has an end', () => {
  for (const fragment of ['', '#', '#top', '#as=', '#name=Ada']) {
    expect(readLink(fragment)).toBe(null)
  }
  expect(readLink(`#as=x&name=${'a'.repeat(99)}`)?.who).toEqual({ name: 'a'.repeat(16) })
})
