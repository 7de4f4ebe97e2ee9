/** What is frozen of a version: a client for Node with a hub, and one for pages. */

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
