/** The server: page, login and hub in one process. `npm start` runs what `npm run build` made. */

import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname } from 'node:path'
import express from 'express'
import { hub } from 'holdfast/hub'
import { app, rules } from './app.ts'

const { PORT = '8700', HOST = '127.0.0.1', STORE = '.holdfast/hub.db', ORIGIN } = process.env

if (!process.env['PASSWORD']) {
  console.error(
    'PASSWORD is not set: choose the password of the login, as in PASSWORD=tea npm start',
  )
  process.exit(2)
}

app.use(express.static('dist/page'))
app.get('/health', (_request, response) => {
  const health = rooms.health()
  response.status(health.ok ? 200 : 503).json(health)
})

const server = createServer(app)
mkdirSync(dirname(STORE), { recursive: true })
// Behind a proxy with TLS: ORIGIN is the page's address, such as https://chat.example.com.
const proxy = ORIGIN ? { origins: [ORIGIN], trustProxy: 1 } : {}
const rooms = hub({ server, ...rules, ...proxy, store: STORE })
server.listen(Number(PORT), HOST, () => console.log(`The chat is at http://${HOST}:${PORT}/`))

// The hub closes first: a server waits for open streams.
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void rooms.close().then(() => server.close()))
}
