/**
 * What code weighs in a page: bundled and minified by Vite, as the pages of this repository are,
 * then packed with gzip at its best. One tool for all that is compared.
 */

import { SourceMap, type SourceMapPayload } from 'node:module'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Plugin, type Rolldown } from 'vite'
import { entryPointsAsSource } from '../../tools/entry-points.ts'

/** What is measured: a module of that text, as if it stood in that folder. */
export interface Entry {
  text: string
  /** From the root of the repository. */
  folder: string
  /** Where it runs: on Node what comes with Node, and packages, are not counted. */
  place: 'browser' | 'node'
  /** Packages that its application has anyway, and that are not counted. Default: none. */
  without?: readonly string[]
}

/** A bundle, minified. */
export interface Bundle {
  code: string
  map: SourceMapPayload
}

/** How many bytes a text has, as it is and packed. */
export interface Weight {
  minified: number
  gzipped: number
}

/**
 * Bundles an entry as a page, or as a program on Node, would have it: what it loads at once, in one
 * file. What is loaded only when it is needed is not in it.
 */
export async function bundle({ text, folder, place, without = [] }: Entry): Promise<Bundle> {
  const root = resolve(folder)
  const entry = join(root, 'entry-of-a-bench.ts')
  const onNode = place === 'node'
  const made = await build({
    configFile: false,
    root,
    mode: 'production',
    logLevel: 'error',
    publicDir: false,
    resolve: { alias: entryPointsAsSource(resolve('.'), place) },
    ...(onNode && { ssr: { external: true } }),
    plugins: [given(entry, text), ...(onNode ? [] : [withoutLater])],
    build: {
      write: false,
      target: 'es2022',
      minify: true,
      sourcemap: true,
      modulePreload: false,
      ...(onNode && { ssr: entry }),
      rolldownOptions: {
        input: entry,
        external: [...without],
        // What an entry exports is what an application may use.
        preserveEntrySignatures: 'strict',
        output: { codeSplitting: false },
      },
    },
  })
  const { output } = made as Rolldown.RolldownOutput
  const [chunk] = output
  // The address of the map is no part of what is measured.
  const code = chunk.code.replace(/\n?\/\/# sourceMappingURL=.*\n?$/, '')
  const map = output.find((one) => one.fileName.endsWith('.js.map'))
  if (map?.type !== 'asset') throw new Error(`the bundle of ${folder} came without a map`)
  return { code, map: JSON.parse(String(map.source)) as SourceMapPayload }
}

/** Gives Vite the entry, which is no file on disk. */
export function given(path: string, text: string): Plugin {
  return {
    name: 'given',
    enforce: 'pre',
    resolveId: (id) => (id === path ? id : null),
    load: (id) => (id === path ? text : null),
  }
}

/** Leaves out what is loaded later. */
const withoutLater: Plugin = {
  name: 'without-later',
  resolveDynamicImport: (specifier) => ({ id: String(specifier), external: true }),
}

/** What a text weighs. */
export function weigh(code: string): Weight {
  const bytes = new TextEncoder().encode(code)
  return { minified: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length }
}

/**
 * What each part of a bundle weighs: its characters of the minified code, and what they come to
 * when gzip packs them alone. The sum of the latter is a little more than the whole.
 *
 * @param partOf  the part that a source belongs to, by its path
 */
export function weighParts(
  { code, map }: Bundle,
  partOf: (path: string) => string,
): Map<string, Weight> {
  const sources = new SourceMap(map)
  const texts = new Map<string, string[]>()
  for (const [line, text] of code.split('\n').entries()) {
    let part = partOf('')
    let from = 0
    for (let column = 0; column <= text.length; column++) {
      const now = column < text.length ? partAt(sources, line, column, partOf) : null
      if (now === part) continue
      const found = texts.get(part) ?? []
      found.push(text.slice(from, column))
      texts.set(part, found)
      part = now ?? ''
      from = column
    }
  }
  return new Map([...texts].map(([part, pieces]) => [part, weigh(pieces.join(''))]))
}

function partAt(
  sources: SourceMap,
  line: number,
  column: number,
  partOf: (path: string) => string,
): string {
  // What Vite adds itself has no source.
  const { originalSource } = sources.findEntry(line, column) as { originalSource?: string }
  return partOf(originalSource ?? '')
}
