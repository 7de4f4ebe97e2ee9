/** A page of the tests' own, built as an application builds its pages, in a folder for a hub. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Rolldown } from 'vite'

const HTML = '<!doctype html><body><div id="page"></div><script src="page.js"></script></body>'

/** See the head of this file. */
export interface OwnPages {
  folder: string
  end(): void
}

/** Builds a page from one file beside this one, as in development: React checks more there. */
export async function ownPages(file: string): Promise<OwnPages> {
  const entry = fileURLToPath(new URL(file, import.meta.url))
  const made = await build({
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"development"' },
    build: { write: false, minify: false, lib: { entry, formats: ['iife'], name: 'page' } },
  })
  const [{ output }] = [made].flat() as [Rolldown.RolldownOutput]
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-page-'))
  writeFileSync(join(folder, 'page.js'), output[0].code)
  writeFileSync(join(folder, 'index.html'), HTML)
  return { folder, end: () => rmSync(folder, { recursive: true, force: true }) }
}
