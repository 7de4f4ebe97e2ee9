/**
 * The floor's server, or its hub, which only relays.
 *
 *     node floor-server.js TRAFFIC udp|ws|hub
 *     node floor-server.js TRAFFIC relay URL
 */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { dueOf, NUMBER_BYTES, open, seal, textOf, type Traffic } from './floor.ts'
import { asked, beat } from './ticks.ts'
import type { ServerSaid, Way } from './words.ts'

const [trafficText, role, url] = process.argv.slice(2) as [string, Way | 'hub', string?]
const { down } = JSON.parse(trafficText) as Traffic
process.on('disconnect', () => process.exit())

const text = textOf(down)
const clients = new Map<string, { due: () => number; send: () => void }>()

/** A client's first message only says that it is there. */
function receive(name: string, bytes: Uint8Array, send: () => void): void {
  if (clients.has(name)) return open(bytes)
  clients.set(name, { due: dueOf(down.messages), send })
  send()
}

async function udp(): Promise<number> {
  const socket = createSocket({
    ...{ type: 'udp4', recvBufferSize: 4 << 20, sendBufferSize: 4 << 20 },
    // It answers at once; Node's own takes another turn of the loop for each datagram.
    lookup: (name, _options, done) => done(null, name, 4),
  })
  socket.on('message', (bytes, { port }) => {
    receive(String(port), bytes, () => socket.send(seal(text), port, '127.0.0.1'))
  })
  // With that lookup the socket listens before `bind` returns.
  const listens = once(socket, 'listening')
  socket.bind(0, '127.0.0.1')
  await listens
  return socket.address().port
}

/** @param connected  is called with each stream and its number, which counts from 0 */
async function serve(connected: (stream: WebSocket, number: number) => void): Promise<number> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  let count = 0
  server.on('connection', (stream) => connected(stream, count++))
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function ws(): Promise<number> {
  return serve((stream, number) => {
    stream.on('message', (bytes: Buffer) => {
      receive(String(number), bytes, () => stream.send(seal(text)))
    })
  })
}

/** The server's stream is the first; the others are those of clients. */
function hub(): Promise<number> {
  const streams: WebSocket[] = []
  return serve((stream, number) => {
    streams.push(stream)
    stream.on('message', (bytes: Buffer) => {
      if (number === 0) return streams[bytes.readUInt16BE()]?.send(bytes.subarray(NUMBER_BYTES))
      const headed = Buffer.allocUnsafe(NUMBER_BYTES + bytes.length)
      headed.writeUInt16BE(number)
      headed.set(bytes, NUMBER_BYTES)
      streams[0]!.send(headed)
    })
  })
}

async function relay(): Promise<number> {
  const stream = new WebSocket(url!, { perMessageDeflate: false })
  stream.on('message', (bytes: Buffer) => {
    const number = bytes.readUInt16BE()
    receive(String(number), bytes.subarray(NUMBER_BYTES), () => {
      const message = seal(text, NUMBER_BYTES)
      message[0] = number >> 8
      message[1] = number
      stream.send(message)
    })
  })
  await once(stream, 'open')
  return 0
}

function tick(): void {
  for (const { due, send } of clients.values()) {
    for (let count = due(); count > 0; count--) send()
  }
}

function say(said: ServerSaid): void {
  process.send?.(said)
}

asked('begin', ({ window }) => {
  void beat(window, tick).then((took) => {
    say({ kind: 'served', ...took, interestMs: 0, steady: true })
  })
})
say({ kind: 'serves', port: await { udp, ws, relay, hub }[role]() })
