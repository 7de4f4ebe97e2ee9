/**
 * Every number of the lists has a test or a reason.
 * The check itself is shown what it has to find. Slow: the titles of all tests are listed.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { claims, readTitle } from '../tools/conformance/claims.ts'
import type { Listing } from '../tools/conformance/claims.ts'
import { commandsOf, figuresWithoutCommand } from '../tools/conformance/commands.ts'
import type { Command } from '../tools/conformance/commands.ts'
import { verdict } from '../tools/conformance/codebase.ts'
import { COUNTS, readList } from '../tools/conformance/lists.ts'
import type { List } from '../tools/conformance/lists.ts'
import { UNSAID } from '../tools/conformance/needs.ts'
import { judge } from '../tools/conformance/report.ts'
import { read, sources, written } from '../tools/tidy/codebase.ts'
import { parse } from '../tools/tidy/source.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const unasked: Listing = (paths) => {
  expect(paths).toEqual([])
  return new Map()
}

function list(...reasons: (string | null)[]): List {
  const requirements = reasons.map((reason, index) => {
    return { number: `T${index + 1}`, kind: 'F' as const, what: 'something', note: null, reason }
  })
  return { letter: 'T', title: 'T: teapots', about: '', requirements }
}

describe('the lists', () => {
  const found = verdict(root)
  test('every number has a test or a reason, and no title names a number that is none', () => {
    expect(found.faults).toEqual([])
  })
  test('no reason stands where a test does', () => {
    expect(found.stale).toEqual([])
  })
  test('titles that are made from tables stand as they run (PR-6)', () => {
    expect(found.page).toContain('`games/race/rules/rules.test.ts`: C_0 M_ab_1 D_1 ends gone')
    expect(found.page).toContain('`proof/models/models.test.ts`: G1 holds in every interleaving')
  })
})

test('every finding that was answered has its test (docs/records/findings.md)', () => {
  const tests = sources(root).filter(({ path }) => /\.test\.tsx?$/.test(path))
  const titles = tests.map(({ text }) => text).join('\n')
  const page = read(root, 'docs/records/findings.md')
  const rows = [...page.matchAll(/^\| ([A-Z]{2}-\d+) \|.*\| (.*) \|$/gm)]
  expect(rows.length).toBeGreaterThan(30)
  const bare = rows.filter(([, number, answer]) => {
    return !answer!.startsWith('As ') && !titles.includes(`(${number!})`)
  })
  expect(bare.map(([, number]) => number)).toEqual([])
})

describe('what documents say of figures', () => {
  // The README of a template names the commands of the app.
  const pages = written(root).filter((path) => {
    return path.endsWith('.md') && !path.startsWith('packages/create/')
  })
  const documents = ['README.md', 'CHANGELOG.md', ...pages].map((path) => [path, read(root, path)])

  test('every command that a document names is there (PR-8) (PR-14)', () => {
    // Documents name those of an app, too.
    const manifests = ['package.json', 'packages/create/templates/canvas/package.json']
    const scripts = manifests.flatMap((path) => {
      return Object.keys((JSON.parse(read(root, path)) as { scripts: object }).scripts)
    })
    const isThere = ({ script, name }: Command): boolean => {
      const folder = script === 'soak' ? 'bench/soak' : 'bench'
      return (
        scripts.includes(script) && (name === null || existsSync(join(root, folder, `${name}.ts`)))
      )
    }
    const all = documents.flatMap(([path, text]) => {
      return commandsOf(text!).map((command) => ({ path, ...command }))
    })
    expect(all.filter(({ script, name }) => script === 'bench' && name).length).toBeGreaterThan(15)
    expect(all.filter((command) => !isThere(command))).toEqual([])
  })
  test('figures begin with their command (PR-8)', () => {
    expect(documents.filter(([, text]) => figuresWithoutCommand(text!).length > 0)).toEqual([])
    expect(figuresWithoutCommand('## Figures\n\nFast, 3 ms.\n')).toHaveLength(1)
  })
  test('a command over a line, in a list, and of an entry of the change log', () => {
    const text = '`npm run soak --\nfuzz`, `npm run bench -- a`, `b-c` `[--quick]`, `bench -- d`'
    const named = commandsOf(text).filter(({ name }) => name !== null)
    expect(named.map(({ script, name }) => `${script} ${name}`)).toEqual([
      'soak fuzz',
      'bench a',
      'bench b-c',
      'bench d',
    ])
  })
})

describe('the check', () => {
  const claim = { numbers: ['T1'], path: 'a.test.ts', title: 'it holds', needs: null }
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
  test('says what a test needs, counts rows that nothing else proves, and wants it said (PR-6)', () => {
    const wants = { ...claim, needs: 'nft' }
    const { page } = judge([list(null, null)], [wants, claim, { ...wants, numbers: ['T2'] }])
    expect(page).toContain('| teapots | T | 2 | 2 | 1 | 0 | 0 |')
    expect(page).toContain('`a.test.ts`: it holds<br>`a.test.ts`: it holds [needs nft] |')
    expect(judge([list(null)], [{ ...claim, needs: UNSAID }]).faults).toHaveLength(1)
  })
  test('shows a note beside the tests of a row, and beside a reason (PR-5)', () => {
    const [row] = list(null).requirements
    const noted = { ...list(), requirements: [{ ...row!, note: 'of one kind alone' }] }
    expect(judge([noted], [claim]).page).toContain('it holds<br>Note: of one kind alone |')
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
    expect(() => readList('S', `${text}\n[idle]: never`)).toThrow('[idle] is used by nothing')
  })
  test('reads a note, with a reason and without', () => {
    const lines = Array.from({ length: 30 }, (_, index) => `- S${index + 3} P: x.`)
    const text = ['- S1 F: y. {but for z}', '- S2 F: x. {n} [r]', ...lines].join('\n')
    const [one, two, three] = readList('S', text).requirements
    expect(one).toMatchObject({ what: 'y.', note: 'but for z', reason: null })
    expect(two).toMatchObject({ what: 'x.', note: 'n', reason: 'r' })
    expect(three).toMatchObject({ what: 'x.', note: null, reason: null })
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
    const found = claims([parse('test/a.ts', text), parse('src/a.ts', text)], unasked)
    expect(found.map(({ numbers, title }) => [...numbers, title])).toEqual([
      ['T1', 'a'],
      ['T2', 'b %i'],
      ['T3', 'c …'],
    ])
  })
  test.each([
    ['a table of numbers', "const P = { G1: 'T1, T2' }\ntest(`${P[n]}: ${n} holds`, () => {})"],
    ['a table of titles', "test.each([['T1: a', 1]])('%s ends', () => {})"],
    ['nothing but what is filled in', 'test(`T1: ${name}: ${says} (MB-1)`, () => {})'],
  ])('takes titles as they run where they are made from %s (PR-6)', (_what, text) => {
    const listing = (paths: readonly string[]): Map<string, string[]> => {
      return new Map(paths.map((path) => [path, ['all > T1, T2: P-X2: > for >=', 'all > c']]))
    }
    const found = claims([parse('test/a.ts', text)], listing)
    expect(found).toEqual([
      { numbers: ['T1', 'T2'], path: 'test/a.ts', title: 'P-X2: > for >=', needs: null },
    ])
  })
  test('lists nothing where the text says it: groups, and tables without numbers', () => {
    const text = "describe('T4: d', () => test.each([['a', 'b']])('%s: %s', () => {}))"
    expect(claims([parse('test/a.ts', text)], unasked)).toEqual([])
  })
  test('finds what a test needs, also where it asks a function of its file (PR-6)', () => {
    const text = [
      "function disk(context) {\n  context.skip('no') // needs a small disk\n}",
      "test('T1: a', (context) => {\n  if (x) context.skip(x) // needs nft\n})",
      "test('T2: b', (context) => {\n  disk(context)\n})",
      "test('T3: c', (context) => {\n  context.skip(x)\n})",
      "test('T4: d', () => {})",
    ].join('\n')
    const needs = claims([parse('test/a.ts', text)], unasked).map((one) => one.needs)
    expect(needs).toEqual(['nft', 'a small disk', UNSAID, null])
  })
})
