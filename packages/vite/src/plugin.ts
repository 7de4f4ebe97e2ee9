/** A hub inside Vite's servers, and a `join` that outlives hot updates. */

import type { Plugin, PreviewServer, ResolvedConfig, ViteDevServer } from 'vite'
import { hub, type HubHandle, type HubOptions } from '../../hub/src/index.ts'

/** Options of the plugin: those of `hub()`, whose server is Vite's, and whose store is memory. */
export type PluginOptions = Partial<Omit<HubOptions, 'server'>>

/** A module in the place of `holdfast`, whose `join` outlives hot updates. */
const HOT = '\0holdfast/hot'

const HOT_CODE = `
import { join as plain } from 'holdfast'
import { hotJoin } from 'holdfast/vite/client'
export * from 'holdfast'
export const join = import.meta.hot ? hotJoin(plain, import.meta.hot) : plain
`

/** Runs a hub in Vite's servers, at `/hub` of the page's own address, where `join` looks for it. */
export function holdfast(options: PluginOptions = {}): Plugin {
  let open: HubHandle | null = null
  let isDev = false

  const serve = ({ httpServer, config }: ViteDevServer | PreviewServer): void => {
    if (!httpServer) return config.logger.warn(NO_SERVER)
    const start = (): void => {
      open = hub({ store: null, ...options, server: httpServer })
      config.logger.info(`  Holdfast's hub is at ${open.path}`)
    }
    if (httpServer.listening) start()
    else httpServer.once('listening', () => reported(config, start))
  }

  return {
    name: 'holdfast',
    enforce: 'pre',
    config: (_config, { command }) => {
      if (command !== 'serve') return
      // Otherwise Vite finds them at the first request, and reloads the page.
      return { optimizeDeps: { include: ['holdfast', 'holdfast/vite/client'] } }
    },
    configResolved: ({ command, mode }) => {
      isDev = command === 'serve' && mode !== 'test'
    },
    configureServer: (server) => {
      if (isDev) serve(server)
    },
    configurePreviewServer: serve,
    // Vite awaits this before another server takes the port and the file.
    buildEnd: () => open?.close(),
    resolveId: (id, importer, { ssr }) => {
      const isOurs = isDev && !ssr && importer !== undefined && id === 'holdfast'
      return isOurs && importer !== HOT && !importer.includes('/node_modules/') ? HOT : null
    },
    load: (id) => (id === HOT ? HOT_CODE : null),
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
