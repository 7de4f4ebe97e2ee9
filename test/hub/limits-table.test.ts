// Goal: whoever runs a hub reads the limits that it has.
// Method: the tables of the docs, and what --help prints, against the table of the code; UPDATE=1
// writes the docs anew.
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { limitLines } from '../../packages/cli/src/given.ts'
import { defaults, inWords, rowsOf } from '../../packages/hub/src/machine/limits.ts'

const HEAD = '| `limit` | at once | a second | of what |'
const LONG = '| `limit` | at once | a second | of what | why this number |'

function rows(why: boolean): string[] {
  return rowsOf(defaults()).map(({ who, what, limit, ...words }) => {
    const [max, rate] = typeof limit === 'number' ? [limit, null] : [limit.max, limit.perSecond]
    const cells = [`\`${who}.${what}\``, inWords(max), rate === null ? '' : inWords(rate), words.of]
    return `| ${[...cells, ...(why ? [words.why] : [])].join(' | ')} |`
  })
}

test.each([
  ['docs/protocols/hub.md', HEAD],
  ['docs/commands.md', LONG],
])('%s has the table of limits (SE-9)', (file, head) => {
  const lines = readFileSync(file, 'utf8').split('\n')
  const from = lines.indexOf(head) + 2
  expect(from, `${file} has a table that begins with ${head}`).toBeGreaterThan(1)
  const count = lines.slice(from).findIndex((line) => !line.startsWith('|'))
  const now = rows(head === LONG)
  if (process.env['UPDATE'] === '1') {
    lines.splice(from, count, ...now)
    writeFileSync(file, lines.join('\n'))
  } else expect(lines.slice(from, from + count)).toEqual(now)
})

test('`holdfast limits` has each limit on a line, with its number (SE-9)', () => {
  const lines = limitLines().split('\n')
  for (const [at, { who, what, limit, of }] of rowsOf(defaults()).entries()) {
    expect(lines[at]!.trim().split(/ {2,}/)).toEqual([`${who}.${what}`, inWords(limit), of])
    expect(lines[at]!.length).toBeLessThanOrEqual(100)
  }
})
