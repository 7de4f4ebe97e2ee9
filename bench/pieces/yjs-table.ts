/** y-websocket's own server. */

import type { AddressInfo } from 'node:net'
import { asked, beat } from '../objects/ticks.ts'
import type { ServerSaid } from '../objects/words.ts'
import { peer } from '../processes/peers.ts'

/** As much of the peers as is called. */
interface Peers {
  setupWSConnection: (socket: unknown, request: unknown) => void
  WebSocketServer: new (options: object) => {
    on(name: 'connection', listen: (socket: unknown, request: unknown) => void): void
    on(name: 'listening', listen: () => void): void
    address(): AddressInfo
  }
}

process.on('disconnect', () => process.exit())
const { setupWSConnection, WebSocketServer } = await peer<Peers>('yjs-server')

function say(said: ServerSaid): void {
  process.send?.(said)
}

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
server.on('connection', (socket, request) => setupWSConnection(socket, request))
server.on('listening', () => say({ kind: 'serves', port: server.address().port }))
asked('begin', ({ window }) => {
  void beat(window, () => {}).then((took) =>
    say({ kind: 'served', ...took, interestMs: 0, steady: true }),
  )
})
