/** A hub beside Fastify: `node build/games/examples/servers/fastify.js [port]`. */

import fastify from 'fastify'
import { hub } from 'holdfast/hub'

const app = fastify()
app.get('/hello', () => 'Hello from Fastify')
app.get('/health', () => rooms.health())
// Fastify's `close` waits for the streams that are open: the hub goes before.
app.addHook('preClose', () => rooms.close())

const rooms = hub({ server: app.server, path: '/rt/hub', games: ['duel'], store: null })
await app.listen({ port: Number(process.argv[2] ?? 3000), host: '127.0.0.1' })
console.log('Fastify serves', app.server.address())
process.once('SIGTERM', () => void app.close())
