// Goal: whichever server of NATS dies while three hubs' stores change the same records, the changes
// are in one order that all see, none is lost that was acknowledged, and no other blobs are found
// than those of the record.
// Method: random histories, each of whose calls goes to one of three stores, over three servers that
// are killed and started again one after the other; between stores and servers answers are lost.
// Slow: each time the servers elect a leader, which takes some seconds.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { HubLinks, Store } from '../../packages/holdfast/src/ports.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { openNats } from '../../packages/hub/src/drivers/nats/open-nats.ts'
import { FaultyStore } from '../hub/faulty-store.ts'
import { NatsCluster, noNats } from './nats.ts'
import { playHistories } from './store-histories.ts'
import { dice, turn } from './until.ts'

const LACKS = noNats()
beforeEach((context) => {
  if (LACKS !== null) context.skip(LACKS)
})

let cluster: NatsCluster
const stores: Store[] = []

beforeAll(async () => {
  if (LACKS === null) cluster = await NatsCluster.start(3)
})
afterAll(async () => {
  for (const store of stores) store.close()
  await cluster?.end()
})

async function open(bucket: string): Promise<{ store: Store; links: HubLinks }> {
  const servers = cluster.servers.map((url) => new URL(url))
  const opened = await openNats(createNodeLoop(), { servers, bucket, replicas: 3 })
  stores.push(opened.store)
  return opened
}

/** One store, each of whose calls goes to any of these. */
function anyOf(some: readonly Store[]): Store {
  const random = dice(5)
  const one = (): Store => some[random.below(some.length)]!
  return {
    entries: () => one().entries(),
    get: (key, done) => one().get(key, done),
    blobs: (key, names, done) => one().blobs(key, names, done),
    cas: (change, done) => one().cas(change, done),
    check: (done) => one().check(done),
    close: () => {},
  }
}

test('histories over three stores are linearizable while each server is killed in turn', async () => {
  for (const at of [0, 1, 2]) {
    const opened = await Promise.all([1, 2, 3].map(() => open(`killed${at}`)))
    const store = anyOf(opened.map((one) => one.store))
    const plan = { seed: at + 1, count: 400, turn }
    const played = playHistories(store, plan)
    await cluster.kill(at)
    expect(await played).toEqual([])
    cluster.start(at)
  }
})

test('histories with lost answers are linearizable', async () => {
  const { store } = await open('lost')
  const faulty = new FaultyStore(store, { seed: 7, later: setImmediate })
  const settle = async (): Promise<void> => {
    while (faulty.pending > 0) await turn()
  }
  expect(await playHistories(faulty, { seed: 4, count: 1_000, turn, settle })).toEqual([])
})
