// Goal: what others make a mailbox keep is bounded in all, what is refused can be seen, and full
// outboxes on both sides do not stand still.
// Method: real mailboxes over loopback; waits for events, never for time.
import { afterEach, expect, test } from 'vitest'
import { nodeCurves } from '../../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { connectWebSocketNode } from '../../packages/holdfast/src/drivers/net/websocket-node.ts'
import { type Mailbox, type MailboxOptions, openMailbox } from '../../packages/mailbox/src/index.ts'
import { ownKey, Side } from '../mailbox/handshakes.ts'
import { until } from './until.ts'

const opened: Mailbox[] = []
afterEach(async () => {
  for (const box of opened.splice(0)) await box.close()
})

async function open(options: Partial<MailboxOptions> & { id: string }): Promise<Mailbox> {
  const box = await openMailbox({ store: null, ...options })
  opened.push(box)
  return box
}

const waiting = (box: Mailbox, peer: string): number =>
  box.queues().find((queue) => queue.peer === peer)?.waiting ?? 0

test('S32: two full outboxes whose handlers answer drain, and nothing is lost (MB-5)', async () => {
  const [alice, bob] = [
    await open({ id: 'alice', lettersMax: 10 }),
    await open({ id: 'bob', lettersMax: 10, listen: { port: 0 } }),
  ]
  const heard = { alice: [] as unknown[], bob: [] as unknown[] }
  for (const [box, list] of [
    [alice, heard.alice],
    [bob, heard.bob],
  ] as const) {
    box.on('letter', (tx, from, body) => {
      list.push(body)
      if (typeof body === 'number') tx.post(from, `answer ${body}`)
    })
  }
  for (let i = 1; i <= 10; i++) {
    await alice.to('bob').post(i)
    await bob.to('alice').post(i)
  }
  await expect(alice.to('bob').post(11)).rejects.toThrow('the outbox to bob is full')
  alice.connect('bob', bob.url!)
  await until(() => waiting(alice, 'bob') === 0 && waiting(bob, 'alice') === 0)
  const numbers = Array.from({ length: 10 }, (_, i) => i + 1)
  const answers = numbers.map((n) => `answer ${n}`)
  for (const list of [heard.alice, heard.bob]) {
    expect(list.filter((body) => typeof body === 'number')).toEqual(numbers)
    expect(list.filter((body) => typeof body === 'string')).toEqual(answers)
  }
})

/** A stranger that greets under some id. @returns says something, and hears when it ends */
async function stranger(
  url: string,
  id: string,
): Promise<{ send: (bytes: Uint8Array) => void; close: () => void; gone: Promise<string> }> {
  let greeted = (): void => {}
  let ended = (_why: string): void => {}
  const gone = new Promise<string>((resolve) => (ended = resolve))
  const known = new Promise<void>((resolve) => (greeted = resolve))
  const side = new Side({ id, keys: [ownKey(7, nodeCurves)] }, 'bob', { curves: nodeCurves })
  const say = (): void => side.said.splice(0).forEach((bytes) => stream.send(bytes))
  const stream = connectWebSocketNode(url, {
    opened: say,
    message: (bytes) => {
      side.hear(bytes)
      say()
      if (side.refused !== null) ended(side.refused)
      if (side.known !== null) greeted()
    },
    closed: ended,
  })
  await Promise.race([known, gone])
  return { send: (bytes) => stream.send(bytes), close: () => stream.close(), gone }
}

test('who greets and says nothing leaves nothing behind (MB-22)', async () => {
  const bob = await open({ id: 'bob', listen: { port: 0 } })
  let gone = 0
  bob.on('disconnected', () => gone++)
  for (let i = 0; i < 50; i++) (await stranger(bob.url!, `stranger ${i}`)).close()
  await until(() => gone === 50)
  expect(bob.queues()).toEqual([])
})

test('more peers than an option says are refused with a sentence (MB-22)', async () => {
  const bob = await open({ id: 'bob', listen: { port: 0 }, peersMax: 2 })
  bob.on('letter', () => {})
  const boxes = [await open({ id: 'one' }), await open({ id: 'two' })]
  for (const box of boxes) {
    await box.to('bob').post(1)
    box.connect('bob', bob.url!)
    await until(() => waiting(box, 'bob') === 0)
  }
  const { gone } = await stranger(bob.url!, 'three')
  expect(await gone).toBe('bob has 2 peers and takes no more')
  await boxes[0]!.to('bob').post(2)
  await until(() => waiting(boxes[0]!, 'bob') === 0)
})

test('what is malformed is counted, to be seen, and ends the connection (MB-23)', async () => {
  const bob = await open({ id: 'bob', listen: { port: 0 } })
  const why: string[] = []
  bob.on('disconnected', (event) => why.push(event.why))
  const { send, gone } = await stranger(bob.url!, 'mallory')
  send(Uint8Array.of(250, 1, 2, 3))
  await gone
  expect(bob.counters.malformed).toBe(1)
  expect(why).toEqual(['the bytes are no message of a mailbox'])
})

test('letters that were set aside are bounded, and read page by page (MB-22)', async () => {
  const bob = await open({ id: 'bob', triesMax: 1, onPoison: 'setAside', deadMax: 3 })
  bob.on('letter', () => {
    throw new Error('no')
  })
  const dropped: number[] = []
  bob.on('dropped', ({ n }) => dropped.push(n))
  const alice = await open({ id: 'alice' })
  for (let n = 1; n <= 6; n++) {
    await alice.to('bob').post(n)
    await bob.take('alice', alice.batch('bob', n - 1))
  }
  expect(dropped).toEqual([1, 2, 3])
  expect(bob.dead().map(({ n }) => n)).toEqual([4, 5, 6])
  expect(bob.dead({ skip: 1, most: 1 }).map(({ n }) => n)).toEqual([5])
})
