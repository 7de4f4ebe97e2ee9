/**
 * A mailbox in one SQLite file; sqlite-file.ts describes its guarantees.
 *
 * `commit` is one SQLite transaction, including the handlers' SQL. Batching is cheap: one row per
 * peer with its numbers, one write per key with its last value, letters in runs of up to 64 KB.
 */

import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  statSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import type { HoldfastError } from '../../../holdfast/src/machine.ts'
import { LETTER_OVERHEAD } from '../../../holdfast/src/ports.ts'
import type {
  DeadLetter,
  MailChange,
  MailHead,
  MailSql,
  MailStore,
  Span,
  SqlValue,
} from '../../../holdfast/src/ports.ts'
import { isSame, NO_DIGEST, NO_LIFE } from '../../../holdfast/src/wire/history.ts'
import {
  chain,
  checksumOf,
  headOf,
  type HeadRow,
  MAIL_FILE,
  rowOf,
  type RunRow,
  spanOf,
  sumOfDead,
  sumOfValue,
} from './mail-layout.ts'
import { byPeer, closed, move, newHead } from './mail-memory.ts'
import { Ends, type Written } from './mail-ends.ts'
import { Note } from './mail-note.ts'
import { addTo, pack, type Run } from './mail-runs.ts'
import { checkSql } from './mail-sql.ts'
import * as sqlite from '../../../holdfast/src/drivers/store/sqlite-file.ts'
import {
  attempt,
  explain,
  hasDiskFailed,
  type OpenFile,
  problem,
  rollBack,
  type Statement,
} from '../../../holdfast/src/drivers/store/sqlite-file.ts'
import { walTrouble } from './wal-tail.ts'
import { resolve } from 'node:path'

// An open mailbox publishes its figures in a file beside the store, for programs that cannot open
// the store too. The file is not synced and is removed on close.

/** The last published figures; null for none. */
export function readFigures(store: string): string | null {
  try {
    return readFileSync(pathOf(resolve(store)), 'utf8')
  } catch {
    return null
  }
}

function pathOf(store: string): string {
  return `${store}-figures`
}

const decoder = new TextDecoder()

const SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  heads: `SELECT peer, posted, acked, bytes, heard, tries, digests, ours, theirs, crc, keys
    FROM mail_heads`,
  head: 'INSERT OR REPLACE INTO mail_heads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  forget: 'DELETE FROM mail_heads WHERE peer = ?',
  add: 'INSERT INTO mail_letters VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  trim: 'DELETE FROM mail_letters WHERE peer = ? AND last <= ?',
  run: `SELECT first, last, life, before, crc, run FROM mail_letters WHERE peer = ? AND last > ?
    ORDER BY last LIMIT 1`,
  weigh: `SELECT coalesce(sum(bytes), 0), min(first), max(last) FROM mail_letters
    WHERE peer = ? AND last > ? AND last <= ?`,
  dead: 'SELECT peer, n, body, why, crc FROM mail_dead ORDER BY rowid LIMIT ? OFFSET ?',
  deadOne: 'SELECT peer, n, body, why, crc FROM mail_dead WHERE peer = ? AND n = ?',
  deadCount: 'SELECT count(*) FROM mail_dead',
  die: 'INSERT OR REPLACE INTO mail_dead VALUES (?, ?, ?, ?, ?)',
  bury: 'DELETE FROM mail_dead WHERE peer = ? AND n = ?',
  get: 'SELECT value, crc FROM mail_values WHERE key = ?',
  // Read as bytes, since libsql truncates text at NUL, with which reserved keys begin.
  keys: `SELECT CAST(key AS BLOB) FROM mail_values WHERE key >= ? AND key < ? ORDER BY key
    LIMIT ?`,
  put: 'INSERT OR REPLACE INTO mail_values VALUES (?, ?, ?)',
  remove: 'DELETE FROM mail_values WHERE key = ?',
}

const NO_BYTES = new Uint8Array(0)
/** Checks for a replaced file once in so many commits. */
const REPLACED_EVERY = 8

const FAILED = 'the disk failed while it was written; it stays read-only until it is reopened'

type Statements = Record<keyof typeof SQL, Statement>
type DeadRow = [peer: string, n: number, body: Uint8Array, why: string, crc: number]
type WeighRow = [whole: number, first: number | null, last: number | null]

/**
 * Opens the file, or creates it.
 *
 * @throws HoldfastError `store` when the folder is missing or read-only, or when the file is not a
 *   mailbox, damaged, of a newer version, or in use by another process
 */
export function openMailSqlite(file: string): MailStore {
  // Checked first: SQLite repairs it silently.
  const trouble = walTrouble(file)
  const hadLog = existsSync(`${file}-wal`)
  if (!existsSync(file)) createPrivate(file)
  const opened = sqlite.openFile(file, MAIL_FILE)
  // Writes of an earlier process may be readable but unsynced: write them again.
  if (hadLog) attempt(opened.path, () => sqlite.foldLog(opened))
  return new MailSqlite(opened, trouble)
}

/** Creates an empty file that only this user can read, since it will hold the mailbox's key. */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch {
    // Opening the file reports the reason.
  }
}

class MailSqlite implements MailStore {
  readonly name: string
  readonly sql: MailSql
  readonly repaired: string | null
  readonly interrupted: string | null
  readonly #file: OpenFile
  readonly #note: Note
  readonly #statements: Statements
  readonly #heads = new Map<string, MailHead>()
  readonly #inode: number
  #commits = 0
  readonly #ends = new Ends()
  /** Why the file can no longer be written until it is reopened. */
  #broken: HoldfastError | null = null
  #began = false
  /** Why a handler's statement ended the open transaction. */
  #ended: Error | null = null
  #open = true

  constructor(file: OpenFile, repaired: string | null) {
    this.#file = file
    this.name = file.path
    this.repaired = repaired
    this.#inode = statSync(file.path).ino
    this.#note = new Note(`${file.path}-way`)
    this.interrupted = this.#note.found
    const prepared = Object.entries(SQL).map(([name, text]) => {
      const statement = file.database.prepare<unknown[]>(text)
      return [name, text.startsWith('SELECT') ? statement.raw() : statement] as const
    })
    this.#statements = Object.fromEntries(prepared) as Statements
    const ended = (): Error | null => this.#ended
    this.sql = {
      run: (statement, values) => this.#run(statement, values),
      savepoint: () => this.#exec('SAVEPOINT letter'),
      release: () => this.#exec('RELEASE letter'),
      rollBack: () => this.#exec('ROLLBACK TO letter; RELEASE letter'),
      get ended() {
        return ended()
      },
    }
    for (const row of this.#rows<HeadRow>('heads')) {
      const head = headOf(row)
      if (!head) throw this.#damaged(`what is known of ${row[0]}`)
      this.#heads.set(head.peer, head)
    }
  }

  heads(): MailHead[] {
    return [...this.#heads.values()].map((head) => ({ ...head })).toSorted(byPeer)
  }

  head(peer: string): MailHead | null {
    const head = this.#heads.get(peer)
    return head ? { ...head } : null
  }

  dead(skip = 0, most = Infinity): DeadLetter[] {
    return this.#rows<DeadRow>('dead', limitOf(most), skip).map((row) => this.#deadOf(row))
  }

  deadOne(peer: string, n: number): DeadLetter | null {
    const [row] = this.#rows<DeadRow>('deadOne', peer, n)
    return row ? this.#deadOf(row) : null
  }

  get(key: string): Uint8Array | null {
    const [row] = this.#rows<[Uint8Array, number]>('get', key)
    if (!row) return null
    const value = new Uint8Array(row[0])
    if (sumOfValue(key, value) === row[1]) return value
    throw this.#damaged(`the value of ${JSON.stringify(key)}`)
  }

  deadCount(): number {
    return this.#rows<[number]>('deadCount')[0]![0]
  }

  publish(figures: string): void {
    if (!this.#open) return
    try {
      writeFileSync(`${this.name}-figures-new`, figures)
      renameSync(`${this.name}-figures-new`, pathOf(this.name))
    } catch {
      // A full disk is ignored: the figures are then missing or stale.
    }
  }

  keys(prefix: string, most = Infinity): string[] {
    const rows = this.#rows<[Uint8Array]>('keys', prefix, behind(prefix), limitOf(most))
    return rows.map(([key]) => decoder.decode(key))
  }

  letters(peer: string, after: number, bytes: number): Span {
    const found: Span = { life: NO_LIFE, before: NO_DIGEST, letters: [] }
    const { letters } = found
    let room = bytes
    for (let from = after, more = true; more;) {
      const run = this.#runBehind(peer, from)
      if (!run || (letters.length > 0 && !isSame(found.life, run.life))) break
      from = run.last
      if (letters.length === 0) {
        const before = run.letters.filter(({ n }) => n <= after)
        Object.assign(found, { life: run.life, before: chain(run, before) })
      }
      for (const letter of run.letters) {
        if (letter.n <= after) continue
        room -= letter.body.length + LETTER_OVERHEAD
        // Counted by letter, since the grouping into runs depends on how turns were batched.
        more = room >= 0 || letters.length === 0
        if (!more) break
        letters.push(letter)
      }
    }
    return found
  }

  mark(peer: string, n: number): Uint8Array | null {
    const known = this.#ends.mark(peer, n)
    if (known) return known
    const run = this.#runBehind(peer, n - 1)
    if (!run || run.letters[0]!.n > n) return null
    const upTo = run.letters.filter((letter) => letter.n <= n)
    return chain(run, upTo)
  }

  weigh(peer: string, after: number, upTo: number): number {
    const known = this.#ends.weigh(peer, after, upTo)
    if (known !== null) return known
    const [row] = this.#rows<WeighRow>('weigh', peer, after, upTo)
    const [whole, first, last] = row!
    // Either end of the range may lie within a run, even the same one.
    const before = first === null || first <= after ? this.#part(peer, after) : 0
    return whole - before + (last === upTo ? 0 : this.#part(peer, upTo))
  }

  commit(changes: readonly MailChange[], done: (error: Error | null) => void): void {
    done(this.#commit(changes))
  }

  abandon(): void {
    this.#began = false
    this.#ended = null
    rollBack(this.#file)
  }

  backup(to: string): void {
    if (this.#began) throw problem(this.name, 'it cannot be copied within a transaction')
    if (existsSync(to)) throw problem(to, 'it exists already; a backup needs a new file')
    createPrivate(to)
    attempt(this.name, () => this.#file.database.prepare<unknown[]>('VACUUM INTO ?').run(to))
    const copy = openSync(to, 'r+')
    fsyncSync(copy)
    closeSync(copy)
  }

  note(what: string): void {
    this.#note.write(what)
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#note.remove()
    rmSync(pathOf(this.name), { force: true })
    sqlite.closeFile(this.#file)
  }

  /** The first run with a letter above n. */
  #runBehind(peer: string, n: number): (Span & { last: number }) | null {
    const known = this.#ends.run(peer, n)
    if (known) return known
    const [row] = this.#rows<RunRow>('run', peer, n)
    return row ? { last: row[1], ...this.#unpack(peer, row) } : null
  }

  /** Bytes of the letters up to n in the run that continues past n. */
  #part(peer: string, n: number): number {
    const known = this.#ends.part(peer, n)
    if (known !== null) return known
    const letters = this.#runBehind(peer, n)?.letters ?? []
    const before = letters.filter((letter) => letter.n <= n)
    return before.reduce((sum, { body }) => sum + body.length + LETTER_OVERHEAD, 0)
  }

  #unpack(peer: string, row: RunRow): Span {
    const span = spanOf(peer, row)
    if (span) return span
    const [first, last] = row
    throw this.#damaged(`letters ${first} to ${last} for ${peer}`)
  }

  #deadOf([peer, n, bytes, why, crc]: DeadRow): DeadLetter {
    const body = new Uint8Array(bytes)
    if (sumOfDead(peer, n, body, why) === crc) return { peer, n, body, why }
    throw this.#damaged(`the dead letter ${n} of ${peer}`)
  }

  #damaged(what: string): HoldfastError {
    const verb = what.startsWith('letters') ? 'were' : 'was'
    return problem(this.name, `${what} ${verb} damaged on the disk; restore a copy`)
  }

  #commit(changes: readonly MailChange[]): Error | null {
    if (!this.#open) return closed(this.name)
    if (changes.length === 0 && !this.#began) return null
    try {
      this.#checkPlace()
      this.#begin()
      const { heads, runs } = this.#write(changes)
      this.#bind('commit')
      this.#began = false
      this.#take(heads, runs)
      return null
    } catch (error) {
      this.abandon()
      // After a failed sync a later one may skip the data, so nothing is written any more.
      if (hasDiskFailed(error)) this.#broken ??= problem(this.name, FAILED)
      return this.#broken ?? explain(error, this.name)
    }
  }

  /** Applies the written data, which is durable now. */
  #take(heads: Map<string, MailHead | null>, runs: Map<string, Written[]>): void {
    for (const [peer, head] of heads) {
      const acked = this.#heads.get(peer)?.acked ?? 0
      if (head) this.#heads.set(peer, head)
      else this.#heads.delete(peer)
      if (!head || head.acked < acked) this.#ends.forget(peer)
      else if (head.acked > acked) this.#ends.trim(peer, head.acked)
    }
    for (const [peer, list] of runs) this.#ends.add(peer, list)
  }

  #checkPlace(): void {
    if (this.#broken) throw this.#broken
    const isThere = existsSync(this.name)
    // Checking the inode costs ten times as much.
    const isSameFile = isThere && this.#commits++ % REPLACED_EVERY > 0
    if (isSameFile || statSync(this.name, { throwIfNoEntry: false })?.ino === this.#inode) return
    const what = isThere ? 'another file was put in its place' : 'it was deleted'
    this.#broken = problem(this.name, `${what} while it was open; put it back and reopen it`)
    throw this.#broken
  }

  #write(changes: readonly MailChange[]): {
    heads: Map<string, MailHead | null>
    runs: Map<string, Written[]>
  } {
    const heads = new Map<string, MailHead | null>()
    const runs = new Map<string, Run[]>()
    const values = new Map<string, Uint8Array | null>()
    for (const change of changes) {
      if (change.kind === 'set') values.set(change.key, change.value)
      else if (change.kind === 'dead') {
        const { peer, n, body, why } = change
        this.#bind('die', peer, n, body, why, sumOfDead(peer, n, body, why))
      } else if (change.kind === 'buried') this.#bind('bury', change.peer, change.n)
      else if (change.kind === 'begun') {
        this.#bind('trim', change.peer, Number.MAX_SAFE_INTEGER)
        runs.delete(change.peer)
        this.#ends.forget(change.peer)
        heads.set(change.peer, change.head && { ...change.head })
      } else this.#change(change, heads, runs)
    }
    const written = new Map<string, Written[]>()
    for (const [peer, list] of runs) written.set(peer, this.#addAll(peer, list))
    for (const [peer, head] of heads) this.#move(peer, head)
    for (const [key, value] of values) {
      if (value === null) this.#bind('remove', key)
      else this.#bind('put', key, value, sumOfValue(key, value))
    }
    return { heads, runs: written }
  }

  #change(
    change: MailChange & { kind: 'posted' | 'acked' | 'heard' | 'tried' | 'bound' },
    heads: Map<string, MailHead | null>,
    runs: Map<string, Run[]>,
  ): void {
    const { peer } = change
    const known = heads.has(peer) ? heads.get(peer) : this.#heads.get(peer)
    const head = heads.get(peer) ?? { ...(known ?? newHead(peer)) }
    heads.set(peer, head)
    if (change.kind === 'posted') {
      const list = runs.get(peer) ?? []
      runs.set(peer, list)
      addTo(list, change, head.postedDigest)
    }
    move(head, change)
  }

  #addAll(peer: string, runs: readonly Run[]): Written[] {
    return runs.map((run) => {
      const { last, first, bytes, life, before } = run
      const packed = pack(run)
      const crc = checksumOf(peer, run, packed)
      this.#bind('add', peer, last, first, bytes, life, before, crc, packed)
      return { ...run, packed }
    })
  }

  #move(peer: string, head: MailHead | null): void {
    if (!head) return this.#bind('forget', peer)
    if (head.acked > (this.#heads.get(peer)?.acked ?? 0)) this.#bind('trim', peer, head.acked)
    this.#bind('head', ...rowOf(head))
  }

  #begin(): void {
    if (this.#ended) throw this.#ended
    if (!this.#began) this.#bind('begin')
    this.#began = true
  }

  #exec(statements: string): void {
    attempt(this.name, () => {
      this.#begin()
      this.#file.database.exec(statements)
    })
  }

  #run(text: string, values: readonly SqlValue[]): Record<string, SqlValue>[] {
    checkSql(text)
    try {
      this.#begin()
      const statement = this.#file.database.prepare<unknown[]>(text)
      if (statement.reader) return statement.all(...values) as Record<string, SqlValue>[]
      statement.run(...values)
      return []
    } catch (error) {
      const why = explain(error, this.name)
      if (hasDiskFailed(error)) this.#broken ??= problem(this.name, FAILED)
      // A full disk, `OR ROLLBACK` and some other errors end the transaction.
      if (this.#began && !this.#file.database.inTransaction) this.#ended ??= why
      throw why
    }
  }

  #bind(name: keyof typeof SQL, ...values: SqlValue[]): void {
    this.#statements[name].run(...values)
  }

  #rows<Row>(name: keyof typeof SQL, ...values: SqlValue[]): Row[] {
    if (!this.#open) throw closed(this.name)
    return attempt(this.name, () => this.#statements[name].all(...values)) as Row[]
  }
}

/** An SQLite LIMIT; below 0 means none. */
function limitOf(most: number): number {
  return most === Infinity ? -1 : most
}

/** The least key above all keys with that prefix: its last character is incremented. */
function behind(prefix: string): SqlValue {
  const last = Array.from(prefix).at(-1)
  // SQLite orders every text below every blob.
  if (last === undefined || last === '\u{10ffff}') return NO_BYTES
  const code = last.codePointAt(0)! + 1
  const next = String.fromCodePoint(code === 0xd800 ? 0xe000 : code)
  return prefix.slice(0, prefix.length - last.length) + next
}
