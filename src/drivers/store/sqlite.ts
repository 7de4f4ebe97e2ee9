/** A store in one SQLite file; sqlite-file.ts says what that promises. */

import { HoldfastError } from '../../machine.ts'
import type { Store } from '../../ports.ts'
import { checkChanges, type Changes } from './limits.ts'
import * as sqlite from './sqlite-file.ts'
import {
  attempt,
  closeFile,
  explain,
  type OpenFile,
  rollBack,
  type Statement,
} from './sqlite-file.ts'

const KIND: sqlite.FileKind = {
  // The letters HOLD.
  id: 0x484f4c44,
  version: 1,
  layout: 'CREATE TABLE records (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID, STRICT',
}
const PUT = `
  INSERT INTO records (key, value) VALUES (?, ?)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`

/** Opens the file, or makes it. @throws HoldfastError `store`, as `openFile` */
export function openSqliteStore(file: string): Store {
  return new SqliteStore(sqlite.openFile(file, KIND))
}

class SqliteStore implements Store {
  readonly #file: OpenFile
  readonly #all: Statement
  readonly #put: Statement
  readonly #remove: Statement
  #open = true

  constructor(file: OpenFile) {
    const { database } = file
    this.#file = file
    this.#all = database.prepare<unknown[]>('SELECT key, value FROM records ORDER BY key').raw()
    this.#put = database.prepare<unknown[]>(PUT)
    this.#remove = database.prepare<unknown[]>('DELETE FROM records WHERE key = ?')
  }

  entries(): Iterable<readonly [key: string, value: Uint8Array]> {
    this.#check()
    const rows = attempt(this.#file.path, () => this.#all.all()) as [
      key: string,
      value: Uint8Array,
    ][]
    return rows.map(([key, value]) => [key, new Uint8Array(value)] as const)
  }

  write(changes: Changes): void {
    this.#check()
    checkChanges(changes)
    if (changes.length === 0) return
    const { database, path } = this.#file
    try {
      database.exec('BEGIN IMMEDIATE')
      for (const [key, value] of changes) {
        if (value === null) this.#remove.run(key)
        else this.#put.run(key, value)
      }
      database.exec('COMMIT')
    } catch (error) {
      rollBack(this.#file)
      throw explain(error, path)
    }
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    closeFile(this.#file)
  }

  #check(): void {
    if (!this.#open) throw new HoldfastError('store', `the store ${this.#file.path} is closed`)
  }
}
