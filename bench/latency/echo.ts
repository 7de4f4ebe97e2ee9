/**
 * The plain thing beside it: one process that hands on each message of a WebSocket to all others.
 *
 *     node echo.js        says its port when it listens
 */

import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

process.on('disconnect', () => process.exit())
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
server.on('connection', (socket) => {
  socket.on('message', (bytes: Buffer) => {
    for (const other of server.clients) if (other !== socket) other.send(bytes)
  })
})
server.on('listening', () => process.send?.({ port: (server.address() as AddressInfo).port }))
