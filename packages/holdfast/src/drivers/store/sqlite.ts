/**
 * A store in one SQLite file that never blocks the loop on the disk.
 *
 * SQLite itself syncs nothing here; this file orders the syncs that make a write durable, on Node's
 * threads for files:
 *
 *     write       changes go into the write-ahead log, the log is synced, `done` is called
 *     checkpoint  when the log is long, between two writes: the pages of the synced log go into the
 *                 database, which is synced before the next write may restart the log
 *
 * A failed sync may have lost its data without a second error (Rebello et al., "Can Applications
 * Recover from fsync Failures?", 2020). So after one the store writes nothing more: a person must
 * examine the disk, and a new process must read it.
 */

import { close, closeSync, fdatasync, fsyncSync, openSync, stat, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { HoldfastError } from '../../machine.ts'
import type { Store } from '../../ports.ts'
import { checkChanges, type Changes } from './limits.ts'
import * as sqlite from './sqlite-file.ts'

const KIND: sqlite.FileKind = {
  // The letters HOLD.
  id: 0x484f4c44,
  version: 1,
  layout: 'CREATE TABLE records (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID, STRICT',
}
const PUT = `
  INSERT INTO records (key, value) VALUES (?, ?)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`
/** Writes a page and changes nothing. */
const TOUCH = `PRAGMA user_version = ${KIND.version}`
/** Most bytes in the log before it goes into the database. */
const LOG_BYTES_MAX = 1024 * 1024
/** A record's cost in the log beside its bytes: SQLite writes whole pages. */
const RECORD_COST = 4096

/** Syncs a file: Node's own function, or one that a test lets fail. */
export type Sync = (descriptor: number, done: (error: Error | null) => void) => void

type Done = (error: HoldfastError | null) => void

/** Opens the file, or creates it. @throws HoldfastError `store`, as `openFile` */
export function openSqliteStore(file: string, sync: Sync = fdatasync): Store {
  return new SqliteStore(sqlite.openFile(file, KIND), sync)
}

class SqliteStore implements Store {
  readonly #file: sqlite.OpenFile
  readonly #name: string
  readonly #sync: Sync
  readonly #all: sqlite.Statement
  readonly #before: sqlite.Statement
  readonly #one: sqlite.Statement
  readonly #put: sqlite.Statement
  readonly #remove: sqlite.Statement
  /** The inode of the opened file, to recognize another one of its name. */
  readonly #inode: number
  readonly #database: number
  #log: number | null = null
  #logged = 0
  #done: Done | null = null
  #broken: HoldfastError | null = null
  #failed = false
  #open = true

  constructor(file: sqlite.OpenFile, sync: Sync) {
    const { database, path } = file
    this.#file = file
    this.#sync = sync
    // Strangers may see errors, which contain the name: they must not see our folders.
    this.#name = basename(path)
    this.#all = database.prepare<unknown[]>('SELECT key, value FROM records ORDER BY key').raw()
    this.#before = database
      .prepare<unknown[]>('SELECT key, value FROM records WHERE key < ? ORDER BY key')
      .raw()
    this.#one = database.prepare<unknown[]>('SELECT value FROM records WHERE key = ?').raw()
    this.#put = database.prepare<unknown[]>(PUT)
    this.#remove = database.prepare<unknown[]>('DELETE FROM records WHERE key = ?')
    database.pragma('synchronous = OFF')
    database.pragma('wal_autocheckpoint = 0')
    this.#inode = statSync(path).ino
    // Closed after the lock was released, because closing it would release the lock.
    this.#database = openSync(path, 'r+')
  }

  entries(before?: string): Iterable<readonly [key: string, value: Uint8Array]> {
    this.#check()
    const rows = sqlite.attempt(this.#file.path, () => {
      return before === undefined ? this.#all.all() : this.#before.all(before)
    }) as [key: string, value: Uint8Array][]
    return rows.map(([key, value]) => [key, new Uint8Array(value)] as const)
  }

  read(key: string): Uint8Array | null {
    this.#check()
    // Reads all rows, because an unfinished statement keeps a lock.
    const rows = sqlite.attempt(this.#file.path, () => this.#one.all(key)) as [value: Uint8Array][]
    return rows[0] ? new Uint8Array(rows[0][0]) : null
  }

  write(changes: Changes, done: Done): void {
    this.#check()
    checkChanges(changes)
    if (this.#done) throw new HoldfastError('store', 'one write at a time')
    this.#done = done
    // After a successful write an empty one only checks that the file exists.
    if (changes.length === 0 && !this.#failed) return this.#stillThere()
    const error = this.#broken ?? this.#commit(changes)
    // Never call back within the call: the caller may be in the middle of something.
    if (error) queueMicrotask(() => this.#end(error))
    else this.#durable(this.#log!, () => this.#stillThere())
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    const error = sqlite.problem(this.#name, 'it was closed before it had answered')
    queueMicrotask(() => this.#end(error))
    // The rest of the log goes into the database, and SQLite syncs both.
    if (!this.#broken) this.#file.database.pragma('synchronous = FULL')
    sqlite.closeFile(this.#file)
    closeSync(this.#database)
    if (this.#log !== null) close(this.#log, () => {})
  }

  #commit(changes: Changes): HoldfastError | null {
    const { database } = this.#file
    try {
      this.#openLog()
      database.exec('BEGIN IMMEDIATE')
      for (const [key, value] of changes) {
        if (value === null) this.#remove.run(key)
        else this.#put.run(key, value)
        this.#logged += RECORD_COST + (value?.length ?? 0)
      }
      if (changes.length === 0) database.exec(TOUCH)
      database.exec('COMMIT')
      return null
    } catch (error) {
      sqlite.rollBack(this.#file)
      return sqlite.explain(error, this.#name)
    }
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
    const done = this.#done
    this.#done = null
    this.#failed = error !== null
    done?.(error)
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
