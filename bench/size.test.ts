// Goal: nobody makes the first game heavier, or a part of it, without saying so.
// Method: it is bundled as a page has it, and held against what is written in test/data.
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { firstGame, partOf, readTable, tableOf } from './size/first-game.ts'

const FILE = 'test/data/first-game.txt'
/** By how many gzipped bytes a part may differ from what is written. */
const LEEWAY = 1_000

test('each part of the first game costs what is written, to a kilobyte', async () => {
  const text = tableOf(await firstGame())
  if (process.env['UPDATE'] === '1') writeFileSync(FILE, text)
  const now = readTable(text)
  const written = readTable(readFileSync(FILE, 'utf8'))
  const names = new Set([...now.keys(), ...written.keys()])
  const off = [...names].filter((name) => {
    const difference = (now.get(name)?.gzipped ?? 0) - (written.get(name)?.gzipped ?? 0)
    return Math.abs(difference) > LEEWAY
  })
  const cure = `if that is meant, UPDATE=1 writes, or put into ${FILE}:\n${text}`
  expect(off, `${off.join(', ')}: ${cure}`).toEqual([])
}, 60_000)

test('a source belongs to the room that it stands in', () => {
  const paths = [
    '../../packages/holdfast/src/link/link.ts',
    '../../packages/holdfast/src/browser.ts',
    'main.ts',
  ]
  expect(paths.map(partOf)).toEqual(['link', 'doors', 'the game'])
  expect(partOf('../../node_modules/@noble/hashes/src/sha2.js')).toBe('packages')
})
