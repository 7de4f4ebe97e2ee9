/**
 * Pieces on the wire (docs/STANDARD.md, section 13).
 *
 *     generation   epoch:varint number:varint
 *     update       head:u8 seq:u8 id:varint tag:generation [fields] [z:text]
 *                  head: 1 + hold * 8 + loose * 32 + fields * 64 + z * 128
 *     free         2:u8 players, ascending          only by the primary, for departed players
 *     row          id type flags gen by [back, by before] [held by] [released by]
 *                  [refused: count { by, gen after the last }]  z age [hidden] [fields]
 *     news         1:u8 count { why [seq] [reason] row }         one operation
 *     gone         in news: only the id
 *     table        2:u8 flags newest:generation rows            brings a member up to date
 */

import {
  type ByteReader,
  type ByteWriter,
  createReader,
  createWriter,
  fail,
  finish,
  isDone,
  readText,
  readU8,
  readVarint,
  reset,
  writeText,
  writeU8,
  writeVarint,
} from '../../wire/bytes.ts'
import {
  type Fields,
  type Quantised,
  type Schema,
  readFields,
  writeFields,
  initialState,
  quantise,
} from '../../wire/fields/schema.ts'
import { LEVEL_MAX, readLevel } from './levels.ts'
import {
  type LostRange,
  FORKS_MAX,
  GENERATIONS,
  type Hold,
  newestOf,
  NOBODY,
  type Op,
  type Outcome,
  PIECE_ID_MAX,
  PIECES_MAX,
  type PieceRules,
  type PieceTypes,
  type Refusal,
  REFUSED_MAX,
  type Row,
  SEQ_MODULUS,
  type Why,
} from './state.ts'

const initial = new WeakMap<PieceRules, Quantised>()

/** The initial fields of a piece of that type, as a new array. */
export function initialFields(rules: PieceRules): Quantised {
  let fields = initial.get(rules)
  if (!fields) initial.set(rules, (fields = quantise(rules.schema, initialState(rules.schema))))
  return fields.slice()
}

export function setFields(
  { columns }: Schema<Fields>,
  into: Quantised,
  from: Quantised,
  mask: number,
): void {
  for (let i = 0; i < columns.length; i++) {
    if ((mask & (1 << i)) === 0) continue
    const { at, end } = columns[i]!
    for (let place = at; place < end; place++) into[place] = from[place]!
  }
}

/** Sets the masked fields of a row, and marks them as not hidden. */
export function setRowFields(
  { schema }: PieceRules,
  row: Row,
  from: Quantised,
  mask: number,
): void {
  setFields(schema, row.fields, from, mask)
  row.hidden = (row.hidden & ~mask) >>> 0
}

/** Longest explanation of a refusal, in bytes. */
export const REASON_MAX = 200
/** Most pieces that one operation creates, changes or removes. */
export const ENTRIES_MAX = 256
/** Most players whose pieces one operation releases. */
export const HOLDERS_MAX = 256

const HOLDS: readonly Hold[] = ['keep', 'grab', 'release', 'wrest']
const WHYS: readonly Why[] = ['recorded', 'clamped', 'inapplicable', 'loose', 'table']
const EPOCHS = 2 ** 21
const GONE: number = WHYS.length
// Flags of a row: the optional values that follow.
const CHAIN = 1
const HELD = 2
const RELEASED = 4
const HIDDEN = 8
const REFUSED = 16
// One buffer for all calls, which never overlap.
const scratch: ByteWriter = createWriter(1_024)

/** A received update; its fields can be read once the type of its piece is known. */
export interface Update {
  seq: number
  id: number
  tag: number
  loose: boolean
  hold: Hold
  /** The reader, positioned at the fields and the level. */
  rest: ByteReader
  hasFields: boolean
  hasZ: boolean
}

/** One piece that an operation created, changed or removed. */
export interface Entry {
  id: number
  /** Null if the piece was removed. */
  row: Row | null
  why: Why
  /** The number of the sender's update that this answers; 0 if `why` is `table`. */
  seq: number
  /** The explanation of an inapplicable update. */
  reason: string
  /** The generation of the removal. */
  gen?: number
}

export interface TablePart {
  first: boolean
  last: boolean
  /** The newest generation in use. */
  gen: number
  lostRanges: readonly LostRange[]
  rows: Row[]
}

export function writeGen(writer: ByteWriter, gen: number): void {
  const epoch = Math.floor(gen / GENERATIONS)
  writeVarint(writer, epoch)
  writeVarint(writer, gen - epoch * GENERATIONS)
}

export function readGen(reader: ByteReader): number {
  const epoch = readVarint(reader)
  const count = readVarint(reader)
  if (epoch >= EPOCHS || count >= GENERATIONS) fail(reader)
  return epoch * GENERATIONS + count
}

export function writeLostRanges(writer: ByteWriter, lostRanges: readonly LostRange[]): void {
  writeVarint(writer, lostRanges.length)
  for (const { after, until } of lostRanges) {
    writeGen(writer, after)
    writeGen(writer, until === Infinity ? 0 : until)
  }
}

export function readLostRanges(reader: ByteReader): LostRange[] {
  const count = readVarint(reader)
  if (count > FORKS_MAX) fail(reader)
  const lostRanges: LostRange[] = []
  while (!reader.failed && lostRanges.length < count) {
    const after = readGen(reader)
    const until = readGen(reader) || Infinity
    if (until <= after) fail(reader)
    lostRanges.push({ after, until })
  }
  return lostRanges
}

export function encodeUpdate(
  types: PieceTypes,
  type: number,
  update: { seq: number; id: number; tag: number; loose: boolean; op: Op },
): Uint8Array {
  const { hold, mask, fields, z } = update.op
  const bits = (update.loose ? 32 : 0) + (mask !== 0 ? 64 : 0) + (z !== null ? 128 : 0)
  reset(scratch)
  writeU8(scratch, 1 + HOLDS.indexOf(hold) * 8 + bits)
  writeU8(scratch, update.seq)
  writeVarint(scratch, update.id)
  writeGen(scratch, update.tag)
  if (mask !== 0) writeFields(scratch, types[type]!.schema, fields, mask)
  if (z !== null) writeText(scratch, z, LEVEL_MAX)
  return finish(scratch)
}

/** Encodes the release of departed players' pieces: of HOLDERS_MAX players at most. */
export function encodeFree(players: readonly number[]): Uint8Array {
  const some = players.toSorted((a, b) => a - b).slice(0, HOLDERS_MAX)
  reset(scratch)
  writeU8(scratch, 2)
  writeVarint(scratch, some.length)
  for (const player of some) writeVarint(scratch, player)
  return finish(scratch)
}

/** Reads the body of an operation; null if it is malformed (O42). */
export function readBody(bytes: Uint8Array): Update | { free: number[] } | null {
  const reader = createReader(bytes)
  const head = readU8(reader)
  if (head === 2) return readFree(reader)
  if ((head & 7) !== 1) return null
  const seq = readU8(reader)
  const id = readVarint(reader)
  const tag = readGen(reader)
  if (reader.failed || seq === 0 || seq >= SEQ_MODULUS) return null
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
  if (count === 0 || count > HOLDERS_MAX) return null
  const free = Array.from({ length: count }, () => readVarint(reader))
  const rise = free.every((player, at) => player > (free[at - 1] ?? 0))
  return rise && isDone(reader) ? { free } : null
}

/** Reads the operation of an update, by its piece's type; null if it is malformed. */
export function readOp(types: PieceTypes, type: number, update: Update): Op | null {
  const { rest, hold } = update
  const fields: Quantised = []
  const mask = update.hasFields ? readFields(rest, types[type]!.schema, fields) : 0
  const z = update.hasZ ? readText(rest, LEVEL_MAX) : null
  return isDone(rest) ? { hold, mask, fields, z } : null
}

const OUTCOMES: readonly Outcome['kind'][] = [
  ...(['recorded', 'clamped', 'conflict', 'refused', 'bogus', 'held'] as const),
]

export function encodeOutcome(outcome: Outcome): Uint8Array {
  reset(scratch)
  writeU8(scratch, 1 + OUTCOMES.indexOf(outcome.kind))
  if ('gen' in outcome) writeGen(scratch, outcome.gen)
  else if ('by' in outcome) writeVarint(scratch, outcome.by)
  else writeText(scratch, outcome.reason, REASON_MAX)
  return finish(scratch)
}

export function decodeOutcome(bytes: Uint8Array): Outcome | null {
  const reader = createReader(bytes)
  const outcome = readOutcome(reader, OUTCOMES[readU8(reader) - 1])
  return isDone(reader) ? outcome : null
}

function readOutcome(reader: ByteReader, kind: Outcome['kind'] | undefined): Outcome | null {
  switch (kind) {
    case 'recorded':
    case 'clamped':
      return { kind, gen: readGen(reader) }
    case 'conflict':
    case 'held':
      return { kind, by: readVarint(reader) }
    case 'refused':
    case 'bogus':
      return { kind, reason: readText(reader, REASON_MAX) }
    case undefined:
      return null
    default:
      return kind satisfies never
  }
}

/** Appends a row without its hidden fields. */
export function writeRow(writer: ByteWriter, types: PieceTypes, row: Row): void {
  const { schema } = types[row.type]!
  const shown = (schema.all & ~row.hidden) >>> 0
  writeVarint(writer, row.id)
  writeU8(writer, row.type)
  writeU8(writer, flagsOf(row))
  writeGen(writer, row.gen)
  writeVarint(writer, row.by)
  if (row.lastClient !== 0) {
    writeVarint(writer, row.gen - row.genBefore)
    writeVarint(writer, row.byBefore)
  }
  if (row.heldBy !== 0) writeVarint(writer, row.heldBy)
  if (row.lastReleased !== 0) writeVarint(writer, row.lastReleased)
  if (row.refused.length > 0) writeRefused(writer, row)
  writeText(writer, row.z, LEVEL_MAX)
  writeVarint(writer, row.gen - row.zg)
  if (row.hidden !== 0) writeVarint(writer, row.hidden)
  if (shown !== 0) writeFields(writer, schema, row.fields, shown)
}

function writeRefused(writer: ByteWriter, { gen, refused }: Row): void {
  let before = gen
  writeVarint(writer, refused.length)
  for (const one of refused) {
    writeVarint(writer, one.by)
    writeVarint(writer, one.gen - before)
    before = one.gen
  }
}

// `lastClient` is not encoded: if it is not 0, it equals `by`.
function flagsOf({ lastClient, heldBy, lastReleased, hidden, refused }: Row): number {
  const hands = (heldBy !== 0 ? HELD : 0) + (lastReleased !== 0 ? RELEASED : 0)
  const more = (hidden !== 0 ? HIDDEN : 0) + (refused.length > 0 ? REFUSED : 0)
  return (lastClient !== 0 ? CHAIN : 0) + hands + more
}

export function readRow(reader: ByteReader, types: PieceTypes): Row | null {
  const id = readVarint(reader)
  const type = readU8(reader)
  const flags = readU8(reader)
  const rules = types[type]
  if (!rules || id === 0 || id > PIECE_ID_MAX || flags > 31) return failed(reader)
  const gen = readGen(reader)
  const by = readVarint(reader)
  const chain = (flags & CHAIN) !== 0
  const genBefore = chain ? gen - readGiven(reader) : 0
  const byBefore = chain ? readVarint(reader) : 0
  const heldBy = (flags & HELD) !== 0 ? readGiven(reader) : 0
  const lastReleased = (flags & RELEASED) !== 0 ? readGiven(reader) : 0
  const refused = (flags & REFUSED) !== 0 ? readRefused(reader, gen) : NOBODY
  const z = readLevel(reader)
  const zg = gen - readVarint(reader)
  const hidden = (flags & HIDDEN) !== 0 ? readGiven(reader) : 0
  const known = (rules.schema.all & ~hidden) >>> 0
  if (!isHideable(rules, hidden) || (chain && by === 0)) return failed(reader)
  if (genBefore < 0 || zg < 0) return failed(reader)
  const fields = initialFields(rules)
  if (known !== 0 && readFields(reader, rules.schema, fields) !== known) return failed(reader)
  if (reader.failed) return null
  return {
    id,
    type,
    fields,
    hidden,
    gen,
    by,
    lastClient: chain ? by : 0,
    genBefore,
    byBefore,
    refused,
    z,
    zg,
    heldBy,
    lastReleased,
  }
}

// Only secret fields may be hidden.
function isHideable({ secret }: PieceRules, hidden: number): boolean {
  return hidden < 2 ** 32 && (hidden & ~secret) === 0
}

function readRefused(reader: ByteReader, gen: number): Refusal[] {
  const count = readGiven(reader)
  if (count > REFUSED_MAX) fail(reader)
  const refused: Refusal[] = []
  let before = gen
  while (!reader.failed && refused.length < count) {
    const by = readGiven(reader)
    before += readGiven(reader)
    if (before >= EPOCHS * GENERATIONS || refused.some((one) => one.by === by)) fail(reader)
    refused.push({ by, gen: before })
  }
  return refused
}

// Reads a value that must not be 0.
function readGiven(reader: ByteReader): number {
  const value = readVarint(reader)
  return value === 0 ? fail(reader) : value
}

/** Appends an entry without its row. */
export function writeHead(writer: ByteWriter, { id, row, why, seq, reason }: Entry): void {
  writeU8(writer, row ? WHYS.indexOf(why) : GONE)
  if (!row) return writeVarint(writer, id)
  if (why !== 'table') writeU8(writer, seq)
  if (why === 'inapplicable') writeText(writer, reason, REASON_MAX)
}

function readEntry(reader: ByteReader, types: PieceTypes): Entry | null {
  const kind = readU8(reader)
  if (kind === GONE) return { id: readId(reader), row: null, why: 'table', seq: 0, reason: '' }
  const why = WHYS[kind]
  if (!why) return failed(reader)
  const seq = why === 'table' ? 0 : readGiven(reader)
  const reason = why === 'inapplicable' ? readText(reader, REASON_MAX) : ''
  const row = seq < SEQ_MODULUS ? readRow(reader, types) : failed(reader)
  return row && { id: row.id, row, why, seq, reason }
}

export function readId(reader: ByteReader): number {
  const id = readGiven(reader)
  return id > PIECE_ID_MAX ? fail(reader) : id
}

/** Begins the news of one operation. @param count  of the entries that follow */
export function beginNews(writer: ByteWriter, count: number): void {
  writeU8(writer, 1)
  writeVarint(writer, count)
}

export function encodeNews(types: PieceTypes, entries: readonly Entry[]): Uint8Array {
  reset(scratch)
  beginNews(scratch, entries.length)
  for (const entry of entries) {
    writeHead(scratch, entry)
    if (entry.row) writeRow(scratch, types, entry.row)
  }
  return finish(scratch)
}

export function encodeTable(types: PieceTypes, part: TablePart): Uint8Array {
  reset(scratch)
  writeU8(scratch, 2)
  writeU8(scratch, (part.first ? 1 : 0) + (part.last ? 2 : 0))
  writeLostRanges(scratch, part.lostRanges)
  writeRows(scratch, types, part.gen, part.rows)
  return finish(scratch)
}

/** Appends rows. @param newest  the newest generation; no row is newer */
export function writeRows(
  writer: ByteWriter,
  types: PieceTypes,
  newest: number,
  rows: readonly Row[],
): void {
  writeGen(writer, newest)
  writeVarint(writer, rows.length)
  for (const row of rows) writeRow(writer, types, row)
}

/** Reads rows; the reader fails if they are malformed, or repeat a piece. */
export function readRows(reader: ByteReader, types: PieceTypes): { gen: number; rows: Row[] } {
  const gen = readGen(reader)
  const rows = readAll(reader, PIECES_MAX, () => readRow(reader, types))
  if (rows.some((row) => newestOf(row) > gen)) fail(reader)
  return { gen, rows }
}

/** Reads news or a part of a table; null if they are malformed. */
export function readNews(bytes: Uint8Array, types: PieceTypes): Entry[] | TablePart | null {
  const reader = createReader(bytes)
  const kind = readU8(reader)
  if (kind === 1) {
    const entries = readAll(reader, ENTRIES_MAX, () => readEntry(reader, types))
    return isDone(reader) && entries.length > 0 ? entries : null
  }
  const flags = readU8(reader)
  if (kind !== 2 || flags > 3) return null
  const lostRanges = readLostRanges(reader)
  const rows = readRows(reader, types)
  if (!isDone(reader)) return null
  return { first: (flags & 1) !== 0, last: (flags & 2) !== 0, lostRanges, ...rows }
}

function readAll<Item extends { id: number }>(
  reader: ByteReader,
  most: number,
  read: () => Item | null,
): Item[] {
  const count = readVarint(reader)
  if (count > most) fail(reader)
  const items: Item[] = []
  while (!reader.failed && items.length < count) {
    const item = read()
    if (item) items.push(item)
  }
  if (items.length > 1 && new Set(items.map(({ id }) => id)).size < items.length) fail(reader)
  return items
}

function failed(reader: ByteReader): null {
  fail(reader)
  return null
}
