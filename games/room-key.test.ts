import { expect, test } from 'vitest'
import { keyIn, withKey } from './room-key.ts'
import { personalLink, readLink } from './tab.ts'

const KEY = '5a'.repeat(32)
const LINK = 'https://example.org/tabletop/?room=friday'

test('a link carries the key of its room, and a personal one who one is besides', () => {
  const link = withKey(LINK, KEY)
  expect([keyIn(new URL(link).hash), readLink(new URL(link).hash)]).toEqual([KEY, null])
  const own = personalLink(link, { token: 'k3f-1.7.00', who: { name: 'Ada' } })
  const { hash } = new URL(own)
  expect([keyIn(hash), readLink(hash)]).toEqual([
    KEY,
    { token: 'k3f-1.7.00', who: { name: 'Ada' } },
  ])
})

test.each(['', '#key=', '#key=abc', `#key=${'z'.repeat(64)}`])('in %j is none', (fragment) => {
  expect(keyIn(fragment)).toBe(null)
})
