/**
 * Builds pages. Every `index.html` in games/ is one: the lobby on top, one folder for each game,
 * and one for each of the examples. They go to dist/pages of the package, from where `holdfast
 * serve` gives them out in this repository. With `--mode lobby` the list of rooms goes to
 * dist/lobby, which alone is published. Pages import `holdfast` as a user does; here that is the
 * source.
 */

import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'
import { entryPointsAsSource } from '../tools/entry-points.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const games = join(root, 'games')

function pages(): string[] {
  const paths = readdirSync(games, { recursive: true, encoding: 'utf8' })
  const found = paths.filter((path) => basename(path) === 'index.html')
  // One that has a server of its own, beside its own configuration, is no page of this one.
  const ours = found.filter((path) => {
    const folder = dirname(path)
    return folder === '.' || !existsSync(join(games, folder, 'vite.config.ts'))
  })
  return ours.map((path) => join(games, path))
}

/** What goes where. A map of what a package brings would be larger than what it maps. */
function built(mode: string): { outDir: string; sourcemap: boolean; input: string[] } {
  if (mode === 'lobby') {
    return {
      outDir: 'packages/holdfast/dist/lobby',
      sourcemap: false,
      input: [join(games, 'rooms/index.html')],
    }
  }
  return { outDir: 'packages/holdfast/dist/pages', sourcemap: true, input: pages() }
}

export default defineConfig(({ mode }) => {
  const { outDir, sourcemap, input } = built(mode)
  return {
    root: games,
    base: './',
    plugins: [svelte({ configFile: false }), vue()],
    resolve: { alias: entryPointsAsSource(root, 'browser') },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    worker: { format: 'es' },
    build: {
      outDir: join(root, outDir),
      emptyOutDir: true,
      target: 'es2022',
      sourcemap,
      modulePreload: { polyfill: false },
      // A page with three.js is larger than what Vite warns of.
      chunkSizeWarningLimit: 1_024,
      rolldownOptions: { input },
    },
  }
})
