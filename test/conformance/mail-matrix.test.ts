// Goal: whatever becomes of one of three mailboxes among whom money moves, all of it is where the
// books say, or a fault says between whom it is not known; and the others go on meanwhile.
// Method: real mailboxes over loopback; disks that are full or fail, stores that are put back, cut
// and copied. Then the right store comes back, or an owner adopts and corrects the sum by what he
// is told. Kills and stops: `mail-kill.test.ts`. Cleared storage: `test/e2e/mailbox.test.ts`.
// Slow: stores are opened anew again and again, and two disks are in processes of their own.
import { type ChildProcess, fork } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Adopted, Mailbox, Range } from '../../packages/mailbox/src/index.ts'
import { bundle } from './bundle.ts'
import { MailLife } from './mail-lives.ts'
import { IDS, type Id } from './mail-life-messages.ts'
import { audit, Bank, type Books, isThrough, START } from './money.ts'
import { faultOf, openMailboxes } from './open-mailboxes.ts'
import { noPreload, preload } from './preload.ts'
import { noSmallDisk, PLACE, smallDisk } from './small-disk.ts'
import { turn, until } from './until.ts'

const { close, folder, freshFile, open } = openMailboxes('matrix')
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Three mailboxes that are connected with each other, each with its book. */
class Three {
  readonly stores: Record<Id, string> = { a: freshFile(), b: freshFile(), c: freshFile() }
  readonly #boxes = new Map<Id, Mailbox>()
  readonly #banks = new Map<Id, Bank>()
  /** Where each listens, from its first opening on. */
  readonly urls: Partial<Record<Id, string>> = {}

  static async open(stores: Partial<Record<Id, string>> = {}): Promise<Three> {
    const three = new Three()
    Object.assign(three.stores, stores)
    for (const id of ['b', 'c', 'a'] as const) await three.start(id)
    return three
  }

  box(id: Id): Mailbox {
    return this.#boxes.get(id)!
  }

  bank(id: Id): Bank {
    return this.#banks.get(id)!
  }

  /** Opens one, under the door that it had before, and connects it with who listens. */
  async start(id: Id, store: string = this.stores[id], peers = this.urls): Promise<Mailbox> {
    const port = Number(new URL(this.urls[id] ?? 'ws://x:0').port)
    const box = await open({ id, store, listen: { port } })
    this.#boxes.set(id, box)
    this.urls[id] = box.url!
    const others = IDS.filter((one) => one !== id)
    this.#banks.set(id, await Bank.open(box, others))
    // Each pair has one connection: a dials both others, c dials b.
    const dialled = { a: ['b', 'c'], b: [], c: ['b'] }[id] as Id[]
    for (const peer of dialled) if (peers[peer]) box.connect(peer, peers[peer])
    return box
  }

  stop(id: Id): Promise<void> {
    return close(this.box(id))
  }

  /** Each of these pays each other so many times. */
  async pay(count: number, ids: readonly Id[] = IDS): Promise<void> {
    for (let i = 0; i < count; i++) {
      await Promise.all(
        ids.flatMap((id) => ids.filter((to) => to !== id).map((to) => this.bank(id).pay(to))),
      )
    }
  }

  books(): Promise<Books[]> {
    return Promise.all(IDS.map((id) => this.bank(id).books()))
  }

  /** Waits until nothing is under way among these. */
  async settle(ids: readonly Id[] = IDS): Promise<void> {
    const waits = (id: Id): boolean =>
      this.box(id)
        .queues()
        .some(({ peer, waiting }) => ids.includes(peer as Id) && waiting > 0)
    await until(() => !ids.some(waits))
  }
}

const through = async (three: Three): Promise<string[]> => {
  await three.settle()
  const books = await three.books()
  expect(isThrough(books)).toBe(true)
  return audit(books)
}

/** What an owner who adopts b is told is missing in the sum, by his own book. */
function missing({ sent, took }: Books, { givenUp, strays }: Adopted): number {
  const sum = (rows: [number, number][], range: Range | null): number =>
    rows
      .filter(([n]) => range && n >= range.first && n <= range.last)
      .reduce((total, [, money]) => total + money, 0)
  // Paid, and not booked there any more; booked, and there never paid.
  return sum(sent['b']!, givenUp) - sum(took['b']!, strays)
}

const sumOf = (books: readonly Books[]): number =>
  books.reduce((total, { money }) => total + money, 0)

/** Adopts b at these. @returns what the sum lacks by what they are told */
async function adopt(three: Three, ids: readonly Id[]): Promise<number> {
  let sum = 0
  for (const id of ids) {
    const books = await three.bank(id).books()
    const told = await three.box(id).peer('b').adopt()
    expect([told.givenUp, told.strays]).not.toContain(null)
    sum += missing(books, told)
  }
  return sum
}

/** How the store of b becomes an older one. */
const OLDER: { what: string; early?: Copying; late?: Copying; repaired: boolean }[] = [
  { what: 'is restored from a backup', early: (b, to) => b.backup(to), repaired: false },
  { what: 'lost the end of its log', late: cut, repaired: true },
]
type Copying = (b: Mailbox, to: string, store: string) => void | Promise<void>

function cut(_b: Mailbox, to: string, store: string): void {
  copyFileSync(store, to)
  const log = readFileSync(`${store}-wal`)
  writeFileSync(`${to}-wal`, log.subarray(0, log.length * 0.6))
}

/** Money has moved, and b opens with less than it had. */
async function withOlder({ early, late }: (typeof OLDER)[number]): Promise<[Three, Mailbox]> {
  const three = await Three.open()
  const older = freshFile()
  await three.pay(10)
  await three.settle()
  await early?.(three.box('b'), older, three.stores.b)
  await three.pay(10)
  await three.settle()
  await late?.(three.box('b'), older, three.stores.b)
  await three.stop('b')
  const b = await three.start('b', older)
  for (const id of ['a', 'c'] as const) {
    expect(await faultOf(three.box(id), 'b')).toContain('that both have is')
    expect(await faultOf(b, id)).toContain('that both have is')
  }
  // Between the other two nothing has happened, and nothing moves where it is not known.
  await three.pay(1)
  await three.settle(['a', 'c'])
  for (const id of ['a', 'c'] as const) expect(three.bank(id).waiting('b')).toBeGreaterThan(0)
  return [three, b]
}

describe.each(OLDER)('S1, S8, S20: a store that $what', (row) => {
  test('while money moves: all is told, and when the right store is back all is right (MB-1, MB-12)', async () => {
    const [three, b] = await withOlder(row)
    expect(b.repaired !== null).toBe(row.repaired)
    await three.stop('b')
    await three.start('b')
    await three.pay(3)
    expect(await through(three)).toEqual([])
  })

  test('and is adopted: the sum is right but for what is named (MB-13)', async () => {
    const [three] = await withOlder(row)
    const lost = await adopt(three, ['a', 'c'])
    await three.pay(3)
    await three.settle()
    expect(sumOf(await three.books()) + lost).toBe(3 * START)
  })
})

test('S1: two copies of a store alive at once: what the second did is named, and the sum right but for that (MB-1)', async () => {
  const three = await Three.open()
  await three.pay(5)
  await three.settle()
  await three.stop('b')
  const copy = freshFile()
  copyFileSync(three.stores.b, copy)
  await three.start('b')
  await three.stop('c')
  // c meets the copy, under another door, and a what it is a copy of.
  const twin = await open({ id: 'b', store: copy, listen: { port: 0 } })
  const second = await Bank.open(twin, ['a', 'c'])
  await three.start('c', three.stores.c, { b: twin.url! })
  for (let i = 0; i < 5; i++) {
    const [b, c] = [three.bank('b'), three.bank('c')]
    await Promise.all([second.pay('c'), c.pay('b'), c.pay('a'), b.pay('a')])
  }
  await three.pay(5, ['a', 'b'])
  await until(() => second.waiting('c') === 0 && three.bank('c').waiting('b') === 0)
  await three.settle(['a', 'b'])
  await close(twin)
  await three.stop('c')
  await three.start('c')
  expect(await faultOf(three.box('c'), 'b')).toContain('that both have is')
  expect(await faultOf(three.box('b'), 'c')).toContain('that both have is')
  const lost = await adopt(three, ['c'])
  await three.pay(3)
  await three.settle()
  expect(sumOf(await three.books()) + lost).toBe(3 * START)
})

/** What goes wrong with the disk of b, whose process is another. */
interface Disk {
  what: string
  says: string
  /** Whether b goes on when it is over, or must be opened anew. */
  heals: boolean
  make: () => Promise<BadDisk>
}

interface BadDisk {
  folder: string
  fork(script: string): ChildProcess
  harm(): void
  heal(): void
}

async function fullDisk(): Promise<BadDisk> {
  // The journal is written back at 4 MB.
  const disk = await smallDisk('16m')
  ends.push(() => disk.close())
  return {
    folder: PLACE,
    fork: (script) => disk.fork(script),
    harm: () => disk.fill(),
    heal: () => disk.free(),
  }
}

function failingSync(): BadDisk {
  const place = join(folder, 'failing')
  mkdirSync(place)
  const fail = join(folder, 'fail')
  const shim = preload('fail-sync', folder)
  const env = { ...process.env, LD_PRELOAD: shim, FAIL: fail, WATCH: place }
  return {
    folder: place,
    fork: (script) => fork(script, [], { execArgv: [], env }),
    harm: () => writeFileSync(fail, ''),
    heal: () => rmSync(fail),
  }
}

const DISKS: (Disk & { lacks: string | null })[] = [
  {
    what: 'a full disk',
    says: 'the disk is full',
    heals: true,
    lacks: noSmallDisk(),
    make: fullDisk,
  },
  {
    what: 'a sync that failed, until it is opened anew,',
    says: 'the disk failed while it was written',
    heals: false,
    lacks: noPreload(),
    make: () => Promise.resolve(failingSync()),
  },
]

/** b in a process of its own, which the other two are connected with. */
async function processOfB(three: Three, disk: BadDisk, script: string): Promise<MailLife> {
  const life = new MailLife(disk.fork(script))
  ends.push(() => life.kill())
  await life.heard('loaded')
  const opened = life.heard('open')
  const port = Number(new URL(three.urls.b!).port)
  life.send({ begin: 'b', store: join(disk.folder, 'b.db'), port, hub: '' })
  await opened
  return life
}

async function refusal(b: MailLife): Promise<string> {
  const told = b.heard('refused')
  b.send({ pay: 1 })
  return (await told).refused
}

/** All have paid, and nothing is under way. */
async function booksWith(three: Three, b: MailLife): Promise<Books[]> {
  for (;;) {
    const told = b.heard('books')
    b.send({ ask: true })
    const [a, c] = [await three.bank('a').books(), await three.bank('c').books()]
    const all = [a, (await told).books, c]
    // What is set aside never comes.
    if (isThrough(all) || all.some(({ wrong }) => wrong.length > 0)) return all
    await turn()
  }
}

test.for(DISKS)(
  'S31: $what while money moves: who pays is told, all is right afterwards (MB-15, MB-18)',
  async ({ says, heals, lacks, make }, context) => {
    if (lacks !== null) context.skip(lacks) // needs mount namespaces and a C compiler
    const script = await bundle('test/conformance/mail-life.ts', join(folder, 'life'))
    const three = await Three.open()
    await three.stop('b')
    const disk = await make()
    let b = await processOfB(three, disk, script)
    const met = b.heard('took')
    b.send({ pay: 5 })
    await Promise.all([met, three.pay(3, ['a', 'c']), three.bank('a').pay('b')])
    disk.harm()
    expect(await refusal(b)).toContain(says)
    for (const id of ['a', 'c'] as const) await three.bank(id).pay('b')
    await three.pay(5, ['a', 'c'])
    await three.settle(['a', 'c'])
    disk.heal()
    if (!heals) {
      expect(await refusal(b)).toContain(says)
      await b.kill()
      b = await processOfB(three, disk, script)
    }
    b.send({ pay: 3 })
    expect(audit(await booksWith(three, b))).toEqual([])
  },
)
