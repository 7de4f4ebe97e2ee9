/**
 * Ways to make deliveries durable. A delivery reads and moves the number of a sender, writes one
 * of a hundred values of 128 bytes, posts two letters of 128 bytes, and takes out two that were
 * acked.
 */

import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { RunningMailbox } from '../../packages/mailbox/src/mailbox.ts'
import { nodeCurves } from '../../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { openMailSqlite } from '../../packages/mailbox/src/drivers/mail-sqlite.ts'
import { mailLayout, plainBatch } from '../../packages/mailbox/src/machine/messages.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'

/** Bytes of a letter and of a value. */
export const BYTES = 128
/** Letters that wait to be acked. */
const BEHIND = 20
const KEYS = 100

/** Something that is measured. */
export interface Contender {
  name: string
  /** How it makes sure that the disk has it. */
  sync: string
  /** Makes so many deliveries durable. @returns how many */
  run(): Promise<number>
  close(): Promise<void> | void
}

/** The floor: bytes at the end of a file. */
export function append(folder: string): Contender {
  const file = openSync(join(folder, 'append'), 'a')
  const bytes = Buffer.alloc(BYTES, 97)
  return {
    name: 'append 128 B',
    sync: 'fdatasync each',
    run: () => {
      writeSync(file, bytes)
      fdatasyncSync(file)
      return Promise.resolve(1)
    },
    close: () => closeSync(file),
  }
}

/** The floor of a log whose file is there already: the same bytes, one after the other. */
export function overwrite(folder: string): Contender {
  const file = openSync(join(folder, 'preallocated'), 'w+')
  const size = 64 * 1024 * 1024
  const bytes = Buffer.alloc(BYTES, 97)
  const block = Buffer.alloc(1024 * 1024)
  for (let at = 0; at < size; at += block.length) writeSync(file, block, 0, block.length, at)
  fdatasyncSync(file)
  let at = 0
  return {
    name: 'preallocated 128 B',
    sync: 'fdatasync each',
    run: () => {
      writeSync(file, bytes, 0, BYTES, at)
      at = (at + BYTES) % size
      fdatasyncSync(file)
      return Promise.resolve(1)
    },
    close: () => closeSync(file),
  }
}

/** Our mailbox, which is given so many letters at once. */
export function ours(folder: string, at: number): Contender {
  const store = openMailSqlite(join(folder, `ours-${at}.db`))
  const seed = new Uint8Array(32)
  const key = nodeCurves.signer(seed) as Uint8Array
  const identity = { keys: [{ seed, key }], letter: null, curves: nodeCurves }
  const place = { loop: createNodeLoop(), connect: () => null!, store, identity }
  const box = new RunningMailbox(place, { id: 'bench' })
  const value = new Uint8Array(BYTES - 1).fill(97)
  let count = 0
  box.on('letter', (tx) => {
    count++
    const key = `k${count % KEYS}`
    tx.get(key)
    tx.set(key, value)
    tx.post('peer', value)
    tx.post('peer', value)
  })
  const body = new Uint8Array(BYTES).fill(97)
  body[0] = 0
  let n = 0
  return {
    name: at === 1 ? 'Holdfast, one at a time' : `Holdfast, ${at.toLocaleString('en')} at once`,
    sync: 'WAL, synchronous FULL',
    run: async () => {
      const takes: Promise<void>[] = []
      const ack = Math.max(0, 2 * n - BEHIND)
      for (let left = at; left > 0; left -= 400) {
        const letters = Array.from({ length: Math.min(left, 400) }, () => ({ n: ++n, body }))
        takes.push(box.take('peer', encode(mailLayout, plainBatch(letters, ack))))
      }
      await Promise.all(takes)
      return at
    },
    close: () => box.close(),
  }
}

/** The same written by hand for SQLite, so many in one transaction. */
export function sqlite(folder: string, at: number): Contender {
  const database = new Database(join(folder, `sqlite-${at}.db`))
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE st (peer TEXT PRIMARY KEY, hi INT) WITHOUT ROWID;
    CREATE TABLE outbox (peer TEXT, seq INT, body BLOB, PRIMARY KEY (peer, seq)) WITHOUT ROWID;
    CREATE TABLE kv (k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID;
    INSERT INTO st VALUES ('peer', 0)`)
  const get = database.prepare<unknown[]>('SELECT hi FROM st WHERE peer = ?')
  const move = database.prepare<unknown[]>('UPDATE st SET hi = ? WHERE peer = ?')
  const add = database.prepare<unknown[]>('INSERT INTO outbox VALUES (?, ?, ?)')
  const trim = database.prepare<unknown[]>('DELETE FROM outbox WHERE peer = ? AND seq <= ?')
  const put = database.prepare<unknown[]>('INSERT OR REPLACE INTO kv VALUES (?, ?)')
  const body = Buffer.alloc(BYTES, 97)
  let seq = 0
  const deliver = (): void => {
    const { hi } = get.get('peer') as { hi: number }
    move.run(hi + 1, 'peer')
    put.run(`k${hi % KEYS}`, body)
    add.run('peer', seq++, body)
    add.run('peer', seq++, body)
    trim.run('peer', seq - BEHIND)
  }
  const many = database.transaction(() => {
    for (let i = 0; i < at; i++) deliver()
  })
  return {
    name: at === 1 ? 'SQLite, one at a time' : `SQLite, ${at.toLocaleString('en')} at once`,
    sync: 'WAL, synchronous FULL',
    run: () => {
      many()
      return Promise.resolve(at)
    },
    close: () => void database.close(),
  }
}
