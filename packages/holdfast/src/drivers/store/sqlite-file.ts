/**
 * An SQLite file of Holdfast: opening, recognizing, locking, releasing it.
 *
 * The journal is a write-ahead log and `synchronous` is FULL: a write that returned survives
 * SIGKILL and a power cut, and any other is there whole or not at all. The mark (`application_id`)
 * and the layout's version (`user_version`) keep Holdfast from writing into a file of another
 * program.
 *
 * One process at a time holds SQLite's exclusive lock on the file and on an empty one beside it
 * (`FileLock`); the system releases both when it dies. A third file has the process number, only
 * for the error that names the lock's holder.
 */

import { accessSync, constants, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type Database from 'libsql'
import { HoldfastError } from '../../machine.ts'
import { FileLock, libsql } from './libsql.ts'

export interface FileKind {
  /** The kind's application_id, four letters. */
  id: number
  version: number
  layout: string
  /** Brings a file of an older version up to date, within one transaction. */
  upgrade?: (database: Database.Database, version: number) => void
}

export interface OpenFile {
  readonly database: Database.Database
  readonly path: string
  readonly lock: FileLock
}

export type Statement = Database.Statement<unknown[]>

/** The smallest page of an SQLite file. */
const HEADER_BYTES = 512

/**
 * Opens the file, or creates it.
 *
 * @throws HoldfastError `store` if the folder is missing or read-only, or the file is not
 *   Holdfast's, damaged, of a newer version, or in use by another process
 */
export function openFile(file: string, kind: FileKind): OpenFile {
  // Absolute, because SQLite treats names such as `:memory:` and `file:` specially.
  const path = resolve(file)
  checkPlace(path)
  const lock = attempt(path, () => new FileLock(`${path}-lock`))
  let database: Database.Database | null = null
  try {
    database = attempt(path, () => new (libsql())(path))
    openDatabase(database, path, kind)
    return { database, path, lock }
  } catch (error) {
    database?.close()
    lock.release()
    throw error
  }
}

function openDatabase(database: Database.Database, path: string, kind: FileKind): void {
  // Exclusive from the first access on; otherwise a log needs a second file for its index, and
  // space for it.
  attempt(path, () => void database.pragma('locking_mode = EXCLUSIVE'))
  const version = attempt(path, () => identify(database, path, kind))
  attempt(path, () => take(database, path, version === null ? kind : null))
  if (version !== null && version < kind.version) upgrade(database, path, kind, version)
}

export function closeFile({ database, path, lock }: OpenFile): void {
  // The process number goes first: once the lock is free, another process may write its own.
  rmSync(pidFile(path), { force: true })
  release(database)
  database.close()
  lock.release()
}

export function rollBack({ database }: OpenFile): void {
  try {
    if (database.inTransaction) database.exec('ROLLBACK')
  } catch {
    // The first error explains more, and SQLite rolls back what never committed.
  }
}

/** Finds errors before SQLite does, which would only report "unable to open". */
function checkPlace(path: string): void {
  const folder = dirname(path)
  const inFolder = statSync(folder, { throwIfNoEntry: false })
  if (inFolder?.isDirectory() !== true) {
    throw problem(path, `the folder ${folder} does not exist; create it or choose another place`)
  }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !found.isFile()) throw problem(path, 'this is not a file')
  try {
    accessSync(folder, constants.W_OK)
    if (found !== undefined) accessSync(path, constants.R_OK | constants.W_OK)
  } catch (error) {
    throw problem(path, `it cannot be written (${codeOf(error)}); choose another place`)
  }
  // SQLite would take a file shorter than its header for empty. Looking inside is no option:
  // closing the file would release a lock that this process may hold on it.
  if (found !== undefined && found.size > 0 && found.size < HEADER_BYTES) throw notOurs(path)
}

function upgrade(database: Database.Database, path: string, kind: FileKind, version: number): void {
  try {
    attempt(path, () => {
      database.exec('BEGIN IMMEDIATE')
      kind.upgrade?.(database, version)
      database.exec(`PRAGMA user_version = ${kind.version}; COMMIT`)
    })
  } catch (error) {
    release(database)
    throw error
  }
}

/** Checks that the file is Holdfast's. @returns its version; null if it is empty */
function identify(database: Database.Database, path: string, kind: FileKind): number | null {
  const id = numberOf(database, 'PRAGMA application_id')
  const version = numberOf(database, 'PRAGMA user_version')
  const tables = numberOf(database, 'SELECT count(*) FROM sqlite_schema')
  if (id === 0 && version === 0 && tables === 0) return null
  if (id !== kind.id) throw notOurs(path)
  if (version > kind.version) {
    throw problem(
      path,
      `its layout has version ${version}, this Holdfast knows ${kind.version}; use a newer one`,
    )
  }
  return version
}

/** Takes the lock, and creates the layout in an empty file. */
function take(database: Database.Database, path: string, kind: FileKind | null): void {
  try {
    unlessFull(() => useLog(database))
    database.pragma('synchronous = FULL')
    // SQLite takes the lock with the first write, even if it writes nothing.
    database.exec(kind ? layoutOf(kind) : 'BEGIN EXCLUSIVE; COMMIT')
    unlessFull(() => writeFileSync(pidFile(path), `${process.pid}\n`))
  } catch (error) {
    release(database)
    throw error
  }
}

/** Switches to the write-ahead log, if the file does not use it yet. */
export function useLog(database: Database.Database): void {
  database.pragma('journal_mode = WAL')
}

/** Writes the log into the file, and syncs it; on a full disk the log stays as it is. */
export function foldLog({ database }: OpenFile): void {
  unlessFull(() => void database.pragma('wal_checkpoint(TRUNCATE)'))
}

// A file on a full disk can still be read, and written again once there is space.
function unlessFull(act: () => void): void {
  try {
    act()
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_FULL' && codeOf(error) !== 'ENOSPC') throw error
  }
}

function layoutOf({ id, version, layout }: FileKind): string {
  return `BEGIN EXCLUSIVE; ${layout};
    PRAGMA application_id = ${id}; PRAGMA user_version = ${version}; COMMIT`
}

/** Runs a function that may fail in SQLite, and explains its errors. */
export function attempt<Result>(path: string, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    throw explain(error, path)
  }
}

function numberOf(database: Database.Database, query: string): number {
  // Reads all rows, because an unfinished statement keeps a lock.
  const rows = database.prepare<unknown[]>(query).raw().all() as [number][]
  return rows[0]?.[0] ?? 0
}

/**
 * Releases the lock, which must be ours. libsql closes the file only when its last statement is
 * garbage collected. So the lock is released before: SQLite does so when it leaves the write-ahead
 * log, returns to normal locking and reads once.
 */
function release(database: Database.Database): void {
  try {
    if (database.inTransaction) database.exec('ROLLBACK')
    database.pragma('journal_mode = DELETE')
    database.pragma('locking_mode = NORMAL')
    numberOf(database, 'SELECT count(*) FROM sqlite_schema')
  } catch {
    // The file is damaged; garbage collection releases the lock.
  }
}

export function explain(error: unknown, path: string): HoldfastError {
  if (error instanceof HoldfastError) return error
  switch (codeOf(error)) {
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return problem(path, `it is in use by ${holder(path)}; stop that, or choose another file`)
    case 'SQLITE_NOTADB':
      return notOurs(path)
    case 'SQLITE_CORRUPT':
      return problem(path, 'it is damaged; restore a copy, or move it away to start afresh')
    case 'SQLITE_FULL':
      return problem(path, 'the disk is full; nothing of this write was kept')
    case 'SQLITE_READONLY':
      return problem(path, 'it cannot be written; choose another place')
    default:
      if (hasDiskFailed(error)) return problem(path, `the disk failed: ${String(error)}`)
      return problem(path, error instanceof Error ? error.message : String(error))
  }
}

/** Whether reading, writing or syncing failed; a full disk does not count. */
export function hasDiskFailed(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_IOERR')
}

export function problem(path: string, why: string): HoldfastError {
  return new HoldfastError('store', `the data file ${path} cannot be used: ${why}`)
}

function notOurs(path: string): HoldfastError {
  return problem(path, 'it was not made by Holdfast; choose another file')
}

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : ''
  return typeof code === 'string' ? code : ''
}

function pidFile(path: string): string {
  return `${path}-pid`
}

function holder(path: string): string {
  try {
    const pid = /^[1-9][0-9]*$/.exec(readFileSync(pidFile(path), 'latin1').trim())?.[0]
    if (pid === String(process.pid)) return 'this process'
    if (pid !== undefined) return `process ${pid}`
  } catch {
    // The holder did not leave its process number.
  }
  return 'another process'
}
