// Goal: section 19 of docs/STANDARD.md states every byte between two mailboxes, and what it
// promises of them holds over all that was sent.
// Method: a relay between two real mailboxes takes down what passes; the reader of the document
// reads it, and checks the signatures for itself.
import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type MailPlace, RunningMailbox } from '../../packages/mailbox/src/mailbox.ts'
import { type OwnKey } from '../../packages/mailbox/src/machine/keys.ts'
import { nodeCurves } from '../../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { createMailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import type { Connect, Stream, StreamEvents } from '../../packages/holdfast/src/ports.ts'
import { readStandard } from './document.ts'
import { readWhole } from './reader.ts'
import { type Read, tell } from './values.ts'
import { ownKey } from '../mailbox/handshakes.ts'
import { toHex } from '../../packages/holdfast/src/wire/bytes.ts'

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

const keyOf = (byte: number): OwnKey => ownKey(byte, nodeCurves)

function talk(said: Said[], accept = {}): [alice: RunningMailbox, bob: RunningMailbox] {
  const place = (byte: number, connect: Connect): MailPlace => {
    const identity = { keys: [keyOf(byte)], letter: null, curves: nodeCurves }
    return { loop: createNodeLoop(), connect, store: createMailMemory(), identity }
  }
  const bob = new RunningMailbox(
    place(2, () => null!),
    { id: 'bob', ...accept },
  )
  const alice = new RunningMailbox(place(1, wire(said, bob.accept)), { id: 'alice' })
  bob.on('letter', (tx, from, body) => tx.post(from, { seen: body }))
  alice.connect('bob', '')
  return [alice, bob]
}

/** Whether a key of 32 bytes signed that; the bytes before the key are those of RFC 8410. */
function isSigned(key: Uint8Array, text: Uint8Array, signature: Uint8Array): boolean {
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key])
  return verify(null, text, createPublicKey({ key: der, format: 'der', type: 'spki' }), signature)
}

const said = (text: string): Buffer => Buffer.from([text.length, ...Buffer.from(text)])

/** Section 19.2: a MailProof, from what was said before it. @param from  who proves */
function proofText(all: readonly { from: string; value: Read }[], from: string): Buffer {
  const of = (who: string, kind: string, field: string): Uint8Array => {
    const { value } = all.find((one) => one.from === who && one.value['kind'] === kind)!
    return value[field] as Uint8Array
  }
  const both = (kind: string, field: string): Uint8Array[] => {
    return ['alice', 'bob'].map((who) => of(who, kind, field))
  }
  const head = [said('holdfast mailbox'), Buffer.of(3, from === 'alice' ? 1 : 0)]
  const names = ['alice', 'bob'].map(said)
  const keys = [...both('key', 'key'), ...both('known', 'key')]
  return Buffer.concat([...head, ...names, ...keys, ...both('open', 'nonce')])
}

const read = ({ bytes }: Said): Read =>
  readWhole(standard, bytes[0]! >= 16 ? 'MailGreeting' : 'Mail', bytes) as Read

test('what two mailboxes say is what the document says, proofs and numbers too', async () => {
  const spoken: Said[] = []
  const [alice, bob] = talk(spoken)
  const answered = new Promise<void>((done) => {
    alice.on('letter', (_tx, _from, body) => tell(body as Read) === 'seen=20' && done())
  })
  for (let i = 1; i <= 20; i++) await alice.to('bob').post(i)
  await answered
  await new Promise<void>((done) => bob.on('acked', ({ waiting }) => waiting === 0 && done()))
  const all = spoken.map((one) => ({ ...one, value: read(one) }))
  expect(all.slice(0, 10).map(({ from, value }) => `${from} ${tell(value['kind']!)}`)).toEqual([
    ...['alice "open"', 'alice "known"', 'bob "open"', 'bob "known"', 'bob "key"'],
    ...['alice "key"', 'alice "proof"', 'bob "proof"', 'bob "hello"', 'alice "hello"'],
  ])
  for (const [from, at, byte] of [
    ['alice', 6, 1],
    ['bob', 7, 2],
  ] as const) {
    const { signature } = all[at]!.value as { signature: Uint8Array }
    expect(isSigned(keyOf(byte).key, proofText(all, from), signature)).toBe(true)
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

/** MurmurHash3 (x86, 128 bits) as section 19.1 has it, written for this test. */
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

test('who has another key is refused as the document says (MB-21)', async () => {
  const spoken: Said[] = []
  const [alice, bob] = talk(spoken, { accept: { alice: toHex(keyOf(9).key) } })
  const why = await new Promise((done) => alice.on('disconnected', (event) => done(event.why)))
  const sentence =
    'bob knows alice by another key than this: it has to trust the new one, or the old one has ' +
    'to come back'
  expect(why).toBe(sentence)
  const refusals = spoken.filter(({ from }) => from === 'bob').map((one) => tell(read(one)))
  expect(refusals.at(-1)).toBe(`refused why="${sentence}"`)
  expect(bob.counters.otherKey).toBe(1)
  await alice.close()
  await bob.close()
})

test('a key is replaced as the document says, and the newest is asked for from then on', async () => {
  const spoken: Said[] = []
  const [alice, bob] = talk(spoken)
  await alice.to('bob').post('hello')
  await new Promise<void>((done) => alice.on('acked', () => done()))
  const replaced = new Promise<string>((done) => bob.on('key', ({ key }) => done(key)))
  const connected = new Promise<void>((done) => alice.on('connected', () => done()))
  const key = await alice.replaceKey()
  expect([await replaced, alice.key, bob.peer('alice').key]).toEqual([key, key, key])
  await connected
  const all = spoken.map((one) => ({ ...one, value: read(one) }))
  const letters = all.flatMap(({ value }) => (value['letters'] ?? []) as Read[])
  const body = letters.at(-1)!['body'] as Uint8Array
  expect(body[0]).toBe(4)
  const { before, now } = readWhole(standard, 'MailKeys', body.subarray(1)) as unknown as {
    before: { key: Uint8Array; signature: Uint8Array }[]
    now: { key: Uint8Array; signature: Uint8Array }
  }
  const old = before.map((one) => one.key)
  expect(old).toEqual([keyOf(1).key])
  expect(Buffer.from(now.key).toString('hex')).toBe(key)
  const label = [said('holdfast mailbox key'), said('alice')]
  const text = Buffer.concat([...label, Buffer.of(1), old[0]!, now.key])
  for (const one of [...before, now]) expect(isSigned(one.key, text, one.signature)).toBe(true)
  const known = all.findLast(({ from, value }) => from === 'bob' && value['kind'] === 'known')
  expect(known!.value['key']).toEqual(now.key)
  await alice.close()
  await bob.close()
})
