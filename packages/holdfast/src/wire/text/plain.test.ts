import { expect, test } from 'vitest'
import { isName, named, plain, plainJson, plainLines } from './plain.ts'

test('what a terminal obeys, turns or breaks a line is escaped, and nothing else (SE-19)', () => {
  expect(plain('\u001B]0;owned\u0007\u001B[2J\nroot\r')).toBe(
    '\\u001b]0;owned\\u0007\\u001b[2J\\u000aroot\\u000d',
  )
  // CSI in one byte, DEL, a turned direction, separators of lines, a tag beyond the first plane.
  expect(plain('\u009B\u007F\u202E\u2028\u2029\u{E0001}')).toBe(
    '\\u009b\\u007f\\u202e\\u2028\\u2029\\udb40\\udc01',
  )
  const good = 'Zoë, 漢字, 🙂 "quoted" \\ Ж'
  expect(plain(good)).toBe(good)
  expect(plainLines('a\u0007\nb\u0007')).toBe('a\\u0007\nb\\u0007')
})

test('JSON is the same value with and without', () => {
  const value = { from: 'eve\n', body: ['\u009B2J', { '\u202E': '\u{E0001}', n: 1 }] }
  expect(plainJson(value)).not.toMatch(/[\p{Control}\p{Format}]/u)
  expect(JSON.parse(plainJson(value))).toEqual(value)
})

test('a name is of one line and no terminal obeys it; joined signs and other scripts are names (SE-19)', () => {
  for (const name of ['Zoë', 'می‌خواهم', '👩‍👩‍👧', 'ab"c', '']) {
    expect([isName(name), named(name)]).toEqual([true, name])
  }
  for (const sign of [
    '\0',
    '\n',
    '\u001B',
    '\u007F',
    '\u009B',
    '\u2028',
    '\u2029',
    '\u202E',
    '\u2066',
  ]) {
    expect(isName(`a${sign}b`)).toBe(false)
    expect(named(`a${sign}b`)).toBe(plain(`a${sign}b`))
  }
})
