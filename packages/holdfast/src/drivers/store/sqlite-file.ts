/**
 * An SQLite file of our own: opened, distinguished from other files, locked, released.
 *
 * The journal is a write-ahead log and `synchronous` is FULL, so a write returns when the disk has
 * it: neither SIGKILL nor a power cut takes it back, and a write that had not returned is there
 * whole or not at all. The file carries a mark (`application_id`) and the version of its layout
 * (`user_version`), so that we never write into a file of another program.
 *
 * One process at a time: it holds SQLite's exclusive lock on the file and on an empty one beside it
 * (file-lock.ts), which the system releases when the process dies, however it dies. A third file
 * has the process number. It is no lock; it only lets the error name the holder of the real one.
 */

import { accessSync, constants, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type Database from 'libsql'
import { HoldfastError } from '../../machine.ts'
import { FileLock, libsql } from './libsql.ts'

/** A kind of file. */
export interface FileKind {
  /** The kind's application_id, four letters. */
  id: number
  /** The version of the layout that this code writes. */
  version: number
  /** Statements that create the layout in an empty file. */
  layout: string
  /** Brings a file of an older version up to date, within one transaction. */
  upgrade?: (database: Database.Database, version: number) => void
}

/** A file that is open and locked. */
export interface OpenFile {
  readonly database: Database.Database
  readonly path: string
  readonly lock: FileLock
}

/** A prepared statement. */
export type Statement = Database.Statement<unknown[]>

/** The smallest page of an SQLite file. */
const HEADER_BYTES = 512

/**
 * Opens the file, or creates it.
 *
 * @throws HoldfastError `store` when the folder is missing or not to be written, when the file
 *   is not ours, damaged, of a newer version, or in use by another process
 */
export function openFile(file: string, kind: FileKind): OpenFile {
  // An absolute path, because SQLite gives names such as `:memory:` and `file:` a meaning of their
  // own.
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
  // Exclusive from the first access on: otherwise a log needs a second file for its index, and room
  // for it.
  attempt(path, () => void database.pragma('locking_mode = EXCLUSIVE'))
  const version = attempt(path, () => identify(database, path, kind))
  attempt(path, () => take(database, path, version === null ? kind : null))
  if (version !== null && version < kind.version) upgrade(database, path, kind, version)
}

/** Closes the file, and lets other processes have it. */
export function closeFile({ database, path, lock }: OpenFile): void {
  // The process number goes first: once the lock is free, another process may write its own.
  rmSync(pidFile(path), { force: true })
  release(database)
  database.close()
  lock.release()
}

/** Rolls back a failed transaction, if any of it is left. */
export function rollBack({ database }: OpenFile): void {
  try {
    if (database.inTransaction) database.exec('ROLLBACK')
  } catch {
    // The first error explains more, and SQLite rolls back what never committed.
  }
}

/** Errors that can be found before SQLite is asked, which would only report "unable to open". */
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
  // Such a file is shorter than SQLite's header, and SQLite would take it for empty. It is not
  // opened here to look inside, for closing it would release the lock that this process may hold on
  // it.
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

/** Makes sure that the file is ours, unchanged. @returns its version; null if it is empty */
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

/**
 * Writes the content of the log into the file, and syncs it. On a full disk the log stays as it is.
 */
export function foldLog({ database }: OpenFile): void {
  unlessFull(() => void database.pragma('wal_checkpoint(TRUNCATE)'))
}

// On a full disk a file can still be read, and written again once there is room.
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
  // All rows are read, for an unfinished statement keeps a lock.
  const rows = database.prepare<unknown[]>(query).raw().all() as [number][]
  return rows[0]?.[0] ?? 0
}

/**
 * Gives up the lock, which must be ours. libsql closes the file only when the last of its
 * statements has been collected as garbage, so the lock is given up before, which SQLite does
 * when it leaves the write-ahead log, goes back to normal locking and reads once.
 */
function release(database: Database.Database): void {
  try {
    if (database.inTransaction) database.exec('ROLLBACK')
    database.pragma('journal_mode = DELETE')
    database.pragma('locking_mode = NORMAL')
    numberOf(database, 'SELECT count(*) FROM sqlite_schema')
  } catch {
    // The file is damaged: then the garbage collector releases it.
  }
}

/** The error as a sentence about that file. */
export function explain(error: unknown, path: string): HoldfastError {
  if (error instanceof HoldfastError) return error
  switch (codeOf(error)) {
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return problem(path, `it is in use by ${holder(path)}; stop that, or choose another file`)
    case 'SQLITE_NOTADB':
      return notOurs(path)
    case 'SQLITE_CORRUPT':
      return problem(path, 'it is damaged; restore a copy, or move it away to start anew')
    case 'SQLITE_FULL':
      return problem(path, 'the disk is full; nothing of this write was kept')
    case 'SQLITE_READONLY':
      return problem(path, 'it cannot be written; choose another place')
    default:
      if (hasDiskFailed(error)) return problem(path, `the disk failed: ${String(error)}`)
      return problem(path, error instanceof Error ? error.message : String(error))
  }
}

/** Whether reading, writing or syncing failed; a full disk does not count as that. */
export function hasDiskFailed(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_IOERR')
}

/** An error about that file. */
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
