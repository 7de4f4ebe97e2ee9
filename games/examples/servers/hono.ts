/** A hub beside Hono: `node build/games/examples/servers/hono.js [port]`. */

import { serve, type ServerType } from '@hono/node-server'
import { Hono } from 'hono'
import { hub } from 'holdfast/hub'

const app = new Hono()
app.get('/hello', (context) => context.text('Hello from Hono'))
// Figures for Prometheus; a proxy in front should keep this path from everybody else.
app.get('/metrics', (context) => context.text(rooms.metrics()))

const port = Number(process.argv[2] ?? 3000)
const server: ServerType = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => {
  console.log('Hono serves', server.address())
})
const rooms = hub({ server, path: '/rt/hub', games: ['duel'], store: null })
process.once('SIGTERM', () => void rooms.close().then(() => server.close()))
