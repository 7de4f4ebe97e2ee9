/** Encodes and applies the committed state of pieces and its changes. */

import {
  type ByteReader,
  type ByteWriter,
  createReader,
  createWriter,
  fail,
  finish,
  isDone,
  readBytes,
  readU8,
  readVarint,
  reset,
  writeBytes,
  writeU8,
  writeVarint,
} from '../../wire/bytes.ts'
import {
  beginNews,
  type Entry,
  readLostRanges,
  readGen,
  readId,
  readRow,
  readRows,
  writeLostRanges,
  writeGen,
  writeHead,
  writeRow,
  writeRows,
} from './messages.ts'
import {
  closeRanges,
  type LostRange,
  FORKS_MAX,
  type Committed,
  newestOf,
  PIECE_ID_MAX,
  type Pieces,
  type PieceTypes,
  type Row,
} from './state.ts'

const ROW = 1
const GONE = 2
const DRAWS = 3
const SNAPSHOT = 4
const PUBLISHED = 5
/** Most bytes of a seed. */
export const SEED_MAX = 64
// One buffer for all calls, which never overlap.
const scratch: ByteWriter = createWriter(1_024)

/** Encodes changes for the log and news for the members; each row is encoded once for both. */
export function encodeEffects(
  types: PieceTypes,
  entries: readonly Entry[],
): { changes: Uint8Array[]; news: Uint8Array | null } {
  const changes: Uint8Array[] = []
  if (entries.length === 0) return { changes, news: null }
  reset(scratch)
  beginNews(scratch, entries.length)
  for (const entry of entries) {
    writeHead(scratch, entry)
    const at = scratch.length
    if (entry.row) writeRow(scratch, types, entry.row)
    changes.push(entry.row ? rowWritten(at) : encodeGone(entry))
  }
  return { changes, news: finish(scratch) }
}

function rowWritten(at: number): Uint8Array {
  const change = new Uint8Array(1 + scratch.length - at)
  change[0] = ROW
  change.set(scratch.bytes.subarray(at, scratch.length), 1)
  return change
}

function encodeGone({ id, gen = 0 }: Entry): Uint8Array {
  const writer = begin(GONE)
  writeVarint(writer, id)
  writeGen(writer, gen)
  return finish(writer)
}

export function encodeDraws(draws: number): Uint8Array {
  const writer = begin(DRAWS)
  writeVarint(writer, draws)
  return finish(writer)
}

function begin(kind: number): ByteWriter {
  const writer = createWriter(64)
  writeU8(writer, kind)
  return writer
}

/** Applies a change; ignores a malformed one, written by another build. */
export function apply(committed: Committed, types: PieceTypes, bytes: Uint8Array): void {
  const reader = createReader(bytes)
  const kind = readU8(reader)
  if (kind === DRAWS) {
    const draws = readVarint(reader)
    if (isDone(reader)) committed.draws = draws
  } else if (kind === GONE) {
    const id = readId(reader)
    const gen = readGen(reader)
    if (!isDone(reader)) return
    committed.rows.delete(id)
    noteGeneration(committed, gen)
  } else if (kind === ROW) {
    const row = readRow(reader, types)
    if (!row || !isDone(reader)) return
    committed.rows.set(row.id, row)
    committed.nextId = Math.max(committed.nextId, row.id + 1)
    noteGeneration(committed, newestOf(row))
  }
}

function noteGeneration(committed: Committed, gen: number): void {
  closeRanges(committed.lostRanges, gen)
  committed.gen = Math.max(committed.gen, gen)
}

/** Encodes the whole committed state, for a backup. */
export function snapshot(committed: Committed, types: PieceTypes): Uint8Array {
  const writer = begin(SNAPSHOT)
  writeBytes(writer, committed.seed, SEED_MAX)
  writeVarint(writer, committed.draws)
  writeVarint(writer, committed.nextId)
  writeLostRanges(writer, committed.lostRanges)
  writeRows(writer, types, committed.gen, [...committed.rows.values()])
  return finish(writer)
}

/** Encodes the whole state published to this member. */
export function published(
  { published: rows, processed, lostRanges }: Pieces,
  types: PieceTypes,
): Uint8Array {
  const writer = begin(PUBLISHED)
  writeLostRanges(writer, lostRanges)
  writeRows(writer, types, processed, [...rows.values()])
  return finish(writer)
}

/** Reads a committed or a published state; after the latter a lost range is open (O58). */
export function restored(types: PieceTypes, bytes: Uint8Array, seed: Uint8Array): Committed | null {
  const reader = createReader(bytes)
  const kind = readU8(reader)
  if (kind !== SNAPSHOT && kind !== PUBLISHED) return null
  const committed =
    kind === SNAPSHOT ? readSnapshot(reader, types) : readPublished(reader, types, seed)
  return isDone(reader) ? committed : null
}

function readSnapshot(reader: ByteReader, types: PieceTypes): Committed {
  const seed = readBytes(reader, SEED_MAX).slice()
  const draws = readVarint(reader)
  const nextId = readVarint(reader)
  const lostRanges = readLostRanges(reader)
  const { gen, rows } = readRows(reader, types)
  if (nextId <= highest(rows) || nextId > PIECE_ID_MAX + 1) fail(reader)
  return { rows: byId(rows), gen, nextId, seed, draws, lostRanges }
}

function readPublished(reader: ByteReader, types: PieceTypes, seed: Uint8Array): Committed {
  const before = readLostRanges(reader)
  const { gen, rows } = readRows(reader, types)
  const lostRanges = withLostRange(before, gen)
  return { rows: byId(rows), gen, nextId: highest(rows) + 1, seed, draws: 0, lostRanges }
}

// Adds a lost range above `gen` to those of earlier recoveries (O58).
function withLostRange(before: readonly LostRange[], gen: number): LostRange[] {
  const lostRanges = before.filter(({ after }) => after < gen)
  lostRanges.push({ after: gen, until: Infinity })
  const [first, second, ...rest] = lostRanges as [LostRange, LostRange, ...LostRange[]]
  if (lostRanges.length <= FORKS_MAX) return lostRanges
  return [{ after: first.after, until: Math.max(first.until, second.until) }, ...rest]
}

function byId(rows: readonly Row[]): Map<number, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}

function highest(rows: readonly Row[]): number {
  return rows.reduce((most, { id }) => Math.max(most, id), 0)
}
