// Goal: an effect elsewhere happens at least once, one at a time and in order, and always under the
// same name; its letter is acknowledged after it, whoever dies, closes, hangs or throws meanwhile.
// Method: mailboxes in memory on a clock that the test moves, and handlers that the test settles.
import { describe, expect, test } from 'vitest'
import { type EffectLetter, letter, type Mailbox, text } from '../../packages/mailbox/src/index.ts'
import { Bench } from './bench.ts'

const MINUTE = 60_000

/** A handler that works until the test says otherwise. */
class Work {
  readonly begun: EffectLetter[] = []
  readonly ends: { done: () => void; fail: (why: string) => void }[] = []

  readonly handler = (given: EffectLetter): Promise<void> => {
    this.begun.push(given)
    return new Promise((resolve, reject) => {
      this.ends.push({ done: resolve, fail: (why) => reject(new Error(why)) })
    })
  }

  get bodies(): unknown[] {
    return this.begun.map(({ body }) => body)
  }

  get ids(): string[] {
    return this.begun.map(({ id }) => id)
  }
}

async function post(box: Mailbox, ...bodies: unknown[]): Promise<void> {
  for (const body of bodies) void box.to('bob').post(body)
}

const waiting = (box: Mailbox): number => box.queues()[0]!.waiting

describe('an effect elsewhere', () => {
  test('comes in order, one at a time, and is acknowledged after it settled (N-23)', async () => {
    const bench = new Bench()
    const { alice, bob } = await bench.pair()
    const carol = await bench.open('carol')
    carol.connect('bob', bench.wayTo('bob'))
    const work = new Work()
    bob.handleAsync('letter', work.handler)
    await post(alice, 1, 2)
    await post(carol, 'c')
    await bench.pass(1_000)
    expect([work.bodies, waiting(alice), bob.query('alice')]).toEqual([[1], 2, 0])
    const [{ id, from, n, at, attempt, trace }] = work.begun as [EffectLetter]
    expect([from, n, attempt, trace, typeof at]).toEqual(['alice', 1, 1, 'alice>bob/1', 'number'])
    expect(id).toMatch(/^1-[0-9a-f]{32}$/)
    work.ends[0]!.done()
    await bench.pass(1_000)
    // Another sender's was there before the next of the first.
    expect([work.bodies, waiting(alice)]).toEqual([[1, 'c'], 1])
    work.ends[1]!.done()
    await bench.pass(1_000)
    work.ends[2]!.done()
    await bench.pass(1_000)
    expect([work.bodies, waiting(alice), waiting(carol)]).toEqual([[1, 'c', 2], 0, 0])
    expect([new Set(work.ids).size, bob.dead()]).toEqual([3, []])
  })

  test('that throws is tried again under the same id, and stops its line (N-23)', async () => {
    const bench = new Bench()
    const { alice, bob } = await bench.pair()
    const ids: string[] = []
    let isBad = true
    const came: unknown[] = []
    bob.handleAsync('letter', async ({ id, body }) => {
      await Promise.resolve()
      ids.push(id)
      if (isBad) throw new Error('no database')
      came.push(body)
    })
    const stopped: (number | null)[] = []
    bob.on('stopped', ({ why, ms }) => why === 'no database' && stopped.push(ms))
    await post(alice, 1, 2)
    await bench.pass(10 * MINUTE)
    expect([new Set(ids).size, ids.length > 8, waiting(alice)]).toEqual([1, true, 2])
    expect(stopped.slice(0, 2)).toEqual([800, 1_600])
    isBad = false
    await bench.pass(2 * MINUTE)
    expect([came, waiting(alice), bob.queues()[0]!.stopped]).toEqual([[1, 2], 0, null])
  })

  test('is set aside where that is said, and released under the same id (N-23)', async () => {
    const bench = new Bench()
    const { alice, bob } = await bench.pair({ onPoison: 'setAside' })
    const ids: string[] = []
    let isBad = true
    bob.handleAsync('letter', ({ id }) => {
      ids.push(id)
      return isBad ? Promise.reject(new Error('no')) : null
    })
    await post(alice, 1)
    await bench.pass(MINUTE)
    expect([ids.length, bob.dead().map(({ why }) => why)]).toEqual([5, ['no']])
    await expect(bench.of(bob.release('alice', 1))).rejects.toMatchObject({ code: 'failed' })
    expect(bob.dead()).toHaveLength(1)
    isBad = false
    await bench.of(bob.release('alice', 1))
    expect([ids.length, new Set(ids).size, bob.dead()]).toEqual([7, 1, []])
  })

  test('that was done before its process died comes again with the same id (N-23)', async () => {
    const bench = new Bench()
    const { alice } = await bench.pair()
    const bob = bench.box('bob')
    const work = new Work()
    bob.handleAsync('letter', work.handler)
    await post(alice, 1, 1)
    await bench.pass(1_000)
    // Between the effect and the turn that takes the letter.
    bench.kill('bob')
    work.ends[0]!.done()
    const again = await bench.open('bob')
    again.handleAsync('letter', work.handler)
    await bench.pass(10_000)
    work.ends[1]!.done()
    await bench.pass(1_000)
    work.ends[2]!.done()
    await bench.pass(1_000)
    const [first, second, third] = work.ids
    expect([work.bodies, second === first, third === first]).toEqual([[1, 1, 1], true, false])
    expect([waiting(alice), again.query('alice')]).toEqual([0, 2])
  })

  test('goes on while a connection breaks, and is not done twice for that (N-23)', async () => {
    const bench = new Bench()
    const { alice, bob } = await bench.pair()
    const work = new Work()
    bob.handleAsync('letter', work.handler)
    await post(alice, 1, 2)
    await bench.pass(1_000)
    bench.cut()
    await bench.pass(10)
    work.ends[0]!.done()
    await bench.pass(10_000)
    expect([work.bodies, waiting(alice)]).toEqual([[1, 2], 1])
    bench.cut()
    await bench.pass(10_000)
    work.ends[1]!.done()
    await bench.pass(1_000)
    expect([work.bodies, waiting(alice)]).toEqual([[1, 2], 0])
  })

  test('is told when the mailbox closes, which waits for nobody, and comes again (N-23)', async () => {
    const bench = new Bench()
    const { alice, bob } = await bench.pair()
    const work = new Work()
    bob.handleAsync('letter', work.handler)
    await post(alice, 1)
    await bench.pass(1_000)
    await bench.of(bob.close())
    const [{ signal }] = work.begun as [EffectLetter]
    expect([signal.aborted, (signal.reason as Error).message]).toEqual([
      true,
      'the mailbox is closed',
    ])
    // What becomes of it now is nobody's error.
    work.ends[0]!.fail('too late')
    bench.cut()
    const again = await bench.open('bob')
    again.handleAsync('letter', work.handler)
    await bench.pass(10_000)
    work.ends[1]!.done()
    await bench.pass(1_000)
    expect([work.ids[0] === work.ids[1], work.ids.length, waiting(alice)]).toEqual([true, 2, 0])
  })

  test('that never settles has failed after its time, is told, and others go on (N-23)', async () => {
    const bench = new Bench()
    const { alice, bob } = await bench.pair()
    const carol = await bench.open('carol')
    carol.connect('bob', bench.wayTo('bob'))
    const work = new Work()
    bob.handleAsync('letter', work.handler, { timeoutMs: 5_000 })
    const threw: string[] = []
    bob.on('threw', ({ why }) => threw.push(why))
    await post(alice, 1)
    await bench.pass(1_000)
    await post(carol, 2)
    await bench.pass(4_500)
    expect(threw).toEqual(['its handler did not settle within 5000 ms'])
    expect(work.begun[0]!.signal.aborted).toBe(true)
    // The first one is late by now, and counts for nothing.
    work.ends[0]!.fail('late')
    expect([work.bodies, work.begun[1]!.signal.aborted]).toEqual([[1, 2], false])
    work.ends[1]!.done()
    await bench.pass(1_000)
    expect([work.bodies, work.ids[2] === work.ids[0]]).toEqual([[1, 2, 1], true])
    work.ends[2]!.done()
    await bench.pass(1_000)
    expect([waiting(alice), waiting(carol), threw.length]).toEqual([0, 0, 1])
  })

  test('of a type has its fields; its owner may set it aside while it works (N-23)', async () => {
    const bench = new Bench()
    const Bill = letter('bill', { to: text(20) })
    const { alice, bob } = await bench.pair({ types: [Bill] })
    const work = new Work()
    bob.handleAsync(Bill, (given) => work.handler(given))
    const came: unknown[] = []
    bob.on('letter', (_tx, _from, body) => came.push(body))
    await bench.of(alice.to('bob').post(Bill, { to: 'Ada' }))
    await post(alice, 'behind')
    await bench.pass(1_000)
    expect([work.bodies, came]).toEqual([[{ to: 'Ada' }], []])
    expect(await bench.of(bob.peer('alice').setAside())).toBe(1)
    await bench.pass(1_000)
    expect([came, work.begun[0]!.signal.aborted, bob.dead().length]).toEqual([['behind'], true, 1])
  })

  test('survives a store that refuses the turn after it, and is not done twice (N-23)', async () => {
    const bench = new Bench()
    const { alice, bob } = await bench.pair()
    const work = new Work()
    bob.handleAsync('letter', work.handler)
    await post(alice, 1)
    await bench.pass(1_000)
    bench.refuse('bob', 2)
    work.ends[0]!.done()
    await bench.pass(20_000)
    expect([work.bodies, waiting(alice), bob.query('alice')]).toEqual([[1], 0, 1])
  })

  test('is refused by name where it cannot be: a replica, a second handler, odd options (N-23)', async () => {
    const bench = new Bench()
    const bob = await bench.open('bob')
    bob.handleAsync('letter', () => {})
    expect(() => bob.on('letter', () => {})).toThrow('letters have a handler already')
    const odd = await bench.open('odd', { replica: true })
    expect(() => odd.handleAsync('letter', () => {})).toThrow('a replica has no external effects')
    const carol = await bench.open('carol')
    const bad = { timeoutMs: 0 }
    expect(() => carol.handleAsync('letter', () => {}, bad)).toThrow('timeoutMs is a whole number')
    expect(() => carol.handleAsync('post' as 'letter', () => {})).toThrow('a type of letters')
    expect(() => carol.handleAsync('letter', 1 as never)).toThrow('the handler of letters')
  })
})
