/**
 * What pieces look like on the wire (docs/STANDARD.md, section 10).
 *
 *     generation   epoch:varint number:varint
 *     update       head:u8 seq:u8 id:varint tag:generation [fields] [z:text]
 *                  head: 1 + hold * 8 + loose * 32 + fields * 64 + z * 128
 *     release      2:u8 player:varint               only by the primary, of who is gone
 *     row          id type flags gen by [last client, gen before, by before] heldBy lastReleased
 *                  z zg hidden [fields]
 *     news         1:u8 count { why, seq, reason, row }         one operation
 *     gone         in news: the id alone
 *     table        2:u8 flags newest:generation rows            brings a member up to date
 */

import {
  type ByteReader,
  type ByteWriter,
  createReader,
  createWriter,
  fail,
} from '../wire/bytes.ts'
import { finish, isDone, readText, readU8, readVarint } from '../wire/bytes.ts'
import { writeText, writeU8, writeVarint } from '../wire/bytes.ts'
import { decode, encode, message, text, varint, record } from '../wire/layout.ts'
import { allFields, type Quantised, readFields, writeFields } from '../wire/schema.ts'
import { initialFields } from './fields.ts'
import {
  GENERATIONS,
  type Hold,
  type Op,
  type Outcome,
  type PieceTypes,
  type Row,
  SEQ_MODULUS,
  type Why,
} from './state.ts'

/** Longest level on the wire. */
export const Z_MAX = 64
/** Longest sentence about why not, in bytes. */
export const REASON_MAX = 200

const HOLDS: readonly Hold[] = ['keep', 'grab', 'release', 'wrest']
const WHYS: readonly Why[] = ['recorded', 'clamped', 'inapplicable', 'loose', 'table']
const EPOCH_MAX = 2 ** 21

/** An update as it comes in; its fields are read once its piece is known. */
export interface Update {
  seq: number
  id: number
  tag: number
  loose: boolean
  hold: Hold
  /** Where its fields and its level stand. */
  rest: ByteReader
  hasFields: boolean
  hasZ: boolean
}

/** One piece that an operation made anew, changed or removed. */
export interface Entry {
  id: number
  /** Null if it is gone. */
  row: Row | null
  why: Why
  /** The update of `row.by` that it answers; 0 for none. */
  seq: number
  reason: string
}

/** A part of a table. */
export interface TablePart {
  first: boolean
  last: boolean
  /** The newest generation that was given. */
  gen: number
  rows: Row[]
}

/** Appends a generation. */
export function writeGen(writer: ByteWriter, gen: number): void {
  writeVarint(writer, Math.floor(gen / GENERATIONS))
  writeVarint(writer, gen % GENERATIONS)
}

/** Reads a generation. */
export function readGen(reader: ByteReader): number {
  const epoch = readVarint(reader)
  const count = readVarint(reader)
  if (epoch >= EPOCH_MAX || count >= GENERATIONS) fail(reader)
  return epoch * GENERATIONS + count
}

/** The body of an update. */
export function encodeUpdate(
  types: PieceTypes,
  type: number,
  update: { seq: number; id: number; tag: number; loose: boolean; op: Op },
): Uint8Array {
  const { op } = update
  const writer = createWriter(32)
  const bits = (update.loose ? 32 : 0) + (op.mask !== 0 ? 64 : 0) + (op.z !== null ? 128 : 0)
  writeU8(writer, 1 + HOLDS.indexOf(op.hold) * 8 + bits)
  writeU8(writer, update.seq % SEQ_MODULUS)
  writeVarint(writer, update.id)
  writeGen(writer, update.tag)
  if (op.mask !== 0) writeFields(writer, types[type]!.schema, op.fields, op.mask)
  if (op.z !== null) writeText(writer, op.z, Z_MAX)
  return finish(writer)
}

/** The body by which a primary frees what players hold who are gone. */
export function encodeFree(players: readonly number[]): Uint8Array {
  const writer = createWriter(16)
  writeU8(writer, 2)
  writeVarint(writer, players.length)
  for (const player of players) writeVarint(writer, player)
  return finish(writer)
}

/** What an operation asks for; null if it is malformed (O42). */
export function readBody(bytes: Uint8Array): Update | { free: number[] } | null {
  const reader = createReader(bytes)
  const head = readU8(reader)
  if (head === 2) return readFree(reader)
  if ((head & 7) !== 1) return null
  const seq = readU8(reader)
  const id = readVarint(reader)
  const tag = readGen(reader)
  if (reader.failed || seq >= SEQ_MODULUS) return null
  return {
    seq,
    id,
    tag,
    loose: (head & 32) !== 0,
    hold: HOLDS[(head >> 3) & 3]!,
    rest: reader,
    hasFields: (head & 64) !== 0,
    hasZ: (head & 128) !== 0,
  }
}

function readFree(reader: ByteReader): { free: number[] } | null {
  const count = readVarint(reader)
  if (count > 256) return null
  const free = Array.from({ length: count }, () => readVarint(reader))
  return isDone(reader) ? { free } : null
}

/** The operation of an update whose piece has that type; null if it is malformed. */
export function readOp(types: PieceTypes, type: number, update: Update): Op | null {
  const { rest, hold } = update
  const fields: Quantised = []
  const mask = update.hasFields ? readFields(rest, types[type]!.schema, fields) : 0
  const z = update.hasZ ? readText(rest, Z_MAX) : null
  return isDone(rest) ? { hold, mask, fields, z } : null
}

const outcomes = message({
  recorded: [1, record({ gen: varint })],
  clamped: [2, record({ gen: varint })],
  conflict: [3, record({ by: varint })],
  refused: [4, record({ reason: text(REASON_MAX) })],
  bogus: [5, record({ reason: text(REASON_MAX) })],
})

/** An outcome as bytes. */
export function encodeOutcome(outcome: Outcome): Uint8Array {
  return encode(outcomes, outcome)
}

/** What came of an update; null for bytes that are no outcome. */
export function decodeOutcome(bytes: Uint8Array): Outcome | null {
  return decode(outcomes, bytes)
}

/** Appends a whole row, but for the fields that are hidden. */
export function writeRow(writer: ByteWriter, types: PieceTypes, row: Row): void {
  const { schema } = types[row.type]!
  const shown = (allFields(schema) & ~row.hidden) >>> 0
  writeVarint(writer, row.id)
  writeU8(writer, row.type)
  writeGen(writer, row.gen)
  writeVarint(writer, row.by)
  writeVarint(writer, row.lastClient)
  if (row.lastClient !== 0) {
    writeGen(writer, row.genBefore)
    writeVarint(writer, row.byBefore)
  }
  writeVarint(writer, row.heldBy)
  writeVarint(writer, row.lastReleased)
  writeText(writer, row.z, Z_MAX)
  writeGen(writer, row.zg)
  writeVarint(writer, row.hidden)
  if (shown !== 0) writeFields(writer, schema, row.fields, shown)
}

/** A row; the reader has failed if it is malformed. */
export function readRow(reader: ByteReader, types: PieceTypes): Row | null {
  const id = readVarint(reader)
  const type = readU8(reader)
  const rules = types[type]
  if (!rules || id === 0) return failed(reader)
  const gen = readGen(reader)
  const by = readVarint(reader)
  const lastClient = readVarint(reader)
  const genBefore = lastClient === 0 ? 0 : readGen(reader)
  const byBefore = lastClient === 0 ? 0 : readVarint(reader)
  const heldBy = readVarint(reader)
  const lastReleased = readVarint(reader)
  const z = readText(reader, Z_MAX)
  const zg = readGen(reader)
  const hidden = readVarint(reader)
  const all = allFields(rules.schema)
  if (reader.failed || hidden > all) return failed(reader)
  const fields = initialFields(rules)
  const wanted = (all & ~hidden) >>> 0
  if (wanted !== 0 && readFields(reader, rules.schema, fields) !== wanted) fail(reader)
  const last = { lastClient, genBefore, byBefore }
  return { id, type, fields, hidden, gen, by, ...last, z, zg, heldBy, lastReleased }
}

/** Appends what one operation made of a piece. */
export function writeEntry(writer: ByteWriter, types: PieceTypes, entry: Entry): void {
  const { row, why, seq, reason } = entry
  writeU8(writer, row ? WHYS.indexOf(why) : WHYS.length)
  writeVarint(writer, seq)
  writeText(writer, reason, REASON_MAX)
  if (row) writeRow(writer, types, row)
  else writeVarint(writer, entry.id)
}

function readEntry(reader: ByteReader, types: PieceTypes): Entry | null {
  const kind = readU8(reader)
  const seq = readVarint(reader)
  const reason = readText(reader, REASON_MAX)
  if (kind > WHYS.length || seq >= SEQ_MODULUS) return failed(reader)
  if (kind === WHYS.length) return { id: readVarint(reader), row: null, why: 'table', seq, reason }
  const row = readRow(reader, types)
  return row && { id: row.id, row, why: WHYS[kind]!, seq, reason }
}

/** News of one operation. */
export function encodeNews(types: PieceTypes, entries: readonly Entry[]): Uint8Array {
  const writer = createWriter(64)
  writeU8(writer, 1)
  writeVarint(writer, entries.length)
  for (const entry of entries) writeEntry(writer, types, entry)
  return finish(writer)
}

/** A part of a table. */
export function encodeTable(types: PieceTypes, part: TablePart): Uint8Array {
  const writer = createWriter(256)
  writeU8(writer, 2)
  writeU8(writer, (part.first ? 1 : 0) + (part.last ? 2 : 0))
  writeGen(writer, part.gen)
  writeVarint(writer, part.rows.length)
  for (const row of part.rows) writeRow(writer, types, row)
  return finish(writer)
}

/** News or a part of a table; null if they are malformed. */
export function readNews(bytes: Uint8Array, types: PieceTypes): Entry[] | TablePart | null {
  const reader = createReader(bytes)
  const kind = readU8(reader)
  if (kind === 1) return readAll(reader, () => readEntry(reader, types))
  const flags = readU8(reader)
  const gen = readGen(reader)
  if (kind !== 2 || flags > 3) return null
  const rows = readAll(reader, () => readRow(reader, types))
  return rows && { first: (flags & 1) !== 0, last: (flags & 2) !== 0, gen, rows }
}

function readAll<Item>(reader: ByteReader, read: () => Item | null): Item[] | null {
  const count = readVarint(reader)
  const items: Item[] = []
  while (!reader.failed && items.length < count) {
    const item = read()
    if (item) items.push(item)
  }
  return isDone(reader) ? items : null
}

function failed(reader: ByteReader): null {
  fail(reader)
  return null
}
