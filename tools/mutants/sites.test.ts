import { describe, expect, test } from 'vitest'
import { parse } from '../tidy/source.ts'
import { changed, find, shown, sites } from './sites.ts'

const FILE = 'packages/holdfast/src/link/a.ts'

function puts(text: string): string[] {
  return sites(parse(FILE, text)).map((site) => `${site.rule}: ${site.text} → ${site.put}`)
}

describe('the rules', () => {
  test('a comparison is turned round, a bound moved by one', () => {
    expect(puts('function f(a, b) { return a < b }')).toEqual([
      'comparison: a < b → a >= b',
      'boundary: a < b → a <= b',
    ])
    expect(puts('function f(a, b) { return a === b }')).toEqual(['comparison: a === b → a !== b'])
    expect(puts('function f(a, b) { return a + b }')).toEqual([])
  })
  test('a condition becomes true and false', () => {
    expect(puts('function f(a) { if (a) return 1 }')).toEqual([
      'condition: a → true',
      'condition: a → false',
    ])
    expect(puts('const f = (a) => (a ? 1 : 2)')).toEqual([
      'condition: a → true',
      'condition: a → false',
    ])
  })
  test('of `and` and `or` one half stays; of `??` both', () => {
    expect(puts('function f(a, b) { return a && b }')).toEqual([
      'half: a && b → a',
      'half: a && b → b',
    ])
    expect(puts('function f(a, b) { return a ?? b }')).toEqual([])
  })
  test('min and max change places, and one end is left out', () => {
    expect(puts('function f(a) { return Math.min(a, 3) }')).toEqual([
      'range: Math.min(a, 3) → Math.max(a, 3)',
      'range: Math.min(a, 3) → a',
      'range: Math.min(a, 3) → 3',
    ])
  })
  test('of a range whose end is a list of values the list alone stays never (PR-2)', () => {
    expect(puts('function f(a) { return Math.max(0, ...a) }')).toEqual([
      'range: Math.max(0, ...a) → Math.min(0, ...a)',
      'range: Math.max(0, ...a) → 0',
    ])
  })
  test('a statement that only the compiler reads is left alone (PR-2)', () => {
    expect(puts('function f(a) { a satisfies never }')).toEqual([])
  })
  test('a statement is dropped, a constant doubled and halved', () => {
    expect(puts('function f(a) { a.b = 1 }')).toEqual(['statement: a.b = 1 → ;'])
    expect(puts('export const RESEND_MS: number = 5 * 60')).toEqual([
      'size: 5 * 60 → (5 * 60) * 2',
      'size: 5 * 60 → (5 * 60) / 2',
    ])
    expect(puts(`const NAME = 'text'\nconst small = 3`)).toEqual([])
  })
  test('a constant of 0 is left alone: twice and half of it are 0 (PR-2)', () => {
    for (const none of ['0', '0.0', '0x0']) expect(puts(`const LOOK_MS = ${none}`)).toEqual([])
    expect(puts('const LOOK_MS = 0.5')).toHaveLength(2)
  })
  test('types are left alone', () => {
    expect(puts('type A<T> = T extends string ? 1 : 2')).toEqual([])
  })
})

describe('a site', () => {
  const text = 'export function f(a) {\n  if (a > 1) return 1\n  return a > 1\n}\n'

  test('says which of several it is', () => {
    const found = sites(parse(FILE, text)).filter(({ rule }) => rule === 'boundary')
    expect(found.map(({ within, nth }) => ({ within, nth }))).toEqual([
      { within: 'f', nth: 0 },
      { within: 'f', nth: 1 },
    ])
    expect(shown(found[1]!)).toBe('packages/holdfast/src/link/a.ts f: a > 1 (2.) → a >= 1')
    expect(changed(parse(FILE, text), found[1]!)).toBe(
      text.replace('return a > 1', 'return a >= 1'),
    )
  })
  test('is found where its function was moved to, and is gone with its text', () => {
    const [site] = sites(parse(FILE, text))
    const moved = parse(FILE, `const a > 1 = 0`.replace('a > 1', 'before') + `\n\n${text}`)
    const range = find(moved, site!)!
    expect(moved.text.slice(range.start, range.end)).toBe(site!.text)
    const other = parse(FILE, text.replaceAll('a > 1', 'a > 2'))
    expect(find(other, site!)).toBe(null)
    expect(() => changed(other, site!)).toThrow('this text is not there')
  })
  test('is looked for in its own function alone', () => {
    const [site] = sites(parse(FILE, text))
    expect(find(parse(FILE, text.replace('function f', 'function g')), site!)).toBe(null)
  })
  test('has an end: a text that begins in one function and ends in another is none', () => {
    const place = { file: FILE, within: 'f', text: '1\n}\nfunction g() {', nth: 0 }
    expect(find(parse(FILE, `${text}function g() {}`), place)).toBe(null)
  })
})
