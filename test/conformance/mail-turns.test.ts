// Goal: a turn of a mailbox is taken whole or thrown away whole: state, values, letters, dead
// letters and SQL, in memory too, whatever a handler, its SQL, a listener or the disk does.
// Method: real mailboxes in files; stores that refuse when they are told to; processes that die.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import Database from 'libsql'
import { beforeAll, describe, expect, test } from 'vitest'
import { curvesOnNode } from '../../packages/holdfast/src/drivers/crypto/libsodium.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { listenStreams } from '../../packages/holdfast/src/drivers/net/server/websocket-listen.ts'
import { connectWebSocketNode } from '../../packages/holdfast/src/drivers/net/websocket-node.ts'
import { openMailSqlite } from '../../packages/mailbox/src/drivers/mail-sqlite.ts'
import { openIn } from '../../packages/mailbox/src/mail-opening.ts'
import { HoldfastError, type Mailbox, openMailbox } from '../../packages/mailbox/src/index.ts'
import type { LetterHandler, Transaction } from '../../packages/mailbox/src/index.ts'
import type { MailStore } from '../../packages/holdfast/src/ports.ts'
import { drained, failsWith, openMailboxes, queueOf, type Wish } from './open-mailboxes.ts'
import { until } from './until.ts'

const { add, close, freshFile, open } = openMailboxes('turns')

/** One whose next commits fail, as many as it is told. */
async function failing(options: Wish): Promise<{ box: Mailbox; fail: (times: number) => void }> {
  let left = 0
  const refuse = (store: MailStore): MailStore => {
    const commit = store.commit.bind(store)
    store.commit = (changes, done) => {
      if (changes.length === 0 || left === 0) return commit(changes, done)
      left--
      store.abandon()
      done(new HoldfastError('store', 'planted'))
    }
    return store
  }
  const box = await openIn(
    {
      loop: createNodeLoop(),
      connect: connectWebSocketNode,
      curves: curvesOnNode,
      report: () => {},
      open: (name) => Promise.resolve(refuse(openMailSqlite(name))),
      listen: listenStreams,
    },
    { store: freshFile(), ...options },
  )
  add(box)
  return { box, fail: (times) => (left = times) }
}

/** What a sender would hand over by hand: letters that nobody has acked. */
async function batchOf(to: string, ...bodies: unknown[]): Promise<Uint8Array> {
  const box = await openMailbox({ id: 'alice', store: null })
  for (const body of bodies) await box.to(to).post(body)
  const bytes = box.batch(to, 0)
  await box.close()
  return bytes
}

const pay = (tx: Transaction, _from: string, body: unknown): void => {
  tx.set('balance', ((tx.get('balance') as number) ?? 0) + (body as number))
  tx.sql('CREATE TABLE IF NOT EXISTS paid (amount INTEGER)')
  tx.sql('INSERT INTO paid VALUES (?)', body as number)
}

function paid(file: string): unknown {
  const database = new Database(file)
  const [row] = database.prepare('SELECT total(amount) AS total FROM paid').all() as unknown[]
  database.close()
  return row
}

describe('a turn that fails', () => {
  test('S3, S31: leaves no values and no SQL behind, and is done again (MB-2)', async () => {
    const store = freshFile()
    const { box, fail } = await failing({ id: 'bob', store })
    const trouble: string[] = []
    box.on('trouble', (error) => trouble.push(error.message))
    box.on('letter', pay)
    await box.take('eve', await batchOf('bob', 1))
    fail(2)
    const bytes = await batchOf('bob', 100)
    for (let i = 0; i < 2; i++) expect(await failsWith(box.take('alice', bytes))).toBe('planted')
    expect(box.get('balance')).toBe(1)
    await box.take('alice', bytes)
    expect(box.get('balance')).toBe(101)
    expect(trouble).toEqual(['planted', 'planted'])
    await box.close()
    expect(paid(store)).toEqual({ total: 101 })
  })

  test('S1, S10: at first contact loses nothing and waits for no other post (MB-4)', async () => {
    const { box: bob, fail } = await failing({ id: 'bob', listen: { port: 0 } })
    bob.on('letter', pay)
    await bob.transact((tx) => tx.set('balance', 0))
    fail(1)
    const alice = await open({ id: 'alice', peers: { bob: bob.url! } })
    await alice.to('bob').post(7)
    await drained(alice, 'bob')
    expect(bob.get('balance')).toBe(7)
  })

  test('tells who posted, and keeps nothing of the post', async () => {
    const { box, fail } = await failing({ id: 'bob' })
    expect(await box.to('alice').post(1)).toBe(1)
    fail(1)
    expect(await failsWith(box.to('alice').post(2))).toBe('planted')
    expect(await box.to('alice').post(3)).toBe(2)
  })
})

describe('SQL of a handler', () => {
  const ending = `INSERT OR ROLLBACK INTO once VALUES (1)`

  test('S31: that ends the transaction fails its letter alone, with the reason (MB-3)', async () => {
    const store = freshFile()
    const bob = await open({
      id: 'bob',
      store,
      listen: { port: 0 },
      triesMax: 3,
      onPoison: 'setAside',
    })
    const runs: unknown[] = []
    bob.on('letter', (tx, from, body) => {
      tx.sql('CREATE TABLE IF NOT EXISTS once (n INTEGER PRIMARY KEY)')
      runs.push(body)
      if (body === 'bad') {
        tx.sql('INSERT INTO once VALUES (1)')
        tx.sql(ending)
      } else pay(tx, from, body)
    })
    const dead: string[] = []
    bob.on('dead', ({ n, why }) => dead.push(`${n}: ${why}`))
    const alice = await open({ id: 'alice', peers: { bob: bob.url! } })
    const carol = await open({ id: 'carol', peers: { bob: bob.url! } })
    let breaks = 0
    for (const box of [alice, carol]) box.on('disconnected', () => breaks++)
    const posts = [1, 'bad', 2].map((body) => alice.to('bob').post(body))
    for (let i = 0; i < 10; i++) posts.push(carol.to('bob').post(1))
    await Promise.all(posts)
    await Promise.all([drained(alice, 'bob'), drained(carol, 'bob')])
    await until(() => queueOf(bob, 'carol').heard === 10)
    expect(dead).toEqual([expect.stringContaining('2: ')])
    expect(dead[0]).toContain('UNIQUE constraint failed: once.n')
    expect([runs.filter((body) => body === 'bad').length, breaks]).toEqual([3, 0])
    expect(bob.get('balance')).toBe(13)
    await close(bob)
    expect(paid(store)).toEqual({ total: 13 })
  })

  test('may catch the error, and still does not get away with it (MB-3)', async () => {
    const bob = await open({ id: 'bob', triesMax: 1, onPoison: 'setAside' })
    bob.on('letter', (tx, from) => {
      pay(tx, from, 100)
      tx.sql('CREATE TABLE once (n INTEGER PRIMARY KEY ON CONFLICT ROLLBACK)')
      tx.sql('INSERT INTO once VALUES (1)')
      try {
        tx.sql('INSERT INTO once VALUES (1)')
      } catch {
        // Swallowed.
      }
      for (let i = 0; i < 3; i++) {
        try {
          tx.sql('CREATE TABLE later (n)')
        } catch {
          // It runs in no transaction any more.
        }
      }
    })
    await bob.take('alice', await batchOf('bob', 'bad'))
    expect(bob.dead()).toHaveLength(1)
    expect(bob.get('balance')).toBe(undefined)
    const tables = await bob.transact((tx) =>
      tx.sql(`SELECT count(*) AS n FROM sqlite_schema
      WHERE name IN ('later', 'once', 'paid')`),
    )
    expect(tables).toEqual([{ n: 0 }])
  })

  test('of a transaction or a release that ends it costs nobody else anything (MB-3)', async () => {
    const bob = await open({ id: 'bob', triesMax: 1, onPoison: 'setAside' })
    bob.on('letter', (tx) => {
      tx.sql('CREATE TABLE IF NOT EXISTS once (n INTEGER PRIMARY KEY)')
      tx.sql('INSERT OR IGNORE INTO once VALUES (1)')
      tx.sql(ending)
    })
    await bob.take('alice', await batchOf('bob', 'bad'))
    const said = Promise.allSettled([
      bob.to('alice').post(1),
      bob.transact((tx) => {
        tx.sql('CREATE TABLE twice (n INTEGER PRIMARY KEY ON CONFLICT ROLLBACK)')
        for (let i = 0; i < 2; i++) tx.sql('INSERT INTO twice VALUES (1)')
      }),
      bob.release('alice', 1),
      bob.to('alice').post(2),
    ])
    const states = (await said).map(({ status }) => status)
    expect(states).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(bob.dead()).toHaveLength(1)
    expect(queueOf(bob, 'alice').waiting).toBe(2)
  })

  test.each([
    ['/* hidden */ COMMIT', 'COMMIT is not for a handler'],
    ['-- hidden\n ROLLBACK', 'ROLLBACK is not for a handler'],
    ['; ; END', 'END is not for a handler'],
    ['SAVEPOINT mine', 'SAVEPOINT is not for a handler'],
    ["SELECT ';'; COMMIT", 'after the first comes: COMMIT'],
    ['ATTACH ? AS other', 'it would outlive its turn'],
    ['SELECT * FROM "mail_heads"', 'mailbox’s own'],
  ])('S31: %s is refused by name', async (sql, why) => {
    const bob = await open({ id: 'bob' })
    expect(await failsWith(bob.transact((tx) => tx.sql(sql)))).toContain(why)
  })

  test('may be a trigger, and end in a semicolon and a comment', async () => {
    const bob = await open({ id: 'bob' })
    await bob.transact((tx) => {
      tx.sql('CREATE TABLE one (n); -- the first')
      tx.sql('CREATE TRIGGER more AFTER INSERT ON one BEGIN UPDATE one SET n = 2; END;')
      tx.sql("INSERT INTO one VALUES ('a;b')")
    })
    expect(await bob.transact((tx) => tx.sql('SELECT n FROM one'))).toEqual([{ n: 2 }])
  })
})

describe('a dead letter', () => {
  const dying = async (): Promise<{ bob: Mailbox; effects: unknown[]; mend: () => void }> => {
    const bob = await open({ id: 'bob', triesMax: 1, onPoison: 'setAside' })
    const effects: unknown[] = []
    let isMended = false
    bob.on('letter', (tx, _from, body) => {
      if (!isMended) throw new Error('not yet')
      effects.push(body)
      tx.set('effects', effects.length)
    })
    await bob.take('alice', await batchOf('bob', 'late'))
    return { bob, effects, mend: () => (isMended = true) }
  }

  test('that is released twice at once is handled once (MB-6)', async () => {
    const { bob, effects, mend } = await dying()
    mend()
    const both = await Promise.allSettled([bob.release('alice', 1), bob.release('alice', 1)])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect([effects, bob.dead()]).toEqual([['late'], []])
  })

  test('that is discarded and released at once is not handled (MB-6)', async () => {
    const { bob, effects, mend } = await dying()
    mend()
    const both = await Promise.allSettled([bob.discard('alice', 1), bob.release('alice', 1)])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(effects).toEqual([])
  })

  test('whose handler throws again stays, and may be released once more (MB-6)', async () => {
    const { bob, effects, mend } = await dying()
    expect(await failsWith(bob.release('alice', 1))).toBe('the handler threw again: not yet')
    mend()
    await bob.release('alice', 1)
    expect([effects, bob.dead()]).toEqual([['late'], []])
  })
})

describe('a listener that throws', () => {
  test('disturbs no letter, no other listener and no later event (MB-24)', async () => {
    const bob = await open({ id: 'bob', listen: { port: 0 }, triesMax: 2, onPoison: 'setAside' })
    const alice = await open({ id: 'alice', peers: { bob: bob.url! } })
    const errors: string[] = []
    const heard: string[] = []
    for (const box of [alice, bob]) box.on('error', ({ where }) => errors.push(where))
    for (const name of ['threw', 'dead', 'connected'] as const) {
      bob.on(name, () => {
        throw new Error('the listener')
      })
      bob.on(name, () => heard.push(name))
    }
    alice.on('acked', () => {
      throw new Error('the listener')
    })
    const trouble: Error[] = []
    bob.on('trouble', (error) => trouble.push(error))
    bob.on('letter', (_tx, _from, body) => {
      if (body === 'bad') throw new Error('no')
    })
    for (const body of ['one', 'bad', 'two']) await alice.to('bob').post(body)
    await drained(alice, 'bob')
    await until(() => errors.length >= 4)
    expect(trouble).toEqual([])
    expect(heard.filter((name) => name !== 'connected')).toEqual(['threw', 'threw', 'dead'])
    const where = (name: string): string => `a listener of "${name}"`
    expect(new Set(errors)).toEqual(new Set(['threw', 'dead', 'connected', 'acked'].map(where)))
  })
})

test('damaged letters for one peer disturb no other (MB-14)', async () => {
  const store = freshFile()
  const first = await openMailbox({ id: 'alice', store })
  await first.to('bob').post('for bob')
  await first.close()
  const database = new Database(store)
  database.exec('UPDATE mail_letters SET crc = crc + 1')
  database.close()
  const bob = await open({ id: 'bob', listen: { port: 0 } })
  const carol = await open({ id: 'carol', listen: { port: 0 } })
  carol.on('letter', () => {})
  const alice = await open({ id: 'alice', store })
  const faults: string[] = []
  const breaks: (string | null)[] = []
  alice.on('fault', ({ peer, why }) => faults.push(`${peer}: ${why}`))
  alice.on('disconnected', ({ peer }) => breaks.push(peer))
  alice.connect('bob', bob.url!)
  alice.connect('carol', carol.url!)
  for (let i = 0; i < 30; i++) await alice.to('carol').post(i)
  await drained(alice, 'carol')
  await until(() => faults.length > 0)
  expect(faults).toEqual([expect.stringContaining('bob: ')])
  expect(faults[0]).toContain('letters 1 to 1 for bob were damaged on the disk')
  expect(breaks).toEqual([])
})

test('a promise or a thenable of a handler is refused, post rejects and never throws (MB-25)', async () => {
  const bob = await open({ id: 'bob' })
  const stopped: string[] = []
  bob.on('stopped', ({ peer }) => stopped.push(peer))
  const thenable: object = Object.fromEntries([[['th', 'en'].join(''), () => {}]])
  bob.on('letter', ((_tx, _from, body) =>
    body === 1 ? Promise.resolve() : thenable) as LetterHandler)
  for (const [peer, body] of [
    ['alice', 1],
    ['carol', 2],
  ] as const) {
    const why = await failsWith(bob.take(peer, await batchOf('bob', body)))
    expect(why).toContain(
      `letter 1 of ${peer} waits: the handler of letters is async: it returned a promise`,
    )
  }
  expect([bob.dead(), stopped]).toEqual([[], ['alice', 'carol']])
  expect(await failsWith(bob.transact(() => Promise.resolve(1)))).toContain('gave a promise')
  expect(await failsWith(bob.to('x').post((() => 1) as never))).toContain('what JSON has')
})

describe('a process that dies in a handler', () => {
  const door = new URL('../../packages/holdfast/dist/mailbox/src/index.js', import.meta.url)
  beforeAll(() => {
    if (!existsSync(door)) throw new Error('run `npx tsc -b` first: child processes need dist/')
  })

  test('S31: is counted: its letter is set aside, and no letter before or behind it is lost', () => {
    const store = freshFile()
    const script = `
      const { openMailbox } = await import(${JSON.stringify(door.href)})
      const options = { id: 'bob', triesMax: 2, onPoison: 'setAside' }
      const bob = await openMailbox({ ...options, store: ${JSON.stringify(store)} })
      bob.on('letter', (tx, _from, body) => {
        if (body === 'deadly') process.kill(process.pid, 'SIGKILL')
        tx.set('done', [...(tx.get('done') ?? []), body])
      })
      const alice = await openMailbox({ id: 'alice', store: null })
      for (const body of ['one', 'deadly', 'two']) await alice.to('bob').post(body)
      await bob.take('alice', alice.batch('bob', 0))
      console.log(JSON.stringify([bob.get('done'), bob.dead().map(({ n, why }) => [n, why])]))
      await alice.close()
      await bob.close()`
    const lives: string[] = []
    while (lives.length < 10 && !lives.at(-1)?.startsWith('[')) {
      const words = ['--input-type=module', '-e', script]
      const { stdout, signal } = spawnSync(process.execPath, words, { encoding: 'utf8' })
      lives.push(stdout.trim() || String(signal))
    }
    const why = 'the process ended while it was handled: 2 times'
    const end = JSON.stringify([['one', 'two'], [[2, why]]])
    // The first death is not seen from within; then each is counted.
    expect(lives).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL', end])
  }, 30_000)
})
