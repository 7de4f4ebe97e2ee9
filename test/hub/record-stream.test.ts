// Goal: a read of records in NATS ends in time and never returns an old record, whatever its
// servers fail to deliver, and however long the process stood still.
// Method: the stream of records and the store over a server written by hand, and fake timers.
import type { JsMsg } from '@nats-io/jetstream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RECORD_MAX } from '../../packages/holdfast/src/drivers/store/limits.ts'
import { namesOf } from '../../packages/hub/src/drivers/nats/layout.ts'
import { NatsStore } from '../../packages/hub/src/drivers/nats/nats-store.ts'
import { type Jet, RecordStream } from '../../packages/hub/src/drivers/nats/record-stream.ts'

/** A read that takes longer fails. */
const READ_MS = 10_000
const NAMES = namesOf('b')

type Message = Pick<JsMsg, 'subject' | 'seq' | 'data' | 'time'>

/** One server, which has both streams in one. */
class Server {
  readonly messages = new Map<number, Message>()
  readonly deleted: number[] = []
  /** Whether consumers and reads bring nothing. */
  isMute = false
  /** Whether its acknowledgements take a moment. */
  isSlow = false
  readonly jet: Jet
  readonly #callbacks: ((message: JsMsg) => void)[] = []
  #last = 0

  constructor() {
    const jet = {
      publish: (subject: string, data: Uint8Array) => {
        const message = { subject, seq: ++this.#last, data, time: new Date() }
        this.messages.set(message.seq, message)
        if (!this.isMute) for (const callback of this.#callbacks) callback(message as JsMsg)
        const acknowledged = { seq: message.seq }
        if (!this.isSlow) return Promise.resolve(acknowledged)
        return new Promise((resolve) => void setTimeout(() => resolve(acknowledged), 1))
      },
      client: { consumers: { getPushConsumer: () => Promise.resolve({ consume: this.#consume }) } },
      streams: {
        info: () => Promise.resolve({ state: { messages: 0 } }),
        getMessage: (_stream: string, { seq, next_by_subj: next }: Record<string, unknown>) => {
          const all = this.isMute ? [] : [...this.messages.values()]
          const fits = (one: Message): boolean =>
            next === undefined ? one.seq === seq : one.seq >= Number(seq)
          return Promise.resolve(all.find(fits) ?? null)
        },
        deleteMessage: (_stream: string, seq: number) => {
          this.deleted.push(seq)
          return Promise.resolve(this.messages.delete(seq))
        },
      },
    }
    this.jet = jet as unknown as Jet
  }

  readonly #consume = (options: { callback: (message: JsMsg) => void }): Promise<unknown> => {
    this.#callbacks.push(options.callback)
    if (!this.isMute) for (const one of this.messages.values()) options.callback(one as JsMsg)
    return Promise.resolve({ stop: () => {} })
  }
}

let server: Server
let records: RecordStream
beforeEach(() => {
  vi.useFakeTimers()
  server = new Server()
  records = new RecordStream(server.jet, NAMES, 1)
})
afterEach(() => {
  records.close()
  vi.useRealTimers()
})

/** The promise's value or error after that time; undefined if it is still pending. */
async function after(ms: number, asked: Promise<unknown>): Promise<unknown> {
  let outcome: unknown
  void asked.then(
    (value) => (outcome = value),
    (error: unknown) => (outcome = error),
  )
  await vi.advanceTimersByTimeAsync(ms)
  return outcome
}

async function put(key: string, before: number, value: Uint8Array): Promise<number> {
  const blobs = new Map()
  const rev = await after(1_000, records.change({ key, blobs, value }, before))
  expect(rev).toEqual(expect.any(Number))
  return rev as number
}

test('a read ends in time while the stream stands still, and the next one reads', async () => {
  await put('a', 0, Uint8Array.of(1))
  server.isMute = true
  const found = await after(READ_MS + 500, records.read('a'))
  expect(found).toMatchObject({ code: 'store', message: expect.stringMatching(/stands still/) })
  server.isMute = false
  expect(await after(500, records.read('a'))).toMatchObject({
    content: { value: Uint8Array.of(1) },
  })
})

test('a read fails if the process stood still meanwhile, and the next one succeeds', async () => {
  const rev = await put('a', 0, Uint8Array.of(1))
  server.isSlow = true
  const read = records.read('a')
  // The read has begun, and no answer has come.
  await after(0, read)
  vi.advanceTimersByTime(READ_MS + 1)
  expect(await after(0, read)).toMatchObject({ message: expect.stringMatching(/stands still/) })
  expect(await after(1, records.read('a'))).toMatchObject({ rev })
})

test('a read of a revision that no server has ends in time', async () => {
  const long = new Uint8Array(RECORD_MAX)
  const rev = await put('a', 0, long)
  // So many bytes that the first record leaves the memory.
  for (let n = 0; n * long.length < 9 * 1024 * 1024; n++) await put(`more ${n}`, 0, long)
  server.messages.delete(rev)
  const found = await after(READ_MS + 500, records.read('a'))
  expect(found).toMatchObject({ message: `NATS: no server has revision ${rev} of a` })
})

test('a replaced message is deleted only after every read that began before has ended', async () => {
  const first = await put('a', 0, Uint8Array.of(1))
  await put('a', first, Uint8Array.of(2))
  await after(READ_MS + 1_000, Promise.resolve())
  await after(0, records.read('a'))
  expect(server.deleted).not.toContain(first)
  await after(READ_MS, Promise.resolve())
  await after(0, records.read('a'))
  expect(server.deleted).toContain(first)
})

test('a read of blobs that no server has any more ends in time', async () => {
  const open = NatsStore.open(server.jet, NAMES, 2, () => {})
  const store = (await after(500, open)) as NatsStore
  const value = Uint8Array.of(1)
  const change = { key: 'a', rev: 0, value, blobs: [['x', value]] as const }
  const changed = new Promise((done) => store.cas(change as never, done))
  expect(await after(0, changed)).toMatchObject({ rev: expect.any(Number) as number })
  for (const { subject, seq } of server.messages.values()) {
    if (subject === NAMES.blob) server.messages.delete(seq)
  }
  const found = new Promise((done) => store.blobs('a', ['x'], done))
  expect(await after(READ_MS, found)).toEqual([null])
  store.close()
})
