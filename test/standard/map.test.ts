// Goal: section 0 of docs/STANDARD.md shows how a session begins, and what it shows is so.
// Method: a newcomer joins a session in virtual time; every message of it is read by the document's
// own reader and compared with the table. Who changes bytes runs with UPDATE=1.
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { action } from '../../packages/holdfast/src/actions/actions.ts'
import { object } from '../../packages/holdfast/src/objects/objects.ts'
import { u8, vec2 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import { read, written } from '../../tools/tidy/codebase.ts'
import { toHex } from '../hex.ts'
import { open } from './capture.ts'
import { readStandard } from './document.ts'
import { type Hear, readCapture } from './ledger.ts'
import { inWords } from './reader.ts'

const PATH = 'docs/STANDARD.md'
const text = readFileSync(PATH, 'utf8')
const standard = readStandard(text)
/** What an example of a set is called in the document; by default a message of a channel. */
const CALLED: Readonly<Record<string, string>> = {
  ToHub: 'stream up',
  FromHub: 'stream down',
  Seal: 'datagram',
  Packet: 'datagram',
  Join: '`Join`',
  News: '`News`',
}
const Dot = object('dot', { pos: vec2(0, 100, 0.1), hue: u8 })
const bump = action('bump', (table) => table.set('pins', 1))

/** Ada serves a session in which something happened; then Bea joins. @returns rows of the table */
async function begin(): Promise<string[]> {
  const { join, until, settled, sim, sent } = open('star', [Dot, bump])
  const ada = await join('ada')
  ada.create(Dot, { pos: [50, 25.5], hue: 200 })
  await settled(ada.act(bump))
  await sim.run(1_000)
  const bea = await join('bea')
  await until('bea sees the dot', () => bea.all(Dot).length === 1)
  const rows: string[] = []
  const hear: Hear = (set, _kind, node, bytes) => {
    if (set === 'Stored' || (rows.length === 0 && node !== 'bea')) return
    const what = CALLED[set] ?? 'message'
    const reads = inWords(standard, what.replaceAll('`', ''), bytes)
    const ends = { ToHub: `${node}, hub`, FromHub: `hub, ${node}` }[set]
    const other = node === 'ada' ? 'bea' : 'ada'
    const inside = set === 'Join' || what === 'message' || what === '`News`'
    const from = inside ? 'in the one above' : (ends ?? `${node}, ${other}`)
    rows.push(`| ${what} | \`${toHex(bytes)}\` | \`${reads}\` | ${from} |`)
  }
  readCapture(standard, sent, standard.types.slice(0, 1), [], hear)
  return rows
}

test('every byte of a newcomer’s first messages is as section 0 shows it (DO-46)', async () => {
  const head = ['| example | hex | reads as | from, to |', '|---|---|---|---|']
  const table = [...head, ...(await begin())].join('\n')
  const now = text.replace(/(?<=each line\.\n\n).*?(?=\n\n## 1\. )/s, () => table)
  if (process.env['UPDATE'] === '1') writeFileSync(PATH, now)
  expect(readFileSync(PATH, 'utf8'), 'if that is meant, UPDATE=1').toBe(now)
})

test('every section begins with a sentence (DO-49)', () => {
  const sections = [...text.matchAll(/^##+ (.*)\n\n([^]*?)(?=\n\n|$)/gm)]
  expect(sections.length).toBeGreaterThan(25)
  const bare = sections.filter(([, , first = '']) => /^( {4}|[|#-])/.test(first))
  expect(bare.map(([, title]) => title)).toEqual([])
})

test('every section that a text names is there (DO-60)', () => {
  const there = new Set([...text.matchAll(/^##+ (\d+(?:\.\d)?)/gm)].map(([, number]) => number!))
  const root = process.cwd()
  const texts = written(root)
    .filter((path) => /^(src|test\/standard)\/.*\.ts$|^docs\/.*\.md$/.test(path))
    .map((path) => read(root, path))
  const named = texts.flatMap((one) => {
    return [...one.matchAll(/\bsections?\s+(\d[\d., ]*(?:(?:to|and) [\d.]+)?)/gi)]
  })
  const numbers = named.flatMap(([, list = '']) => list.match(/\d+(?:\.\d)?/g) ?? [])
  expect(numbers.length).toBeGreaterThan(60)
  expect(numbers.filter((number) => !there.has(number))).toEqual([])
})
