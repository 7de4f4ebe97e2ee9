/** Random bytes into the sockets of a running hub and of Node members, who must not notice. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import {
  create as chaosOf,
  below,
  chance,
  type Prng,
} from '../../packages/holdfast/src/faults/prng.ts'
import { HUB_VERSION, toHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage } from '../../packages/holdfast/src/wire/relay.ts'
import { datagram, hubBytes, type Knowledge, noise } from './hostile.ts'

const BATCH = 50

/** What a stranger knows of a session without being told. */
export const NOTHING: Knowledge = { numbers: [0, 1, 2, 3], session: 'fuzz', samples: [] }

/** Hostile datagrams to UDP ports of this machine. */
export async function intoUdp(
  seed: number,
  ports: readonly number[],
  count: number,
): Promise<void> {
  const chaos = chaosOf(seed)
  const socket = createSocket('udp4')
  socket.on('error', () => {})
  for (let sent = 0; sent < count; sent++) {
    const bytes = datagram(chaos, NOTHING, [])
    socket.send(bytes, 0, bytes.length, ports[sent % ports.length], '127.0.0.1')
    if (sent % BATCH === 0) await pause(1)
  }
  socket.close()
}

/** Hostile messages on WebSockets to a hub, a new one for each that is closed on us. */
export async function intoStreams(seed: number, url: string, count: number): Promise<void> {
  const chaos = chaosOf(seed)
  let stream: WebSocket | null = null
  for (let sent = 0; sent < count; sent++) {
    if (stream === null || stream.readyState !== WebSocket.OPEN) stream = await opened(url)
    const bytes = hubBytes(chaos, NOTHING)
    stream.send(bytes, { binary: chance(chaos, 0.95) })
    // What is said while the stream is being closed is heard by nobody.
    if (below(chaos, 3) === 0) await pause(1)
  }
  stream?.terminate()
}

async function opened(url: string): Promise<WebSocket> {
  const stream = new WebSocket(new URL('/hub', url.replace('http', 'ws')))
  stream.on('error', () => {})
  await once(stream, 'open')
  stream.send(frameMessage(encode(toHub, { kind: 'hello', version: HUB_VERSION })))
  return stream
}

/** Random bytes into the TCP port of a hub: before, as, and after a request. */
export async function intoTcp(seed: number, port: number, count: number): Promise<void> {
  const chaos = chaosOf(seed)
  for (let sent = 0; sent < count; sent += 10) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    for (let i = 0; i < 10; i++) socket.write(words(chaos))
    await pause(1)
    socket.destroy()
  }
}

const UPGRADE =
  'GET /hub HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'

function words(chaos: Prng): Uint8Array {
  if (chance(chaos, 0.2)) return new TextEncoder().encode(UPGRADE)
  if (chance(chaos, 0.1))
    return new TextEncoder().encode('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const bytes = noise(chaos, 200)
  return bytes.length > 0 ? bytes : new Uint8Array(1)
}
