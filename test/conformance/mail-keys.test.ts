// Goal: a mailbox is known by its key, over restarts and replacements of it, to those that listen
// and those that call; who has another key takes no effect, and is told what to do.
// Method: real mailboxes over loopback; stores that are copied and put back; waits for events.
import { copyFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { curvesOnNode } from '../../packages/holdfast/src/drivers/crypto/libsodium.ts'
import { nodeCurves } from '../../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { listenStreams } from '../../packages/holdfast/src/drivers/net/server/websocket-listen.ts'
import { connectWebSocketNode } from '../../packages/holdfast/src/drivers/net/websocket-node.ts'
import { createMailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import { isKeyLetter, keyLetter } from '../../packages/mailbox/src/machine/keys.ts'
import { keyText, mailLayout, plainBatch } from '../../packages/mailbox/src/machine/messages.ts'
import { type Mailbox, type MailboxOptions, openIn } from '../../packages/mailbox/src/index.ts'
import type { Curves } from '../../packages/holdfast/src/ports.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { ownKey } from '../mailbox/handshakes.ts'
import { drained, openMailboxes, queueOf } from './open-mailboxes.ts'
import { turn, until } from './until.ts'
import { toHex } from '../../packages/holdfast/src/wire/bytes.ts'

const { add, close, freshFile, open } = openMailboxes('keys')

/** One that listens, and what it took. */
async function listening(
  options: Partial<MailboxOptions> = {},
): Promise<{ bob: Mailbox; took: unknown[]; url: string }> {
  const bob = await open({ id: 'bob', listen: { port: 0 }, ...options })
  const took: unknown[] = []
  bob.on('letter', (_tx, _from, body) => took.push(body))
  return { bob, took, url: bob.url! }
}

async function post(box: Mailbox, ...bodies: unknown[]): Promise<void> {
  for (const body of bodies) await box.to('bob').post(body)
}

/** Why somebody was let in no more, as the owner is told. */
function refusal(box: Mailbox): Promise<string> {
  return new Promise((done) => {
    box.on('disconnected', ({ why }) => why.includes('another key') && done(why))
  })
}

const knows = (box: Mailbox, peer: string, key: string): Promise<void> =>
  until(() => box.peer(peer).key === key)

test('a mailbox has a key of its own, which stays with its store', async () => {
  const store = freshFile()
  const first = await open({ id: 'alice', store })
  const { key } = first
  expect(key).toMatch(/^[0-9a-f]{64}$/)
  await close(first)
  expect((await open({ id: 'alice', store })).key).toBe(key)
  expect((await open({ id: 'amy' })).key).not.toBe(key)
  const copy = freshFile()
  await (await open({ id: 'eve', store: freshFile() })).backup(copy)
  expect([store, copy].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600])
  expect((await open({ id: 'mem', store: null })).key).toMatch(/^[0-9a-f]{64}$/)
})

test('S31: a key that is replaced comes in order with letters, and the old one is worth nothing then', async () => {
  const { bob, took, url } = await listening()
  const [store, old] = [freshFile(), freshFile()]
  let alice = await open({ id: 'alice', store, peers: { bob: url } })
  await post(alice, 1)
  await drained(alice, 'bob')
  const before = alice.key
  await close(alice)
  copyFileSync(store, old)
  alice = await open({ id: 'alice', store, peers: { bob: url } })
  const told: string[] = []
  bob.on('key', ({ peer, key }) => told.push(`${peer} ${key}`))
  const posted = [2, 3, 4, 5].map((body) => alice.to('bob').post(body))
  const after = await alice.replaceKey()
  for (const body of [6, 7]) posted.push(alice.to('bob').post(body))
  await Promise.all(posted)
  await drained(alice, 'bob')
  expect(took).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect([after !== before, alice.key, bob.peer('alice').key]).toEqual([true, after, after])
  expect(told).toEqual([`alice ${after}`])
  await close(alice)
  const thief = await open({ id: 'alice', store: old, peers: { bob: url } })
  await refusal(thief)
  alice = await open({ id: 'alice', store, peers: { bob: url } })
  await post(alice, 8)
  await drained(alice, 'bob')
  expect(took.at(-1)).toBe(8)
})

test('keys that are replaced on both sides, several times, while nobody is there are all known', async () => {
  const store = freshFile()
  const first = await listening({ store })
  const port = Number(new URL(first.url).port)
  const alice = await open({ id: 'alice', peers: { bob: first.url } })
  const answers: unknown[] = []
  alice.on('letter', (_tx, _from, body) => answers.push(body))
  await post(alice, 1)
  await first.bob.to('alice').post('one')
  await drained(alice, 'bob')
  await drained(first.bob, 'alice')
  await close(first.bob)
  for (const body of [2, 3]) {
    await alice.replaceKey()
    await post(alice, body)
  }
  const away = await open({ id: 'bob', store })
  await Promise.all([away.replaceKey(), away.replaceKey(), away.to('alice').post('two')])
  await close(away)
  const { bob, took } = await listening({ store, listen: { port } })
  await drained(alice, 'bob')
  await drained(bob, 'alice')
  expect([took, answers]).toEqual([
    [2, 3],
    ['one', 'two'],
  ])
  expect([bob.peer('alice').key, alice.peer('bob').key]).toEqual([alice.key, bob.key])
})

for (const times of [12, 40]) {
  test(`a key that was replaced ${times} times while a peer was away is known to it then (N-10)`, async () => {
    const [store, own] = [freshFile(), freshFile()]
    const first = await listening({ store })
    const port = Number(new URL(first.url).port)
    let alice = await open({ id: 'alice', store: own, peers: { bob: first.url } })
    await post(alice, 0)
    await drained(alice, 'bob')
    await close(first.bob)
    const bodies = Array.from({ length: times }, (_, at) => at + 1)
    for (const body of bodies) {
      // What a process before knew of its keys is in its store.
      if (body === 5) {
        await close(alice)
        alice = await open({ id: 'alice', store: own, peers: { bob: first.url } })
      }
      await alice.replaceKey()
      await post(alice, body)
    }
    const { bob, took } = await listening({ store, listen: { port } })
    await drained(alice, 'bob')
    expect([took, bob.peer('alice').key, bob.dead()]).toEqual([bodies, alice.key, []])
  })
}

test('a list that names a key from forty replacements before leads to the newest (N-10)', async () => {
  const own = freshFile()
  const before = await open({ id: 'alice', store: own })
  const { key } = before
  for (let times = 0; times < 40; times++) await before.replaceKey()
  await close(before)
  const { bob, took, url } = await listening({ accept: { alice: key } })
  const alice = await open({ id: 'alice', store: own, peers: { bob: url } })
  await post(alice, 1)
  await drained(alice, 'bob')
  // Nothing was kept of bob here until his first ack: he is told when the two meet again.
  await close(alice)
  const again = await open({ id: 'alice', store: own, peers: { bob: url } })
  await knows(bob, 'alice', again.key)
  await post(again, 2)
  await drained(again, 'bob')
  expect([took, bob.dead()]).toEqual([[1, 2], []])
})

test('a key that is no longer there is asked for in vain, and trusted by hand', async () => {
  const store = freshFile()
  const first = await listening({ store })
  const port = Number(new URL(first.url).port)
  const alice = await open({ id: 'alice', peers: { bob: first.url } })
  await post(alice, 1)
  await drained(alice, 'bob')
  await close(alice)
  await close(first.bob)
  const anew = await open({ id: 'alice', peers: { bob: first.url } })
  const { bob, took } = await listening({ store, listen: { port } })
  expect(await refusal(anew)).toContain('bob knows alice by another key than this')
  await bob.peer('alice').trust(anew.key)
  await bob.peer('alice').forget()
  await post(anew, 3)
  await drained(anew, 'bob')
  expect([took, bob.peer('alice').key]).toEqual([[3], anew.key])
})

test('a key that accept lists holds from the first letter on, and leads to those after it', async () => {
  const store = freshFile()
  const file = freshFile()
  let alice = await open({ id: 'alice', store })
  const listed = alice.key
  await close(alice)
  const first = await listening({ store: file, accept: { alice: listed } })
  const port = Number(new URL(first.url).port)
  const { url } = first
  const stranger = await open({ id: 'alice', peers: { bob: url } })
  expect(await refusal(stranger)).toContain('bob knows alice by another key')
  await close(stranger)
  alice = await open({ id: 'alice', store, peers: { bob: url } })
  await post(alice, 1)
  await drained(alice, 'bob')
  const now = await alice.replaceKey()
  await drained(alice, 'bob')
  expect(first.bob.peer('alice').key).toBe(now)
  await expect(first.bob.peer('alice').trust(now)).rejects.toThrow('accept lists alice')
  await close(first.bob)
  // The list is as it was, and then as it is now.
  for (const key of [listed, now]) {
    const again = await listening({ store: file, accept: { alice: key }, listen: { port } })
    await post(alice, key)
    await drained(alice, 'bob')
    expect([again.took, again.bob.peer('alice').key]).toEqual([[key], now])
    await close(again.bob)
  }
  // It says something else: that counts, and what the store knows does not.
  const other = await listening({
    store: file,
    accept: { alice: toHex(ownKey(9, nodeCurves).key) },
    listen: { port },
  })
  await refusal(alice)
  expect(other.bob.peer('alice').key).toBe(toHex(ownKey(9, nodeCurves).key))
})

test('who calls knows by its list whom it calls, and is let in by nobody else (MB-21)', async () => {
  const { bob, took, url } = await listening()
  const wrong = await open({ id: 'carol', accept: { bob: toHex(ownKey(9).key) } })
  wrong.connect('bob', url)
  await post(wrong, 1)
  expect(await refusal(wrong)).toContain('write it into accept')
  expect([took, wrong.counters.otherKey > 0]).toEqual([[], true])
  await close(wrong)
  const alice = await open({ id: 'alice', accept: { bob: bob.key }, peers: { bob: url } })
  await post(alice, 1)
  await drained(alice, 'bob')
  expect([took, alice.peer('bob').key]).toEqual([[1], bob.key])
})

test('an ack binds as a letter does, and what is forgotten is bound anew (MB-20)', async () => {
  const { bob, url } = await listening()
  const alice = await open({ id: 'alice', peers: { bob: url } })
  await post(alice, 1)
  await drained(alice, 'bob')
  expect(alice.peer('bob').key).toBe(bob.key)
  await alice.peer('bob').forget()
  expect(alice.peer('bob').key).toBe(null)
  await alice.peer('bob').trust(bob.key.toUpperCase())
  expect(alice.peer('bob').key).toBe(bob.key)
})

/** A batch with a letter about a key, as somebody might make it. */
function forged(n: number, by: readonly number[], claimed = by): Uint8Array {
  const [now, ...before] = claimed.map((byte) => ownKey(byte, nodeCurves).key)
  const text = keyText('alice', before, now!)
  const [last, ...rest] = by.map((byte) => {
    return nodeCurves.sign(ownKey(byte, nodeCurves).seed, text) as Uint8Array
  })
  const letter = keyLetter({
    before: before.map((key, at) => ({ key, signature: rest[at]! })),
    now: { key: now!, signature: last! },
  })
  return encode(mailLayout, plainBatch([{ n, body: letter }], 0))
}

test('a letter about a key that the old key or the new one did not sign changes nothing', async () => {
  const bob = await open({ id: 'bob' })
  await bob.peer('alice').trust(toHex(ownKey(1, nodeCurves).key))
  // The new key, then those before it: who signs, and whom it is said of.
  const cases: [n: number, by: number[], claimed: number[]][] = [
    [1, [2, 9], [2, 1]],
    [2, [9, 1], [2, 1]],
  ]
  for (const [n, by, claimed] of cases) await bob.take('alice', forged(n, by, claimed))
  expect(bob.dead().map(({ n }) => n)).toEqual([1, 2])
  expect(bob.dead()[0]!.why).toContain('not both the old one and the new one have signed')
  await bob.take('alice', encode(mailLayout, plainBatch([{ n: 3, body: Uint8Array.of(4, 1) }], 0)))
  expect(bob.dead()[2]!.why).toBe('it is about a key, and malformed')
  expect(bob.counters.unfit).toBe(3)
  // Rightly signed, and of a key by which nobody knows alice: no harm, and no effect.
  await bob.take('alice', forged(4, [3, 5]))
  expect(bob.peer('alice').key).toBe(toHex(ownKey(1, nodeCurves).key))
  await bob.take('alice', forged(5, [2, 1]))
  expect(bob.peer('alice').key).toBe(toHex(ownKey(2, nodeCurves).key))
  expect([bob.dead().length, queueOf(bob, 'alice').heard]).toEqual([3, 5])
})

test('a letter about a key is known by its first byte, and no letter of users is', async () => {
  const alice = await open({ id: 'alice' })
  await alice.to('bob').post(Uint8Array.of(4, 4, 4))
  await alice.to('bob').post({ kind: 4 })
  const waiting = alice.peer('bob').outbox()
  expect(waiting.map(({ body }) => body)).toEqual([Uint8Array.of(4, 4, 4), { kind: 4 }])
  await alice.replaceKey()
  const [about] = alice.peer('bob').outbox({ after: 2 })
  expect(about!.body).toBe(`a new key: ${alice.key}`)
  expect(isKeyLetter(Uint8Array.of(0, 4))).toBe(false)
})

test('who is connected when a key is replaced, and has no letter yet, is greeted anew', async () => {
  const { bob, took, url } = await listening()
  const alice = await open({ id: 'alice', peers: { bob: url } })
  await new Promise<void>((done) => alice.on('connected', () => done()))
  const again = new Promise<string>((done) => alice.on('disconnected', ({ why }) => done(why)))
  const key = await alice.replaceKey()
  expect(await again).toBe('this mailbox has another key')
  await post(alice, 1)
  await drained(alice, 'bob')
  expect([took, bob.peer('alice').key]).toEqual([[1], key])
})

test('who asks for an old key is told of the newest again, though its letter was given up', async () => {
  const [old, store] = [freshFile(), freshFile()]
  const first = await listening({ store })
  const port = Number(new URL(first.url).port)
  const alice = await open({ id: 'alice', peers: { bob: first.url } })
  await post(alice, 1)
  await drained(alice, 'bob')
  await close(first.bob)
  copyFileSync(store, old)
  const second = await listening({ store, listen: { port } })
  await alice.replaceKey()
  await drained(alice, 'bob')
  await knows(second.bob, 'alice', alice.key)
  await close(second.bob)
  // Bob is put back to a day before that, and alice goes on from there.
  const { bob } = await listening({ store: old, listen: { port } })
  expect(bob.peer('alice').key).not.toBe(alice.key)
  await until(() => queueOf(alice, 'bob').fault !== null)
  await alice.peer('bob').adopt()
  await knows(bob, 'alice', alice.key)
})

/** One whose curves make one wait, as those of a page do. */
async function slow(id: string): Promise<Mailbox> {
  const curves = await curvesOnNode()
  const slowly = async <Value>(value: Value): Promise<Value> => {
    await turn()
    return value
  }
  const place = {
    loop: createNodeLoop(),
    connect: connectWebSocketNode,
    curves: (): Curves => ({
      ...curves,
      signer: async (seed) => slowly(await curves.signer(seed)),
      sign: async (seed, message) => slowly(await curves.sign(seed, message)),
      verify: async (key, message, by) => slowly(await curves.verify(key, message, by)),
    }),
    report: () => {},
    open: () => Promise.resolve(createMailMemory()),
    listen: listenStreams,
  }
  return add(await openIn(place, { id, store: null, listen: { port: 0 } }))
}

test('letters behind one about a key wait while its signatures are checked, and none is lost', async () => {
  const bob = await slow('bob')
  const took: unknown[] = []
  bob.on('letter', (_tx, _from, body) => took.push(body))
  const alice = await open({ id: 'alice', peers: { bob: bob.url! } })
  await post(alice, 1)
  await drained(alice, 'bob')
  const bodies = Array.from({ length: 30 }, (_none, at) => at + 2)
  const all = bodies.map((body) => alice.to('bob').post(body))
  await alice.replaceKey()
  all.push(...bodies.map((body) => alice.to('bob').post(body + 30)))
  await Promise.all(all)
  await drained(alice, 'bob')
  expect(took).toEqual(Array.from({ length: 61 }, (_none, at) => at + 1))
  expect(bob.peer('alice').key).toBe(alice.key)
})

test('a batch with a letter about a key is taken again when its signatures were checked', async () => {
  const bob = await slow('bob')
  await bob.peer('alice').trust(toHex(ownKey(1, nodeCurves).key))
  const batch = forged(1, [2, 1])
  await expect(bob.take('alice', batch)).rejects.toThrow('are being checked')
  await until(() => queueOf(bob, 'alice').heard === 1)
  await bob.take('alice', batch)
  await knows(bob, 'alice', toHex(ownKey(2, nodeCurves).key))
})

test('a replica does not replace its key: others that take the same letters could not', async () => {
  const box = await open({ id: 'chain', replica: true })
  await expect(box.replaceKey()).rejects.toThrow('replicas must post the same letters')
})

test('what strangers do not prove is counted, and the door stays open (MB-22, MB-23)', async () => {
  const { bob, took, url } = await listening()
  const known = await open({ id: 'alice', peers: { bob: url } })
  await post(known, 1)
  await drained(known, 'bob')
  await knows(bob, 'alice', known.key)
  await close(known)
  for (let i = 0; i < 3; i++) {
    const stranger = await open({ id: 'alice', peers: { bob: url } })
    await refusal(stranger)
    await close(stranger)
  }
  expect(bob.counters.otherKey).toBeGreaterThanOrEqual(3)
  expect(bob.metrics()).toMatch(/refused_total\{.*what="other_key".*\} [3-9]/)
  expect(took).toEqual([1])
})
