// Goal: what back-end developers expect of a letter: a name that makes a retry harmless, a time
// after which nobody wants it, what it says of itself, and who holds the loop.
// Method: real mailboxes; a clock that the test moves.
import { expect, test } from 'vitest'
import { openIn } from '../../packages/mailbox/src/mail-opening.ts'
import { toBytes, Values } from '../../packages/mailbox/src/runtime/values.ts'
import { PostKeys } from '../../packages/mailbox/src/runtime/keys.ts'
import { seal, unseal } from '../../packages/mailbox/src/runtime/letters.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { createMailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import type { LetterInfo, Mailbox } from '../../packages/mailbox/src/index.ts'
import { openMailbox } from '../../packages/mailbox/src/index.ts'
import { openMailboxes, type Wish } from './open-mailboxes.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { dice } from './until.ts'

const { add, freshFile } = openMailboxes('letters')
const clock = { date: 1_700_000_000_000, extra: 0 }

/** One whose clocks the test moves. */
async function open(options: Wish): Promise<Mailbox> {
  const loop = createNodeLoop()
  const place = {
    loop: { ...loop, now: () => loop.now() + clock.extra },
    connect: () => null!,
    curves: () => toyCurves,
    report: () => {},
    date: () => clock.date,
    open: () => Promise.resolve(createMailMemory()),
    listen: null,
  }
  return add(await openIn(place, { store: null, ...options }))
}

async function carry(from: Mailbox, to: Mailbox): Promise<void> {
  await to.take(from.id, from.batch(to.id, to.query(from.id)))
}

test('a post under a key is one letter, however often it is tried, over restarts (MB-28)', async () => {
  const store = freshFile()
  let alice = await openMailbox({ id: 'alice', store })
  const tries = [1, 2, 3].map(() => alice.to('bob').post('pay', { key: 'order 7' }))
  expect(await Promise.all(tries)).toEqual([1, 1, 1])
  expect(await alice.to('bob').post('pay', { key: 'order 8' })).toBe(2)
  expect(await alice.to('carol').post('pay', { key: 'order 7' })).toBe(1)
  await alice.close()
  alice = await openMailbox({ id: 'alice', store })
  add(alice)
  expect(await alice.to('bob').post('pay', { key: 'order 7' })).toBe(1)
  await expect(alice.to('bob').post('pay again', { key: 'order 7' })).rejects.toMatchObject({
    code: 'key-reused',
  })
  expect(alice.queues().map(({ peer, waiting }) => [peer, waiting])).toEqual([
    ['bob', 2],
    ['carol', 1],
  ])
  await expect(alice.to('bob').post(1, { key: '' })).rejects.toThrow('the key of a post')
  await expect(alice.to('bob').post(1, { kay: 'x' } as object)).rejects.toThrow('mean "key"')
})

test('the last keys are remembered, and no more (MB-28)', () => {
  const store = createMailMemory()
  const values = new Values(store)
  const keys = new PostKeys(values, 3)
  const body = toBytes('pay')
  for (let n = 1; n <= 10; n++) keys.add('bob', `key ${n}`, { n, body })
  expect([6, 7, 8, 9, 10].map((n) => keys.find('bob', `key ${n}`, body))).toEqual([
    null,
    null,
    8,
    9,
    10,
  ])
  store.commit(values.changes, () => {})
  expect(store.keys('\0').length).toBe(3 + 3 + 1)
})

test('a letter that is wanted no more is acked, told and not handled (MB-28)', async () => {
  const [alice, bob] = [await open({ id: 'alice' }), await open({ id: 'bob' })]
  const [came, expired]: [unknown[], unknown[]] = [[], []]
  bob.on('letter', (_tx, _from, body) => came.push(body))
  bob.on('expired', (event) => expired.push(event))
  await alice.to('bob').post('short', { ttl: 1_000 })
  await alice.to('bob').post('long', { ttl: 60_000 })
  await alice.to('bob').post('for ever')
  clock.date += 1_001
  await carry(alice, bob)
  expect([came, expired]).toEqual([['long', 'for ever'], [{ peer: 'alice', n: 1 }]])
  expect(bob.query('alice')).toBe(3)
  await expect(alice.to('bob').post(1, { ttl: 0 })).rejects.toThrow('ttl is a whole number')
  const replica = await open({ id: 'one', replica: true })
  await expect(replica.to('bob').post(1, { ttl: 5 })).rejects.toThrow('a replica has no time')
})

test('a letter says when it was posted, its attempt, and what it began with (MB-28)', async () => {
  const boxes = [
    await open({ id: 'alice' }),
    await open({ id: 'bob', triesMax: 5, onPoison: 'setAside' }),
  ]
  const [alice, bob] = boxes as [Mailbox, Mailbox]
  const carol = await open({ id: 'carol' })
  const infos: LetterInfo[] = []
  bob.on('letter', (tx, _from, body, letter) => {
    infos.push(letter)
    if (letter.attempt < 3) throw new Error('not yet')
    tx.post('carol', body)
  })
  carol.on('letter', (_tx, _from, _body, letter) => infos.push(letter))
  const at = clock.date
  await alice.to('bob').post('one')
  for (const last of [false, false, true]) {
    const taken = carry(alice, bob)
    if (last) await taken
    else await expect(taken).rejects.toThrow('not yet')
    clock.extra += 1_000
  }
  clock.date += 5
  await carry(bob, carol)
  expect(infos.slice(0, 3)).toEqual(
    [1, 2, 3].map((attempt) => ({ n: 1, at, attempt, trace: 'alice>bob/1' })),
  )
  expect(infos[3]).toEqual({ n: 1, at, attempt: 1, trace: 'alice>bob/1' })
  await alice.to('carol').post('two', { trace: 'order 7' })
  await carry(alice, carol)
  expect(infos[4]!.trace).toBe('order 7')
})

test('a handler that holds the loop is named (MB-28)', async () => {
  const [alice, bob] = [await open({ id: 'alice' }), await open({ id: 'bob' })]
  bob.on('letter', () => void (clock.extra += 2_500))
  const slow = new Promise((resolve) => bob.on('slow', resolve))
  await alice.to('bob').post(1)
  await carry(alice, bob)
  expect(await slow).toMatchObject({ peer: 'alice', n: 1, ms: expect.any(Number) })
})

test('an envelope comes out as it went in, and what is none stays as it is', () => {
  const random = dice(15)
  for (let i = 0; i < 500; i++) {
    const body = random.bytes(random.below(20))
    const at = random.below(2) ? 1_700_000_000_000 + random.below(2 ** 31) : null
    const until = at !== null && random.below(2) ? at + random.below(2 ** 31) : null
    const trace = at !== null && random.below(2) ? `trace ${random.below(100)}` : null
    const sealed = seal(body, { at, until, trace })
    if (at !== null) expect(unseal(sealed)).toEqual({ at, until, trace, body })
    // Hostile bytes are a body that nobody put into an envelope.
    const spoilt = Uint8Array.of(2, ...random.bytes(random.below(12)))
    expect(unseal(spoilt).body.length).toBeLessThanOrEqual(spoilt.length)
  }
})
