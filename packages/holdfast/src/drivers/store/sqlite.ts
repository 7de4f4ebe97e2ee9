/**
 * A store in one SQLite file that never blocks the loop on the disk.
 *
 * SQLite itself syncs nothing here; this file orders the syncs that make changes durable, on Node's
 * threads for files:
 *
 *     write       the changes of one turn, and those that came during the last write, go into the
 *                 write-ahead log in one transaction; the log is synced; each `done` is called
 *     checkpoint  when the log is long, between two writes: the pages of the synced log go into the
 *                 database, which is synced before the next write may restart the log
 *
 * Each change compares its revision within that transaction, so one that conflicts costs no other.
 * Revisions count up from the largest in the file: one that a removed record had may come again
 * after a start, when nobody knows the old one, for the file has one process at a time.
 *
 * A failed sync may have lost its data without a second error (Rebello et al., "Can Applications
 * Recover from fsync Failures?", 2020). So after one the store writes nothing more: a person must
 * examine the disk, and a new process must read it.
 */

import { close, closeSync, fdatasync, fsyncSync, openSync, stat, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { HoldfastError } from '../../machine.ts'
import type { Store, StoreChange, StoredRecord, StoreOutcome } from '../../ports.ts'
import { checkChange } from './limits.ts'
import * as sqlite from './sqlite-file.ts'

const VERSION = 2
const LAYOUT = `
  CREATE TABLE records (
    key TEXT PRIMARY KEY, rev INTEGER NOT NULL, value BLOB NOT NULL
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE blobs (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID, STRICT`
/** Version 1 has no revisions, and blobs are records behind this key, with this prefix. */
const FIRST_BLOB = '~'

const ADD = 'INSERT INTO records (key, rev, value) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING'
const REPLACE = 'UPDATE records SET rev = ?, value = ? WHERE key = ? AND rev = ?'
const REMOVE = 'DELETE FROM records WHERE key = ? AND rev = ?'
const PUT_BLOB = `
  INSERT INTO blobs (name, value) VALUES (?, ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`
/** Writes a page and changes nothing. */
const TOUCH = `PRAGMA user_version = ${VERSION}`
/** Most bytes in the log before it goes into the database. */
const LOG_BYTES_MAX = 1024 * 1024
/** A record's cost in the log beside its bytes: SQLite writes whole pages. */
const RECORD_COST = 4096
/** Most changes of one write. */
const CHANGES_MAX = 1_000

/** Syncs a file: Node's own function, or one that a test lets fail. */
export type Sync = (descriptor: number, done: (error: Error | null) => void) => void

/** Brings records of version 1 up to date; blobs stay as they are. */
export type UpgradeRecords = (
  records: readonly (readonly [key: string, value: Uint8Array])[],
) => readonly (readonly [key: string, value: Uint8Array])[]

interface SqliteOptions {
  /** Default: the records stay as they are. */
  upgrade?: UpgradeRecords
  sync?: Sync
}

interface Queued {
  readonly change: StoreChange
  readonly done: (outcome: StoreOutcome) => void
}

interface Read {
  /** Reads and answers. */
  readonly answer: () => void
  readonly fail: (error: HoldfastError) => void
}

type Done = (error: HoldfastError | null) => void

/** Opens the file, or creates it. @throws HoldfastError `store`, as `openFile` */
export function openSqliteStore(file: string, options: SqliteOptions = {}): Store {
  const { upgrade = (records) => records, sync = fdatasync } = options
  const kind: sqlite.FileKind = {
    // The letters HOLD.
    id: 0x484f4c44,
    version: VERSION,
    layout: LAYOUT,
    upgrade: (database) => upgradeFile(database, upgrade),
  }
  const opened = sqlite.openFile(file, kind)
  try {
    return sqlite.attempt(opened.path, () => new SqliteStore(opened, sync))
  } catch (error) {
    sqlite.closeFile(opened)
    throw error
  }
}

function upgradeFile(database: sqlite.OpenFile['database'], upgrade: UpgradeRecords): void {
  const old = database
    .prepare<unknown[]>('SELECT key, value FROM records WHERE key < ? ORDER BY key')
    .raw()
    .all(FIRST_BLOB) as [key: string, value: Uint8Array][]
  const records = upgrade(old.map(([key, value]) => [key, new Uint8Array(value)] as const))
  database.exec(`ALTER TABLE records RENAME TO old; ${LAYOUT};
    INSERT INTO blobs SELECT substr(key, 2), value FROM old WHERE key >= '${FIRST_BLOB}';
    DROP TABLE old`)
  const add = database.prepare<unknown[]>(ADD)
  for (const [at, [key, value]] of records.entries()) add.run(key, at + 1, value)
}

class SqliteStore implements Store {
  readonly #file: sqlite.OpenFile
  readonly #name: string
  readonly #sync: Sync
  readonly #all: sqlite.Statement
  readonly #one: sqlite.Statement
  readonly #blob: sqlite.Statement
  readonly #add: sqlite.Statement
  readonly #replace: sqlite.Statement
  readonly #remove: sqlite.Statement
  readonly #putBlob: sqlite.Statement
  readonly #removeBlob: sqlite.Statement
  /** The inode of the opened file, to recognize another one of its name. */
  readonly #inode: number
  readonly #database: number
  #log: number | null = null
  #logged = 0
  #rev: number
  #queue: Queued[] = []
  #checks: Done[] = []
  #reads: Read[] = []
  /** Ends the write in progress; null if there is none. */
  #done: Done | null = null
  #isPlanned = false
  #broken: HoldfastError | null = null
  #failed = false
  #open = true

  constructor(file: sqlite.OpenFile, sync: Sync) {
    const { database, path } = file
    this.#file = file
    this.#sync = sync
    // Strangers may see errors, which contain the name: they must not see our folders.
    this.#name = basename(path)
    const rows = (query: string): sqlite.Statement => database.prepare<unknown[]>(query).raw()
    this.#all = rows('SELECT key, rev, value FROM records ORDER BY key')
    this.#one = rows('SELECT key, rev, value FROM records WHERE key = ?')
    this.#blob = rows('SELECT value FROM blobs WHERE name = ?')
    this.#add = database.prepare<unknown[]>(ADD)
    this.#replace = database.prepare<unknown[]>(REPLACE)
    this.#remove = database.prepare<unknown[]>(REMOVE)
    this.#putBlob = database.prepare<unknown[]>(PUT_BLOB)
    this.#removeBlob = database.prepare<unknown[]>('DELETE FROM blobs WHERE name = ?')
    const [newest] = rows('SELECT coalesce(max(rev), 0) FROM records').all() as [[number]]
    this.#rev = newest[0]
    database.pragma('synchronous = OFF')
    database.pragma('wal_autocheckpoint = 0')
    this.#inode = statSync(path).ino
    // Closed after the lock was released, because closing it would release the lock.
    this.#database = openSync(path, 'r+')
  }

  entries(): Iterable<readonly [key: string, found: StoredRecord]> {
    this.#check()
    return sqlite.attempt(this.#file.path, () => this.#find(this.#all))
  }

  get(key: string, done: (found: StoredRecord | HoldfastError | null) => void): void {
    this.#read(() => this.#find(this.#one, key)[0]?.[1] ?? null, done)
  }

  blobs(
    _key: string,
    names: readonly string[],
    done: (found: (Uint8Array | null)[] | HoldfastError) => void,
  ): void {
    const own = [...names]
    this.#read(() => own.map((name) => this.#blobOf(name)), done)
  }

  cas(change: StoreChange, done: (outcome: StoreOutcome) => void): void {
    this.#check()
    checkChange(change)
    this.#queue.push({ change, done })
    this.#plan()
  }

  check(done: Done): void {
    this.#check()
    this.#checks.push(done)
    this.#plan()
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    const error = sqlite.problem(this.#name, 'it was closed before it had answered')
    queueMicrotask(() => {
      this.#done?.(error)
      for (const { done } of this.#queue.splice(0)) done(error)
      for (const done of this.#checks.splice(0)) done(error)
      for (const { fail } of this.#reads.splice(0)) fail(error)
    })
    // The rest of the log goes into the database, and SQLite syncs both.
    if (!this.#broken) this.#file.database.pragma('synchronous = FULL')
    sqlite.closeFile(this.#file)
    closeSync(this.#database)
    if (this.#log !== null) close(this.#log, () => {})
  }

  // Reads all rows, because an unfinished statement keeps a lock.
  #find(statement: sqlite.Statement, ...keys: string[]): [key: string, found: StoredRecord][] {
    const rows = statement.all(...keys) as [string, number, Uint8Array][]
    return rows.map(([key, rev, value]) => [key, { value: new Uint8Array(value), rev }])
  }

  #blobOf(name: string): Uint8Array | null {
    const [row] = this.#blob.all(name) as [Uint8Array][]
    return row ? new Uint8Array(row[0]) : null
  }

  #read<Found>(find: () => Found, done: (found: Found | HoldfastError) => void): void {
    this.#check()
    const durable = (): Found | HoldfastError => {
      try {
        return this.#broken ?? find()
      } catch (error) {
        return sqlite.explain(error, this.#name)
      }
    }
    this.#reads.push({ answer: () => done(durable()), fail: done })
    queueMicrotask(() => this.#answerReads())
  }

  // A write in progress may never become durable: reads wait for it.
  #answerReads(): void {
    if (this.#done || !this.#open) return
    for (const { answer } of this.#reads.splice(0)) answer()
  }

  // One write takes all changes of this turn of the loop.
  #plan(): void {
    if (this.#done || this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      if (this.#open && !this.#done) this.#write()
    })
  }

  #write(): void {
    const queued = this.#queue.splice(0, CHANGES_MAX)
    const checks = this.#checks.splice(0)
    if (queued.length === 0 && checks.length === 0) return
    const outcomes: StoreOutcome[] = []
    this.#done = (error) => {
      for (const [at, { done }] of queued.entries()) done(error ?? outcomes[at]!)
      for (const done of checks) done(error)
    }
    // After a successful write one of no changes only checks that the file exists.
    if (queued.length === 0 && !this.#failed) return this.#stillThere()
    const error = this.#broken ?? this.#commit(queued, outcomes)
    if (error) this.#end(error)
    else this.#durable(this.#log!, () => this.#stillThere())
  }

  #commit(queued: readonly Queued[], outcomes: StoreOutcome[]): HoldfastError | null {
    const { database } = this.#file
    try {
      this.#openLog()
      database.exec('BEGIN IMMEDIATE')
      for (const { change } of queued) outcomes.push(this.#change(change))
      if (queued.length === 0) database.exec(TOUCH)
      database.exec('COMMIT')
      return null
    } catch (error) {
      sqlite.rollBack(this.#file)
      return sqlite.explain(error, this.#name)
    }
  }

  #change({ key, rev, value, blobs }: StoreChange): StoreOutcome {
    const next = value === null ? 0 : this.#rev + 1
    if (this.#put(key, rev, next, value) === 0) return 'conflict'
    this.#rev = Math.max(this.#rev, next)
    this.#logged += RECORD_COST + (value?.length ?? 0)
    for (const [name, bytes] of blobs) {
      if (bytes) this.#putBlob.run(name, bytes)
      else this.#removeBlob.run(name)
      this.#logged += RECORD_COST + (bytes?.length ?? 0)
    }
    return { rev: next }
  }

  // Changes the record if it has that revision. @returns how many records have changed
  #put(key: string, rev: number, next: number, value: Uint8Array | null): number {
    if (value !== null && rev === 0) return this.#add.run(key, next, value).changes
    if (value !== null) return this.#replace.run(next, value, key, rev).changes
    if (rev !== 0) return this.#remove.run(key, rev).changes
    return this.#one.all(key).length === 0 ? 1 : 0
  }

  // A file that was opened on a full disk has no log yet.
  #openLog(): void {
    if (this.#log !== null) return
    const { database, path } = this.#file
    sqlite.useLog(database)
    // The first page creates the log.
    database.exec(`BEGIN IMMEDIATE; ${TOUCH}; COMMIT`)
    this.#log = openSync(`${path}-wal`, 'r+')
    syncFolder(dirname(path))
  }

  #durable(descriptor: number, next: () => void): void {
    this.#sync(descriptor, (error) => {
      if (!this.#open) return
      if (!error) return next()
      this.#broken = sqlite.problem(
        this.#name,
        `a sync failed (${error.message}), so what the disk holds is not known; ` +
          'look at the disk, then start anew',
      )
      this.#end(this.#broken)
    })
  }

  // A deleted file still accepts writes, which are lost.
  #stillThere(): void {
    stat(this.#file.path, (error, found) => {
      if (!this.#open) return
      if (error || found.ino !== this.#inode) {
        this.#broken = sqlite.problem(
          this.#name,
          'it was deleted or moved while it was open; bring it back, then start anew',
        )
        return this.#end(this.#broken)
      }
      if (this.#logged < LOG_BYTES_MAX) return this.#end(null)
      this.#checkpoint()
    })
  }

  #checkpoint(): void {
    this.#logged = 0
    try {
      this.#file.database.pragma('wal_checkpoint(PASSIVE)')
    } catch {
      // The database cannot grow; the log goes on, and its content is durable.
      return this.#end(null)
    }
    this.#durable(this.#database, () => this.#end(null))
  }

  #end(error: HoldfastError | null): void {
    const done = this.#done!
    this.#done = null
    this.#failed = error !== null
    done(error)
    this.#answerReads()
    if (this.#open && this.#queue.length + this.#checks.length > 0) this.#plan()
  }

  #check(): void {
    if (!this.#open) throw new HoldfastError('store', `the store ${this.#file.path} is closed`)
  }
}

// Syncs the folder, so that the names of the files are durable too.
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
