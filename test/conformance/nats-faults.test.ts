// Goal: whichever server of NATS dies while three hubs' stores change the same records, the changes
// are in one order that all see, none is lost that was acknowledged, and no other blobs are found
// than those of the record.
// Method: random histories, each of whose calls goes to one of three stores, over three servers
// that are killed and started again one after the other; answers of a store are lost.
// Slow: each time the servers elect a leader, which takes some seconds.
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import type { HubLinks, Store, StoredRecord } from '../../packages/holdfast/src/ports.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { openNats } from '../../packages/hub/src/drivers/nats/open-nats.ts'
import { HELD_MS, REMOVED_MS } from '../../packages/hub/src/drivers/nats/record-stream.ts'
import { FaultyStore } from '../hub/faulty-store.ts'
import { NatsCluster, noNats } from './nats.ts'
import { blobsOf, cas, got, put } from './store.ts'
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

test('of ten stores that change one revision at once one wins, as a new store sees it', async () => {
  const stores = await Promise.all(Array.from({ length: 10 }, () => open('crowd')))
  const [first] = stores.map(({ store }) => store)
  const value = (text: string): Uint8Array => new TextEncoder().encode(text)
  const keys = Array.from({ length: 20 }, (_none, at) => `room ${at}`)
  const won = new Map<string, number>()
  for (const key of keys) {
    const before = await put(first!, key, value('base'))
    const outcomes = await Promise.all(
      stores.map(({ store }, at) =>
        cas(store, key, before, value(String(at)), [['x', value(String(at))]]),
      ),
    )
    const revs = outcomes.flatMap((outcome) => (typeof outcome === 'string' ? [] : [outcome.rev]))
    expect(revs.length).toBeLessThan(2)
    if (revs.length > 0) won.set(key, revs[0]!)
  }
  const { store: fresh } = await open('crowd')
  expect(won.size).toBeGreaterThan(keys.length / 2)
  for (const [key, rev] of won) {
    const found = await got(fresh, key)
    expect(found).toMatchObject({ rev })
    expect(await blobsOf(fresh, key, 'x')).toEqual([(found as StoredRecord).value])
  }
})

test('a record that is removed and made again for long keeps its last change for a new store', async () => {
  const stores = [await open('long'), await open('long')].map(({ store }) => store)
  for (let n = 1; n <= 60; n++) {
    const value = n % 7 === 0 ? null : Uint8Array.of(n)
    await put(stores[n % 2]!, 'a', value, [['x', value]])
  }
  const { store: fresh } = await open('long')
  expect(await got(fresh, 'a')).toMatchObject({ value: Uint8Array.of(60) })
  expect(await blobsOf(fresh, 'a', 'x')).toEqual([Uint8Array.of(60)])
})

test('no record is lost, and no other message left, as each server is killed and started again', async () => {
  const { store } = await open('whole')
  await put(store, 'first', Uint8Array.of(7))
  const change = async (times: number): Promise<void> => {
    for (let left = times; left > 0;) {
      const found = await got(store, 'a')
      if (found instanceof HoldfastError) continue
      const outcome = await cas(store, 'a', found?.rev ?? 0, Uint8Array.of(left))
      if (typeof outcome !== 'string') left--
    }
  }
  for (const at of [0, 1, 2, 0]) {
    await change(30)
    await cluster.kill(at)
    await change(30)
    cluster.start(at)
    const { store: fresh } = await open('whole')
    expect(await got(fresh, 'first')).toMatchObject({ value: Uint8Array.of(7) })
    fresh.close()
    // All servers have the stream again.
    while (!(await cluster.isWhole('whole-records'))) await turn()
  }
  // The store deletes replaced messages after HELD_MS. Closed stores have left a few barriers.
  await change(1)
  while ((await cluster.state('whole-records')).messages > 20) await got(store, 'a')
})

test('blobs that a record no longer names are removed', async () => {
  const { store } = await open('blobs')
  for (let n = 1; n <= 9; n++) await put(store, 'a', Uint8Array.of(n), [['x', Uint8Array.of(n)]])
  while ((await cluster.state('blobs-blobs')).messages !== 1) await turn()
  expect(await blobsOf(store, 'a', 'x')).toEqual([Uint8Array.of(9)])
})

test('a change that was made though its answer was lost has its blobs', async () => {
  const { host } = new URL(cluster.servers[0]!)
  const deaf = await deafProxy(host, '.record.')
  const servers = [new URL(`nats://127.0.0.1:${deaf.port}`)]
  const { store } = await openNats(createNodeLoop(), { servers, bucket: 'deaf', replicas: 3 })
  const [value, x] = [Uint8Array.of(1), Uint8Array.of(2)]
  deaf.isArmed = true
  expect(await cas(store, 'a', 0, value, [['x', x]])).toBe('unknown')
  const { store: other } = await open('deaf')
  expect(await got(other, 'a')).toMatchObject({ value })
  // NATS has done meanwhile what the store asked.
  expect(await blobsOf(other, 'a', 'x')).toEqual([x])
  store.close()
  deaf.close()
})

test('a change whose connection is lost is not waited for', async () => {
  const { host } = new URL(cluster.servers[0]!)
  const deaf = await deafProxy(host, '.record.')
  const servers = [new URL(`nats://127.0.0.1:${deaf.port}`)]
  const { store } = await openNats(createNodeLoop(), { servers, bucket: 'cut', replicas: 3 })
  deaf.isArmed = true
  const order: unknown[] = []
  const changed = cas(store, 'a', 0, Uint8Array.of(1)).then((outcome) => order.push(outcome))
  while (!deaf.isDeaf) await turn()
  deaf.cut()
  while ((await got(store, 'b')) instanceof HoldfastError) await turn()
  order.push('read')
  await changed
  expect(order).toEqual(['unknown', 'read'])
  store.close()
  deaf.close()
})

interface DeafProxy {
  readonly port: number
  isArmed: boolean
  /** Whether a client has said the word. */
  isDeaf: boolean
  /** Ends all connections, and hears what further ones say. */
  cut(): void
  close(): void
}

/** Passes bytes on. Once it is armed and a client says that word, the client hears nothing more. */
async function deafProxy(host: string, word: string): Promise<DeafProxy> {
  const [name, port] = host.split(':')
  const all = new Set<Socket>()
  const proxy: DeafProxy = {
    ...{ port: 0, isArmed: false, isDeaf: false },
    cut: () => {
      proxy.isArmed = false
      for (const one of all) one.destroy()
      all.clear()
    },
    close: () => {
      server.close()
      proxy.cut()
    },
  }
  const server = createServer((client) => {
    const far = createConnection({ host: name!, port: Number(port) })
    let isDeaf = false
    client.on('data', (data) => {
      isDeaf ||= proxy.isArmed && data.includes(word)
      proxy.isDeaf ||= isDeaf
      far.write(data)
    })
    far.on('data', (data) => isDeaf || client.write(data))
    for (const one of [client, far]) {
      all.add(one)
      one.on('error', () => {})
      one.on('close', () => [client, far].map((each) => each.destroy()))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(proxy, { port: (server.address() as AddressInfo).port })
}

/** The messages of a record that a bucket has. */
async function messagesOf(bucket: string, key: string, at = cluster): Promise<number> {
  const subject = `holdfast.${bucket}.record.${key}`
  const { subjects } = await at.state(`${bucket}-records`, subject)
  return subjects?.[subject] ?? 0
}

describe('with a clock by hand', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  /** Makes the store delete the messages that it replaced. */
  async function deleteReplaced(store: Store): Promise<void> {
    await got(store, 'a')
    vi.advanceTimersByTime(HELD_MS + 1)
    await got(store, 'a')
  }

  test('a replaced message is deleted, but later than any read ends', async () => {
    const { store } = await open('held')
    for (const n of [1, 2, 3]) await put(store, 'a', Uint8Array.of(n))
    vi.advanceTimersByTime(HELD_MS - 1)
    await got(store, 'a')
    expect(await messagesOf('held', 'a')).toBe(3)
    await deleteReplaced(store)
    while ((await messagesOf('held', 'a')) !== 1) await turn()
    expect(await got(store, 'a')).toMatchObject({ value: Uint8Array.of(3) })
  })

  test('a read of a process that stood still meanwhile fails, and the next one does not', async () => {
    const { store } = await open('stood')
    await put(store, 'a', Uint8Array.of(1))
    const read = got(store, 'a')
    // It has begun, and no answer has come: that takes a turn of the event loop.
    for (let n = 0; n < 9; n++) await Promise.resolve()
    vi.advanceTimersByTime(HELD_MS)
    expect(await read).toMatchObject({
      code: 'store',
      message: expect.stringMatching(/stands still/),
    })
    expect(await got(store, 'a')).toMatchObject({ value: Uint8Array.of(1) })
  })

  test('a store that missed many changes of a record takes the newest', async () => {
    const [late, busy] = [await open('missed'), await open('missed')].map(({ store }) => store)
    const first = await put(late!, 'a', Uint8Array.of(1))
    await loseConsumers('missed')
    for (let n = 2; n <= 30; n++) await put(busy!, 'a', Uint8Array.of(n))
    await deleteReplaced(busy!)
    const found = { value: Uint8Array.of(30) }
    expect(await got(late!, 'a')).toMatchObject(found)
    expect(await cas(late!, 'a', first, Uint8Array.of(0))).toBe('conflict')
    expect(await got(busy!, 'a')).toMatchObject(found)
  })

  test('a store that missed that a record was removed and created again has the new one', async () => {
    const [late, busy] = [await open('again'), await open('again')].map(({ store }) => store)
    const first = await put(late!, 'a', Uint8Array.of(1))
    expect(await got(busy!, 'a')).toMatchObject({ rev: first })
    await loseConsumers('again')
    await put(busy!, 'a', null)
    const rev = await put(busy!, 'a', Uint8Array.of(2))
    // That deletes what the first store has not seen.
    await put(busy!, 'a', Uint8Array.of(3))
    await deleteReplaced(busy!)
    const { store: fresh } = await open('again')
    for (const store of [late!, busy!, fresh]) {
      expect(await got(store, 'a')).toMatchObject({ value: Uint8Array.of(3) })
    }
    expect(rev).toBeGreaterThan(first)
  })

  test('what was deleted does not come back when a server is killed', async () => {
    const single = await NatsCluster.start(1)
    const servers = single.servers.map((url) => new URL(url))
    const { store } = await openNats(createNodeLoop(), { servers, bucket: 'one', replicas: 1 })
    for (let n = 1; n <= 200; n++) await put(store, 'a', Uint8Array.of(n))
    await put(store, 'a', null)
    await deleteReplaced(store)
    while ((await messagesOf('one', 'a', single)) > 1) await turn()
    vi.useRealTimers()
    await single.kill(0)
    single.start(0)
    while ((await got(store, 'b')) instanceof HoldfastError) await turn()
    await put(store, 'b', Uint8Array.of(1))
    // Both records, and barriers.
    const { messages } = await single.state('one-records')
    expect(messages).toBeLessThan(10)
    store.close()
    await single.end()
  })

  test('nothing is left of a removed record', async () => {
    const { store } = await open('gone')
    for (const n of [1, 2, 3]) await put(store, 'a', Uint8Array.of(n))
    await put(store, 'a', null)
    vi.advanceTimersByTime(REMOVED_MS + 1)
    await put(store, 'b', Uint8Array.of(1))
    const left = async (): Promise<string[]> => {
      return Object.keys((await cluster.state('gone-records', '*.*.record.*')).subjects ?? {})
    }
    while ((await left()).length > 1) await turn()
    expect(await left()).toEqual(['holdfast.gone.record.b'])
  })

  test('a store that has heard nothing learns what was removed, and created again', async () => {
    const [late, busy] = [await open('quiet'), await open('quiet')].map(({ store }) => store)
    for (const key of ['a', 'b', 'c']) await put(late!, key, Uint8Array.of(1))
    expect(await got(busy!, 'b')).toMatchObject({ value: Uint8Array.of(1) })
    await loseConsumers('quiet')
    for (const key of ['a', 'b']) await put(busy!, key, null)
    vi.advanceTimersByTime(REMOVED_MS + 1)
    // Whoever forgets a removal names none.
    await put(busy!, 'a', Uint8Array.of(2))
    for (const store of [late!, busy!]) {
      expect(await got(store, 'a')).toMatchObject({ value: Uint8Array.of(2) })
      expect(await got(store, 'b')).toBe(null)
      expect(await got(store, 'c')).toMatchObject({ value: Uint8Array.of(1) })
    }
  })
})

/** The consumers of a bucket's stores are lost. */
async function loseConsumers(bucket: string): Promise<void> {
  const stream = `${bucket}-records`
  await cluster.manage(async ({ consumers }) => {
    for await (const { name } of consumers.list(stream)) await consumers.delete(stream, name)
  })
}

test('a store notices that its stream was recreated', async () => {
  const { store } = await open('replaced')
  for (let n = 0; n < 5; n++) await put(store, 'a', Uint8Array.of(n))
  await cluster.manage(({ streams }) => streams.delete('replaced-records'))
  const { store: other } = await open('replaced')
  await put(other, 'a', Uint8Array.of(9))
  const message = expect.stringContaining('was recreated') as string
  expect(await got(store, 'a')).toMatchObject({ code: 'store', message })
})
