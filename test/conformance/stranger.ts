/** Clients that speak TCP by hand, against a real door on loopback. */

import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { connectWebSocketNode } from '../../packages/holdfast/src/drivers/net/websocket-node.ts'
import { acceptStreams } from '../../packages/holdfast/src/drivers/net/server/websocket-server.ts'
import type {
  StreamServer,
  StreamServerOptions,
} from '../../packages/holdfast/src/drivers/net/server/websocket-server.ts'
import type { Stream } from '../../packages/holdfast/src/ports.ts'

/** A server whose streams echo. */
export interface Served {
  server: http.Server
  door: StreamServer
  port: number
  url: string
  /** What the streams of the server were told, each line with its number in front. */
  told: string[]
  streams: Stream[]
}

const served: Served[] = []

/** Closes all that `serve` opened. */
export async function closeServed(): Promise<void> {
  for (const { server, door } of served.splice(0)) {
    door.close()
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
}

/** A server whose streams echo. */
export async function serve(options: Partial<StreamServerOptions> = {}): Promise<Served> {
  const server = http.createServer((_request, response) => response.end('page'))
  const told: string[] = []
  const streams: Stream[] = []
  const door = acceptStreams(server, {
    path: '/hub',
    accept: (stream) => {
      const number = streams.push(stream)
      return {
        opened: () => told.push(`${number} opened`),
        message: (bytes) => void stream.send(bytes),
        closed: (why) => told.push(`${number} closed ${why}`),
      }
    },
    ...options,
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const all = { server, door, port, url: `ws://127.0.0.1:${port}/hub`, told, streams }
  served.push(all)
  return all
}

/** A good client gets its echo, and goes. */
export function talk(url: string): Promise<number> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const stream = connectWebSocketNode(url, {
      opened: () => stream.send(Uint8Array.of(1, 2, 3)),
      message: (bytes) => {
        stream.close()
        if (bytes.length === 3) resolve(performance.now() - started)
        else reject(new Error(`echo of ${bytes.length} bytes`))
      },
      closed: (why) => reject(new Error(why)),
    })
  })
}

/** Sends raw bytes on a fresh connection. @returns all that came back until it was closed */
export function raw(port: number, ...parts: (string | Uint8Array)[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part)
    })
    let answer = ''
    socket.on('data', (bytes) => (answer += bytes.toString('latin1')))
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
  })
}

export function upgrade(
  changes: Record<string, string | null> = {},
  line = 'GET /hub HTTP/1.1',
): string {
  const headers: Record<string, string | null> = {
    Host: 'localhost',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...changes,
  }
  const lines = Object.entries(headers).filter(([, value]) => value !== null)
  return [line, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n')
}

/** A client's frame with a mask of zeros, so that the payload stands as it is. */
export function frame(
  first: number,
  payload: Uint8Array,
  claimed: number = payload.length,
): Buffer {
  const head = Buffer.alloc(14)
  head[0] = first
  head[1] = 0xff
  head.writeBigUInt64BE(BigInt(claimed), 2)
  return Buffer.concat([head, payload])
}

/** A client's control frame: at most 125 bytes, so the length takes one. */
export function control(first: number, payload: Uint8Array): Buffer {
  return Buffer.concat([Uint8Array.of(first, 0x80 | payload.length, 0, 0, 0, 0), payload])
}
