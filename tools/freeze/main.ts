/**
 * `npm run freeze`: writes test/data/X.Y, the version that packages/holdfast names as others will
 * have it, against which later builds are tested (test/conformance/older-builds.test.ts).
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { bundled } from './bundles.ts'

const root = resolve('.')
const text = readFileSync(join(root, 'packages/holdfast/package.json'), 'utf8')
const { version } = JSON.parse(text) as { version: string }
const folder = join('test/data', version.replace(/^(\d+\.\d+)\..*$/, '$1'))

mkdirSync(join(root, folder), { recursive: true })
for (const what of ['node', 'page'] as const) {
  const code = await bundled(root, what)
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  const bytes = brotliCompressSync(code, { params })
  const path = join(folder, `${what}.mjs.br`)
  writeFileSync(join(root, path), bytes)
  console.log(`${path}: ${version}, ${bytes.length} bytes, unpacked ${code.length}`)
}
