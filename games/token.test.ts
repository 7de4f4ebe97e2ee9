import { expect, test } from 'vitest'
import { wayOf } from './token.ts'

test('how one got in is told by the tokens: the same, forgotten, of a room that ended, or nobody knows', () => {
  const token = 'k3f-1.7.00ff'
  expect(wayOf(token, token)).toBe('back')
  expect(wayOf(token, 'k3f-1.9.11ee')).toBe('forgotten')
  expect(wayOf(token, 'k3f-2.1.00ff')).toBe('ended')
  for (const odd of ['rubbish', '', 'k3f-1.0.00', 'K.1.00']) {
    expect(wayOf(odd, token)).toBe('unknown')
  }
})
