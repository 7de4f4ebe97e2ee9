import { expect, test } from 'vitest'
import { isLocal } from './links.ts'

test('a link with the address of the machine itself is none for others (AP-24)', () => {
  for (const host of [
    '127.0.0.1:8700',
    'localhost:8700',
    'LOCALHOST',
    '[::1]:80',
    '127.1.2.3',
    'a.localhost',
  ]) {
    expect(isLocal(`http://${host}/dots/?room=r`)).toBe(true)
  }
  for (const host of [
    '192.168.1.4:8700',
    'games.example',
    '[fe80::1]',
    'localhost.example',
    '10.127.0.1',
  ]) {
    expect(isLocal(`http://${host}/dots/`)).toBe(false)
  }
})
