/** A script of the tests with all that it needs in one file: a process that runs it starts soon. */

import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { build } from 'vite'

/**
 * Bundles one.
 *
 * @param entry  from the root of the repository, where tests and soaks begin
 * @param folder where the bundle is written, of that script alone
 * @returns the path of the bundle
 */
export async function bundle(entry: string, folder: string): Promise<string> {
  // Its native half stands beside it.
  const libsql = createRequire(resolve('package.json')).resolve('libsql')
  await build({
    configFile: false,
    logLevel: 'error',
    resolve: { alias: { libsql } },
    ssr: { noExternal: true, external: [libsql] },
    build: {
      ssr: resolve(entry),
      outDir: folder,
      minify: false,
      rolldownOptions: {
        external: [libsql],
        output: { entryFileNames: 'life.mjs', codeSplitting: false },
      },
    },
  })
  return join(folder, 'life.mjs')
}
