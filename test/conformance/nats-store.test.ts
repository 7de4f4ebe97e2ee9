// Slow: servers of NATS elect leaders.
import { createServer } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../packages/holdfast/src/ports.ts'
import { hub } from '../../packages/hub/src/index.ts'
import { nats, takeStore } from '../../packages/hub/src/nats.ts'
import { NatsCluster, noNats } from './nats.ts'
import { storeConformance } from './store.ts'

let cluster: NatsCluster
let buckets = 0

async function openIn(bucket: string): Promise<Store> {
  const parts = takeStore(await nats({ servers: cluster.servers, bucket }))
  if (!parts || parts === 'taken') throw new Error('it is taken')
  return parts.store
}

const LACKS = noNats()
beforeEach((context) => {
  if (LACKS !== null) context.skip(LACKS)
})

describe('three servers of NATS', () => {
  beforeAll(async () => {
    if (LACKS === null) cluster = await NatsCluster.start(3)
  })
  afterAll(() => cluster?.end())

  storeConformance('NATS', () => {
    const bucket = `b${++buckets}`
    return () => openIn(bucket)
  })

  test('a store is for one hub, which closes it', async () => {
    const store = await nats({ servers: cluster.servers, bucket: 'one' })
    const server = createServer()
    const first = hub({ server, store })
    const again = 'store was given to a hub before: open one for each hub'
    expect(() => hub({ server, store, path: '/other' })).toThrow(again)
    await first.close()
    expect(() => hub({ server, store })).toThrow(again)
  })
})
