// Goal: section 17 of docs/STANDARD.md states every byte between two mailboxes, and what it
// promises of them holds over all that was sent.
// Method: a relay between two real mailboxes takes down what passes; the reader of the document
// reads it, and reckons the proofs for itself.
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { RunningMailbox } from '../../src/faces/mailbox.ts'
import { createNodeLoop } from '../../src/drivers/net/loop-node.ts'
import { createMailMemory } from '../../src/drivers/store/mail-memory.ts'
import type { Connect, Stream, StreamEvents } from '../../src/ports.ts'
import { readStandard } from './document.ts'
import { readWhole } from './reader.ts'
import { type Read, tell } from './values.ts'

const KEY = 'a key'
const standard = readStandard(
  readFileSync(new URL('../../docs/STANDARD.md', import.meta.url), 'utf8'),
)

interface Said {
  from: string
  bytes: Uint8Array
}

/** A connection in memory that takes down what passes. */
function wire(said: Said[], accept: (stream: Stream) => StreamEvents): Connect {
  return (_url, events) => {
    const end = (from: string, to: () => StreamEvents): Stream => ({
      send: (bytes) => {
        said.push({ from, bytes: bytes.slice() })
        queueMicrotask(() => to().message(bytes.slice()))
        return true
      },
      backlog: () => 0,
      close: () => queueMicrotask(() => to().closed('the other side closed it')),
    })
    const there: StreamEvents = accept(end('bob', () => events))
    queueMicrotask(() => events.opened())
    return end('alice', () => there)
  }
}

async function talk(said: Said[], key = KEY): Promise<RunningMailbox[]> {
  const loop = createNodeLoop()
  const bob = new RunningMailbox(
    { loop, connect: () => null!, store: createMailMemory() },
    { id: 'bob', key: KEY },
  )
  const connect = wire(said, bob.accept)
  const alice = new RunningMailbox(
    { loop, connect, store: createMailMemory() },
    { id: 'alice', key },
  )
  bob.on('letter', (tx, from, body) => tx.post(from, { seen: body }))
  alice.connect('bob', '')
  return [alice, bob]
}

const read = ({ bytes }: Said): Read =>
  readWhole(standard, bytes[0]! >= 16 ? 'MailGreeting' : 'Mail', bytes) as Read

test('what two mailboxes say is what the document says, proofs and numbers too', async () => {
  const said: Said[] = []
  const [alice, bob] = (await talk(said)) as [RunningMailbox, RunningMailbox]
  const answered = new Promise<void>((done) => {
    alice.on('letter', (_tx, _from, body) => tell(body as Read) === 'seen=20' && done())
  })
  for (let i = 1; i <= 20; i++) await alice.to('bob').post(i)
  await answered
  await new Promise<void>((done) => bob.on('acked', ({ waiting }) => waiting === 0 && done()))
  const all = said.map((one) => ({ ...one, value: read(one) }))
  expect(all.slice(0, 6).map(({ from, value }) => `${from} ${tell(value['kind']!)}`)).toEqual([
    'alice "open"',
    'bob "open"',
    'bob "proof"',
    'alice "proof"',
    'bob "hello"',
    'alice "hello"',
  ])
  const nonces = all.slice(0, 2).map(({ value }) => value['nonce'] as Uint8Array)
  for (const { from, value } of all.slice(2, 4)) {
    const names = from === 'bob' ? 'bob\0alice\0' : 'alice\0bob\0'
    const [ours, theirs] = from === 'bob' ? nonces.toReversed() : nonces
    const hmac = createHmac('sha256', KEY).update(`holdfast mailbox\0${names}`)
    const proof = hmac.update(ours!).update(theirs!).digest().subarray(0, 16)
    expect(Buffer.compare(proof, value['proof'] as Uint8Array)).toBe(0)
  }
  for (const side of ['alice', 'bob']) {
    const batches = all.filter(({ from, value }) => from === side && value['kind'] === 'batch')
    const letters = batches.flatMap(({ value }) => value['letters'] as Read[])
    expect(letters.map(({ n }) => n)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    expectDigests(all, side)
    const first = side === 'alice' ? '1' : '{"seen":1}'
    expect(Buffer.from(letters[0]!['body'] as Uint8Array).toString()).toBe(`\x01${first}`)
    expect(batches.at(-1)!.value['ack']).toBe(20)
  }
  await alice.close()
  await bob.close()
})

/** MurmurHash3 (x86, 128 bits) as section 17.1 has it, written for this test. */
function digestOf(before: Buffer, life: Buffer, body: Buffer): Buffer {
  const C = [0x239b961b, 0xab0e9789, 0x38b34ae5, 0xa1e38b93]
  const turned = (x: number, by: number): number => (x << by) | (x >>> (32 - by))
  const h = [0, 4, 8, 12].map((at) => before.readInt32LE(at))
  h[0]! ^= life.readInt32LE(0)
  h[1]! ^= life.readInt32LE(4)
  h[2]! ^= 0x6c69616d
  const padded = Buffer.concat([body, Buffer.alloc(16 - (body.length % 16))])
  const mix = (i: number, at: number): void => {
    const k = Math.imul(padded.readInt32LE(at + 4 * i), C[i]!)
    h[i]! ^= Math.imul(turned(k, 15 + i), C[(i + 1) % 4]!)
  }
  const adds = [0x561ccd1b, 0x0bcaa747, 0x96cd1c35, 0x32ac3b17]
  let at = 0
  for (; at + 16 <= body.length; at += 16) {
    for (const i of [0, 1, 2, 3]) {
      mix(i, at)
      h[i] =
        (Math.imul((turned(h[i]!, [19, 17, 15, 13][i]!) + h[(i + 1) % 4]!) | 0, 5) + adds[i]!) | 0
    }
  }
  for (const i of [3, 2, 1, 0]) mix(i, at)
  const spread = (): void => {
    h[0] = (h[0]! + h[1]! + h[2]! + h[3]!) | 0
    for (const i of [1, 2, 3]) h[i] = (h[i]! + h[0]) | 0
  }
  for (const i of [0, 1, 2, 3]) h[i]! ^= body.length
  spread()
  for (const i of [0, 1, 2, 3]) {
    let x = Math.imul(h[i]! ^ (h[i]! >>> 16), 0x85ebca6b)
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
    h[i] = x ^ (x >>> 16)
  }
  spread()
  const digest = Buffer.alloc(16)
  for (const i of [0, 1, 2, 3]) digest.writeInt32LE(h[i]!, 4 * i)
  return digest
}

/** What a side says of histories is what its letters and those of the other give. */
function expectDigests(all: readonly { from: string; value: Read }[], side: string): void {
  const digests = (from: string): Buffer[] => {
    const chain: Buffer[] = [Buffer.alloc(16)]
    for (const { from: who, value } of all) {
      if (who !== from || value['kind'] !== 'batch') continue
      const letters = value['letters'] as Read[]
      const life = Buffer.from(value['life'] as Uint8Array)
      if (letters.length > 0)
        expect(Buffer.from(value['before'] as Uint8Array)).toEqual(chain.at(-1))
      for (const { body } of letters) {
        chain.push(digestOf(chain.at(-1)!, life, Buffer.from(body as Uint8Array)))
      }
    }
    return chain
  }
  const theirs = digests(side === 'alice' ? 'bob' : 'alice')
  for (const { from, value } of all) {
    if (from !== side || value['kind'] !== 'batch') continue
    expect(Buffer.from(value['ackDigest'] as Uint8Array)).toEqual(theirs[value['ack'] as number])
  }
}

test('who has another key is refused as the document says', async () => {
  const said: Said[] = []
  const [alice, bob] = (await talk(said, 'another')) as [RunningMailbox, RunningMailbox]
  const why = await new Promise((done) => alice.on('disconnected', (event) => done(event.why)))
  expect(why).toBe('bob does not have the key of alice')
  const refusals = said.filter(({ from }) => from === 'alice').map((one) => tell(read(one)))
  expect(refusals.at(-1)).toBe('refused why="bob does not have the key of alice"')
  await alice.close()
  await bob.close()
})
