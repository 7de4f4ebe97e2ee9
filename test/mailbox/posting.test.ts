// Goal: a post that is hardly meant is refused or told of: a key that was used for another letter,
// a peer that nobody ever saw.
// Method: mailboxes in memory on a clock that the test moves, over restarts of their process.
import { expect, test } from 'vitest'
import {
  type HoldfastError,
  letter,
  type Mailbox,
  text,
  u8,
} from '../../packages/mailbox/src/index.ts'
import { Bench } from './bench.ts'

const Gift = letter('gift', { hat: text(8), count: u8 })

const waiting = (box: Mailbox): unknown[] =>
  box
    .peer('bob')
    .outbox()
    .map(({ body }) => body)

test('a key that named another letter is refused by name, the same one is the same letter (N-23)', async () => {
  const bench = new Bench()
  let alice = await bench.open('alice')
  const post = (body: unknown, key: string): Promise<number> =>
    bench.of(alice.to('bob').post(body as object, { key }))
  expect(await post({ order: 7, lines: [1, { a: 1, b: 2 }] }, 'k')).toBe(1)
  // In whichever order its names stand, and whichever process asks.
  await bench.of(alice.close())
  alice = await bench.open('alice')
  expect(await post({ lines: [1, { b: 2, a: 1 }], order: 7 }, 'k')).toBe(1)
  for (const body of [{ order: 8, lines: [1, { a: 1, b: 2 }] }, { order: 7 }, [], 'order', null]) {
    await expect(post(body, 'k')).rejects.toMatchObject({
      code: 'key-reused',
      message:
        'the key "k" named another letter to bob, number 1: a key is for one letter, of one body',
    })
  }
  expect(waiting(alice)).toEqual([{ order: 7, lines: [1, { a: 1, b: 2 }] }])
  // Of another type it is another letter, and so are bytes; to another peer it is another key.
  expect(await bench.of(alice.to('bob').post(Gift, { hat: 'top', count: 1 }, { key: 'g' }))).toBe(2)
  expect(await bench.of(alice.to('bob').post(Gift, { count: 1, hat: 'top' }, { key: 'g' }))).toBe(2)
  await expect(post({ hat: 'top', count: 1 }, 'g')).rejects.toMatchObject({ code: 'key-reused' })
  expect(await post(Uint8Array.of(1), 'bytes')).toBe(3)
  expect(await post(Uint8Array.of(1), 'bytes')).toBe(3)
  await expect(post(Uint8Array.of(2), 'bytes')).rejects.toMatchObject({ code: 'key-reused' })
  expect(await bench.of(alice.to('carol').post(7, { key: 'k' }))).toBe(1)
  // Two at once, and one that waits for its time.
  const twice = [1, 2].map((body) => alice.to('bob').post(body, { key: 'twice' }))
  const late = [1, 1, 2].map((body) => alice.to('bob').post(body, { key: 'late', delay: 9_999 }))
  const codeOf = (error: HoldfastError): string => error.code
  const ends = await bench.of(Promise.all([...twice, ...late].map((one) => one.catch(codeOf))))
  expect(ends).toEqual([4, 'key-reused', 0, 0, 'key-reused'])
})

test('a post to a peer that was never seen says so, once (N-23)', async () => {
  const bench = new Bench()
  const { alice, bob } = await bench.pair()
  const bbo = (): Promise<number> => bench.of(alice.to('bbo').post(1))
  await bbo()
  await bbo()
  await bench.of(alice.to('bob').post(1))
  await bench.of(alice.transact((tx) => tx.post('bbo', 2)))
  const told = 'it waits until a mailbox of that id comes, or is given in peers'
  const said = (peer: string): string =>
    `alice posted a letter to ${peer}, which it never met and does not dial: ${told}`
  expect(bench.warned).toEqual([said('bbo')])
  // Who answers has met, who is listed or dialled is expected.
  bob.on('letter', (tx, from, body) => tx.post(from, body as number))
  await bench.pass(100)
  alice.connect('carol', bench.wayTo('carol'))
  await bench.of(alice.to('carol').post(1))
  const dora = await bench.open('dora', { accept: { erin: null } })
  await bench.of(dora.to('erin').post(1))
  expect([bench.warned, bob.query('alice'), alice.query('bob')]).toEqual([[said('bbo')], 1, 0])
  await bench.of(alice.to('erni').post(1, { delay: 1_000 }))
  expect(bench.warned).toEqual([said('bbo'), said('erni')])
  const unseen: string[] = []
  alice.on('unseen', ({ peer }) => unseen.push(peer))
  for (const peer of ['bbo', 'dab', 'dab']) await bench.of(alice.to(peer).post(1))
  expect([unseen, bench.warned.length]).toEqual([['dab'], 2])
  // The next process says it again: nobody may have read it then.
  await bench.of(alice.close())
  await bench.of((await bench.open('alice')).to('bbo').post(1))
  expect(bench.warned.at(-1)).toBe(said('bbo'))
})
