/** A script of the tests with all that it needs in one file: a process that runs it starts soon. */

import { existsSync, symlinkSync } from 'node:fs'
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
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: resolve(entry),
      outDir: folder,
      minify: false,
      rolldownOptions: {
        output: { entryFileNames: 'life.mjs', codeSplitting: false },
      },
    },
  })
  // SQLite is loaded when the first store is opened, from beside the bundle.
  const packages = join(folder, 'node_modules')
  if (!existsSync(packages)) symlinkSync(resolve('node_modules'), packages)
  return join(folder, 'life.mjs')
}
