// Goal: random bytes into every socket harm nobody.
// Method: a hub and two Node members of one process, on real sockets.
import { nodeCurves } from '../../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { expect, test } from 'vitest'
import { action } from '../../packages/holdfast/src/actions/actions.ts'
import { HubServer } from '../../packages/hub/src/server/hub-server.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { acceptStreams } from '../../packages/holdfast/src/drivers/net/server/websocket-server.ts'
import { openSqliteStore } from '../../packages/holdfast/src/drivers/store/sqlite.ts'
import { openServer } from '../../packages/cli/src/serve/http.ts'
import { createMetrics } from '../../packages/cli/src/serve/metrics.ts'
import { metricsOf, siteOf } from '../../packages/cli/src/serve/site.ts'
import { join, type Session } from '../../packages/holdfast/src/node.ts'
import { intoStreams, intoTcp, intoUdp } from '../fuzz/sockets.ts'
import { until } from './until.ts'

const count = action('count', (table, _args: null) => {
  const next = Number(table.get('count') ?? 0) + 1
  table.set('count', next)
  return next
})

async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}

interface Place {
  url: string
  hub: HubServer
  close: () => Promise<void>
}

async function startPlace(): Promise<Place> {
  const folder = mkdtempSync(joinPath(tmpdir(), 'holdfast-fuzz-'))
  const store = openSqliteStore(joinPath(folder, 'hub.db'))
  const hub = new HubServer(createNodeLoop(), store, { wall: () => 0, curves: nodeCurves })
  const site = siteOf({
    shelves: [],
    health: () => ({ ok: true }),
    metrics: metricsOf(createMetrics(), null),
    sessions: () => ({ items: [], next: '' }),
    about: {},
  })
  const place = { host: '127.0.0.1', port: 0, option: '--port', origins: [] } as const
  const http = await openServer(place, site)
  const streams = acceptStreams(http.server, {
    path: '/hub',
    accept: (one, opening) => hub.accept(one, opening),
  })
  const close = async (): Promise<void> => {
    streams.close()
    await http.close()
    await hub.close()
    store.close()
    rmSync(folder, { recursive: true })
  }
  return { url: http.url, hub, close }
}

// Acts at each member in turn for as long as the others rage. Each outcome must be the next.
async function actDuring(sessions: readonly Session[], rage: Promise<unknown>): Promise<void> {
  let done = false
  void rage.finally(() => (done = true)).catch(() => {})
  let acts = 0
  while (!done) {
    const outcome = await sessions[acts % sessions.length]!.act(count, null)
    expect(outcome).toEqual({ ok: true, value: ++acts })
  }
  await rage
}

test('5,000 hostile messages into UDP, WebSocket and TCP: two members play on, at the same server', async () => {
  const { url, hub, close } = await startPlace()
  const ports = [await freePort(), await freePort()]
  const sessions: Session[] = []
  try {
    for (const port of ports) {
      sessions.push(await join({ game: 'fuzz', types: [count], server: url, udp: { port } }))
    }
    await until(() => sessions.every((session) => session.safety === 'backed-up'))
    const stands = (): unknown => sessions.map(({ me, primary }) => [me.inc, primary?.inc])
    const before = stands()
    const rage = [
      intoUdp(1, ports, 2_500),
      intoStreams(2, url, 1_500),
      intoTcp(3, Number(new URL(url).port), 1_000),
    ]
    await actDuring(sessions, Promise.all(rage))
    expect(stands()).toEqual(before)
    expect(hub.hub.counters.malformed).toBeGreaterThan(50)
    await until(() => hub.hub.connections.size === 2)
  } finally {
    for (const session of sessions) session.end('done')
    await close()
  }
})
