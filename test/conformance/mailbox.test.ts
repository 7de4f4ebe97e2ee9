// Goal: what a user of a mailbox is promised: each letter takes effect once and in order, with all
// that its handler did or none of it; and what goes wrong is said.
// Method: real mailboxes in files, over WebSockets on loopback; waits for events, never for time.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  HoldfastError,
  type Mailbox,
  type MailboxOptions,
  openMailbox,
} from '../../packages/mailbox/src/index.ts'
import type { LetterHandler, Transaction } from '../../packages/mailbox/src/index.ts'
import { mailLayout, plainBatch } from '../../packages/mailbox/src/machine/messages.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { drained, openMailboxes, queueOf } from './open-mailboxes.ts'
import { until } from './until.ts'

const { close, freshFile, open } = openMailboxes('mailbox')

/** A mailbox that listens, and one that is connected with it. */
async function pair(
  more: { alice?: Partial<MailboxOptions>; bob?: Partial<MailboxOptions> } = {},
): Promise<[alice: Mailbox, bob: Mailbox]> {
  const bob = await open({ id: 'bob', listen: { port: 0 }, ...more.bob })
  const alice = await open({ id: 'alice', peers: { bob: bob.url! }, ...more.alice })
  return [alice, bob]
}

const waiting = (box: Mailbox, peer: string): number => queueOf(box, peer).waiting

async function fails(run: () => Promise<unknown>): Promise<string> {
  try {
    await run()
    return 'no error'
  } catch (error) {
    if (error instanceof HoldfastError) return `${error.code}: ${error.message}`
    throw error
  }
}

describe('letters', () => {
  test('S1, S7, S18: take effect once and in order, answers too, and the outbox is empty', async () => {
    const [alice, bob] = await pair()
    const came: unknown[] = []
    bob.on('letter', (tx, from, body) => {
      came.push(body)
      tx.set('count', ((tx.get('count') as number) ?? 0) + 1)
      tx.post(from, { seen: body })
    })
    const answers: unknown[] = []
    alice.on('letter', (_tx, _from, body) => answers.push(body))
    const bodies = Array.from({ length: 500 }, (_, i) => ({ i, text: 'x'.repeat(i) }))
    const numbers = await Promise.all(bodies.map((body) => alice.to('bob').post(body)))
    expect(numbers).toEqual(bodies.map((_, i) => i + 1))
    await drained(alice, 'bob')
    await until(() => answers.length === 500)
    expect(came).toEqual(bodies)
    expect(bob.get('count')).toBe(500)
  })

  test('bytes come as bytes', async () => {
    const [alice, bob] = await pair()
    const came: unknown[] = []
    bob.on('letter', (_tx, _from, body) => came.push(body))
    await alice.to('bob').post(Uint8Array.of(1, 2, 255))
    await until(() => came.length === 1)
    expect(came).toEqual([Uint8Array.of(1, 2, 255)])
  })

  test('S4, S10: wait for a peer that is not there, and go when it comes, and comes again', async () => {
    const store = freshFile()
    let bob = await open({ id: 'bob', store, listen: { port: 0 } })
    const port = Number(new URL(bob.url!).port)
    const alice = await open({ id: 'alice', peers: { bob: bob.url! } })
    let down = 0
    alice.on('disconnected', () => down++)
    for (let life = 1; life <= 3; life++) {
      await alice.to('bob').post(`before ${life}`)
      bob.on('letter', (tx, _from, body) => tx.set('last', body))
      await drained(alice, 'bob')
      await bob.close()
      await until(() => down >= life)
      await alice.to('bob').post(`meanwhile ${life}`)
      bob = await open({ id: 'bob', store, listen: { port } })
      expect(bob.get('last')).toBe(`before ${life}`)
    }
    bob.on('letter', (tx, _from, body) => tx.set('last', body))
    await drained(alice, 'bob')
    expect(bob.get('last')).toBe('meanwhile 3')
  })

  test('both may dial each other: one connection stays', async () => {
    const alice = await open({ id: 'alice', listen: { port: 0 } })
    const bob = await open({ id: 'bob', listen: { port: 0 } })
    alice.connect('bob', bob.url!)
    bob.connect('alice', alice.url!)
    let count = 0
    for (const box of [alice, bob]) box.on('letter', () => count++)
    for (let i = 0; i < 20; i++) {
      await alice.to('bob').post(i)
      await bob.to('alice').post(i)
    }
    await drained(alice, 'bob')
    await drained(bob, 'alice')
    expect(count).toBe(40)
  })

  test('100,000 for a peer that is not there drain in order when it comes, with progress', async () => {
    const alice = await open({ id: 'alice' })
    const posts: Promise<number>[] = []
    for (let i = 1; i <= 100_000; i++) posts.push(alice.to('bob').post(i))
    await Promise.all(posts)
    const progress: number[] = []
    alice.on('acked', (event) => progress.push(event.waiting))
    const bob = await open({ id: 'bob', listen: { port: 0 } })
    let last = 0
    let wrong = 0
    bob.on('letter', (_tx, _from, body) => {
      if (body !== ++last) wrong++
    })
    alice.connect('bob', bob.url!)
    await drained(alice, 'bob')
    expect([last, wrong]).toEqual([100_000, 0])
    expect(progress.length).toBeGreaterThan(2)
    expect(progress).toEqual(progress.toSorted((a, b) => b - a))
  })
})

describe('a handler', () => {
  test('S31: that throws leaves nothing, is tried again, and its letter is set aside', async () => {
    const [alice, bob] = await pair({ bob: { triesMax: 3, onPoison: 'setAside' } })
    bob.on('letter', (tx, from, body) => {
      tx.sql('CREATE TABLE IF NOT EXISTS hats (colour TEXT)')
      tx.sql('INSERT INTO hats VALUES (?)', String(body))
      tx.set(`hat ${String(body)}`, true)
      tx.post(from, `thanks for ${String(body)}`)
      if (body === 'green') throw new Error('no green hats')
    })
    const thrown: string[] = []
    const dead: unknown[] = []
    const thanks: unknown[] = []
    bob.on('threw', ({ why }) => thrown.push(why))
    bob.on('dead', (event) => dead.push(event))
    alice.on('letter', (_tx, _from, body) => thanks.push(body))
    for (const colour of ['red', 'green', 'blue']) await alice.to('bob').post(colour)
    await drained(alice, 'bob')
    await until(() => thanks.length === 2)
    expect(thanks).toEqual(['thanks for red', 'thanks for blue'])
    expect(thrown).toEqual(['no green hats', 'no green hats', 'no green hats'])
    expect(dead).toEqual([{ peer: 'alice', n: 2, why: 'no green hats' }])
    const letter = { peer: 'alice', n: 2, why: 'no green hats', type: null, body: 'green' }
    expect(bob.dead()).toEqual([letter])
    expect([bob.get('hat red'), bob.get('hat green')]).toEqual([true, undefined])
    expect(await fails(() => bob.release('alice', 2))).toContain('failed: the handler threw again')
    expect(bob.dead()).toHaveLength(1)
    await bob.discard('alice', 2)
    expect(bob.dead()).toEqual([])
    expect(await fails(() => bob.release('alice', 2))).toContain('not-found')
  })

  test('handles batches in the order in which they came, whoever floods it', async () => {
    const box = await open({ id: 'box' })
    const order: string[] = []
    box.on('letter', (_tx, from) => order.push(from))
    const body = new Uint8Array(1)
    const batch = (first: number, count: number): Uint8Array => {
      const letters = Array.from({ length: count }, (_, at) => ({ n: first + at, body }))
      return encode(mailLayout, plainBatch(letters, 0))
    }
    const flood = (first: number): Promise<void> => box.take('flood', batch(first, 3_000))
    const before = [1, 3001].map(flood)
    const calm = box.take('calm', batch(1, 1))
    await Promise.all([...before, calm, flood(6001)])
    // Nobody waits for what came later, however turns are cut.
    expect([order.length, order.indexOf('calm')]).toEqual([9_001, 6_000])
  })

  test('S31: that throws is counted, also over restarts', async () => {
    const store = freshFile()
    const [alice, bob] = await pair({ bob: { store, triesMax: 3, onPoison: 'setAside' } })
    const port = Number(new URL(bob.url!).port)
    const thrown: string[] = []
    const bad = (): void => {
      throw new Error('no')
    }
    const off = bob.on('letter', bad)
    bob.on('threw', () => {
      if (thrown.push('before') === 2) off()
    })
    await alice.to('bob').post('poison')
    await until(() => thrown.length === 2)
    await bob.close()
    const again = await open({
      id: 'bob',
      store,
      listen: { port },
      triesMax: 3,
      onPoison: 'setAside',
    })
    again.on('threw', () => thrown.push('after'))
    again.on('letter', bad)
    await drained(alice, 'bob')
    expect(thrown).toEqual(['before', 'before', 'after'])
    expect(again.dead()).toHaveLength(1)
  })

  test('that was mended takes a letter that was set aside', async () => {
    const [alice, bob] = await pair({ bob: { triesMax: 1, onPoison: 'setAside' } })
    let isMended = false
    bob.on('letter', (tx, _from, body) => {
      if (!isMended) throw new Error('not yet')
      tx.set('got', body)
    })
    await alice.to('bob').post('late')
    await drained(alice, 'bob')
    isMended = true
    await bob.release('alice', 1)
    expect([bob.get('got'), bob.dead()]).toEqual(['late', []])
  })

  test('that throws at one peer does not keep others waiting', async () => {
    const [alice, bob] = await pair({ bob: { triesMax: 1_000, onPoison: 'setAside' } })
    const carol = await open({ id: 'carol', peers: { bob: bob.url! } })
    bob.on('letter', (_tx, from) => {
      if (from === 'alice') throw new Error('not hers')
    })
    await alice.to('bob').post('one')
    for (let i = 0; i < 10; i++) await carol.to('bob').post(i)
    await drained(carol, 'bob')
    expect(waiting(alice, 'bob')).toBe(1)
  })

  test('S32: that posts to somebody who takes no more waits, however long, and loses nothing', async () => {
    const [alice, bob] = await pair({ bob: { lettersMax: 1, triesMax: 1, onPoison: 'setAside' } })
    bob.on('letter', (tx, _from, body) => tx.post('carol', body))
    let full = 0
    bob.on('threw', () => full++)
    // Two fit, for letters of handlers have as much room again.
    for (const body of ['one', 'two', 'three']) await alice.to('bob').post(body)
    await until(() => full >= 3)
    expect([bob.dead(), waiting(bob, 'carol')]).toEqual([[], 2])
    const carol = await open({ id: 'carol', listen: { port: 0 } })
    const came: unknown[] = []
    carol.on('letter', (_tx, _from, body) => came.push(body))
    bob.connect('carol', carol.url!)
    await until(() => came.length === 3)
    expect(came).toEqual(['one', 'two', 'three'])
  })

  test('S32: that posts more than fits has posted nothing', async () => {
    const [alice, bob] = await pair({ bob: { lettersMax: 2 } })
    const why: string[] = []
    bob.on('threw', (event) => why.push(event.why))
    bob.on('letter', (tx) => {
      for (let i = 0; i < 5; i++) tx.post('carol', i)
    })
    await alice.to('bob').post('go')
    await until(() => why.length > 0 || waiting(bob, 'carol') > 0)
    expect(why[0]).toContain('the outbox to carol is full')
    expect([waiting(bob, 'carol'), bob.dead()]).toEqual([0, []])
  })

  test('may not be async, nor use its transaction later', async () => {
    const [alice, bob] = await pair({})
    let late: (() => unknown) | null = null
    const handler = async (tx: Transaction): Promise<void> => {
      tx.sql('CREATE TABLE IF NOT EXISTS hats (colour TEXT)')
      tx.set('a', 1)
      late = () => tx.get('a')
      await Promise.reject(new Error('nobody waits for this'))
    }
    const off = bob.on('letter', handler as LetterHandler)
    const stopped = new Promise<string>((done) => bob.on('stopped', ({ why }) => done(why)))
    await alice.to('bob').post(1)
    expect(await stopped).toContain('the handler of letters is async')
    expect(() => late!()).toThrow('this transaction is over')
    off()
    const tables = new Promise<unknown[]>((done) => {
      bob.on('letter', (tx) => {
        done([...tx.sql("SELECT name FROM sqlite_master WHERE name = 'hats'"), tx.get('a')])
      })
    })
    expect(await tables).toEqual([undefined])
  })

  test('may not end the transaction, nor touch the tables of letters', async () => {
    const [alice, bob] = await pair({ bob: { triesMax: 1, onPoison: 'setAside' } })
    bob.on('letter', (tx, _from, body) => void tx.sql(String(body)))
    for (const sql of ['COMMIT', ' pragma journal_mode=off', 'DELETE FROM mail_heads', 'no sql']) {
      await alice.to('bob').post(sql)
    }
    await drained(alice, 'bob')
    const why = bob.dead().map((letter) => letter.why)
    expect(why[0]).toContain('COMMIT is not for a handler')
    expect(why[1]).toContain('pragma is not for a handler')
    expect(why[2]).toContain('mailbox’s own')
    expect(why[3]).toContain('syntax error')
  })
})

describe('a mailbox says', () => {
  test('S32: that an outbox is full, and takes more when there is room', async () => {
    const alice = await open({ id: 'alice', lettersMax: 3 })
    for (let i = 0; i < 3; i++) await alice.to('bob').post(i)
    expect(await fails(() => alice.to('bob').post(3))).toBe(
      'outbox-full: the outbox to bob is full: 3 letters of 3, 63 bytes of 1073741824; ' +
        'wait until bob has acknowledged some',
    )
    const bob = await open({ id: 'bob', listen: { port: 0 } })
    bob.on('letter', () => {})
    alice.connect('bob', bob.url!)
    await drained(alice, 'bob')
    expect(await alice.to('bob').post(3)).toBe(4)
  })

  test('that a letter is too long, an id none, a value no value', async () => {
    const alice = await open({ id: 'alice' })
    const long = new Uint8Array(65_536)
    expect(await fails(() => alice.to('bob').post(long))).toContain('at most 65360 bytes: 65537')
    expect(await fails(() => alice.to('bob').post((() => 1) as never))).toContain('bad-value')
    expect(await fails(() => open({ id: '' }))).toContain('has 1 to 64 bytes')
    expect(await fails(async () => alice.to('x'.repeat(65)))).toContain('has 1 to 64 bytes')
  })

  test('who is not known here, has another key, or is somebody else (MB-21)', async () => {
    const store = freshFile()
    const first = await open({ id: 'alice', store })
    const accept = { alice: first.key, amy: null }
    await close(first)
    const bob = await open({ id: 'bob', accept, listen: { port: 0 } })
    bob.on('letter', () => {})
    const why = async (options: Partial<MailboxOptions>, whom = 'bob'): Promise<string> => {
      const box = await open({ id: 'mallory', peers: { [whom]: bob.url! }, ...options })
      const said: string[] = []
      box.on('disconnected', (event) => said.push(event.why))
      box.on('acked', () => said.push('taken'))
      await box.to(whom).post('let me in')
      await until(() => said.length > 0)
      await close(box)
      return said[0]!
    }
    expect(await why({})).toBe('bob takes no letters from mallory')
    expect(await why({ id: 'alice' })).toContain('bob knows alice by another key than this')
    expect(await why({ id: 'alice' }, 'carol')).toBe('this is the mailbox of bob, not of carol')
    expect(await why({ id: 'bob' })).toContain('bob is the name of this mailbox')
    expect(await why({ id: 'alice', store })).toBe('taken')
    expect(await why({ id: 'amy' })).toBe('taken')
    expect(await why({ id: 'amy' })).toContain('bob knows amy by another key than this')
    const { greetings, otherKey, unproved } = bob.counters
    expect([greetings, otherKey, unproved]).toEqual([3, 2, 0])
  })

  test('that the password of all is gone, and what accept takes now', async () => {
    const bad = (options: object): Promise<string> => fails(() => open({ id: 'bob', ...options }))
    expect(await bad({ key: 'secret of sixteen bytes' })).toBe(
      'bad-value: openMailbox takes no option "key": each mailbox has a key of its own, box.key; ' +
        'give those of the mailboxes that may come as accept: { alice: "…" }',
    )
    expect(await bad({ accept: ['alice'] })).toContain('as { alice: null }: ["alice"]')
    expect(await bad({ accept: { alice: 'hunter2' } })).toBe(
      'bad-value: the key of alice in accept is 64 hexadecimal digits, as box.key has them: ' +
        '"hunter2"',
    )
    expect(await bad({ accept: { '': null } })).toContain('has 1 to 64 bytes')
    const bob = await open({ id: 'bob' })
    expect(await fails(() => bob.peer('alice').trust('hunter2'))).toContain('64 hexadecimal digits')
  })

  test('that its port is taken, its file in use', async () => {
    const store = freshFile()
    const bob = await open({ id: 'bob', store, listen: { port: 0 } })
    const port = Number(new URL(bob.url!).port)
    expect(await fails(() => open({ id: 'eve', listen: { port } }))).toContain('port-taken')
    expect(await fails(() => open({ id: 'eve', store }))).toContain('in use by this process')
    await bob.close()
    expect(await fails(() => bob.to('eve').post(1))).toBe('store: the mailbox of bob is closed')
  })
})

test('S19, S20, S21: without connections: asked first, a client sends only what is news', async () => {
  const store = freshFile()
  const chain = await open({ id: 'chain' })
  chain.on('letter', (tx, from, body) => tx.post(from, `did ${String(body)}`))
  const answers: unknown[] = []
  for (let life = 1; life <= 3; life++) {
    const client = await open({ id: 'client', store })
    client.on('letter', (_tx, _from, body) => answers.push(body))
    await client.to('chain').post(life)
    await chain.take('client', client.batch('chain', chain.query('client')))
    await client.take('chain', chain.batch('client', client.query('chain')))
    expect([chain.query('client'), client.query('chain')]).toEqual([life, life])
    // The same batches again change nothing.
    await chain.take('client', client.batch('chain', 0))
    await client.take('chain', chain.batch('client', 0))
    await client.close()
  }
  expect(answers).toEqual(['did 1', 'did 2', 'did 3'])
})

test('what a store is, to whoever names none (AP-6)', async () => {
  for (const store of [undefined, '', 7]) {
    const opening = openMailbox({ id: 'carol', store } as unknown as MailboxOptions)
    expect(await fails(() => opening)).toMatch(/^bad-value: store is the file of the mailbox/)
  }
})

describe('on a full disk', () => {
  const door = new URL('../../packages/holdfast/dist/mailbox/src/index.js', import.meta.url)
  beforeAll(() => {
    if (!existsSync(door)) throw new Error('run `npx tsc -b` first: child processes need dist/')
  })

  test('a post says so, what was posted stays, and goes when there is room', (context) => {
    const script = `
      const { openMailbox } = await import(${JSON.stringify(door.href)})
      const { rmSync, writeFileSync } = await import('node:fs')
      writeFileSync('/mnt/ballast', new Uint8Array(300000))
      const alice = await openMailbox({ id: 'alice', store: '/mnt/a.db' })
      const unseen = []
      alice.on('unseen', ({ peer }) => unseen.push(peer))
      let posted = 0
      let why = ''
      while (why === '') {
        const letter = 'x'.repeat(5000)
        await alice.to('bob').post(letter).then(() => posted++, (e) => (why = e.message))
      }
      console.log(why)
      rmSync('/mnt/ballast')
      console.log((await alice.to('bob').post('more')) === posted + 1)
      const bob = await openMailbox({ id: 'bob', store: null, listen: { port: 0 } })
      let came = 0
      bob.on('letter', () => came++)
      alice.connect('bob', bob.url)
      await new Promise((done) => alice.on('acked', ({ waiting }) => waiting === 0 && done()))
      console.log(came === posted + 1)
      console.log(unseen.join())
      await alice.close(); await bob.close()`
    const shell = 'mount -t tmpfs -o size=1m none /mnt && ip link set lo up; exec "$0" "$@"'
    const words = ['-rmn', 'sh', '-c', shell, process.execPath, '--input-type=module', '-e', script]
    const probe = spawnSync('unshare', ['-rmn', 'sh', '-c', 'mount -t tmpfs none /mnt'])
    if (probe.status !== 0) context.skip('no mount namespaces here') // needs mount namespaces
    const child = spawnSync('unshare', words, { encoding: 'utf8', timeout: 100_000 })
    expect(child.stderr).toBe('')
    const [why, room, all, unseen] = child.stdout.trim().split('\n')
    expect(why).toContain('the disk is full; nothing of this write was kept')
    expect([room, all, unseen]).toEqual(['true', 'true', 'bob'])
  })
})
