// Goal: a handler that fails stops the line of its sender, loudly, until it works; letters keep
// their order over a bad deploy.
// Method: real mailboxes on a clock that the test moves, and handlers that fail on purpose.
import { describe, expect, test } from 'vitest'
import { emptyContent, MailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import * as mailbox from '../../packages/mailbox/src/machine/mailbox.ts'
import { plainBatch } from '../../packages/mailbox/src/machine/messages.ts'
import type { MailChange } from '../../packages/holdfast/src/ports.ts'
import type { LetterHandler, Mailbox, Transaction } from '../../packages/mailbox/src/index.ts'
import { Bench } from './bench.ts'

const MINUTE = 60_000

/** What a handler was given, and whether it fails. */
function failing(box: Mailbox): { came: unknown[]; isBad: boolean } {
  const state = { came: [] as unknown[], isBad: true }
  box.on('letter', (tx, _from, body) => {
    state.came.push(body)
    tx.set('last', body as number)
    if (state.isBad && body === 1) throw new Error('no database')
  })
  return state
}

async function post(box: Mailbox, ...bodies: unknown[]): Promise<void> {
  for (const body of bodies) void box.to('bob').post(body)
}

describe('a handler that throws', () => {
  test('stops its line until it works, and letters go on in order then (N-23)', async () => {
    const bench = new Bench()
    const { alice, bob } = await bench.pair()
    const state = failing(bob)
    const stopped: [number, number | null][] = []
    bob.on('stopped', ({ peer, n, why, tries, ms }) => {
      expect([peer, n, why]).toEqual(['alice', 1, 'no database'])
      stopped.push([tries, ms])
    })
    await post(alice, 1, 2, 3)
    await bench.pass(20 * MINUTE)
    expect(new Set(state.came)).toEqual(new Set([1]))
    expect(stopped.slice(0, 3)).toEqual([
      [5, 800],
      [6, 1_600],
      [7, 3_200],
    ])
    expect(stopped.at(-1)![1]).toBe(2 * MINUTE)
    // Less and less often: not a busy loop.
    expect(stopped.length).toBeLessThan(20)
    expect([bob.dead(), bob.get('last'), bob.query('alice')]).toEqual([[], undefined, 0])
    expect(bob.queues()[0]!.stopped).toBe('letter 1: no database')
    expect(bob.metrics()).toContain('holdfast_mailbox_stopped{box="bob",peer="alice"} 1\n')
    state.isBad = false
    state.came.length = 0
    await bench.pass(2 * MINUTE)
    expect([state.came, bob.get('last'), bob.queues()[0]!.stopped]).toEqual([[1, 2, 3], 3, null])
    expect(alice.queues()[0]!.waiting).toBe(0)
  })

  test('is reported where nobody listens, and keeps no other sender waiting (N-23)', async () => {
    const bench = new Bench()
    const { alice, bob } = await bench.pair()
    const state = failing(bob)
    const carol = await bench.open('carol')
    carol.connect('bob', bench.wayTo('bob'))
    await post(alice, 1, 2)
    await post(carol, 7)
    await bench.pass(1_000)
    expect(state.came.filter((body) => body !== 1)).toEqual([7])
    expect(bench.reported[0]).toBe(
      "bob's handler of letters, with letter 1 of alice (attempt 5),: HoldfastError: " +
        'no database; letters of alice wait behind it, for 1 s',
    )
  })

  test('is called at once by the next process, a deploy that works (N-23)', async () => {
    const bench = new Bench()
    const { alice, bob } = await bench.pair()
    failing(bob)
    await post(alice, 1, 2)
    await bench.pass(10 * MINUTE)
    await bench.of(bob.close())
    bench.cut()
    const again = await bench.open('bob')
    const attempts: number[] = []
    again.on('letter', (_tx, _from, _body, { attempt }) => attempts.push(attempt))
    await bench.pass(6_000)
    expect([attempts.length, attempts[0]! > 5, attempts[1]]).toEqual([2, true, 1])
    expect(alice.queues()[0]!.waiting).toBe(0)
  })

  test('has its letter set aside by its owner, and those behind it go on (N-23)', async () => {
    const bench = new Bench()
    const { alice, bob } = await bench.pair()
    const state = failing(bob)
    await expect(bench.of(bob.peer('alice').setAside())).rejects.toMatchObject({
      code: 'not-found',
    })
    await post(alice, 1, 2, 3)
    await bench.pass(1_000)
    expect([await bench.of(bob.peer('alice').setAside()), bob.dead()]).toEqual([
      1,
      [{ peer: 'alice', n: 1, why: 'letter 1: no database', type: null, body: 1 }],
    ])
    expect(bob.get('last')).toBe(3)
    state.isBad = false
    await bench.of(bob.release('alice', 1))
    expect([bob.dead(), bob.get('last')]).toEqual([[], 1])
  })

  test('has its letter set aside after its tries where that is said (N-23)', async () => {
    const bench = new Bench()
    const { alice, bob } = await bench.pair({ onPoison: 'setAside' })
    failing(bob)
    await post(alice, 1, 2)
    await bench.pass(1_000)
    expect([bob.dead().map(({ n }) => n), bob.get('last')]).toEqual([[1], 2])
    await expect(bench.open('eve', { onPoison: 'skip' as never })).rejects.toThrow(
      'onPoison is "stop" or "setAside": "skip"',
    )
  })
})

test('a letter that kills its process stops its line, and waits before it is handled again (N-23)', async () => {
  const bench = new Bench()
  const { alice, bob } = await bench.pair({ triesMax: 2 })
  await post(alice, 1, 2)
  await bench.pass(100)
  await bench.of(bob.close())
  bench.cut()
  // Three die in it, each after the one before has noted that.
  for (let times = 0; times < 2; times++) {
    const dying = await bench.open('bob', { triesMax: 2, died: '1 alice' })
    await bench.of(dying.close())
    bench.cut()
  }
  const last = await bench.open('bob', { triesMax: 2, died: '1 alice' })
  const came: [unknown, number][] = []
  const stopped: [string, number][] = []
  last.on('stopped', ({ why, ms }) => {
    expect([why, ms]).toEqual(['the process ended while it was handled: 3 times', 200])
    stopped.push([why, bench.clock.now])
  })
  last.on('letter', (_tx, _from, body) => void came.push([body, bench.clock.now]))
  await bench.pass(10_000)
  expect([came.map(([body]) => body), stopped.length, last.dead()]).toEqual([[1, 2], 1, []])
  expect(came[0]![1] - stopped[0]![1]).toBe(200)
})

test('a machine that is told that a handler threw asks again for ever, less and less often (N-23)', () => {
  const box = mailbox.create([])
  const shelf = new MailMemory(emptyContent(), 'b')
  const kinds = new Set<string>()
  const record = ({ kind }: MailChange): void => void kinds.add(kind)
  const out = { record, send: () => {}, emit: () => {} }
  const letters = [1, 2].map((n) => ({ n, body: Uint8Array.of(n) }))
  mailbox.receive(box, 0, 'a', plainBatch(letters, 0), shelf, out)
  let now = 0
  for (let tries = 1; tries < 2_000; tries++) {
    mailbox.failed(box, now, 'a', 'no', out)
    const wait = Math.min(2 * MINUTE, 50 * 2 ** (tries - 1))
    expect(mailbox.next(box, now + wait - 1, 'a')).toBe(null)
    now += wait
    expect([tries, mailbox.next(box, now, 'a')?.n]).toEqual([tries, 1])
  }
  expect([...kinds]).toEqual(['tried'])
  mailbox.done(box, now, 'a', out)
  expect(mailbox.next(box, now, 'a')).toMatchObject({ n: 2 })
})

describe('a handler that is async', () => {
  for (const onPoison of ['stop', 'setAside'] as const) {
    test(`is named at its first call and stops the line at once, ${onPoison} (N-23)`, async () => {
      const bench = new Bench()
      const { alice, bob } = await bench.pair({ onPoison })
      let calls = 0
      let late: Promise<unknown> | null = null
      const handler = async (tx: Transaction, _from: string, body: unknown): Promise<void> => {
        calls++
        tx.set('last', body as number)
        tx.post('alice', 'thanks')
        late = Promise.resolve().then(() => tx.set('later', 1))
        await late
      }
      const stop = bob.on('letter', handler as LetterHandler)
      const stopped: unknown[] = []
      bob.on('stopped', ({ n, why, ms }) => stopped.push([n, why.slice(0, 59), ms]))
      await post(alice, 1, 2)
      await bench.pass(30 * MINUTE)
      const why = 'the handler of letters is async: it returned a promise, but'
      expect([calls, stopped]).toEqual([1, [[1, why, null]]])
      await expect(late).rejects.toThrow('this transaction is over')
      expect([bob.get('last'), bob.get('later'), bob.dead()]).toEqual([undefined, undefined, []])
      expect([bob.query('alice'), bob.queues()[0]!.posted]).toEqual([0, 0])
      stop()
      bob.on('letter', (tx, _from, body) => tx.set('last', body as number))
      await bench.pass(100)
      expect([bob.get('last'), bob.query('alice')]).toEqual([2, 2])
    })
  }
})
