import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket } from 'ws'
import { connectWebSocketNode } from '../../packages/holdfast/src/drivers/net/websocket-node.ts'
import {
  acceptStreams,
  type StreamServer,
} from '../../packages/holdfast/src/drivers/net/server/websocket-server.ts'
import { connectWebSocket } from '../../packages/holdfast/src/drivers/net/websocket.ts'
import type { Connect } from '../../packages/holdfast/src/ports.ts'
import { streamConformance, type StreamPlace } from './stream.ts'

async function overWebSocket(connect: Connect): Promise<StreamPlace> {
  const server = http.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  let door: StreamServer | null = null
  return {
    url: `ws://127.0.0.1:${port}/hub`,
    emptyUrl: `ws://127.0.0.1:${port}/elsewhere`,
    badUrl: 'ws://not a host/',
    connect,
    listen: (accept) => {
      door = acceptStreams(server, { path: '/hub', accept })
    },
    close: () => {
      door?.close()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

streamConformance('WebSocket of package ws', () => overWebSocket(connectWebSocketNode))

// The constructor of a browser, as far as it can be had here: the same interface, as a global.
streamConformance('WebSocket of the platform', () => {
  Object.assign(globalThis, { WebSocket: globalThis.WebSocket ?? WebSocket })
  return overWebSocket(connectWebSocket)
})
