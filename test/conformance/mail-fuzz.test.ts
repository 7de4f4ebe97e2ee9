// Goal: whatever strangers send to the door of a mailbox, before, in and behind a greeting, others
// write on, nobody is taken for somebody else, and what is refused is counted.
// Method: seeded chance into real sockets; messages that are right but for a byte, out of their
// order, of another connection; letters about keys that somebody else would have to sign.
// Slow: strangers come on 400 connections, some of which wait in vain for an answer.
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { nodeCurves } from '../../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { keyLetter } from '../../packages/mailbox/src/machine/keys.ts'
import { keyText, mailLayout, plainBatch } from '../../packages/mailbox/src/machine/messages.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { ownKey, Side } from '../mailbox/handshakes.ts'
import { drained, openMailboxes, queueOf } from './open-mailboxes.ts'
import { type Dice, dice } from './until.ts'

const CONNECTIONS = 400
const { open } = openMailboxes('fuzz')

/** What was said on other connections, to be said again. */
const heard: Uint8Array[] = []

function spoilt(random: Dice, bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice()
  switch (random.below(6)) {
    case 0:
      copy[random.below(copy.length)]! ^= 1 << random.below(8)
      return copy
    case 1:
      return copy.subarray(0, random.below(copy.length))
    case 2:
      return heard[random.below(heard.length)] ?? copy
    case 3:
      return random.bytes(random.below(200))
    default:
      return copy
  }
}

/** A letter about a key of alice, by keys of which some are hers. */
function aboutKey(random: Dice): Uint8Array {
  const signers = Array.from({ length: 1 + random.below(7) }, () =>
    ownKey(random.below(9), nodeCurves),
  )
  const [now, ...before] = signers
  const text = keyText(
    random.below(2) === 0 ? 'alice' : 'stranger',
    before.map(({ key }) => key),
    now!.key,
  )
  const signed = signers.map(({ seed, key }) => {
    const signature = nodeCurves.sign(seed, text) as Uint8Array
    return {
      key,
      signature: random.below(3) === 0 ? spoiltSignature(random, signature) : signature,
    }
  })
  const [last, ...others] = signed
  return keyLetter({ before: others, now: last! })
}

function spoiltSignature(random: Dice, signature: Uint8Array): Uint8Array {
  const copy = signature.slice()
  copy[random.below(64)]! ^= 1 << random.below(8)
  return copy
}

function letters(random: Dice): Uint8Array {
  const all = Array.from({ length: 1 + random.below(4) }, (_none, at) => ({
    n: 1 + at + random.below(2),
    body: random.below(2) === 0 ? aboutKey(random) : random.bytes(random.below(60)),
  }))
  return encode(mailLayout, plainBatch(all, random.below(3)))
}

/** Long enough to be answered on a busy machine. */
const PATIENCE_MS = 100

/** One connection of a stranger, who greets as well as it can, and then says letters. */
async function rage(url: string, random: Dice): Promise<void> {
  const socket = new WebSocket(url)
  socket.on('error', () => {})
  await once(socket, 'open')
  const id = random.below(3) === 0 ? 'alice' : `stranger ${random.below(20)}`
  const self = { id, keys: [ownKey(random.below(9), nodeCurves)] }
  const side = new Side(self, 'bob', { curves: nodeCurves })
  const isHonest = random.below(3) === 0
  const say = (): void => {
    for (const bytes of side.said.splice(0)) {
      heard[heard.length < 200 ? heard.length : random.below(200)] = bytes
      socket.send(isHonest ? bytes : spoilt(random, bytes))
    }
    if (side.known === null) return
    for (let times = random.below(4); times > 0; times--) socket.send(letters(random))
  }
  const gone = once(socket, 'close')
  socket.on('message', (bytes: Buffer) => {
    heard[heard.length < 200 ? heard.length : random.below(200)] = new Uint8Array(bytes)
    if (side.known === null) side.hear(new Uint8Array(bytes))
    say()
    if (side.known !== null && random.below(3) === 0) socket.close()
  })
  say()
  // Whoever is not answered says something else, and goes.
  const impatient = setTimeout(() => {
    socket.send(random.bytes(9))
    socket.close()
  }, PATIENCE_MS)
  await gone
  clearTimeout(impatient)
}

test(`${CONNECTIONS} connections of strangers: none is alice, and her letters come once (MB-20, MB-21)`, async () => {
  const bob = await open({ id: 'bob', listen: { port: 0 } })
  const took: unknown[] = []
  bob.on('letter', (tx, from, body) => {
    if (from === 'alice') took.push(body)
    else tx.post(from, body)
  })
  const alice = await open({ id: 'alice', peers: { bob: bob.url! } })
  await alice.to('bob').post(1)
  await drained(alice, 'bob')
  expect(bob.peer('alice').key).toBe(alice.key)
  const random = dice(5)
  let posted = 1
  for (let done = 0; done < CONNECTIONS; done += 8) {
    const rages = Array.from({ length: 8 }, () => rage(bob.url!, random))
    await alice.to('bob').post(++posted)
    await Promise.all(rages)
    if (done === CONNECTIONS / 2) await alice.replaceKey()
  }
  await drained(alice, 'bob')
  expect(took).toEqual(Array.from({ length: posted }, (_none, at) => at + 1))
  expect([bob.peer('alice').key, alice.peer('bob').key]).toEqual([alice.key, bob.key])
  expect(queueOf(bob, 'alice').fault).toBe(null)
  const { greetings, otherKey, unproved, malformed } = bob.counters
  for (const count of [greetings, otherKey, malformed]) expect(count).toBeGreaterThan(0)
  expect(greetings + otherKey + unproved).toBeGreaterThan(CONNECTIONS / 4)
})

test('letters about keys by chance never bind an id to a key that its old one did not sign', async () => {
  const bob = await open({ id: 'bob' })
  const random = dice(6)
  const hers = ownKey(1, nodeCurves).key
  await bob.peer('alice').trust(Buffer.from(hers).toString('hex'))
  let changed = 0
  for (let n = 1; n <= 300; n++) {
    const body = spoilt(random, aboutKey(random))
    // Seed 1 is hers, and may be among those that sign.
    const before = bob.peer('alice').key
    const batch = encode(
      mailLayout,
      plainBatch([{ n, body: Uint8Array.of(4, ...body.subarray(1)) }], 0),
    )
    await bob.take('alice', batch)
    const now = bob.peer('alice').key
    if (now === before) continue
    changed++
    expect(Buffer.from(body).toString('hex')).toContain(before)
  }
  expect([bob.counters.unfit > 10, changed > 0]).toEqual([true, true])
  expect(queueOf(bob, 'alice').heard).toBe(300)
})
