/** The SQLite layout of a mailbox: tables, rows, and upgrades from older layouts. */

import type Database from 'libsql'
import {
  KEY_BYTES,
  type Letter,
  type Life,
  type MailHead,
  type Span,
} from '../../../holdfast/src/ports.ts'
import {
  DIGEST_BYTES,
  digestOf,
  LIFE_BYTES,
  NO_DIGEST,
  NO_LIFE,
} from '../../../holdfast/src/wire/history.ts'
import { checksum, rowBytes, type Run, unpack } from './mail-runs.ts'
import type { FileKind } from '../../../holdfast/src/drivers/store/sqlite-file.ts'

// Last: ALTER TABLE adds it to a version 2 file. Without keys the checksum is that of version 2.
const KEYS = "keys BLOB NOT NULL DEFAULT x''"
const HEADS = `
  CREATE TABLE mail_heads (peer TEXT PRIMARY KEY, posted INTEGER NOT NULL,
    acked INTEGER NOT NULL, bytes INTEGER NOT NULL, heard INTEGER NOT NULL,
    tries INTEGER NOT NULL, digests BLOB NOT NULL, ours BLOB NOT NULL, theirs BLOB NOT NULL,
    crc INTEGER NOT NULL, ${KEYS}) WITHOUT ROWID, STRICT`
const LETTERS = `
  CREATE TABLE mail_letters (peer TEXT NOT NULL, last INTEGER NOT NULL, first INTEGER NOT NULL,
    bytes INTEGER NOT NULL, life BLOB NOT NULL, before BLOB NOT NULL, crc INTEGER NOT NULL,
    run BLOB NOT NULL, PRIMARY KEY (peer, last)) WITHOUT ROWID, STRICT`

const DEAD = `
  CREATE TABLE mail_dead (peer TEXT NOT NULL, n INTEGER NOT NULL, body BLOB NOT NULL,
    why TEXT NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY (peer, n)) STRICT`
const VALUES = `
  CREATE TABLE mail_values (key TEXT PRIMARY KEY, value BLOB NOT NULL, crc INTEGER NOT NULL)
    WITHOUT ROWID, STRICT`

/** The file kind of a mailbox. */
export const MAIL_FILE: FileKind = {
  // "HOLM" in ASCII.
  id: 0x484f4c4d,
  version: 3,
  layout: `${HEADS}; ${LETTERS}; ${DEAD}; ${VALUES}`,
  upgrade,
}

export type HeadRow = [
  peer: string,
  posted: number,
  acked: number,
  bytes: number,
  heard: number,
  tries: number,
  digests: Uint8Array,
  ours: Uint8Array,
  theirs: Uint8Array,
  crc: number,
  keys: Uint8Array,
]
export type RunRow = [
  first: number,
  last: number,
  life: Uint8Array,
  before: Uint8Array,
  crc: number,
  run: Uint8Array,
]

export function rowOf(head: MailHead): HeadRow {
  const { peer, posted, acked, bytes, heard, tries } = head
  const digests = new Uint8Array(3 * DIGEST_BYTES)
  digests.set(head.postedDigest)
  digests.set(head.ackedDigest, DIGEST_BYTES)
  digests.set(head.heardDigest, 2 * DIGEST_BYTES)
  const [ours, theirs] = [packLives(head.ourLives), packLives(head.theirLives)]
  const numbers = rowBytes(peer, posted, acked, bytes, heard, tries)
  const keys = packKeys(head)
  const crc = checksum(numbers, digests, ours, theirs, keys)
  return [peer, posted, acked, bytes, heard, tries, digests, ours, theirs, crc, keys]
}

/** The head in a row; null if damaged. */
export function headOf(row: HeadRow): MailHead | null {
  const [peer, posted, acked, bytes, heard, tries, digests, ours, theirs, crc, keys] = row
  const numbers = rowBytes(peer, posted, acked, bytes, heard, tries)
  if (checksum(numbers, digests, ours, theirs, keys) !== crc) return null
  const part = (at: number): Uint8Array =>
    Uint8Array.from(digests.subarray(at * DIGEST_BYTES, (at + 1) * DIGEST_BYTES))
  return {
    ...{ peer, posted, acked, bytes, heard, tries },
    ...{ postedDigest: part(0), ackedDigest: part(1), heardDigest: part(2) },
    ...{ ourLives: unpackLives(ours), theirLives: unpackLives(theirs) },
    ...unpackKeys(keys),
  }
}

/** The letters of a row; null if damaged. */
export function spanOf(peer: string, [first, last, life, before, crc, run]: RunRow): Span | null {
  const packed = new Uint8Array(run)
  const span = { life: new Uint8Array(life), before: new Uint8Array(before) }
  if (checksumOf(peer, { ...span, first, last }, packed) !== crc) return null
  const letters = unpack(first, last, packed)
  return letters && { ...span, letters }
}

export function checksumOf(
  peer: string,
  { first, last, life, before }: Pick<Run, 'first' | 'last' | 'life' | 'before'>,
  packed: Uint8Array,
): number {
  return checksum(rowBytes(peer, first, last), life, before, packed)
}

export function sumOfValue(key: string, value: Uint8Array): number {
  return checksum(rowBytes(key), value)
}

export function sumOfDead(peer: string, n: number, body: Uint8Array, why: string): number {
  return checksum(rowBytes(peer, n, why), body)
}

/** The digest after the given letters, which are the first of their span. */
export function chain({ life, before }: Span, letters: readonly Letter[]): Uint8Array {
  return letters.reduce((digest, { body }) => digestOf(digest, life, body), before)
}

const LIFE_ROW = 8 + LIFE_BYTES

function packLives(lives: readonly Life[]): Uint8Array {
  const packed = new Uint8Array(lives.length * LIFE_ROW)
  const view = new DataView(packed.buffer)
  for (const [at, { first, life }] of lives.entries()) {
    view.setFloat64(at * LIFE_ROW, first)
    packed.set(life, at * LIFE_ROW + 8)
  }
  return packed
}

function unpackLives(packed: Uint8Array): Life[] {
  const bytes = new Uint8Array(packed)
  const view = new DataView(bytes.buffer)
  return Array.from({ length: Math.floor(bytes.length / LIFE_ROW) }, (_, at) => ({
    first: view.getFloat64(at * LIFE_ROW),
    life: bytes.slice(at * LIFE_ROW + 8, (at + 1) * LIFE_ROW),
  }))
}

function packKeys({ key, root }: MailHead): Uint8Array {
  const packed = new Uint8Array(key && root ? 2 * KEY_BYTES : 0)
  if (key && root) {
    packed.set(key)
    packed.set(root, KEY_BYTES)
  }
  return packed
}

function unpackKeys(packed: Uint8Array): Pick<MailHead, 'key' | 'root'> {
  if (packed.length !== 2 * KEY_BYTES) return { key: null, root: null }
  const bytes = new Uint8Array(packed)
  return { key: bytes.slice(0, KEY_BYTES), root: bytes.slice(KEY_BYTES) }
}

type OldHead = [peer: string, ...numbers: number[]]
type OldRun = [peer: string, last: number, first: number, bytes: number, crc: number, run: Buffer]

/** Reads row by row: an unfinished statement would block dropping the table. */
function* oldRuns(database: Database.Database): Iterable<OldRun> {
  const next = database
    .prepare<unknown[]>(
      'SELECT * FROM old_letters WHERE (peer, last) > (?, ?) ORDER BY peer, last LIMIT 1',
    )
    .raw()
  let at: [peer: string, last: number] = ['', 0]
  for (;;) {
    const [row] = next.all(...at) as OldRun[]
    if (!row) return
    yield row
    at = [row[0], row[1]]
  }
}

/** Upgrades a file of version 1 or 2; version 2 had no peer keys. */
function upgrade(database: Database.Database, version: number): void {
  if (version === 1) upgradeFirst(database)
  else database.exec(`ALTER TABLE mail_heads ADD COLUMN ${KEYS}`)
}

/** Version 1 (0.1) had no histories: digests of acked and received letters stay unknown. */
function upgradeFirst(database: Database.Database): void {
  database.exec(`ALTER TABLE mail_heads RENAME TO old_heads;
    ALTER TABLE mail_letters RENAME TO old_letters; ALTER TABLE mail_dead RENAME TO old_dead;
    ALTER TABLE mail_values RENAME TO old_values; ${HEADS}; ${LETTERS}; ${DEAD}; ${VALUES}`)
  upgradeRows(database)
  const digests = new Map<string, Uint8Array>()
  const add = database.prepare<unknown[]>(
    'INSERT INTO mail_letters VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  for (const [peer, last, first, bytes, crc, run] of oldRuns(database)) {
    const before = digests.get(peer) ?? NO_DIGEST
    const packed = new Uint8Array(run)
    const letters = checksum(packed) === crc ? unpack(first, last, packed) : null
    const span = { life: NO_LIFE, before }
    digests.set(peer, chain({ ...span, letters: [] }, letters ?? []))
    // Damaged rows stay damaged and are reported when read.
    const sum = checksumOf(peer, { ...span, first, last }, packed) + (letters ? 0 : 1)
    add.run(peer, last, first, bytes, NO_LIFE, before, sum, packed)
  }
  const put = database.prepare<unknown[]>(
    'INSERT INTO mail_heads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const heads = database.prepare<unknown[]>('SELECT * FROM old_heads').raw().all() as OldHead[]
  for (const [peer, posted = 0, acked = 0, bytes = 0, heard = 0, tries = 0] of heads) {
    const postedDigest = digests.get(peer) ?? NO_DIGEST
    const unknown = { ackedDigest: NO_DIGEST, heardDigest: NO_DIGEST }
    const lives = { ourLives: [], theirLives: [] }
    const numbers = { peer, posted, acked, bytes, heard, tries }
    const keys = { key: null, root: null }
    put.run(...rowOf({ ...numbers, postedDigest, ...unknown, ...lives, ...keys }))
  }
  database.exec('DROP TABLE old_heads; DROP TABLE old_letters')
}

function upgradeRows(database: Database.Database): void {
  const rows = <Row>(text: string): Row[] => database.prepare<unknown[]>(text).raw().all() as Row[]
  const value = database.prepare<unknown[]>('INSERT INTO mail_values VALUES (?, ?, ?)')
  // Reserved keys of 0.1 begin with NUL, where libsql truncates text. They are obsolete: skip them.
  const theirs = "SELECT key, value FROM old_values WHERE instr(CAST(key AS BLOB), x'00') <> 1"
  for (const [key, bytes] of rows<[string, Uint8Array]>(theirs)) {
    value.run(key, bytes, sumOfValue(key, bytes))
  }
  const dead = database.prepare<unknown[]>('INSERT INTO mail_dead VALUES (?, ?, ?, ?, ?)')
  const old = 'SELECT peer, n, body, why FROM old_dead ORDER BY rowid'
  for (const row of rows<[string, number, Uint8Array, string]>(old)) {
    dead.run(...row, sumOfDead(...row))
  }
  database.exec('DROP TABLE old_dead; DROP TABLE old_values')
}
