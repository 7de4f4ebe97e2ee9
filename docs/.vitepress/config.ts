/**
 * The docs site: the Markdown of docs/ as it stands, with README and CHANGELOG. `npm run docs`
 * serves it, `npm run docs:build` writes it to build/site. HOLDFAST_SOURCE is the address under
 * which a code host shows files of the main branch; without it the site has copies of those that
 * pages name. HOLDFAST_BASE is the folder of the site's address, with slashes at both ends.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { entryPointsAsSource } from '../../tools/entry-points.ts'
import { anchorOf, codeOf } from './markdown.ts'
import { NAV, rewritten, sidebar } from './contents.ts'
import { type Source, linksOf, serveSources, writeSources } from './sources.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const base = process.env['HOLDFAST_BASE'] ?? '/'
const icon = readFileSync(join(root, 'games/icon.svg'), 'utf8')
const source: Source = { root, base, host: process.env['HOLDFAST_SOURCE'] ?? null, used: new Set() }

/** Texts for people who read the code: found by the sidebar, but not in the way of a search. */
const UNSEARCHED = /^(CHANGELOG|docs\/(records\/.*|MUTANTS|STANDARD|attacks))\.md$/

export default defineConfig({
  title: 'Holdfast',
  description: 'A TypeScript library for multiplayer rooms that survive the death of any machine.',
  lang: 'en',
  base,
  srcDir: '..',
  srcExclude: ['!(docs|build)/**/*', 'build/!(api)/**', 'build/*.md', 'docs/node_modules/**'],
  rewrites: rewritten,
  outDir: join(root, 'build/site'),
  cacheDir: join(root, 'build/site-cache'),
  cleanUrls: false,
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: anchorOf },
    attrs: { disable: true },
    config: (markdown) => {
      linksOf(markdown, source)
      codeOf(markdown)
    },
  },
  themeConfig: {
    nav: NAV,
    sidebar: sidebar(root),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        _render: (text, env, markdown) =>
          UNSEARCHED.test(env.path.slice(root.length)) ? '' : markdown.render(text, env),
      },
    },
  },
  vite: {
    publicDir: false,
    resolve: { alias: entryPointsAsSource(root, 'browser') },
    server: { watch: { ignored: ['**/{.git,dist,node_modules,shots}/**', '**/build/!(api)/**'] } },
    // One page with its demo, which loads by itself.
    build: { chunkSizeWarningLimit: 1_024, target: 'es2022' },
    plugins: [serveSources(source)],
  },
  buildEnd: ({ outDir }) => writeSources(source, outDir),
})
