/**
 * A mailbox that does one turn after the other, and writes down what its store has after each.
 * What others post comes by hand, so that a turn is what this says. Usage: node SCRIPT STORE LEDGER
 */

import { openSync, writeSync } from 'node:fs'
import { openIn } from '../../packages/mailbox/src/mail-opening.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { createMailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import { openMailSqlite } from '../../packages/mailbox/src/drivers/mail-sqlite.ts'
import type { Mailbox } from '../../packages/mailbox/src/index.ts'
import type { MailStore } from '../../packages/holdfast/src/ports.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { Bank } from './money.ts'
import { bankOf } from './money-rows.ts'

const [file, ledger] = process.argv.slice(2) as [string, string]
const lines = openSync(ledger, 'a')

function open(id: string, store: MailStore): Promise<Mailbox> {
  const place = {
    loop: createNodeLoop(),
    connect: () => null!,
    curves: () => toyCurves,
    report: () => {},
    date: Date.now,
    open: () => Promise.resolve(store),
    listen: null,
  }
  return openIn(place, { id, store: id })
}

const store = openMailSqlite(file)
const b = await open('b', store)
const bank = await Bank.open(b, ['a', 'c'])
const a = await open('a', createMailMemory())
const c = await open('c', createMailMemory())
for (const box of [a, c]) box.on('letter', () => {})

/** What the others posted so far, each by its number. */
const posted: Record<string, number> = { a: 0, c: 0 }

async function post(from: Mailbox, count: number, hops: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const n = ++posted[from.id]!
    await from.to('b').post({ n, money: n, hops })
  }
}

const take = (from: Mailbox): Promise<void> => b.take(from.id, from.batch('b', b.query(from.id)))

async function bring(from: Mailbox, count: number, hops: number): Promise<void> {
  await post(from, count, hops)
  await take(from)
}

/** Several in one turn: what comes in one tick is one. */
async function together(): Promise<void> {
  await post(a, 2, 1)
  await Promise.all([take(a), bank.pay('c'), bank.pay('a')])
}

/** One of the others takes what b posted, and its ack comes back beside a letter. */
async function answer(by: Mailbox): Promise<void> {
  await by.take('b', b.batch(by.id, by.query('b')))
  await bring(by, 1, 0)
}

const TURNS: (() => Promise<unknown>)[] = [
  () => bank.pay('a'),
  () => bring(a, 1, 0),
  () => bring(c, 3, 2),
  () => answer(a),
  () => b.to('c').post('.'.repeat(30_000)),
  together,
  () => answer(c),
  () => b.transact((tx) => tx.set('a value', '.'.repeat(100))),
  () => bank.pay('c'),
]

const note = (): void => void writeSync(lines, `${bankOf(store)}\n`)
note()
for (const turn of TURNS) {
  await turn()
  note()
}
// Which writes the journal back.
await b.close()
process.exit()
