// Goal: a game that was added is in the lobby, in the links and in the papers.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readAddress } from './address.ts'
import { GAMES, isGame } from './games.ts'
import { PAGES } from './pages.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
/** Pages that join no room, or one to which another page leads. */
const OTHERS = ['.', 'race', 'rooms', 'examples/vue']

test('each folder with a page is a game of the lobby or a page beside it', () => {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('index.html'))
    .map((path) => dirname(path))
    // One with its own server is no page of a hub.
    .filter((path) => path === '.' || !existsSync(join(folder, path, 'vite.config.ts')))
  const known = Object.values(PAGES).map((path) => path.slice('./'.length, -1))
  const missing = pages.filter((path) => ![...OTHERS, ...known].includes(path) && !isGame(path))
  expect(
    missing,
    'a game belongs into GAMES of games/games.ts, an example into PAGES of games/pages.ts',
  ).toEqual([])
  const gone = GAMES.filter(({ id }) => !pages.includes(id))
  expect(gone, 'a game of GAMES has a folder with an index.html').toEqual([])
})

test.each(GAMES)('$id: has its section in docs/games.md', ({ title }) => {
  const text = readFileSync(join(folder, '../docs/games.md'), 'utf8')
  expect(text.split('\n'), 'docs/games.md has a section for each game').toContain(`## ${title}`)
})

test.each(GAMES)('$id: a link into a room leads bots to its hub (SL-8)', ({ id }) => {
  const link = `https://h.example/rt/${id}/?room=b`
  expect(readAddress(link)).toEqual({ server: 'https://h.example/rt/', room: 'b' })
})
