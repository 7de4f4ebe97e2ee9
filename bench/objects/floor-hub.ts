/** The floor's hub, which only relays. The server's stream comes first; clients have numbers. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { NUMBER_BYTES } from './floor.ts'
import { asked, beat } from './ticks.ts'
import type { ServerSaid } from './words.ts'

process.on('disconnect', () => process.exit())

const streams: WebSocket[] = []
const relay = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
relay.on('connection', (stream) => {
  const number = streams.push(stream) - 1
  stream.on('message', (bytes: Buffer) => {
    if (number === 0) return streams[bytes.readUInt16BE()]?.send(bytes.subarray(NUMBER_BYTES))
    const headed = Buffer.allocUnsafe(NUMBER_BYTES + bytes.length)
    headed.writeUInt16BE(number)
    headed.set(bytes, NUMBER_BYTES)
    streams[0]!.send(headed)
  })
})
await once(relay, 'listening')

function say(said: ServerSaid): void {
  process.send?.(said)
}

asked('begin', ({ window }) => {
  void beat(window, () => {}).then(({ cpuMs }) => {
    say({ kind: 'served', cpuMs, interestMs: 0, lateMs: 0, steady: true })
  })
})
say({ kind: 'serves', port: (relay.address() as AddressInfo).port })
