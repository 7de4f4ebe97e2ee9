/**
 * Every number of the lists has a test or a reason, and the page that says so is up to date.
 * The check itself is shown what it has to find.
 */

import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { claims, readTitle } from '../tools/conformance/claims.ts'
import { PAGE, verdict } from '../tools/conformance/house.ts'
import { COUNTS, readList } from '../tools/conformance/lists.ts'
import type { List } from '../tools/conformance/lists.ts'
import { judge } from '../tools/conformance/report.ts'
import { read, sources } from '../tools/tidy/house.ts'
import { parse } from '../tools/tidy/source.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

function list(...reasons: (string | null)[]): List {
  const requirements = reasons.map((reason, index) => {
    return { number: `T${index + 1}`, kind: 'F' as const, what: 'something', reason }
  })
  return { letter: 'T', title: 'T: teapots', about: '', requirements }
}

describe('the lists', () => {
  test('every number has a test or a reason, and no title names a number that is none', () => {
    expect(verdict(root).faults).toEqual([])
  })
  test('no reason stands where a test does', () => {
    expect(verdict(root).stale).toEqual([])
  })
  test('docs/conformance.md is up to date (npm run conformance)', () => {
    expect(read(root, PAGE) === verdict(root).page).toBe(true)
  })
})

test('every finding that was answered has its test (docs/findings.md)', () => {
  const tests = sources(root).filter(({ path }) => /\.test\.tsx?$/.test(path))
  const titles = tests.map(({ text }) => text).join('\n')
  const rows = [...read(root, 'docs/findings.md').matchAll(/^\| ([A-Z]{2}-\d+) \|.*\| (.*) \|$/gm)]
  expect(rows.length).toBeGreaterThan(30)
  const bare = rows.filter(([, number, answer]) => {
    return !answer!.startsWith('As ') && !titles.includes(`(${number!})`)
  })
  expect(bare.map(([, number]) => number)).toEqual([])
})

describe('the check', () => {
  const claim = { numbers: ['T1'], path: 'a.test.ts', title: 'it holds' }
  test('finds a number with neither', () => {
    expect(judge([list(null, 'later')], []).faults).toEqual([
      'T1 has neither test nor reason: something',
    ])
    expect(judge([list(null)], []).page).toContain('MISSING')
  })
  test('finds a claim of a number that is none', () => {
    expect(judge([list('later')], [{ ...claim, numbers: ['T2'] }]).faults).toHaveLength(1)
  })
  test('lets a test win over a reason, and says so', () => {
    const { page, faults, stale } = judge([list('later')], [claim])
    expect(faults).toEqual([])
    expect(stale).toEqual(['T1 has a test; its reason can go: later'])
    expect(page).toContain('| T1 | F | something | `a.test.ts`: it holds |')
  })
  test('wants every number of a list, in order', () => {
    const lines = Array.from({ length: COUNTS['S'] ?? 0 }, (_, index) => `- S${index + 1} F: x.`)
    expect(readList('S', lines.join('\n')).requirements).toHaveLength(32)
    expect(() => readList('S', lines.slice(1).join('\n'))).toThrow('wants S1 at S2')
    expect(() => readList('S', lines.slice(0, -1).join('\n'))).toThrow('wants S32 at its end')
    expect(() => readList('S', [...lines, '- S33 F: x.'].join('\n'))).toThrow('wants no more')
    expect(() => readList('S', [...lines, '- whatever'].join('\n'))).toThrow('not a requirement')
  })
  test('reads a reason that is said once, and one of its own', () => {
    const lines = Array.from({ length: 30 }, (_, index) => `- S${index + 3} P: x. [box]`)
    const text = ['[box]: later', '- S1 W*: y. [misprint: z]', '- S2 F: x.', ...lines].join('\n')
    const reasons = readList('S', text).requirements.map(({ reason }) => reason)
    expect(reasons.slice(0, 3)).toEqual(['misprint: z', null, 'later'])
  })
  test('reads titles', () => {
    expect(readTitle('T37: next')).toEqual({ numbers: ['T37'], title: 'next' })
    expect(readTitle('B3, B12: in order')?.numbers).toEqual(['B3', 'B12'])
    expect(readTitle('T56-T58: numbers')?.numbers).toEqual(['T56', 'T57', 'T58'])
    expect(readTitle('proves T37: no')).toBeNull()
    expect(readTitle('F1: a model')).toBeNull()
  })
  test('finds the titles in a file, and only of tests', () => {
    const text = [
      `test('T1: a', () => {})`,
      `it.each([1])('T2: b %i', () => {})`,
      'test(`T3: c ${1}`, () => {})',
      `describe('T4: d', () => {})`,
      `const five = 'T5: e' // test('T6: f')`,
    ].join('\n')
    const found = claims([parse('test/a.ts', text), parse('src/a.ts', text)])
    expect(found.map(({ numbers, title }) => [...numbers, title])).toEqual([
      ['T1', 'a'],
      ['T2', 'b %i'],
      ['T3', 'c …'],
    ])
  })
})
