/**
 * SQLite, by the package libsql. Opening the first store loads it, not the entry point: it brings a
 * binary of some twenty megabytes, which a page, a member or a hub without a data file does not
 * need. So it is an optional peer dependency, which users install when they need it.
 */

import { createRequire } from 'node:module'
import type Database from 'libsql'
import { HoldfastError } from '../../machine.ts'

/** Its version range in package.json, in the form that `npm install` takes. */
export const LIBSQL = 'libsql@^0.5.29'

const require = createRequire(import.meta.url)

/**
 * The class of databases.
 *
 * @param load  loads it in its place: a test sees the error where libsql is missing
 * @throws HoldfastError `store` where it is not installed, naming the command that installs it
 */
export function libsql(load?: () => unknown): typeof Database {
  try {
    return (load ? load() : require('libsql')) as typeof Database
  } catch (error) {
    const cure = `npm install ${LIBSQL} (with npx: npx -p holdfast -p "${LIBSQL}" holdfast …)`
    throw new HoldfastError('store', `${whyNot(error)}; it is not installed with Holdfast: ${cure}`)
  }
}

function whyNot(error: unknown): string {
  const what = 'a store on disk needs the package libsql'
  const [first = ''] = error instanceof Error ? error.message.split('\n') : []
  // Installed without this system's binary: npm left out the optional package.
  return first.startsWith("Cannot find module 'libsql'") ? what : `${what}, which says: ${first}`
}

// A lock on an empty file beside the data file. SQLite's lock on the data file is lost as soon as
// its own process opens and closes that file again, for example to copy it: POSIX ends all locks of
// a process on a file when it closes any descriptor of it.

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
