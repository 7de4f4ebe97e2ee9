// Goal: a store that was put back, cut, copied or begun anew is told on both sides, and no letter
// goes in silence; the owner can bring the right store back, adopt, or forget.
// Method: real mailboxes whose files are copied and put back between their lives.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import Database from 'libsql'
import { describe, expect, test } from 'vitest'
import { openMailSqlite } from '../../packages/mailbox/src/drivers/mail-sqlite.ts'
import { checksum, pack } from '../../packages/mailbox/src/drivers/mail-runs.ts'
import type { Mailbox, MailboxOptions } from '../../packages/mailbox/src/index.ts'
import { drained, faultOf, openMailboxes, queueOf } from './open-mailboxes.ts'
import { until } from './until.ts'

const { close, freshFile, open } = openMailboxes('histories')

/** A mailbox that counts what it takes, under a door that stays. */
async function counting(
  options: Partial<MailboxOptions> = {},
): Promise<{ bob: Mailbox; took: unknown[]; url: string }> {
  const bob = await open({ id: 'bob', listen: { port: 0 }, ...options })
  const took: unknown[] = []
  bob.on('letter', (_tx, _from, body) => took.push(body))
  return { bob, took, url: bob.url! }
}

async function post(box: Mailbox, count: number, body: unknown = 'the same'): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => box.to('bob').post(body)))
}

describe('a sender whose store went back', () => {
  test('S1, S8: and that posts before it connects is told on both sides (MB-1)', async () => {
    const { bob, took, url } = await counting()
    const [store, backup] = [freshFile(), freshFile()]
    let alice = await open({ id: 'alice', store, peers: { bob: url } })
    await post(alice, 5)
    await drained(alice, 'bob')
    await close(alice)
    copyFileSync(store, backup)
    alice = await open({ id: 'alice', store, peers: { bob: url } })
    await post(alice, 20)
    await drained(alice, 'bob')
    await close(alice)
    copyFileSync(backup, store)
    alice = await open({ id: 'alice', store })
    await post(alice, 25, 'new')
    const faults: string[] = []
    bob.on('fault', ({ why }) => faults.push(why))
    alice.connect('bob', url)
    expect(await faultOf(alice, 'bob')).toContain('bob has another letter 25 than this mailbox')
    expect(await faultOf(alice, 'bob')).toContain('the last letter to bob that both have is 5')
    await until(() => faults.length > 0)
    expect(faults[0]).toMatch(/the last letter (to|from) (bob|alice) that both have is 5/)
    expect([took.length, queueOf(alice, 'bob').waiting]).toEqual([25, 25])
  })

  test('S1, S8: because its journal was cut is told (MB-1)', async () => {
    const { took, url } = await counting()
    const store = freshFile()
    const alice = await open({ id: 'alice', store, peers: { bob: url } })
    for (let i = 0; i < 30; i++) await alice.to('bob').post('the same')
    await drained(alice, 'bob')
    const cut = freshFile()
    copyFileSync(store, cut)
    const journal = readFileSync(`${store}-wal`)
    writeFileSync(`${cut}-wal`, journal.subarray(0, journal.length / 2))
    await close(alice)
    const again = await open({ id: 'alice', store: cut })
    expect(again.repaired).toContain('cut short')
    await post(again, 30)
    again.connect('bob', url)
    expect(await faultOf(again, 'bob')).toContain('that both have is')
    expect(took.length).toBe(30)
  })

  test('S1: lives twice: no letter is acked that took no effect (MB-1)', async () => {
    const { took, url } = await counting()
    const [store, twin] = [freshFile(), freshFile()]
    const first = await open({ id: 'alice', store, peers: { bob: url } })
    await post(first, 5)
    await drained(first, 'bob')
    await close(first)
    copyFileSync(store, twin)
    const both = [store, twin].map((name) => open({ id: 'alice', store: name }))
    const boxes = await Promise.all(both)
    for (const [at, box] of boxes.entries()) {
      await post(box, 20, at)
      box.connect('bob', url)
      await until(() => queueOf(box, 'bob').waiting === 0 || queueOf(box, 'bob').fault !== null)
    }
    const [one, other] = boxes.map((box) => queueOf(box, 'bob'))
    expect([one!.waiting, other!.waiting]).toEqual([0, 20])
    expect(other!.fault).toContain('that both have is 5')
    expect(took.filter((body) => body === 0)).toHaveLength(20)
    expect(took.filter((body) => body === 1)).toHaveLength(0)
  })
})

/** Bob had ten letters of alice, and has five again. */
async function setBack(policy: MailboxOptions['policy'] = 'hello'): Promise<{
  alice: Mailbox
  open: (which: 'old' | 'new') => Promise<{ bob: Mailbox; took: unknown[] }>
}> {
  const [old, store] = [freshFile(), freshFile()]
  const { bob, url } = await counting({ store, policy })
  const port = Number(new URL(url).port)
  const alice = await open({ id: 'alice', peers: { bob: url }, policy })
  for (let i = 1; i <= 5; i++) await alice.to('bob').post(i)
  await until(() => queueOf(bob, 'alice').heard === 5)
  await close(bob)
  copyFileSync(store, old)
  const second = await counting({ store, policy, listen: { port } })
  for (let i = 6; i <= 10; i++) await alice.to('bob').post(i)
  await drained(alice, 'bob')
  await close(second.bob)
  const files = { old, new: store }
  return {
    alice,
    open: (which) => counting({ store: files[which], policy, listen: { port } }),
  }
}

describe('a receiver whose store went back', () => {
  test.each(['hello', 'preemptive'] as const)('S20: is told under %s (MB-11)', async (policy) => {
    const { alice, open: bring } = await setBack(policy)
    const { bob, took } = await bring('old')
    await alice.to('bob').post(11)
    expect(await faultOf(alice, 'bob')).toMatch(
      /acked letter 10 of this mailbox once and now has 5/,
    )
    expect(await faultOf(bob, 'alice')).not.toBe('')
    expect([took, queueOf(alice, 'bob').waiting]).toEqual([[], 1])
  })

  test('ends its fault by bringing the right store back (MB-12)', async () => {
    const { alice, open: bring } = await setBack()
    const { bob } = await bring('old')
    await alice.to('bob').post(11)
    await faultOf(alice, 'bob')
    await faultOf(bob, 'alice')
    await close(bob)
    const { took } = await bring('new')
    await drained(alice, 'bob')
    expect([took, queueOf(alice, 'bob').fault]).toEqual([[11], null])
  })

  test('is adopted: what waits goes again, what it lost is named (MB-13)', async () => {
    const { alice, open: bring } = await setBack()
    const { bob, took } = await bring('old')
    for (const body of [11, 12]) await alice.to('bob').post(body)
    await faultOf(alice, 'bob')
    expect(await alice.peer('bob').adopt()).toEqual({
      resent: { first: 11, last: 12 },
      givenUp: { first: 6, last: 10 },
      strays: null,
      missed: null,
    })
    await drained(alice, 'bob')
    await until(() => queueOf(bob, 'alice').fault === null)
    expect(took).toEqual([11, 12])
    expect(queueOf(bob, 'alice').heard).toBe(7)
  })

  test('adopts by itself: what took effect in its lost life is named (MB-13)', async () => {
    const { alice, open: bring } = await setBack()
    const { bob, took } = await bring('old')
    await alice.to('bob').post(11)
    await faultOf(bob, 'alice')
    expect(await bob.peer('alice').adopt()).toEqual({
      resent: null,
      givenUp: null,
      strays: null,
      missed: { first: 6, last: 10 },
    })
    await drained(alice, 'bob')
    expect([took, queueOf(alice, 'bob').fault]).toEqual([[11], null])
  })
})

test('a store that was begun anew under an old id can be adopted or forgotten (MB-13)', async () => {
  const { bob, took, url } = await counting()
  const first = await open({ id: 'alice', peers: { bob: url } })
  await post(first, 5, 'first life')
  await drained(first, 'bob')
  await close(first)
  const second = await open({ id: 'alice', peers: { bob: url } })
  await post(second, 2, 'second life')
  expect(await refusalOf(second)).toContain('bob knows alice by another key than this')
  await bob.peer('alice').trust(second.key)
  const why = await faultOf(second, 'bob')
  expect(why).toContain('bob has letter 5 of this mailbox, which posted 2 to it')
  expect(why).toContain('the last letter to bob that both have is 0')
  expect(await bob.peer('alice').forget()).toEqual({ dropped: 0 })
  await drained(second, 'bob')
  expect(took.slice(5)).toEqual(['second life', 'second life'])
  await close(second)
  const third = await open({ id: 'alice', peers: { bob: url } })
  await post(third, 1, 'third life')
  await refusalOf(third)
  await bob.peer('alice').trust(third.key)
  await faultOf(third, 'bob')
  expect((await third.peer('bob').adopt()).resent).toEqual({ first: 1, last: 1 })
  await drained(third, 'bob')
  expect(took.at(-1)).toBe('third life')
})

test('adopt says what it needs (MB-13)', async () => {
  const alice = await open({ id: 'alice' })
  await expect(alice.peer('bob').adopt()).rejects.toThrow('bob is not connected')
})

test('a side with a fault takes no letters, and the other is told (MB-17)', async () => {
  const { bob, url } = await counting()
  const store = freshFile()
  const alice = await open({ id: 'alice', store, peers: { bob: url } })
  alice.on('letter', () => {})
  await post(alice, 3)
  await drained(alice, 'bob')
  await close(alice)
  rmSync(store)
  const again = await open({ id: 'alice', store, peers: { bob: url } })
  const took: unknown[] = []
  again.on('letter', (_tx, _from, body) => took.push(body))
  await refusalOf(again)
  await bob.peer('alice').trust(again.key)
  await faultOf(again, 'bob')
  await bob.to('alice').post('for alice')
  expect(await faultOf(bob, 'alice')).toContain('this mailbox has letter 3 of alice')
  expect([took, queueOf(bob, 'alice').waiting]).toEqual([[], 1])
})

/** Why the other side let it in no more. */
function refusalOf(box: Mailbox): Promise<string> {
  return new Promise((done) => {
    box.on('disconnected', ({ why }) => why.includes('another key') && done(why))
  })
}

test('a greeting without letters binds an id to no store, and to no key (MB-20)', async () => {
  const { bob, took, url } = await counting()
  const stranger = await open({ id: 'alice', peers: { bob: url } })
  await new Promise<void>((done) => stranger.on('connected', () => done()))
  await close(stranger)
  expect(bob.peer('alice').key).toBe(null)
  const alice = await open({ id: 'alice', peers: { bob: url } })
  await post(alice, 1)
  await drained(alice, 'bob')
  expect([took, bob.peer('alice').key]).toEqual([['the same'], alice.key])
  // From then on no other key is let in, in the middle of letters too.
  const other = await open({ id: 'alice', peers: { bob: url } })
  const told = new Promise<string>((done) => {
    bob.on('disconnected', ({ why }) => why.includes('another key') && done(why))
  })
  await refusalOf(other)
  expect(await told).toBe(
    `alice is known here by another key than the one that it comes with, ${other.key}: if that ` +
      `is its own, as its owner can say, call box.peer("alice").trust("${other.key}"), ` +
      'or holdfast mailbox trust',
  )
  await post(alice, 1)
  await drained(alice, 'bob')
  expect(took).toHaveLength(2)
})

describe('a store of 0.1', () => {
  const older = (file: string, heads: string, letters: string[]): void => {
    const database = new Database(file)
    database.exec(`PRAGMA application_id = ${0x484f4c4d};
      PRAGMA user_version = 1;
      CREATE TABLE mail_heads (peer TEXT PRIMARY KEY, posted INTEGER NOT NULL,
        acked INTEGER NOT NULL, bytes INTEGER NOT NULL, heard INTEGER NOT NULL,
        tries INTEGER NOT NULL) WITHOUT ROWID, STRICT;
      CREATE TABLE mail_letters (peer TEXT NOT NULL, last INTEGER NOT NULL,
        first INTEGER NOT NULL, bytes INTEGER NOT NULL, crc INTEGER NOT NULL, run BLOB NOT NULL,
        PRIMARY KEY (peer, last)) WITHOUT ROWID, STRICT;
      CREATE TABLE mail_dead (peer TEXT NOT NULL, n INTEGER NOT NULL, body BLOB NOT NULL,
        why TEXT NOT NULL, PRIMARY KEY (peer, n)) STRICT;
      CREATE TABLE mail_values (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID, STRICT;
      INSERT INTO mail_heads VALUES ${heads}`)
    for (const [at, text] of letters.entries()) {
      const body = new TextEncoder().encode(`\x01"${text}"`)
      const n = 4 + at
      const run = { first: n, last: n, bytes: body.length + 11, bodies: [body] }
      const packed = pack({
        ...run,
        life: new Uint8Array(8),
        before: new Uint8Array(16),
        digest: body,
      })
      const hex = Buffer.from(packed).toString('hex')
      database.exec(`INSERT INTO mail_letters VALUES
        ('bob', ${n}, ${n}, ${run.bytes}, ${checksum(packed)}, x'${hex}')`)
    }
    database.close()
  }

  test('is brought up to date, and its letters go on where they were (MB-1)', async () => {
    const [from, to] = [freshFile(), freshFile()]
    older(from, `('bob', 5, 3, 36, 0, 0)`, ['four', 'five'])
    older(to, `('alice', 0, 0, 0, 3, 0)`, [])
    const { took, url } = await counting({ store: to })
    const alice = await open({ id: 'alice', store: from, peers: { bob: url } })
    await alice.to('bob').post('six')
    await drained(alice, 'bob')
    expect(took).toEqual(['four', 'five', 'six'])
  })

  test('keeps its values, and nothing of what 0.1 kept beside them (MB-1)', async () => {
    const file = freshFile()
    older(file, `('bob', 5, 5, 0, 0, 0)`, [])
    const database = new Database(file)
    const put = database.prepare('INSERT INTO mail_values VALUES (?, ?)')
    for (const key of ['\0book', '\0book of bob', 'hats']) put.run(key, Buffer.from('\x013'))
    database.close()
    const alice = await open({ id: 'alice', store: file })
    expect(await alice.transact((tx) => [tx.keys(), tx.get('hats')])).toEqual([['hats'], 3])
  })

  test('that was put back after that is told like any other (MB-1)', async () => {
    const from = freshFile()
    older(from, `('bob', 5, 3, 36, 0, 0)`, ['four', 'five'])
    const old = freshFile()
    copyFileSync(from, old)
    const to = freshFile()
    older(to, `('alice', 0, 0, 0, 3, 0)`, [])
    const { bob, url } = await counting({ store: to })
    const alice = await open({ id: 'alice', store: from, peers: { bob: url } })
    await post(alice, 1)
    await drained(alice, 'bob')
    await close(alice)
    const again = await open({ id: 'alice', store: old })
    await post(again, 1)
    again.connect('bob', url)
    // The copy is from before there were keys.
    await refusalOf(again)
    await bob.peer('alice').trust(again.key)
    expect(await faultOf(again, 'bob')).toContain('bob has another letter 6')
  })
})

test('a flipped bit in what is known of a peer is named when the store is opened (MB-27)', () => {
  for (const column of ['posted', 'acked', 'heard', 'bytes', 'tries']) {
    const file = freshFile()
    const store = openMailSqlite(file)
    store.commit([{ kind: 'tried', peer: 'bob', n: 1 }], () => {})
    store.close()
    const database = new Database(file)
    database.exec(`UPDATE mail_heads SET ${column} = ${column} + 1`)
    database.close()
    expect(() => openMailSqlite(file)).toThrow('what is known of bob was damaged on the disk')
  }
})
