/**
 * Links of the papers, which lead from file to file. One to a page of the site leads there; one to
 * another file leads to a code host, or to a copy of the file in the site; one to nothing is an
 * error.
 */

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'
import type { Plugin } from 'vitepress/dist/node/index.js'
import { isPage, LISTED, rewritten } from './contents.ts'

/** Where files of the repository are to be seen. */
export interface Source {
  readonly root: string
  readonly base: string
  /** The address under which a code host shows files; null for copies in the site. */
  readonly host: string | null
  /** The files and folders that pages name. */
  readonly used: Set<string>
}

const COPIES = 'source/'

/** Finds the file or folder at a path of the repository; null if there is none. */
function kindOf(source: Source, path: string): 'file' | 'folder' | null {
  const stat = statSync(join(source.root, path), { throwIfNoEntry: false })
  if (!stat) return null
  return stat.isDirectory() ? 'folder' : 'file'
}

/** Where a link of a page leads in the site. @throws Error if nothing is there */
export function targetOf(source: Source, page: string, href: string): string {
  const [to = '', anchor] = href.split('#')
  const path = join(dirname(page), decodeURI(to)).replace(/\/$/, '')
  const fragment = anchor === undefined ? '' : `#${anchor}`
  const kind = path.startsWith('..') ? null : kindOf(source, path)
  if (kind === null) throw new Error(`${page} has a link to ${href}, where nothing is`)
  const readme = kind === 'folder' ? (LISTED[path] ?? join(path, 'README.md')) : path
  if (isPage(readme) && kindOf(source, readme) === 'file') {
    return `/${rewritten(readme).replace(/(^|\/)index\.md$/, '$1')}${fragment}`
  }
  if (source.host !== null) return `${source.host}${path}${fragment}`
  source.used.add(path)
  return `${source.base}${addressOf(path, kind)}`
}

// Servers give out a `.ts` as a film: a copy is a plain text, and a folder a list of them.
function addressOf(path: string, kind: 'file' | 'folder'): string {
  return kind === 'folder' ? `${COPIES}${path}/index.html` : `${COPIES}${path}.txt`
}

/** Has the links of pages lead into the site. */
export function linksOf(markdown: MarkdownRenderer, source: Source): void {
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    const { path, realPath } = env as { path?: string; realPath?: string }
    // A title alone, which has no path.
    if (path === undefined) return
    const page = relative(source.root, realPath ?? path)
    for (const { children } of tokens) {
      for (const token of children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null
        if (href === null || href.startsWith('#') || href.startsWith('/')) continue
        if (/^\w+:/.test(href)) continue
        const target = targetOf(source, page, href)
        token.attrSet('href', target)
        // A file, which the site's own links do not know.
        if (target.includes(`/${COPIES}`)) token.attrSet('target', '_self')
      }
    }
  })
}

/** The files and folders that a copy of these needs: folders with all that is in them. */
function copied(source: Source, path: string): [address: string, text: string][] {
  const kind = kindOf(source, path)
  if (kind !== 'folder') {
    return [[addressOf(path, 'file'), readFileSync(join(source.root, path), 'utf8')]]
  }
  const names = readdirSync(join(source.root, path)).filter((name) => !IGNORED.test(name))
  const inner = names.map((name) => join(path, name))
  const lines = inner.map((one) => {
    const address = `${source.base}${addressOf(one, kindOf(source, one)!)}`
    return `<li><a href="${address}">${relative(path, one)}</a></li>`
  })
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${path}</title>
<style>:root{color-scheme:light dark;font:16px/1.6 system-ui;padding:1rem}</style>
<h1>${path}</h1><ul>${lines.join('')}</ul></html>`
  return [[addressOf(path, 'folder'), page], ...inner.flatMap((one) => copied(source, one))]
}

const IGNORED = /^(node_modules|dist|build|\..*|.*\.(png|svg|ico))$/

/** Writes the copies beside the site's pages. */
export function writeSources(source: Source, outDir: string): void {
  for (const path of source.used) {
    for (const [address, text] of copied(source, path)) {
      mkdirSync(dirname(join(outDir, address)), { recursive: true })
      writeFileSync(join(outDir, address), text)
    }
  }
}

/** Gives out the same copies while the site is written. */
export function serveSources(source: Source): Plugin {
  return {
    name: 'repository-sources',
    configureServer: ({ middlewares }) => {
      middlewares.use((request, response, next) => {
        const address = (request.url ?? '').split('?')[0]!.slice(source.base.length)
        if (!address.startsWith(COPIES)) return next()
        const all = [...source.used].flatMap((path) => copied(source, path))
        const text = all.find(([own]) => own === decodeURI(address))?.[1]
        if (text === undefined) return next()
        const type = address.endsWith('.html') ? 'text/html' : 'text/plain'
        response.setHeader('content-type', `${type}; charset=utf-8`)
        response.end(text)
      })
    },
  }
}
