/** The environment of a page: a worker provides ticks; the hub defaults to its origin. */

import { BrowserLoop } from './net/loop-browser.ts'
import { lookFromPage } from './net/look-browser.ts'
import { openStreams } from './net/streams.ts'
import { isThisMachine } from './net/server/origins.ts'
import { connectWebSocket } from './net/websocket.ts'
import { reportInPage } from './report-browser.ts'
import { openInPage } from './crypto/browser.ts'
import { badValue } from '../machine.ts'
import type { Crypto, Environment, OpenChannels } from '../ports.ts'
import type { StreamPlace } from '../wire/stream-address.ts'

// Not loaded by pages that open no channel.
const openChannels: OpenChannels = async (ice, events) => {
  const { openChannelsInPage } = await import('./net/webrtc/page.ts')
  return openChannelsInPage(ice, events)
}

let page: Environment | null = null
let crypto: Promise<Crypto> | null = null

export function browserEnvironment(): Environment {
  if (typeof location === 'undefined') {
    throw badValue('this door is for pages: others import "holdfast/node" or "holdfast/worker"')
  }
  page ??= {
    kind: 'browser',
    loop: new BrowserLoop(),
    crypto: () => (crypto ??= openInPage()),
    connect: connectWebSocket,
    look: lookFromPage,
    beacon: (url, body) => {
      // Documents of tests, which are not a browser's, lack this function.
      const { sendBeacon } = navigator as Partial<Navigator>
      return sendBeacon?.call(navigator, url.replace(/^ws/, 'http'), body as BufferSource) ?? false
    },
    carriers: [openStreams(connectWebSocket, mayDial)],
    ...(typeof RTCPeerConnection === 'undefined' ? {} : { openChannels }),
    defaultServer: location.origin.startsWith('http') ? location.origin : null,
    report: reportInPage,
    onEnd: (run) => {
      addEventListener('pagehide', run)
      return () => removeEventListener('pagehide', run)
    },
    onFreeze: (run) => {
      // A worker of a page has none.
      if (typeof document === 'undefined') return () => {}
      document.addEventListener('freeze', run)
      return () => document.removeEventListener('freeze', run)
    },
  }
  return page
}

// Browsers let no page of https open streams without TLS. A loopback address that a member of
// another machine announces is none of this one.
function mayDial({ isSecure, host }: StreamPlace): boolean {
  if (location.protocol === 'https:' && !isSecure) return false
  return isThisMachine(location.hostname) || !isThisMachine(host)
}
