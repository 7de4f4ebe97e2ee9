/**
 * Money that moves among mailboxes, so that a letter that is lost, doubled or out of order shows:
 * each keeps a book in SQL of its own, pays others and is paid by letters, and some payments are
 * paid on or back by the handler that takes them. `audit` compares the books of all.
 */

import type { Mailbox, Transaction } from '../../packages/mailbox/src/mail-opening.ts'

/** What each begins with. */
export const START = 1_000

/** The handler throws at every so manieth letter of a peer, after it has booked it, once. */
const STUMBLE = 97
/** Letters of one peer that are answered or paid on, at most, while so many wait. */
const WAITING_MAX = 50

const TABLES = [
  'CREATE TABLE IF NOT EXISTS book (id INTEGER PRIMARY KEY, money INTEGER NOT NULL)',
  `INSERT OR IGNORE INTO book VALUES (1, ${START})`,
  // Not unique: what comes twice is to be seen in the books.
  ...['sent', 'took'].flatMap((table) => [
    `CREATE TABLE IF NOT EXISTS ${table} (peer, n, money)`,
    `CREATE INDEX IF NOT EXISTS ${table}_in_order ON ${table} (peer, n)`,
  ]),
  'CREATE TABLE IF NOT EXISTS wrong (why)',
]

/** One letter. */
interface Payment {
  /** Which of its sender to its receiver, from 1. */
  n: number
  money: number
  /** How often it is paid on. */
  hops: number
}

/** What one mailbox has booked. */
export interface Books {
  id: string
  money: number
  /** By peer: the payments with their numbers, in order of these. */
  sent: Record<string, [n: number, money: number][]>
  took: Record<string, [n: number, money: number][]>
  /** By peer: letters that wait, and what the mailbox and its values say of the same letters. */
  queues: Record<string, { waiting: number; posted: number; heard: number; value: number }>
  faults: string[]
  wrong: string[]
}

/** The book of one mailbox. */
export class Bank {
  readonly #box: Mailbox
  readonly #peers: readonly string[]

  /** @param peers  all others */
  private constructor(box: Mailbox, peers: readonly string[]) {
    this.#box = box
    this.#peers = peers
  }

  /**
   * Opens its book, or goes on with it, and takes letters.
   *
   * @param took  hears of each letter that was handled, before it is durable
   */
  static async open(
    box: Mailbox,
    peers: readonly string[],
    took: (from: string) => void = () => {},
  ): Promise<Bank> {
    const bank = new Bank(box, peers)
    await box.transact((tx) => TABLES.forEach((one) => tx.sql(one)))
    box.on('letter', (tx, from, body, { n, attempt }) => {
      bank.#take(tx, from, body as unknown as Payment, n)
      if (n % STUMBLE === 0 && attempt === 1) throw new Error('it stumbles')
      took(from)
    })
    return bank
  }

  /** Pays another. @returns the number of the payment; null if there is no money */
  pay(to: string): Promise<number | null> {
    return this.#box.transact((tx) => pay(tx, to, 2))
  }

  waiting(peer: string): number {
    return this.#box.queues().find((queue) => queue.peer === peer)?.waiting ?? 0
  }

  #take(tx: Transaction, from: string, { n, money, hops }: Payment, number: number): void {
    const had = last(tx, 'took', from)
    if (n !== had + 1) tx.sql('INSERT INTO wrong VALUES (?)', `${n} of ${from} came after ${had}`)
    if (n !== number) tx.sql('INSERT INTO wrong VALUES (?)', `${n} of ${from} was letter ${number}`)
    tx.sql('INSERT INTO took VALUES (?, ?, ?)', from, n, money)
    tx.sql('UPDATE book SET money = money + ?', money)
    tx.set(`took ${from}`, n)
    const to = n % 2 === 0 ? from : this.#peers.find((peer) => peer !== from)!
    if (hops > 0 && n % 3 > 0 && this.waiting(to) < WAITING_MAX) pay(tx, to, hops - 1)
  }

  /** What it has by now. */
  books(): Promise<Books> {
    const { id } = this.#box
    return this.#box.transact((tx) => {
      const rows = (table: string, peer: string): [number, number][] =>
        tx
          .sql(`SELECT n, money FROM ${table} WHERE peer = ? ORDER BY rowid`, peer)
          .map(({ n, money }) => [Number(n), Number(money)])
      const by = <Of>(what: (peer: string) => Of): Record<string, Of> =>
        Object.fromEntries(this.#peers.map((peer) => [peer, what(peer)]))
      const all = this.#box.queues()
      return {
        id,
        money: moneyOf(tx),
        sent: by((peer) => rows('sent', peer)),
        took: by((peer) => rows('took', peer)),
        queues: by((peer) => {
          const queue = all.find((one) => one.peer === peer)
          const { waiting = 0, posted = 0, heard = 0 } = queue ?? {}
          return { waiting, posted, heard, value: Number(tx.get(`took ${peer}`) ?? 0) }
        }),
        faults: all.flatMap(({ fault }) => fault ?? []),
        wrong: [
          ...tx.sql('SELECT why FROM wrong').map(({ why }) => `${id}: ${String(why)}`),
          ...this.#box.dead().map(({ peer, n }) => `${id} set letter ${n} of ${peer} aside`),
        ],
      }
    })
  }
}

/** Richer ones pay more, so that nobody has nothing for long. */
function pay(tx: Transaction, to: string, hops: number): number | null {
  const has = moneyOf(tx)
  const money = Math.min(10, Math.ceil(has / 100))
  if (has === 0) return null
  const n = last(tx, 'sent', to) + 1
  tx.sql('UPDATE book SET money = money - ?', money)
  tx.sql('INSERT INTO sent VALUES (?, ?, ?)', to, n, money)
  tx.post(to, { n, money, hops })
  return n
}

const moneyOf = (tx: Transaction): number => Number(tx.sql('SELECT money FROM book')[0]!['money'])

const last = (tx: Transaction, table: string, peer: string): number =>
  Number(tx.sql(`SELECT max(n) AS n FROM ${table} WHERE peer = ?`, peer)[0]!['n'] ?? 0)

/** Whether no money is under way. */
export function isThrough(all: readonly Books[]): boolean {
  return all.every(({ id, sent, queues }) =>
    Object.entries(sent).every(([peer, payments]) => {
      const took = all.find((one) => one.id === peer)!.took[id]!
      return queues[peer]!.waiting === 0 && took.length >= payments.length
    }),
  )
}

/**
 * What is wrong with the books of all, a sentence each: the sum of the money, the order of the
 * payments, and whether rows, values and numbers of letters say the same.
 */
export function audit(all: readonly Books[]): string[] {
  const wrong = all.flatMap((one) => one.wrong)
  let sum = all.reduce((total, { money }) => total + money, 0)
  for (const { id, sent } of all) {
    for (const [peer, payments] of Object.entries(sent)) {
      const receiver = all.find((one) => one.id === peer)!
      const took = receiver.took[id]!
      sum += total(payments) - total(took)
      wrong.push(...auditPair(`${id} to ${peer}`, payments, took))
    }
  }
  for (const books of all) wrong.push(...auditNumbers(books))
  const expected = START * all.length
  if (sum !== expected) wrong.push(`${expected} were there, with what is under way it is ${sum}`)
  return wrong
}

function auditPair(
  pair: string,
  payments: readonly [number, number][],
  took: readonly [number, number][],
): string[] {
  const wrong: string[] = []
  if (took.length > payments.length)
    wrong.push(`${pair}: ${payments.length} were paid, ${took.length} took effect`)
  for (const [at, [n, money]] of payments.entries())
    if (n !== at + 1) wrong.push(`${pair}: payment ${at + 1} has number ${n}, of ${money}`)
  for (const [at, [n, money]] of took.entries()) {
    const paid = payments[at]?.[1]
    if (n !== at + 1) wrong.push(`${pair}: ${n} took effect as number ${at + 1}`)
    else if (money !== paid) wrong.push(`${pair}: ${n} was ${paid}, ${money} took effect`)
  }
  return wrong
}

function auditNumbers({ id, sent, took, queues }: Books): string[] {
  return Object.entries(queues).flatMap(([peer, { posted, heard, value }]) => {
    const [paid, had] = [sent[peer]!.length, took[peer]!.length]
    const wrong: string[] = []
    if (posted !== paid) wrong.push(`${id} booked ${paid} to ${peer}, its mailbox posted ${posted}`)
    if (heard !== had) wrong.push(`${id} booked ${had} of ${peer}, its mailbox took ${heard}`)
    if (value !== had) wrong.push(`${id} booked ${had} of ${peer}, its value says ${value}`)
    return wrong
  })
}

const total = (payments: readonly [number, number][]): number =>
  payments.reduce((sum, [, money]) => sum + money, 0)
