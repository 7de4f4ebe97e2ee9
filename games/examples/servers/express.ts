/** A hub beside Express: `node build/games/examples/servers/express.js [port]`. */

import { createServer } from 'node:http'
import express from 'express'
import { hub } from 'holdfast/hub'

const app = express()
app.get('/hello', (_request, response) => void response.send('Hello from Express'))
// The rooms, for a page of your own that lists them.
app.get('/rooms', (_request, response) => void response.json(rooms.sessions()))

const server = createServer(app)
const rooms = hub({ server, path: '/rt/hub', games: ['duel'], store: null })
server.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => {
  console.log('Express serves', server.address())
})

// The hub goes first: a server waits for the streams that are open.
process.once('SIGTERM', () => void rooms.close().then(() => server.close()))
