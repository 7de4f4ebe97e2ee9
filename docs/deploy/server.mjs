// Your own server with a hub: Express serves the pages in dist/, and members meet at /hub. Put a
// proxy with TLS before it, such as nginx.conf or Caddyfile. It needs
// npm install express libsql@^0.5.29
// For STORE=nats://a,b,c, which several hubs share, it needs instead of libsql
// npm install @nats-io/transport-node@^3.4.0 @nats-io/jetstream@^3.4.0

import { createServer } from 'node:http'
import express from 'express'
import { hub, nats } from 'holdfast/hub'

const { PORT = '8700', METRICS_PORT = '9100', HOST = '127.0.0.1' } = process.env
const { STORE = 'hub.db', ORIGIN = 'https://play.example.com' } = process.env

const app = express()
app.use(express.static('dist'))
app.get('/health', (_request, response) => {
  const health = rooms.health()
  response.status(health.ok ? 200 : 503).json(health)
})

const server = createServer(app)
const store = STORE.startsWith('nats://') ? await nats({ servers: STORE.split(',') }) : STORE
const rooms = hub({ server, games: ['duel'], store, origins: [ORIGIN], trustProxy: 1 })
server.listen(Number(PORT), HOST, () => console.log(`Listening at ${HOST}:${PORT}`))

// For Prometheus, at a port that no proxy forwards.
const metrics = createServer((_request, response) => {
  response.setHeader('Content-Type', 'text/plain; version=0.0.4').end(rooms.metrics())
})
metrics.listen(Number(METRICS_PORT), HOST)

// The hub closes first: a server waits for open streams.
process.once('SIGTERM', () => {
  void rooms.close().then(() => [server, metrics].forEach((each) => each.close()))
})
