/**
 * A lock beside a file, which nobody reads. The lock of SQLite on the file itself goes as soon as
 * its own process opens that file once more and closes it, to copy it for example: POSIX ends all
 * locks of a process on a file with any descriptor of it. This one stands on an empty file.
 */

import type Database from 'libsql'
import { libsql } from './libsql.ts'

/** Holds it until `release`; the system releases it when the process dies. */
export class FileLock {
  readonly #database: Database.Database

  /** @throws Error of SQLite, code `SQLITE_BUSY` where somebody else holds it */
  constructor(path: string) {
    this.#database = new (libsql())(path)
    try {
      // A journal would want a page of the disk, which may be full.
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
