/**
 * The floor's server.
 *
 *     node floor-server.js TRAFFIC udp|ws
 *     node floor-server.js TRAFFIC relay URL
 */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { ciphers, Due, NUMBER_BYTES, Packets, type Traffic } from './floor.ts'
import { asked, beat } from './ticks.ts'
import type { ServerSaid, Way } from './words.ts'

const [trafficText, way, url] = process.argv.slice(2) as [string, Way, string?]
const { down } = JSON.parse(trafficText) as Traffic
process.on('disconnect', () => process.exit())

const own = await ciphers()
const packets = new Packets(own, down.payload / down.messages)
const clients = new Map<string, { due: Due; send: () => void }>()

/** From a client. The first that comes only says that it is there. */
function came(name: string, bytes: Uint8Array, send: () => void): void {
  if (clients.has(name)) return Packets.open(own, bytes)
  clients.set(name, { due: new Due(down.messages), send })
  send()
}

async function udp(): Promise<number> {
  const socket = createSocket({
    ...{ type: 'udp4', recvBufferSize: 4 << 20, sendBufferSize: 4 << 20 },
    // An answer at once, where Node's own takes another turn of the loop.
    lookup: (name, _options, done) => done(null, name, 4),
  })
  socket.on('message', (bytes, { port }) => {
    came(String(port), bytes, () => socket.send(packets.sealed(0), port, '127.0.0.1'))
  })
  // It may listen before `bind` returns.
  const listens = once(socket, 'listening')
  socket.bind(0, '127.0.0.1')
  await listens
  return socket.address().port
}

async function ws(): Promise<number> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  let count = 0
  server.on('connection', (socket) => {
    const name = String(count++)
    socket.on('message', (bytes: Buffer) => {
      came(name, bytes, () => socket.send(packets.sealed(0)))
    })
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function relay(): Promise<number> {
  const socket = new WebSocket(url!, { perMessageDeflate: false })
  socket.on('message', (bytes: Buffer) => {
    const number = bytes.readUInt16BE()
    came(String(number), bytes.subarray(NUMBER_BYTES), () => {
      const packet = packets.sealed(NUMBER_BYTES)
      packet[0] = number >> 8
      packet[1] = number
      socket.send(packet)
    })
  })
  await once(socket, 'open')
  return 0
}

function tick(): void {
  for (const { due, send } of clients.values()) {
    for (let count = due.next(); count > 0; count--) send()
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
say({ kind: 'serves', port: await { udp, ws, relay }[way]() })
