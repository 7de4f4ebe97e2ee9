/** A page as a place to run in: ticks from a worker, the hub of its own origin. */

import { createBrowserLoop } from './net/loop-browser.ts'
import { connectWebSocket } from './net/websocket.ts'
import type { Environment } from '../ports.ts'

let page: Environment | null = null

/** The environment of this page; made at the first call. */
export function browserEnvironment(): Environment {
  page ??= {
    kind: 'browser',
    loop: createBrowserLoop(),
    connect: connectWebSocket,
    carriers: [],
    defaultServer: location.origin.startsWith('http') ? location.origin : null,
    onEnd: (run) => {
      addEventListener('pagehide', run)
      return () => removeEventListener('pagehide', run)
    },
    onFreeze: (run) => {
      document.addEventListener('freeze', run)
      return () => document.removeEventListener('freeze', run)
    },
  }
  return page
}
