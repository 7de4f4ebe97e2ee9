/**
 * A server that says what it weighs once its garbage is collected: a hub on a file, or, beside it,
 * a plain server of WebSockets that hears whatever comes and does nothing.
 *
 *     node weighed.js FILE            a hub that keeps what it has in that file
 *     node weighed.js nats://A,B,C    a hub on those servers of NATS
 *     node weighed.js                 the plain server
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { WebSocketServer } from 'ws'
import { hub } from '../../packages/hub/src/index.ts'
import { unbound } from './bystander.ts'
import type { Weight } from './words.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

process.on('disconnect', () => process.exit())
const [, , store] = process.argv
const server = createServer()
if (store?.startsWith('nats://')) {
  const { nats } = await import('../../packages/hub/src/nats.ts')
  const shared = await nats({ servers: store.split(',') })
  hub({ server, store: shared, limits: unbound() })
} else if (store !== undefined) hub({ server, store, limits: unbound() })
else {
  const plain = new WebSocketServer({ server, perMessageDeflate: false })
  plain.on('connection', (socket) => socket.on('message', () => {}))
}

process.on('message', () => {
  // The garbage collector runs twice: objects that wait for their finalizer go with the second run.
  collect()
  collect()
  const { rss, heapUsed, external } = process.memoryUsage()
  const weight: Weight = { rss, heap: heapUsed + external }
  process.send!({ weight })
})
server.listen(0, '127.0.0.1', () => {
  process.send!({ port: (server.address() as AddressInfo).port })
})
