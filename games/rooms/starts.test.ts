import { expect, test } from 'vitest'
import { startFor, startsOf } from './starts.ts'

test('a room is entered by the folder of its game, else by the start page (AP-15)', () => {
  expect(startFor(['', 'chess'], 'chess')).toBe('chess')
  expect(startFor(['', 'chess'], 'duel')).toBe('')
  expect(startFor(['chess'], 'duel')).toBe(null)
  expect(startFor(['chess'], '')).toBe(null)
})

test('an answer that is none names no pages', () => {
  for (const sent of [null, 7, {}, { starts: 'chess' }, []]) expect(startsOf(sent)).toEqual([])
  expect(startsOf({ version: 2, starts: ['', 3, 'chess'] })).toEqual(['', 'chess'])
})
