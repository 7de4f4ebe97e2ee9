// Goal: section 7 of docs/STANDARD.md has the channel of each kind, and no other.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { read, written } from '../../tools/tidy/codebase.ts'
import { limit, readStandard } from './document.ts'

const standard = readStandard(readFileSync('docs/STANDARD.md', 'utf8'))
const root = process.cwd()
const channels = written(root)
  .filter((path) => /^packages\/holdfast\/src\/\w+\/protocol\/.*\.ts$/.test(path))
  .flatMap((path) => [...read(root, path).matchAll(/^export const \w+_CHANNEL = (\d+)$/gm)])
  .map(([, channel]) => Number(channel))

test('each kind has the channel that section 7 gives it (PR-2)', () => {
  const least = limit(standard, 'CHANNEL_MIN')
  const said = [...standard.channels.keys()]
    .filter((channel) => channel >= least)
    .toSorted((a, b) => a - b)
  expect(channels.length).toBeGreaterThan(4)
  expect(
    said,
    'the table of section 7 of docs/STANDARD.md has a row for each channel of a kind',
  ).toEqual(channels.toSorted((a, b) => a - b))
})
