/**
 * A lock beside a file, on an empty file that nobody reads. SQLite's lock on the data file itself
 * is lost as soon as its own process opens that file once more and closes it, for example to copy
 * it: POSIX ends all locks of a process on a file when it closes any descriptor of it.
 */

import type Database from 'libsql'
import { libsql } from './libsql.ts'

/** Holds the lock until `release`; the system releases it when the process dies. */
export class FileLock {
  readonly #database: Database.Database

  /** @throws Error of SQLite, code `SQLITE_BUSY` where another process holds it */
  constructor(path: string) {
    this.#database = new (libsql())(path)
    try {
      // A journal would need a page of the disk, which may be full.
      this.#database.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE')
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  release(): void {
    this.#database.exec('ROLLBACK')
    this.#database.close()
  }
}
