import { expect, test } from 'vitest'
import { keyOfToken, wayOf } from './token.ts'

test('how one got in is told by the tokens: the same, forgotten, of a room that ended, or nobody knows', () => {
  const token = 'k3f-1.7.00ff'
  expect(wayOf(token, token)).toBe('back')
  expect(wayOf(`${token}..4-2-1-aa`, `${token}.${'5a'.repeat(32)}.5-2-1-bb`)).toBe('back')
  expect(wayOf(token, 'k3f-1.9.11ee')).toBe('forgotten')
  expect(wayOf(token, 'k3f-2.1.00ff')).toBe('ended')
  for (const odd of ['rubbish', '', 'k3f-1.0.00', 'K.1.00']) {
    expect(wayOf(odd, token)).toBe('unknown')
  }
})

test('a token has the key of the room, or none (N-2)', () => {
  const key = '5a'.repeat(32)
  expect(keyOfToken(`k3f-1.7.00ff.${key}`)).toBe(key)
  expect(keyOfToken(`k3f-1.7.00ff.${key}.4-2-1-aa`)).toBe(key)
  for (const none of ['k3f-1.7.00ff', 'k3f-1.7.00ff..4-2-1-aa', 'rubbish', '']) {
    expect(keyOfToken(none)).toBe(null)
  }
})
