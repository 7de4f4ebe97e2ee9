/**
 * Builds the pages of the games to dist/pages, from where `holdfast serve` gives them out.
 *
 * Every `index.html` in games/ is a page: the lobby on top, one folder for each game, and one for
 * each of the examples. They import `holdfast` as a user does; the condition makes that the source
 * in this repository.
 */

import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defaultClientConditions, defineConfig } from 'vite'

const games = fileURLToPath(new URL('games/', import.meta.url))

function pages(): string[] {
  if (!existsSync(games)) return []
  const paths = readdirSync(games, { recursive: true, encoding: 'utf8' })
  const found = paths.filter((path) => basename(path) === 'index.html')
  // One that has a server of its own is no page of this one.
  const ours = found.filter((path) => !existsSync(join(games, dirname(path), 'vite.config.ts')))
  return ours.map((path) => join(games, path))
}

export default defineConfig({
  root: games,
  base: './',
  resolve: { conditions: ['holdfast-source', ...defaultClientConditions] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: {
    outDir: fileURLToPath(new URL('dist/pages/', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: true,
    modulePreload: { polyfill: false },
    // With no page at all there is still something to build: nothing.
    rolldownOptions: { input: pages().length > 0 ? pages() : 'data:text/javascript,' },
  },
})
