// Goal: a letter that says it has a type fits it, or no handler sees it, whoever sent it.
// Method: real mailboxes in memory that pass batches by hand; bodies that no honest sender makes.
import { afterEach, describe, expect, test } from 'vitest'
import {
  bool,
  letter,
  list,
  type LetterType,
  type Mailbox,
  type MailboxOptions,
  oneOf,
  openMailbox,
  ranged,
  text,
  type Transaction,
  u8,
} from '../../src/mailbox.ts'
import { bytes } from '../../src/index.ts'
import { Handlers, Unhandled } from '../../src/runtime/mailbox/handlers.ts'
import { toBytes, toTyped } from '../../src/runtime/mailbox/values.ts'

const Gift = letter('gift', { hat: text(8), count: u8 })
const Order = letter('order', { lines: list(ranged(0, 10, 1), 3), paid: bool, by: oneOf('a', 'b') })

const opened: Mailbox[] = []
afterEach(async () => {
  for (const box of opened.splice(0)) await box.close()
})

async function open(id: string, options: Partial<MailboxOptions> = {}): Promise<Mailbox> {
  const box = await openMailbox({ id, store: null, ...options })
  opened.push(box)
  return box
}

async function carry(from: Mailbox, to: Mailbox): Promise<void> {
  await to.take(from.id, from.batch(to.id, to.query(from.id)))
}

/** Alice and bob, what bob's handlers were given, and what he set aside. */
async function two(): Promise<{ alice: Mailbox; bob: Mailbox; came: unknown[]; dead: string[] }> {
  const [alice, bob] = [await open('alice'), await open('bob', { types: [Gift, Order] })]
  const came: unknown[] = []
  const dead: string[] = []
  bob.on(Gift, (_tx, from, gift, { n }) => came.push([n, from, gift]))
  bob.on('letter', (_tx, _from, body) => came.push(body))
  bob.on('dead', ({ n, why }) => dead.push(`${n}: ${why}`))
  bob.on('threw', ({ n, why }) => dead.push(`threw ${n}: ${why}`))
  return { alice, bob, came, dead }
}

describe('a letter of a type', () => {
  test('comes to the handler of its type with its fields; others stay what they are (AP-10)', async () => {
    const { alice, bob, came, dead } = await two()
    await alice.to('bob').post(Gift, { hat: 'top', count: 2 })
    await alice.to('bob').post({ hat: 7, any: ['thing'] })
    await alice.to('bob').post(Gift, { hat: 'cap', count: 300 }, { key: 'once' })
    await alice.transact((tx) => tx.post('bob', Gift, { hat: 'tx', count: 1 }, { ttl: 60_000 }))
    expect(
      alice
        .peer('bob')
        .outbox()
        .map(({ type, body }) => [type, body])[0],
    ).toEqual(['gift', { hat: 'top', count: 2 }])
    await carry(alice, bob)
    expect(came).toEqual([
      [1, 'alice', { hat: 'top', count: 2 }],
      { hat: 7, any: ['thing'] },
      [3, 'alice', { hat: 'cap', count: 255 }],
      [4, 'alice', { hat: 'tx', count: 1 }],
    ])
    expect([dead, bob.counters.unfit]).toEqual([[], 0])
  })

  test('is refused where it is posted, if it does not fit, by its field, limit and value (AP-10)', async () => {
    const { alice } = await two()
    const post = (body: unknown): Promise<number> => alice.to('bob').post(Gift, body as never)
    await expect(post({ hat: 'far too long', count: 1 })).rejects.toMatchObject({
      code: 'bad-value',
      message: 'the letter "gift": field hat: takes 8 bytes: 12',
    })
    await expect(post({ hat: 'top' })).rejects.toThrow('field count: is missing')
    await expect(post({ hat: 'top', count: 1, hut: 2 })).rejects.toThrow('no field is called "hut"')
    await expect(post(undefined)).rejects.toThrow('must be an object of the fields hat, count')
    await expect(
      alice.transact((tx: Transaction) =>
        tx.post('bob', Gift, { hat: 'top', count: '1' } as never),
      ),
    ).rejects.toMatchObject({ code: 'bad-value', message: expect.stringContaining('field count') })
    expect(alice.queues()).toEqual([])
  })

  test('that does not fit is counted and set aside at once, and those behind it go on (AP-10)', async () => {
    const { alice, bob, came, dead } = await two()
    const theirs = letter('gift', { hat: text(80), count: u8 })
    const unknown = letter('medal', { for: text(9) })
    await alice.to('bob').post(theirs, { hat: 'much too long', count: 1 })
    await alice.to('bob').post(unknown, { for: 'honour' })
    await alice.to('bob').post(letter('gift', { count: u8 }), { count: 1 })
    await alice.to('bob').post(Gift, { hat: 'top', count: 2 })
    await carry(alice, bob)
    expect(came).toEqual([[4, 'alice', { hat: 'top', count: 2 }]])
    expect(dead).toEqual([
      '1: the letter "gift": field hat: takes 8 bytes: 13',
      '2: no type of letters is called "medal" here: there is gift, order',
      '3: the letter "gift": field hat: is missing',
    ])
    expect([bob.counters.unfit, bob.query('alice')]).toEqual([3, 4])
    expect(bob.dead().map(({ n, type, body }) => [n, type, body])).toEqual([
      [1, 'gift', { hat: 'much too long', count: 1 }],
      [2, 'medal', { for: 'honour' }],
      [3, 'gift', { count: 1 }],
    ])
    await expect(bob.release('alice', 3)).rejects.toMatchObject({
      code: 'failed',
      message: 'the letter "gift": field hat: is missing',
    })
    expect(bob.metrics()).toContain('holdfast_mailbox_refused_total{box="bob",what="unfit"} 3')
  })

  test('waits for the handler of its type, with those behind it, and is then handled at once (AP-10)', async () => {
    const { alice, bob, came, dead } = await two()
    await alice.to('bob').post(Order, { lines: [1, 99], paid: true, by: 'b' })
    await alice.to('bob').post('behind')
    await expect(carry(alice, bob)).rejects.toThrow('letter 1 of alice waits: there is no handler')
    expect([came, dead, bob.query('alice')]).toEqual([[], [], 0])
    const handled = new Promise<unknown>((done) =>
      bob.on(Order, (_tx, _from, order) => done(order)),
    )
    expect(await handled).toEqual({ lines: [1, 10], paid: true, by: 'b' })
    await bob.transact(() => {})
    expect(came).toEqual(['behind'])
  })

  test('what is declared or handled wrongly is refused with a sentence (AP-10)', async () => {
    const { bob } = await two()
    const other = letter('gift', { hat: text(8), count: u8 })
    expect(() => bob.on(other, () => {})).toThrow('were not declared: give it in openMailbox')
    expect(() => bob.on(Gift, () => {})).toThrow(
      'letters of the type "gift" have a handler already',
    )
    expect(() => letter('', { a: u8 })).toThrow('name')
    expect(() => letter('blob', { all: bytes(9) })).toThrow('field all takes no bytes')
    await expect(open('eve', { types: [Gift, other] })).rejects.toThrow('two types of letters')
    await expect(open('eve', { types: [{ name: 'x' }] as never })).rejects.toThrow('letter()')
    const stop = bob.on(Order, () => {})
    stop()
    bob.on(Order, () => {})
  })
})

test('bodies that nobody honest makes reach no handler, and throw nothing but that (AP-10)', () => {
  const handlers = new Handlers([Gift])
  const seen: unknown[] = []
  const see = (_tx: unknown, _from: unknown, body: unknown): void => void seen.push(body)
  handlers.add(Gift as unknown as LetterType, see)
  handlers.add(null, see)
  const info = { n: 1, at: null, attempt: 1, trace: '' }
  const good = toTyped('gift', { hat: 'top', count: 2 })
  const forged = [
    ...[good.subarray(0, 1), good.subarray(0, 2), good.subarray(0, 4), good.subarray(0, -1)],
    ...[Uint8Array.of(3, 255, 1), Uint8Array.of(3, 0), Uint8Array.of(3, 4, 255, 255, 255, 255)],
    ...[null, [], 'gift', 7, { hat: 'top', count: 'many' }].map((body) => toTyped('gift', body)),
    ...['{"hat":"top","count":1,"__proto__":{}}', '{"hat":"top","count":1e999}'].map((json) => {
      return Uint8Array.from([3, 4, ...new TextEncoder().encode(`gift${json}`)])
    }),
    ...['__proto__', 'constructor', 'toString'].map((name) => toTyped(name, {})),
  ]
  for (const body of forged) {
    expect(() => handlers.handle(null!, 'eve', body, info)).toThrow(Unhandled)
  }
  expect(seen).toEqual([])
  handlers.handle(null!, 'eve', good, info)
  handlers.handle(null!, 'eve', toBytes(null), info)
  expect(seen).toEqual([{ hat: 'top', count: 2 }, null])
})
