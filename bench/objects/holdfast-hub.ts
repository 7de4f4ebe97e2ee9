/**
 * The hub: as `holdfast serve` runs it, but for its pages and its disk.
 *
 *     node holdfast-hub.js [ORIGIN]
 */

import { nodeCurves } from '../../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { create } from '../../packages/hub/src/machine/budgets.ts'
import { readLimits } from '../../packages/hub/src/server/given-limits.ts'
import { HubServer } from '../../packages/hub/src/server/hub-server.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { acceptStreams } from '../../packages/holdfast/src/drivers/net/server/websocket-server.ts'
import { createMemoryStore } from '../../packages/holdfast/src/drivers/store/memory.ts'
import { asked, beat } from './ticks.ts'
import type { ServerSaid } from './words.ts'

process.on('disconnect', () => process.exit())
// All players of a room have one address here.
const budgets = create(readLimits('limits', { address: { seats: 256 } }))
const hub = new HubServer(createNodeLoop(), createMemoryStore(), {
  wall: Date.now,
  curves: nodeCurves,
  budgets,
})
const server = createServer()
acceptStreams(server, {
  path: '/hub',
  origins: process.argv.slice(2),
  accept: (stream, opening) => hub.accept(stream, opening),
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.send?.({ kind: 'serves', port } satisfies ServerSaid)
})
asked('begin', ({ window }) => {
  void beat(window, () => {}).then(({ cpuMs }) => {
    const said = { kind: 'served', cpuMs, interestMs: 0, lateMs: 0, steady: true } as const
    process.send?.(said satisfies ServerSaid)
  })
})
