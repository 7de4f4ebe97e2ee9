/**
 * Freezes a build: test/data/X.Y has the version that packages/holdfast names, as a client for Node
 * with a hub and one for pages. Later builds are tested against it
 * (test/conformance/older-builds.test.ts).
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { entryPointsAsSource } from '../entry-points.ts'

/** Each is one module with all that it needs, but for packages with binaries (SQLite, ciphers). */
export type Frozen = 'node' | 'page'

const EXPORTS: Record<Frozen, string> = {
  node: `export * from 'holdfast'\nexport { hub } from 'holdfast/hub'\n`,
  page: `export * from 'holdfast'\n`,
}
const BINARIES = ['libsql', 'node-datachannel', 'sodium-native']
const ENTRY = '\0frozen'

/** Bundles and minifies what is there now. @param root  of the repository */
export async function bundled(root: string, what: Frozen): Promise<string> {
  const isNode = what === 'node'
  const built = await build({
    root,
    configFile: false,
    logLevel: 'error',
    resolve: { alias: entryPointsAsSource(root, isNode ? 'node' : 'browser') },
    ...(isNode && { ssr: { noExternal: true, external: BINARIES } }),
    plugins: [
      {
        name: 'frozen',
        enforce: 'pre',
        resolveId: (id) => (id === ENTRY ? id : null),
        load: (id) => (id === ENTRY ? EXPORTS[what] : null),
      },
    ],
    build: {
      ssr: isNode,
      write: false,
      minify: true,
      target: 'es2023',
      modulePreload: false,
      rolldownOptions: {
        input: ENTRY,
        preserveEntrySignatures: 'strict',
        output: { codeSplitting: false, format: 'es' },
      },
    },
  })
  const { output } = [built].flat()[0] as Rolldown.RolldownOutput
  return output[0].code
}

/** Writes both. @param root  of the repository @returns what was written, as lines */
export async function freeze(root: string): Promise<string[]> {
  const text = readFileSync(join(root, 'packages/holdfast/package.json'), 'utf8')
  const { version } = JSON.parse(text) as { version: string }
  const folder = join('test/data', version.replace(/^(\d+\.\d+)\..*$/, '$1'))
  mkdirSync(join(root, folder), { recursive: true })
  const lines: string[] = []
  for (const what of ['node', 'page'] as const) {
    const code = await bundled(root, what)
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
    const bytes = brotliCompressSync(code, { params })
    const path = join(folder, `${what}.mjs.br`)
    writeFileSync(join(root, path), bytes)
    lines.push(`${path}: ${version}, ${bytes.length} bytes, unpacked ${code.length}`)
  }
  return lines
}
