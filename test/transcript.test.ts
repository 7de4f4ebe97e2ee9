import { expect, test } from 'vitest'
import { difference, toText } from './transcript.ts'

test('the same lines are the same text, whatever blanks end them', () => {
  expect(difference(toText(['a', 'b ']), toText(['a', 'b']))).toBeNull()
})

test('the first line that differs is shown with what is around it', () => {
  const before = toText(['1', '2', '3', '4', 'five', '6'])
  const after = toText(['1', '2', '3', '4', '5', '6'])
  expect(difference(before, after)).toBe(
    [
      'transcripts differ from line 5 on',
      '    2',
      '    3',
      '    4',
      '  - five',
      '  - 6',
      '  - ',
      '  + 5',
      '  + 6',
      '  + ',
    ].join('\n'),
  )
})

test('a text that only goes on differs where the other ends', () => {
  expect(difference(toText(['1']), toText(['1', '2']))).toContain('from line 2 on')
  expect(difference('', toText(['1']))).toContain('+ 1')
})
