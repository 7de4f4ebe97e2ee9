/** A script of the tests with all that it needs in one file: a process that runs it starts soon. */

import { existsSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build, type Plugin, type Rolldown } from 'vite'
import { entryPointsAsSource } from '../../tools/entry-points.ts'

/** A bug that is put in: in the module whose path ends so, another text for one that is there. */
export interface Plant {
  module: string
  from: string
  to: string
}

/**
 * Bundles one.
 *
 * @param entry  from the root of the repository, where tests and soaks begin
 * @param folder where the bundle is written, of that script alone
 * @param plants bugs to put in
 * @returns the path of the bundle
 */
export async function bundle(
  entry: string,
  folder: string,
  ...plants: readonly Plant[]
): Promise<string> {
  await build({
    configFile: false,
    logLevel: 'error',
    // Examples import the library by its name: it is this one.
    resolve: { alias: entryPointsAsSource(resolve('.'), 'node') },
    plugins: plants.map(planting),
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

/** The same for a page, as the text of a script. @param entry  from the root of the repository */
export async function bundlePage(entry: string): Promise<string> {
  const made = await build({
    configFile: false,
    logLevel: 'error',
    resolve: { alias: entryPointsAsSource(resolve('.'), 'browser') },
    build: {
      ...{ write: false, minify: false },
      lib: { entry: resolve(entry), formats: ['iife'], name: 'page' },
    },
  })
  const [{ output }] = [made].flat() as [Rolldown.RolldownOutput]
  return output[0].code
}

function planting({ module, from, to }: Plant): Plugin {
  let isDone = false
  return {
    name: 'plant',
    enforce: 'pre',
    transform: (code, id) => {
      if (!id.endsWith(module)) return null
      isDone = code.split(from).length === 2
      return code.replace(from, () => to)
    },
    buildEnd: () => {
      if (!isDone) throw new Error(`${module} has not once: ${from}`)
    },
  }
}
