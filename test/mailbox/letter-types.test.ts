// Goal: a letter that says it has a type fits it, or no handler sees it, whoever sent it.
// Method: real mailboxes in memory that pass batches by hand; bodies that no honest sender makes.
import { afterEach, describe, expect, test } from 'vitest'
import {
  bool,
  letter,
  type LetterDefinition,
  list,
  map,
  type LetterType,
  type Mailbox,
  type MailboxOptions,
  oneOf,
  openMailbox,
  optional,
  ranged,
  struct,
  text,
  type Transaction,
  u16,
  u8,
  was,
} from '../../packages/mailbox/src/index.ts'
import { bytes } from '../../packages/holdfast/src/index.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import {
  emptyContent,
  type MailContent,
  MailMemory,
} from '../../packages/mailbox/src/drivers/mail-memory.ts'
import { openIn } from '../../packages/mailbox/src/mail-opening.ts'
import { Handlers, Unhandled } from '../../packages/mailbox/src/runtime/handlers.ts'
import { toBytes, toTyped } from '../../packages/mailbox/src/runtime/values.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'

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

/** Bob's next process, of a build with these types, on what his store has. */
async function openOn(content: MailContent, types: readonly LetterDefinition[]): Promise<Mailbox> {
  const place = {
    loop: createNodeLoop(),
    connect: () => null!,
    curves: () => toyCurves,
    report: () => {},
    open: () => Promise.resolve(new MailMemory(content, 'bob')),
    listen: null,
  }
  const box = await openIn(place, { id: 'bob', store: 'bob', types })
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
      message: 'the letter "gift": field hat: takes 8 characters: 12',
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
    await alice.to('bob').post(letter('gift', { hat: u8, count: u8 }), { hat: 7, count: 1 })
    await alice.to('bob').post(Gift, { hat: 'top', count: 2 })
    await carry(alice, bob)
    expect(came).toEqual([[4, 'alice', { hat: 'top', count: 2 }]])
    expect(dead).toEqual([
      '1: the letter "gift": field hat: takes 8 characters: 13',
      '2: no type of letters is called "medal" here: there is gift, order',
      '3: the letter "gift": field hat: must be a text: 7',
    ])
    expect([bob.counters.unfit, bob.query('alice')]).toEqual([3, 4])
    expect(bob.dead().map(({ n, type, body }) => [n, type, body])).toEqual([
      [1, 'gift', { hat: 'much too long', count: 1 }],
      [2, 'medal', { for: 'honour' }],
      [3, 'gift', { hat: 7, count: 1 }],
    ])
    await expect(bob.release('alice', 3)).rejects.toMatchObject({
      code: 'failed',
      message: 'the letter "gift": field hat: must be a text: 7',
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

describe('a type of letters grows', () => {
  const old = letter('gift', { hat: text(8), size: u8, count: u16 })

  test('as kept rooms do: a new field, one that is gone, another name, another width (N-11)', async () => {
    const [alice, content] = [await open('alice'), emptyContent()]
    await alice.to('bob').post(old, { hat: 'top', size: 57, count: 200 })
    const New = letter('gift', {
      note: optional(text(9)),
      number: was('count', u8),
      hat: text(8),
      weight: u16,
    })
    const bob = await openOn(content, [New])
    const came: unknown[] = []
    bob.on(New, (_tx, _from, gift) => came.push(gift))
    await carry(alice, bob)
    expect(came).toEqual([{ note: null, number: 200, hat: 'top', weight: 0 }])
    expect([bob.dead(), bob.counters.unfit]).toEqual([[], 0])
    // What a build before posts and what one after it posts may come in turn.
    await alice.to('bob').post(New, { note: 'hi', number: 3, hat: 'cap', weight: 9 })
    await carry(alice, bob)
    expect(came[1]).toEqual({ note: 'hi', number: 3, hat: 'cap', weight: 9 })
  })

  test('also for letters that a build before set aside: release handles them (N-11)', async () => {
    const [alice, content] = [await open('alice'), emptyContent()]
    const before = await openOn(content, [letter('gift', { hat: u8 })])
    before.on('letter', () => {})
    await alice.to('bob').post(old, { hat: 'top', size: 57, count: 2 })
    await carry(alice, before)
    expect(before.dead()).toHaveLength(1)
    await before.close()
    const New = letter('gift', { cap: was('hat', text(8)), note: optional(text(9)) })
    const bob = await openOn(content, [New])
    const came: unknown[] = []
    bob.on(New, (_tx, _from, gift) => came.push(gift))
    await bob.release('alice', 1)
    expect([came, bob.dead()]).toEqual([[{ cap: 'top', note: null }], []])
  })

  test('also for a letter that waited for a handler, and one whose type has another name (N-11)', async () => {
    const [alice, content] = [await open('alice'), emptyContent()]
    const before = await openOn(content, [old])
    await alice.to('bob').post(old, { hat: 'top', size: 57, count: 2 })
    await expect(carry(alice, before)).rejects.toThrow('there is no handler')
    await before.close()
    const New = letter('present', { hat: text(8) }, { was: 'gift' })
    const bob = await openOn(content, [New])
    const came: unknown[] = []
    bob.on(New, (_tx, _from, gift) => came.push(gift))
    await carry(alice, bob)
    expect(came).toEqual([{ hat: 'top' }])
    const two = [New, letter('other', { a: u8 }, { was: 'gift' })]
    await expect(open('eve', { types: two })).rejects.toThrow('two types of letters were called')
    // Where a type has that name now, letters of that name are its own.
    const both = await openOn(emptyContent(), [New, old])
    both.on(old, (_tx, _from, gift) => came.push(gift))
    await carry(alice, both)
    expect(came[1]).toEqual({ hat: 'top', size: 57, count: 2 })
  })

  test('also within its fields, wherever a struct stands (N-11)', async () => {
    const Before = letter('order', {
      lines: list(struct({ what: text(8), gone: u8 }), 3),
      by: map(optional(struct({ n: u16 })), 3),
    })
    const After = letter('order', {
      lines: list(struct({ note: optional(text(8)), goods: was('what', text(8)) }), 3),
      by: map(optional(struct({ n: u8, m: u8 })), 3),
    })
    const alice = await open('alice')
    const bob = await openOn(emptyContent(), [After])
    const came: unknown[] = []
    bob.on(After, (_tx, _from, order) => came.push(order))
    const line = { what: 'tea', gone: 7 }
    await alice.to('bob').post(Before, { lines: [line, line], by: { ada: { n: 9 }, bo: null } })
    await alice.to('bob').post(Before, { lines: [], by: { ada: { n: 300 } } })
    await carry(alice, bob)
    const now = { note: null, goods: 'tea' }
    expect(came).toEqual([{ lines: [now, now], by: { ada: { n: 9, m: 0 }, bo: null } }])
    expect(bob.dead().map(({ why }) => why)).toEqual([
      'the letter "order": field by: 300 does not fit u8',
    ])
  })

  test('and a number that a narrower field does not hold is refused, not altered (N-11)', async () => {
    const { alice, bob, dead } = await two()
    await alice.to('bob').post(old, { hat: 'top', size: 57, count: 300 })
    await carry(alice, bob)
    expect(dead).toEqual(['1: the letter "gift": field count: 300 does not fit u8'])
    const Money = letter('money', { sum: ranged(0, 0.3, 0.1) })
    const carol = await open('carol', { types: [Money] })
    const came: unknown[] = []
    carol.on(Money, (_tx, _from, { sum }) => came.push(sum))
    await alice.to('carol').post(Money, { sum: 7 })
    await carry(alice, carol)
    expect(came).toEqual([0.30000000000000004])
    await alice.to('carol').post(letter('money', { sum: u8 }), { sum: 1 })
    await carry(alice, carol)
    expect([came.length, carol.dead().length]).toEqual([1, 1])
  })
})

test('bodies that nobody honest makes reach no handler, and throw nothing but that (AP-10)', () => {
  const handlers = new Handlers([Gift])
  const seen: unknown[] = []
  const see = (_tx: unknown, _from: unknown, body: unknown): void => void seen.push(body)
  handlers.add(Gift as unknown as LetterType, { kind: 'turn', run: see })
  handlers.add(null, { kind: 'turn', run: see })
  const handle = (bytes: Uint8Array): void => {
    const found = handlers.find(bytes)
    if (found instanceof Unhandled) throw found
    handlers.handle(null!, 'eve', found, info)
  }
  const info = { n: 1, at: null, attempt: 1, trace: '' }
  const ofText = (json: string): Uint8Array => {
    return Uint8Array.from([3, 4, ...new TextEncoder().encode(`gift${json}`)])
  }
  const good = toTyped('gift', { hat: 'top', count: 2 })
  const forged = [
    ...[good.subarray(0, 1), good.subarray(0, 2), good.subarray(0, 4), good.subarray(0, -1)],
    ...[Uint8Array.of(3, 255, 1), Uint8Array.of(3, 0), Uint8Array.of(3, 4, 255, 255, 255, 255)],
    ...[null, [], 'gift', 7, { hat: 'top', count: 'many' }].map((body) => toTyped('gift', body)),
    ofText('{"hat":"top","count":1e999}'),
    ...['__proto__', 'constructor', 'toString'].map((name) => toTyped(name, {})),
  ]
  for (const body of forged) {
    expect(() => handle(body)).toThrow(Unhandled)
  }
  expect(seen).toEqual([])
  handle(good)
  handle(toBytes(null))
  // What it inherits is no field of it.
  handle(ofText('{"count":1,"__proto__":{"hat":"bad"}}'))
  expect(seen).toEqual([{ hat: 'top', count: 2 }, null, { hat: '', count: 1 }])
})
