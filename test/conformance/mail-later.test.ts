// Goal: what is to happen at a time happens then and once, over restarts; and the owner can read
// what waits for a peer and send it elsewhere.
// Method: real mailboxes; a wall clock that the test moves.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { openIn } from '../../packages/mailbox/src/mail-opening.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { createMailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import { openMailSqlite } from '../../packages/mailbox/src/drivers/mail-sqlite.ts'
import type { Mailbox, MailboxOptions } from '../../packages/mailbox/src/index.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-later-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const opened = new Set<Mailbox>()
afterEach(async () => {
  for (const box of opened) await box.close()
  opened.clear()
})
let files = 0
const freshFile = (): string => join(folder, `${++files}.db`)
const clock = { date: 1_700_000_000_000 }

async function open(
  options: Partial<MailboxOptions> & { id: string },
  store: string | null = null,
): Promise<Mailbox> {
  const place = {
    loop: createNodeLoop(),
    connect: () => null!,
    curves: () => toyCurves,
    report: () => {},
    date: () => clock.date,
    open: (name: string) => Promise.resolve(name ? openMailSqlite(name) : createMailMemory()),
    listen: null,
  }
  const box = await openIn(place, { ...options, store })
  opened.add(box)
  return box
}

const waiting = (box: Mailbox): unknown[] =>
  box.queues().flatMap(({ peer }) =>
    box
      .peer(peer)
      .outbox()
      .map(({ body }) => [peer, body]),
  )

/** A turn, in which what is due is posted. */
async function turn(box: Mailbox): Promise<void> {
  await box.transact(() => {})
}

for (const kind of ['memory', 'a file'] as const) {
  test(`letters with a delay are posted in order of their times, ${kind} (MB-28)`, async () => {
    const box = await open({ id: 'alice' }, kind === 'memory' ? null : freshFile())
    const posts = [
      box.to('bob').post('in 2 s', { delay: 2_000 }),
      box.to('bob').post('in 1 s', { delay: 1_000 }),
      box.to('bob').post('now'),
      box.to('bob').post('in 1 s, too', { delay: 1_000 }),
    ]
    expect(await Promise.all(posts)).toEqual([0, 0, 1, 0])
    clock.date += 999
    await turn(box)
    expect(waiting(box)).toEqual([['bob', 'now']])
    clock.date += 1
    await turn(box)
    expect(waiting(box).slice(1)).toEqual([
      ['bob', 'in 1 s'],
      ['bob', 'in 1 s, too'],
    ])
    clock.date += 3_600_000
    await turn(box)
    await turn(box)
    expect(waiting(box)).toHaveLength(4)
    expect(box.metrics()).toContain('holdfast_mailbox_later{box="alice"} 0\n')
  })
}

test('a letter with a delay outlives a restart, and goes without being asked for (MB-28)', async () => {
  const store = freshFile()
  const box = await open({ id: 'alice' }, store)
  await box.to('bob').post('tomorrow', { delay: 86_400_000, key: 'reminder' })
  expect(await box.to('bob').post('tomorrow', { delay: 5, key: 'reminder' })).toBe(0)
  await box.close()
  clock.date += 86_400_000
  const again = await open({ id: 'alice' }, store)
  const bob = await open({ id: 'bob' })
  const came = new Promise((resolve) => bob.on('letter', (_tx, _from, body) => resolve(body)))
  // Posted in the first turn, which nothing but the letter asks for.
  while (again.queues().length === 0) await new Promise((soon) => setImmediate(soon))
  await bob.take('alice', again.batch('bob', 0))
  expect(await came).toBe('tomorrow')
})

test('a handler posts for later; what it threw away is not posted (MB-28)', async () => {
  const [alice, bob] = [await open({ id: 'alice' }), await open({ id: 'bob' })]
  bob.on('letter', (tx, from, body, { attempt }) => {
    tx.post(from, `${String(body)}, again`, { delay: 1_000, ttl: 5_000 })
    if (attempt < 2) throw new Error('not yet')
  })
  bob.on('threw', () => {})
  await alice.to('bob').post('call me')
  await bob.take('alice', alice.batch('bob', 0)).catch(() => {})
  expect(bob.metrics()).toContain('holdfast_mailbox_later{box="bob"} 0\n')
  while (bob.query('alice') === 0) await new Promise((soon) => setImmediate(soon))
  expect(bob.metrics()).toContain('holdfast_mailbox_later{box="bob"} 1\n')
  clock.date += 1_000
  await turn(bob)
  expect(waiting(bob)).toEqual([['alice', 'call me, again']])
  const errors = [0, 1.5, -1, 'soon' as never, Infinity].map((delay) =>
    alice.to('bob').post(1, { delay }).catch(String),
  )
  for (const error of await Promise.all(errors)) expect(error).toContain('delay is a whole number')
})

test('a letter whose time has come waits on while its outbox is full (MB-28)', async () => {
  const box = await open({ id: 'alice', lettersMax: 1 })
  await box.to('bob').post('first')
  await box.to('bob').post('later', { delay: 1_000 })
  clock.date += 1_000
  await turn(box)
  expect(waiting(box)).toEqual([['bob', 'first']])
  const bob = await open({ id: 'bob' })
  bob.on('letter', () => {})
  await bob.take('alice', box.batch('bob', 0))
  await box.take('bob', bob.batch('alice', 0))
  clock.date += 1_000
  await turn(box)
  expect(waiting(box)).toEqual([['bob', 'later']])
})

test('what was set aside is kept for as long as deadMs says, over a restart (MB-22)', async () => {
  const [store, alice] = [freshFile(), await open({ id: 'alice' })]
  const options = { id: 'bob', triesMax: 1, onPoison: 'setAside' as const, deadMs: 60_000 }
  const bob = await open(options, store)
  bob.on('letter', () => {
    throw new Error('no')
  })
  await alice.to('bob').post('a')
  await alice.to('bob').post('b')
  await bob.take('alice', alice.batch('bob', 0))
  await bob.discard('alice', 2)
  await bob.close()
  clock.date += 59_999
  const again = await open(options, store)
  const dropped: unknown[] = []
  again.on('dropped', (event) => dropped.push(event))
  await turn(again)
  expect([again.dead().map(({ n }) => n), dropped]).toEqual([[1], []])
  clock.date += 1
  await turn(again)
  expect([again.dead(), dropped]).toEqual([[], [{ peer: 'alice', n: 1 }]])
})

test('the outbox of a peer can be read page by page, and sent to another (MB-13)', async () => {
  const box = await open({ id: 'alice' }, freshFile())
  const at = clock.date
  for (let n = 1; n <= 250; n++) void box.to('bob').post({ n })
  await box.to('bob').post('for later', { delay: 1_000 })
  const page = box.peer('bob').outbox({ after: 100, most: 50 })
  expect(page.map(({ n }) => n)).toEqual(Array.from({ length: 50 }, (_none, i) => 101 + i))
  expect(page[0]).toEqual({ n: 101, at, trace: null, type: null, body: { n: 101 } })
  expect(await box.peer('bob').redirect('carol')).toEqual({ moved: 251 })
  clock.date += 1_000
  await turn(box)
  expect(box.queues().map(({ peer, waiting: left }) => [peer, left])).toEqual([['carol', 251]])
  expect(box.peer('carol').outbox({ after: 250 })[0]!.body).toBe('for later')
  await expect(box.peer('carol').redirect('carol')).rejects.toThrow('go there already')
  expect(await box.peer('carol').forget()).toEqual({ dropped: 251 })
})

test('letters that do not fit elsewhere stay where they are (MB-13)', async () => {
  const box = await open({ id: 'alice', lettersMax: 2 })
  for (const to of ['bob', 'bob', 'carol']) await box.to(to).post(1)
  await expect(box.peer('bob').redirect('carol')).rejects.toMatchObject({ code: 'outbox-full' })
  expect(box.queues().map(({ peer, waiting: left }) => [peer, left])).toEqual([
    ['bob', 2],
    ['carol', 1],
  ])
})
