/**
 * The environment of a worker without a page, as in workerd: the hub by WebSocket. What a worker
 * opens while it handles one request may not be used for another, so sessions share nothing.
 */

import { openInPage } from './crypto/browser.ts'
import { BrowserLoop } from './net/loop-browser.ts'
import { LOOK_MAX_MS, metByStatus, passing } from './net/met.ts'
import { connectWebSocket } from './net/websocket.ts'
import { reportInWorker } from './report-browser.ts'
import type { Environment, Look } from '../ports.ts'

/** The environment of a session in this worker. */
export function workerEnvironment(): Environment {
  return {
    kind: 'browser',
    loop: new BrowserLoop(startNone),
    crypto: openInPage,
    connect: connectWebSocket,
    look: lookFromWorker,
    carriers: [],
    defaultServer: null,
    report: reportInWorker,
    // A worker gets no notice before it ends.
    onEnd: () => () => {},
    onFreeze: () => () => {},
  }
}

// Its own timers are not slowed down.
function startNone(): never {
  throw new Error('a worker starts no other')
}

const lookFromWorker: Look = async (url) => {
  try {
    const signal = AbortSignal.timeout(LOOK_MAX_MS)
    const answer = await fetch(url.replace(/^ws/, 'http'), { signal })
    void answer.body?.cancel()
    return metByStatus(answer.status, url)
  } catch (error) {
    return passing(`it did not answer (${String(error)})`)
  }
}
