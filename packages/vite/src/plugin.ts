/** A hub inside Vite's servers, and a `join` that outlives hot updates. */

import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin, PreviewServer, ResolvedConfig, ViteDevServer } from 'vite'
import { hub, type HubHandle, type HubOptions } from '../../hub/src/index.ts'

/**
 * Options of the plugin: those of `hub()`, whose server is Vite's. Its store is memory, unless
 * `store` is the path of a file from Vite's root; its folder is created.
 */
export interface PluginOptions extends Partial<Omit<HubOptions, 'server' | 'store'>> {
  /** A file, from Vite's root. */
  store?: string | null
  /** Printed behind the page's address, such as `['?name=Ada', '?name=Grace']`: a link a window. */
  links?: readonly string[]
}

/** Entry points that a page's modules import, and the prefix of what stands in their place. */
const ENTRIES = ['holdfast', 'holdfast/react']
const HOT = '\0hot:'

const hotCode = (entry: string): string => `
import { develop } from 'holdfast/vite/client'
if (import.meta.hot) develop(import.meta.hot)
export * from '${entry}'
`

/** Runs a hub in Vite's servers, at `/hub` of the page's own address, where `join` looks for it. */
export function holdfast({ links = [], ...options }: PluginOptions = {}): Plugin {
  let open: HubHandle | null = null
  let isDev = false

  const serve = (server: ViteDevServer | PreviewServer): void => {
    const { httpServer, config } = server
    if (!httpServer) return config.logger.warn(NO_SERVER)
    if (links.length > 0) printAlso(server, links)
    const start = (): void => {
      const store = storeOf(config, options.store ?? null)
      open = hub({ ...options, store, server: httpServer })
      config.logger.info(`  Holdfast's hub is at ${open.path}`)
    }
    if (httpServer.listening) start()
    else httpServer.once('listening', () => reported(config, start))
  }

  return {
    name: 'holdfast',
    enforce: 'pre',
    config: (config, { command }) => {
      const root = config.root ?? process.cwd()
      const used = ENTRIES.filter((entry) => entry === 'holdfast' || isInstalled('react', root))
      return {
        // Hooks and application share one copy, also where `holdfast` is a link to a clone.
        resolve: { dedupe: ['react', 'react-dom'] },
        // What is built for Node imports the package, also where that is a link to a clone.
        ssr: { external: ['holdfast'] },
        // Otherwise Vite finds them at the first request, and loads the page again.
        ...(command === 'serve' && {
          optimizeDeps: {
            include: [...used, 'holdfast/vite/client'],
            rolldownOptions: { plugins: [{ name: 'holdfast-maps', load: loadWithMap }] },
          },
        }),
      }
    },
    configResolved: ({ command, plugins }) => {
      // Vitest runs a server, too, and no page.
      isDev = command === 'serve' && !plugins.some(({ name }) => name.startsWith('vitest'))
    },
    configureServer: (server) => {
      if (isDev) serve(server)
    },
    configurePreviewServer: serve,
    // Vite awaits this before another server takes the port and the file.
    buildEnd: () => open?.close(),
    resolveId: (id, importer, { ssr }) => {
      if (!isDev || ssr || importer === undefined || !ENTRIES.includes(id)) return null
      const isUsers = !importer.startsWith(HOT) && !importer.includes('/node_modules/')
      return isUsers ? HOT + id : null
    },
    load: (id) => (id.startsWith(HOT) ? hotCode(id.slice(HOT.length)) : loadWithMap(id)),
  }
}

/** The files of this package, with `/` between folders as in Vite's ids. */
const OWN = fileURLToPath(new URL('../..', import.meta.url)).replaceAll('\\', '/')

// Rolldown reads no source map of a package by itself, so that stacks would name what was built.
function loadWithMap(id: string): { code: string; map: string } | null {
  const [path = ''] = id.split('?')
  if (!path.startsWith(OWN) || !existsSync(`${path}.map`)) return null
  return { code: readFileSync(path, 'utf8'), map: readFileSync(`${path}.map`, 'utf8') }
}

// In the project, wherever Vite was started; and in a folder that may not be there yet.
function storeOf({ root }: ResolvedConfig, path: string | null): string | null {
  if (path === null) return null
  const store = resolve(root, path)
  mkdirSync(dirname(store), { recursive: true })
  return store
}

function isInstalled(name: string, root: string): boolean {
  try {
    createRequire(join(root, 'package.json')).resolve(name)
    return true
  } catch {
    return false
  }
}

function printAlso(server: ViteDevServer | PreviewServer, links: readonly string[]): void {
  const printUrls = server.printUrls.bind(server)
  server.printUrls = () => {
    printUrls()
    const page = server.resolvedUrls?.local[0] ?? server.resolvedUrls?.network[0]
    const info = (line: string): void => server.config.logger.info(line)
    info('\n  Open each in a window of its own:')
    for (const link of links) info(`  ${new URL(link, page).href}`)
  }
}

const NO_SERVER =
  'holdfast: Vite is a part of another server here: open a hub on that one, with hub({ server }) ' +
  'of holdfast/hub'

// An error thrown in a listener would end Vite's process without its name.
function reported({ logger }: ResolvedConfig, run: () => void): void {
  try {
    run()
  } catch (error) {
    logger.error(`holdfast: there is no hub: ${(error as Error).message}`)
  }
}
