// Goal: the first difference of two event logs is found and told; everything else is one sentence.
// Method: the built command on files; the comparison alone where a file would only be in the way.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { compare, type Comparison, diverge, differences, EventLog } from './diverge.ts'

const COMMAND = fileURLToPath(new URL('../../holdfast/dist/cli/src/holdfast.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'holdfast-diverge-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content)
  return name
}

interface Said {
  code: number
  out: string[]
  error: string[]
}

/** Runs the command in the folder of the logs. */
function run(...args: string[]): Promise<Said> {
  const lines = (text: string): string[] => text.split('\n').slice(0, -1)
  return new Promise((resolve) => {
    const all = [COMMAND, 'diverge', ...args]
    const child = execFile(process.execPath, all, { cwd: folder }, (_error, out, error) =>
      resolve({ code: child.exitCode ?? -1, out: lines(out), error: lines(error) }),
    )
  })
}

function log(name: string, texts: readonly string[]): EventLog {
  const lines = texts.map((text, at) => ({ number: at + 1, text }))
  return new EventLog(name, lines.values())
}

function compared(left: string[], right: string[], ignore: string[] = []): Promise<Comparison> {
  return compare(log('left', left), log('right', right), { context: 2, ignore })
}

const cranks = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `{"crank":${at + 1},"vat":"vattp"}`)

describe('two logs', () => {
  test('S23: that differ: both lines, what surrounds them, and the fields; 1', async () => {
    const left = cranks(12)
    const right = left.toSpliced(7, 0, '{"crank":8,"vat":"vattp","ack":5}')
    file('a.log', left.join('\n'))
    file('b.log', `\n${right.join('\r\n')}\r\n`)
    const { code, out, error } = await run('a.log', 'b.log', '--context', '2')
    expect([code, error]).toEqual([1, []])
    expect(out).toEqual([
      'a.log and b.log differ: line 8 of a.log, line 9 of b.log',
      '7 events before it are equal; < a.log, > b.log',
      '       6  {"crank":6,"vat":"vattp"}',
      '       7  {"crank":7,"vat":"vattp"}',
      '<      8  {"crank":8,"vat":"vattp"}',
      '<      9  {"crank":9,"vat":"vattp"}',
      '<     10  {"crank":10,"vat":"vattp"}',
      '>      9  {"crank":8,"vat":"vattp","ack":5}',
      '>     10  {"crank":8,"vat":"vattp"}',
      '>     11  {"crank":9,"vat":"vattp"}',
      'fields that differ:',
      '  ack  (none) | 5',
    ])
  })
  test('that are equal: one line; 0', async () => {
    file('same.log', `${cranks(3).join('\n')}\n`)
    file('twin.log', '{"vat":"vattp", "crank":1}\n{"crank":2,"vat":"vattp"}\n\n' + cranks(3)[2])
    const { code, out } = await run('same.log', 'twin.log')
    expect([code, out]).toEqual([0, ['same.log and twin.log are equal: 3 events']])
  })
  test('of which one goes on: a sentence, and with what; 1', async () => {
    file('long.log', cranks(5).join('\n'))
    file('short.log', cranks(4).join('\n'))
    const { code, out } = await run('long.log', 'short.log')
    expect([code, out[0]]).toEqual([
      1,
      'short.log ends after 4 events, long.log goes on at its line 5',
    ])
    expect(out.at(-1)).toBe('<      5  {"crank":5,"vat":"vattp"}')
    const [told] = await diverge(join(folder, 'short.log'), join(folder, 'long.log'))
    expect(told).toMatch(
      /short\.log ends after 4 events, [^]*\n> {6}5 {2}\{"crank":5,"vat":"vattp"\}$/,
    )
  })
  test('that differ in a field to be ignored are equal', async () => {
    file('early.log', '{"crank":1,"time":17.5}\n')
    file('late.log', '{"crank":1,"time":18,"mono":3}\n')
    const paths = [join(folder, 'early.log'), join(folder, 'late.log')] as const
    expect((await diverge(...paths, { ignore: 'time,mono' }))[1]).toBe(true)
    expect((await diverge(...paths, { ignore: 'mono' }))[0]).toMatch(/\n {2}time {2}17\.5 \| 18$/)
  })
})

describe('a mistake is one sentence, and 2', () => {
  const good = (): string => file('good.log', cranks(3).join('\n'))
  test.each<[what: string, content: string | Uint8Array | null, sentence: RegExp]>([
    ['missing', null, /^there is no file \S*other\.log$/],
    ['empty', '', /^\S*other\.log is empty: it has no events$/],
    ['of empty lines', '\n\n', /^\S*other\.log is empty: it has no events$/],
    ['cut short', `${cranks(2).join('\n')}\n{"cra`, /^line 3 of \S*other\.log is not JSON: /],
    ['of other things', '[1,2]\n', /^line 1 of \S*other\.log is JSON but no object$/],
    ['no text', Uint8Array.of(0x7b, 0xff, 0x0a), /^line 1 of \S*other\.log is not UTF-8$/],
  ])('a log that is %s', async (_what, content, sentence) => {
    rmSync(join(folder, 'other.log'), { force: true })
    if (content !== null) file('other.log', content)
    const [left, right] = [good(), 'other.log'].map((name) => join(folder, name))
    await expect(diverge(left!, right!)).rejects.toThrow(sentence)
    await expect(diverge(right!, left!)).rejects.toThrow(sentence)
  })
  test('a folder, and a context that is no number', async () => {
    const path = join(folder, good())
    await expect(diverge(folder, path)).rejects.toThrow(/^\S+ is a folder$/)
    await expect(diverge(path, path, { context: 'x' })).rejects.toThrow(/^--context is a whole/)
  })
  test.each([
    [['good.log', 'nowhere.log'], /^holdfast: there is no file nowhere\.log$/],
    [['good.log'], /^holdfast: missing required args/],
    [['good.log', 'good.log', 'good.log'], /^holdfast: Unused args/],
    [
      ['good.log', 'good.log', '--contxt', '3'],
      /^holdfast: Unknown option `--contxt`: did you mean --context\?/,
    ],
  ])('%j', async (args, sentence) => {
    good()
    const { code, error } = await run(...args)
    expect([code, error]).toEqual([2, [expect.stringMatching(sentence)]])
  })
  test('--help says what there is, and 0', async () => {
    const { code, out } = await run('--help')
    expect(code).toBe(0)
    expect(out.join('\n')).toMatch(/diverge <left> <right>[^]*--context[^]*--ignore/)
  })
})

describe('events', () => {
  test('are compared as values: fields by their paths, whatever the order of keys', () => {
    const left = { a: 1, list: [1, { b: null }], 'a key': '', same: [{}] }
    const right = { same: [{}], list: [1, { b: 0 }, 3], a: 1 }
    expect(differences(left, right)).toEqual([
      { path: 'list[1].b', left: 'null', right: '0' },
      { path: 'list[2]', left: undefined, right: '3' },
      { path: '"a key"', left: '""', right: undefined },
    ])
    expect(differences([], {})).toEqual([{ path: '', left: '[]', right: '{}' }])
  })
  test('with numbers that no double can hold are not taken for equal', async () => {
    const differ = await compared(['{"id":9007199254740993}'], ['{"id":9007199254740992}'])
    expect(differ.fields).toEqual([
      { path: 'id', left: '"9007199254740993"', right: '"9007199254740992"' },
    ])
    const equal = await compared(
      ['{"id":9007199254740993,"text":"\\"9007199254740993"}'],
      ['{"text":"\\"9007199254740993", "id":9007199254740993}'],
    )
    expect([equal.left, equal.same]).toEqual([null, 1])
  })
  test('keep the separators of Unicode inside their texts', async () => {
    file('separators.log', '{"text":"a\u2028b\u2029c"}\n{"crank":2}\n')
    const path = join(folder, 'separators.log')
    expect(await diverge(path, path)).toEqual([`${path} and ${path} are equal: 2 events`, true])
  })
  test('over the edges of what is read at once', async () => {
    const long = JSON.stringify({ text: 'é'.repeat(200_000) })
    file('left.log', `${[...cranks(9_000), long, '{"crank":1}'].join('\n')}\n`)
    file('right.log', `${[...cranks(9_000), long, '{"crank":2}'].join('\n')}\n`)
    const [told] = await diverge(join(folder, 'left.log'), join(folder, 'right.log'))
    const out = told.split('\n')
    expect(out[0]).toMatch(/differ: line 9002 of \S+, line 9002 of \S+$/)
    expect(Math.max(...out.map((line) => line.length))).toBeLessThan(500)
  })
})
