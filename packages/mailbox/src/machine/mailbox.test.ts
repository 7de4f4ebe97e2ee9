// Goal: what goes over a connection when, what is taken from one, and what bounds hold.
// Method: two mailboxes over a shelf in memory; every message goes through bytes.
import { describe, expect, test } from 'vitest'
import type { Letter, MailChange, MailShelf } from '../../../holdfast/src/ports.ts'
import { decode, encode } from '../../../holdfast/src/wire/layout.ts'
import * as mailbox from './mailbox.ts'
import type { Mailbox, MailEvent, MailOut, Policy } from './mailbox.ts'
import { NO_DIGEST } from '../../../holdfast/src/wire/history.ts'
import { type Hello, LETTER_BYTES_MAX, mailLayout, type MailMessage } from './messages.ts'
import { plainBatch } from './messages.ts'

const LIFE = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
const HELLO: Hello = {
  kind: 'hello',
  heard: 0,
  heardDigest: NO_DIGEST,
  posted: 0,
  postedDigest: NO_DIGEST,
  acked: 0,
  ourLives: [],
  theirLives: [],
}

interface End {
  name: string
  box: Mailbox
  kept: Letter[]
  digests: Uint8Array[]
  changes: MailChange[]
  events: MailEvent[]
  sent: MailMessage[]
  shelf: MailShelf
  out: MailOut
}

function end(name: string, limits: Partial<mailbox.Limits> = {}): End {
  const kept: Letter[] = []
  const one: End = {
    name,
    box: mailbox.create([], { ...mailbox.LIMITS, ...limits }, LIFE),
    kept,
    digests: [NO_DIGEST],
    changes: [],
    events: [],
    sent: [],
    shelf: {
      letters: (_peer, after, bytes) => {
        let room = bytes
        const letters = kept.filter(({ n, body }, at) => {
          if (n <= after) return false
          room -= mailbox.sizeOf(body)
          return room >= 0 || kept[at - 1] === undefined || kept[at - 1]!.n <= after
        })
        return { life: LIFE, before: one.digests[after] ?? NO_DIGEST, letters }
      },
      mark: (_peer, n) => one.digests[n] ?? null,
      weigh: (_peer, after, upTo) =>
        kept
          .filter(({ n }) => n > after && n <= upTo)
          .reduce((sum, { body }) => sum + mailbox.sizeOf(body), 0),
    },
    out: {
      record: (change) => {
        one.changes.push(change)
        if (change.kind === 'posted') kept.push({ n: change.n, body: change.body })
        if (change.kind === 'posted') one.digests[change.n] = change.digest
        if (change.kind === 'acked') kept.splice(0, kept.findLastIndex((l) => l.n <= change.n) + 1)
      },
      send: (_to, message) => one.sent.push(structuredClone(message)),
      emit: (event) => one.events.push(event),
    },
  }
  return one
}

const body = (text: string): Uint8Array => new TextEncoder().encode(text)
const post = (from: End, to: End, text: string): number =>
  mailbox.post(from.box, to.name, body(text), from.out)

/** A message as it comes over a wire. */
function coded(message: mailbox.MailMessage): mailbox.MailMessage {
  return decode(mailLayout, encode(mailLayout, message))!
}

/** Hands over what was sent, and handles all letters. @returns how the messages read */
function carry(from: End, to: End, now = 0): string[] {
  const messages = from.sent.splice(0)
  for (const message of messages) {
    mailbox.receive(to.box, now, from.name, coded(message), to.shelf, to.out)
  }
  while (mailbox.next(to.box, now, from.name)) mailbox.done(to.box, now, from.name, to.out)
  return messages.map(shown)
}

function shown(message: MailMessage): string {
  if (message.kind === 'hello') return `hello ${message.heard}`
  if (message.kind === 'fault') return `fault ${message.why}`
  return `[${message.letters.map(({ n }) => n).join()}] ack ${message.ack}`
}

function pump(one: End, now = 0): void {
  mailbox.pump(one.box, now, one.shelf, one.out)
}

function connect(a: End, b: End, now = 0): void {
  mailbox.connected(a.box, now, b.name)
  mailbox.connected(b.box, now, a.name)
}

function disconnect(a: End, b: End): void {
  mailbox.disconnected(a.box, b.name)
  mailbox.disconnected(b.box, a.name)
  a.sent.length = 0
  b.sent.length = 0
}

/** Lets both send at an instant until neither has anything to say. @returns all that was said */
function talk(a: End, b: End, now = 0): string[] {
  const said: string[] = []
  for (let before = -1; before < said.length;) {
    before = said.length
    pump(a, now)
    said.push(...carry(a, b, now).map((line) => `a ${line}`))
    pump(b, now)
    said.push(...carry(b, a, now).map((line) => `b ${line}`))
  }
  return said
}

function pair(policy: Policy, limits: Partial<mailbox.Limits> = {}): [End, End] {
  return [end('a', { policy, ...limits }), end('b', { policy, ...limits })]
}

describe('under hello', () => {
  test('S2, S9, S11: on one connection each letter goes once, an ack rides or goes alone', () => {
    const [a, b] = pair('hello')
    post(a, b, 'one')
    connect(a, b)
    expect(talk(a, b)).toEqual(['a hello 0', 'b hello 0', 'a [1] ack 0'])
    expect(talk(a, b, 19)).toEqual([])
    expect(mailbox.deadline(b.box)).toBe(20)
    expect(talk(a, b, 20)).toEqual(['b [] ack 1'])
    expect(talk(a, b, 1_000)).toEqual([])
    post(a, b, 'two')
    expect(talk(a, b, 1_000)).toEqual(['a [2] ack 0'])
    post(b, a, 'answer')
    expect(talk(a, b, 1_005)).toEqual(['b [1] ack 2'])
    expect(talk(a, b, 2_000)).toEqual(['a [] ack 1'])
    expect(a.kept).toEqual([])
  })

  test('S3, S21: a new connection sends what is news, and nothing where there is none', () => {
    const [a, b] = pair('hello')
    post(a, b, 'one')
    post(a, b, 'two')
    connect(a, b)
    talk(a, b)
    // Both took effect; the ack is lost with the connection.
    disconnect(a, b)
    post(a, b, 'three')
    connect(a, b)
    expect(talk(a, b, 100)).toEqual(['a hello 0', 'b hello 2', 'a [3] ack 0'])
    expect(a.kept.map(({ n }) => n)).toEqual([3])
    expect(talk(a, b, 200)).toEqual(['b [] ack 3'])
    disconnect(a, b)
    a.changes.length = b.changes.length = 0
    connect(a, b)
    expect(talk(a, b, 300)).toEqual(['a hello 0', 'b hello 3'])
    expect([...a.changes, ...b.changes]).toEqual([])
  })

  test('a window bounds what is on its way, and acks move it on', () => {
    const [a, b] = pair('hello')
    const big = 'x'.repeat(60_000)
    for (let i = 0; i < 50; i++) post(a, b, big)
    connect(a, b)
    pump(a)
    pump(b)
    carry(a, b)
    carry(b, a)
    pump(a)
    const first = a.sent.length
    expect(first).toBeGreaterThan(10)
    expect(first).toBeLessThan(20)
    // An ack goes at once when a quarter of the window took effect.
    const said = talk(a, b)
    expect(said.filter((line) => line.startsWith('b [] ack')).length).toBeGreaterThan(2)
    talk(a, b, 1_000)
    expect(a.kept).toEqual([])
    expect(b.box.peers.get('a')?.heard).toBe(50)
  })

  test.each(['preemptive', 'A', 'B'] as const)('works with a peer under %s', (policy) => {
    const a = end('a', { policy: 'hello' })
    const b = end('b', { policy })
    post(a, b, 'one')
    connect(a, b)
    talk(a, b)
    expect(b.box.peers.get('a')?.heard).toBe(1)
  })
})

describe('a letter that comes again', () => {
  // One letter has come from a to b, and will come once more.
  function twice(): { a: End; b: End; again: End['sent'] } {
    const [a, b] = pair('hello')
    connect(a, b)
    talk(a, b)
    post(a, b, 'one')
    pump(a)
    const again = [...a.sent]
    carry(a, b)
    return { a, b, again }
  }

  test('before its ack went is acked at once, not after the delay (PR-2)', () => {
    const { a, b, again } = twice()
    pump(b, 1)
    expect(b.sent).toEqual([])
    a.sent.push(...again)
    carry(a, b, 1)
    expect(b.box.counters.duplicates).toBe(1)
    pump(b, 1)
    expect(carry(b, a, 1)).toEqual(['[] ack 1'])
    expect(a.kept).toEqual([])
  })
  test('S9, S21: after its ack went, is counted and not acked once more (PR-2)', () => {
    const { a, b, again } = twice()
    pump(b, 20)
    expect(carry(b, a, 20)).toEqual(['[] ack 1'])
    a.sent.push(...again)
    carry(a, b, 20)
    pump(b, 100)
    expect([b.box.counters.duplicates, b.sent, mailbox.deadline(b.box)]).toEqual([1, [], Infinity])
  })
  test('S14: twice in one batch, counts once in the history of those behind it (PR-2)', () => {
    const [a, b] = pair('hello')
    for (const text of ['one', 'two', 'three']) post(a, b, text)
    const batch = mailbox.batchFor(a.box, 'b', 0, a.shelf) as Extract<
      MailMessage,
      { kind: 'batch' }
    >
    a.sent.push({ ...batch, letters: [batch.letters[0]!, ...batch.letters] })
    carry(a, b)
    expect(b.box.counters.duplicates).toBe(1)
    b.sent.push(mailbox.batchFor(b.box, 'a', 0, b.shelf))
    expect(carry(b, a)).toEqual(['[] ack 3'])
    expect([a.kept, a.events.map(({ kind }) => kind)]).toEqual([[], ['acked']])
  })
  test('on a new connection, for its ack was lost, is acked beside the hello (PR-2)', () => {
    const [a, b] = [end('a', { policy: 'preemptive' }), end('b', { policy: 'hello' })]
    post(a, b, 'one')
    for (let times = 0; times < 2; times++) {
      connect(a, b)
      pump(a)
      carry(a, b)
      if (times === 0) disconnect(a, b)
    }
    expect(b.box.counters.duplicates).toBe(1)
    pump(b)
    expect(carry(b, a)).toEqual(['hello 1', '[] ack 1'])
    expect(a.kept).toEqual([])
  })
})

describe('a connection that breaks', () => {
  test('leaves nothing behind of who had no letters, and takes none for who had some (PR-2)', () => {
    const [a, b] = pair('hello')
    connect(a, b)
    talk(a, b)
    disconnect(a, b)
    expect([a.box.peers.size, b.box.peers.size]).toEqual([0, 0])
    post(a, b, 'one')
    connect(a, b)
    talk(a, b)
    disconnect(a, b)
    expect([a.box.peers.get('b')?.posted, b.box.peers.get('a')?.heard]).toEqual([1, 1])
    post(a, b, 'two')
    pump(a, 1_000)
    expect([a.sent, mailbox.deadline(a.box)]).toEqual([[], Infinity])
  })
})

describe('other policies', () => {
  test('S4, S5, S20: preemptive: all letters and the ack go on each connection, just in case', () => {
    const [a, b] = pair('preemptive')
    post(a, b, 'one')
    connect(a, b)
    expect(talk(a, b)).toEqual(['a [1] ack 0', 'b [] ack 1'])
    disconnect(a, b)
    connect(a, b)
    expect(talk(a, b)).toEqual(['a [] ack 0', 'b [] ack 1'])
  })

  test('S12: A: an ack never goes alone, it rides on the next letter', () => {
    const [a, b] = pair('A')
    post(a, b, 'one')
    connect(a, b)
    expect(talk(a, b)).toEqual(['a [1] ack 0'])
    expect(talk(a, b, 10_000)).toEqual([])
    expect(a.kept).toHaveLength(1)
    post(b, a, 'answer')
    expect(talk(a, b, 10_000)).toEqual(['b [1] ack 1'])
    expect(a.kept).toEqual([])
  })

  test('S13: B: nothing goes on a connection until a letter is posted, which takes all along', () => {
    const [a, b] = pair('B')
    post(a, b, 'one')
    connect(a, b)
    expect(talk(a, b, 100_000)).toEqual([])
    post(a, b, 'two')
    expect(talk(a, b, 100_000)).toEqual(['a [1,2] ack 0'])
  })
})

describe('what comes is', () => {
  const batch = (numbers: number[], ack = 0): MailMessage =>
    plainBatch(
      numbers.map((n) => ({ n, body: body(`${n}`) })),
      ack,
    )
  const take = (one: End, message: MailMessage): number[] => {
    mailbox.receive(one.box, 0, 'a', message, one.shelf, one.out)
    const taken: number[] = []
    for (let letter = mailbox.next(one.box, 0, 'a'); letter;) {
      taken.push(letter.n)
      mailbox.done(one.box, 0, 'a', one.out)
      letter = mailbox.next(one.box, 0, 'a')
    }
    return taken
  }

  test('S14, S18: sorted, without doubles, and up to the first gap', () => {
    const b = end('b')
    expect(take(b, batch([2, 1, 2, 4]))).toEqual([1, 2])
    expect(b.events).toEqual([{ kind: 'gap', peer: 'a', expected: 3, got: 4 }])
    expect(take(b, batch([1, 2]))).toEqual([])
    expect(take(b, batch([2, 3, 4]))).toEqual([3, 4])
    expect(b.box.counters).toMatchObject({ duplicates: 4, gaps: 1 })
  })

  test('S19, S21: without connections: a batch above what the other says that it has', () => {
    const [a, b] = pair('hello')
    for (const text of ['1', 'two', 'three']) post(a, b, text)
    take(b, { ...batch([1]), life: LIFE } as MailMessage)
    const heard = b.box.peers.get('a')?.heard ?? 0
    const sent = mailbox.batchFor(a.box, 'b', heard, a.shelf)
    expect(shown(sent)).toBe('[2,3] ack 0')
    const changes = a.changes.length
    expect(a.box.peers.get('b')?.heard).toBe(0)
    expect(a.changes).toHaveLength(changes)
    expect(take(b, sent)).toEqual([2, 3])
  })

  test('an ack for what was never posted changes nothing, and says that a store is too old', () => {
    const [a, b] = pair('hello')
    post(a, b, 'one')
    mailbox.receive(a.box, 0, 'b', batch([], 2), a.shelf, a.out)
    expect(a.kept).toHaveLength(1)
    expect(a.events).toEqual([{ kind: 'fault', peer: 'b', why: expect.stringContaining('older') }])
    connect(a, b)
    pump(a, 1_000)
    // It says what it has, so that the other may be judged anew, and sends no letter.
    expect(a.sent.map(({ kind }) => kind)).toEqual(['hello'])
  })

  test('who acked once and has less now is told of, and sent nothing', () => {
    const [a, b] = pair('hello')
    post(a, b, 'one')
    mailbox.receive(a.box, 0, 'b', batch([], 1), a.shelf, a.out)
    const older = { ...HELLO, postedDigest: NO_DIGEST, posted: 0 }
    // What it acked is not kept, so there is no digest that its own could be compared with.
    expect(() => mailbox.receive(a.box, 0, 'b', older, a.shelf, a.out)).not.toThrow()
    expect(a.events.at(-1)).toMatchObject({ kind: 'fault', peer: 'b' })
  })

  test('a message that is cut short, or goes on, is none', () => {
    const good = encode(mailLayout, batch([1]))
    for (let at = 0; at < good.length; at++) {
      expect(decode(mailLayout, good.subarray(0, at))).toBeNull()
    }
    expect(decode(mailLayout, Uint8Array.of(...good, 0))).toBeNull()
    expect(decode(mailLayout, good)).toEqual(batch([1]))
  })

  test('more than a window of letters that wait is refused', () => {
    const b = end('b')
    const big = new Uint8Array(LETTER_BYTES_MAX)
    for (let n = 1; n <= 70; n++) {
      const message = plainBatch([{ n, body: big }], 0)
      mailbox.receive(b.box, 0, 'a', message, b.shelf, b.out)
    }
    expect(b.box.counters.flooding).toBeGreaterThan(0)
    expect(b.box.peers.get('a')!.inboxBytes).toBeLessThanOrEqual(4 * 1024 * 1024)
  })

  test('letters that wait may fill the inbox of a peer to the last byte (PR-2)', () => {
    const b = end('b')
    const most = 4 * 1024 * 1024
    const overhead = mailbox.sizeOf(new Uint8Array())
    const inbox = (): number => b.box.peers.get('a')?.inboxBytes ?? 0
    const take = (bytes: number): void => {
      const n = (b.box.peers.get('a')?.came ?? 0) + 1
      const message = plainBatch([{ n, body: new Uint8Array(bytes) }], 0)
      mailbox.receive(b.box, 0, 'a', message, b.shelf, b.out)
    }
    while (most - inbox() > 2 * LETTER_BYTES_MAX) take(LETTER_BYTES_MAX - overhead)
    take(LETTER_BYTES_MAX - overhead)
    take(most - inbox() - overhead + 1)
    expect([inbox() < most, b.box.counters.flooding]).toEqual([true, 1])
    take(most - inbox() - overhead)
    expect([inbox(), b.box.counters.flooding]).toEqual([most, 1])
  })

  test('a handler that throws is tried again later, then its letter is set aside', () => {
    const b = end('b', { triesMax: 3, onPoison: 'setAside' })
    mailbox.receive(b.box, 0, 'a', batch([1, 2]), b.shelf, b.out)
    mailbox.receive(b.box, 0, 'c', batch([1]), b.shelf, b.out)
    mailbox.failed(b.box, 0, 'a', 'no', b.out)
    expect(mailbox.next(b.box, 49, 'a')).toBe(null)
    expect(mailbox.next(b.box, 49, 'c')).toMatchObject({ n: 1 })
    expect(mailbox.deadline(b.box)).toBe(0)
    mailbox.done(b.box, 49, 'c', b.out)
    expect(mailbox.deadline(b.box)).toBe(50)
    mailbox.failed(b.box, 50, 'a', 'no', b.out)
    expect(mailbox.next(b.box, 149, 'a')).toBe(null)
    b.changes.length = 0
    mailbox.failed(b.box, 150, 'a', 'never', b.out)
    expect(b.changes.map(({ kind }) => kind)).toEqual(['dead', 'heard'])
    expect(b.events).toEqual([{ kind: 'dead', peer: 'a', n: 1, why: 'never' }])
    expect(mailbox.next(b.box, 150, 'a')).toMatchObject({ n: 2 })
  })
})

test('S32: an outbox that is full takes no more until an ack makes room', () => {
  const a = end('a', { lettersMax: 2 })
  const b = end('b')
  expect([post(a, b, 'one'), post(a, b, 'two'), post(a, b, 'three')]).toEqual([1, 2, 0])
  const ack = plainBatch([], 1)
  mailbox.receive(a.box, 0, 'b', ack, a.shelf, a.out)
  expect(post(a, b, 'three')).toBe(3)
  const small = end('small', { bytesMax: 40 })
  expect([post(small, b, '12345678'), post(small, b, '1'), post(small, b, '12345')]).toEqual([
    1, 2, 0,
  ])
})

describe('a letter that took effect', () => {
  /** b posted three letters, which took effect at a; no ack has gone. */
  function three(): [a: End, b: End] {
    const [a, b] = pair('hello')
    for (const text of ['one', 'two', 'three']) post(b, a, text)
    connect(a, b)
    talk(a, b)
    expect([a.box.peers.get('b')!.heard, b.box.peers.get('a')!.acked]).toEqual([3, 0])
    return [a, b]
  }

  test('leaves the inbox when that is durable, and its bytes with it (PR-2)', () => {
    const [a] = three()
    const peer = a.box.peers.get('b')!
    expect([peer.inbox.size, peer.inboxBytes > 0, a.box.inboxBytes > 0]).toEqual([3, true, true])
    mailbox.settle(a.box, 'b')
    expect([peer.inbox.size, peer.inboxBytes, a.box.inboxBytes]).toEqual([0, 0, 0])
  })

  test('takes none once more after adopt(), though its ack was lost (PR-2)', () => {
    const [a, b] = three()
    disconnect(a, b)
    connect(a, b)
    pump(b)
    const [hello] = b.sent.splice(0) as [Hello]
    expect([hello.kind, hello.posted, hello.acked]).toEqual(['hello', 3, 0])
    const adopted = mailbox.adopt(a.box, 'b', hello, null, a.shelf, a.out)
    expect(adopted).toEqual({ resent: null, givenUp: null, strays: null, missed: null })
    expect(a.box.peers.get('b')!.heard).toBe(3)
  })

  test('is not sent again after adopt() by who hears of it there first (PR-2)', () => {
    const [a, b] = pair('hello')
    for (const text of ['one', 'two', 'three']) post(a, b, text)
    const hello = { ...HELLO, heard: 2, heardDigest: a.digests[2]! }
    const adopted = mailbox.adopt(a.box, 'b', hello, 2, a.shelf, a.out)
    expect(adopted?.resent).toEqual({ first: 3, last: 3 })
    const { posted, acked } = a.box.peers.get('b')!
    expect([posted, acked]).toEqual([3, 2])
  })

  test('by a carrier that proves no key leaves the key that is known (PR-2)', () => {
    const [a, b] = pair('hello')
    const key = new Uint8Array(32).fill(7)
    mailbox.pins.trust(a.box, 'b', key, a.out)
    post(b, a, 'one')
    connect(a, b)
    expect(() => talk(a, b)).not.toThrow()
    expect(a.box.peers.get('b')!.heard).toBe(1)
    expect(mailbox.pins.keyOf(a.box, 'b')).toEqual(key)
  })
})
