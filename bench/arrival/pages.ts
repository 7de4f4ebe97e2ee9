/** The pages of the bench, built as an application would build them, and a server for them. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { entryPointsAsSource } from '../../tools/entry-points.ts'
import { type Entry, given } from '../size/bundles.ts'

/** A page: the text of its module, and the folder whose packages it may import. */
export type PageSource = Pick<Entry, 'text' | 'folder'>

interface Served {
  body: Uint8Array
  type: string
}

/** Builds a page: its document, its module, and the chunks that the module loads later. */
async function files({ text, folder }: PageSource): Promise<Map<string, Served>> {
  const root = resolve(folder)
  const entry = join(root, 'page-of-a-bench.ts')
  const made = await build({
    configFile: false,
    root,
    mode: 'production',
    logLevel: 'error',
    publicDir: false,
    resolve: { alias: entryPointsAsSource(resolve('.'), 'browser') },
    plugins: [given(entry, text)],
    build: {
      write: false,
      target: 'es2022',
      minify: true,
      modulePreload: false,
      rolldownOptions: {
        input: entry,
        preserveEntrySignatures: false,
        output: { entryFileNames: 'page.js' },
      },
    },
  })
  const { output } = made as Rolldown.RolldownOutput
  const found = new Map<string, Served>()
  for (const file of output) {
    const body = gzipSync(file.type === 'chunk' ? file.code : file.source, { level: 9 })
    found.set(file.fileName, { body, type: 'text/javascript' })
  }
  // As in the documents that Vite writes, all that the module imports loads at once with it.
  const links = output[0].imports.map((name) => `<link rel="modulepreload" href="${name}">`)
  const scripts = ['<script type="module" src="page.js"></script>', ...links]
  // Without an icon the browser would ask for one.
  const icon = '<link rel="icon" href="data:,">'
  const html = ['<!doctype html><title>joins</title>', icon, ...scripts].join('')
  return found.set('', { body: gzipSync(html), type: 'text/html' })
}

/** Serves pages by their names, such as `/ours/`. @returns the port, and what ends it */
export async function servePages(
  pages: ReadonlyMap<string, PageSource>,
): Promise<{ port: number; close: () => void }> {
  const served = new Map<string, Served>()
  for (const [name, source] of pages) {
    for (const [file, one] of await files(source)) served.set(`/${name}/${file}`, one)
  }
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const found = served.get(pathname)
    if (!found) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': found.type, 'content-encoding': 'gzip' })
    response.end(found.body)
  })
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens))
  const { port } = server.address() as AddressInfo
  return {
    port,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
