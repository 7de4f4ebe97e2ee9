/** Changes of the durable state, and all of it at once, as bytes. */

import { type ByteReader, type ByteWriter, createReader, createWriter } from '../wire/bytes.ts'
import { finish, isDone, readBytes, readVarint, writeBytes, writeVarint } from '../wire/bytes.ts'
import { readGen, readRow, writeGen, writeRow } from './messages.ts'
import { type Kept, type Pieces, type PieceTypes, type Row } from './state.ts'

const ROW = 1
const GONE = 2
const DRAWS = 3
const SNAPSHOT = 4
const TOLD = 5
/** The longest seed. */
const SEED_MAX = 64

/** A piece is as follows from now on. */
export function encodeRow(types: PieceTypes, row: Row): Uint8Array {
  const writer = begin(ROW)
  writeRow(writer, types, row)
  return finish(writer)
}

/** A piece is no more, by that generation. */
export function encodeGone(id: number, gen: number): Uint8Array {
  const writer = begin(GONE)
  writeVarint(writer, id)
  writeGen(writer, gen)
  return finish(writer)
}

/** So many lots were drawn. */
export function encodeDraws(draws: number): Uint8Array {
  const writer = begin(DRAWS)
  writeVarint(writer, draws)
  return finish(writer)
}

function begin(kind: number): ByteWriter {
  const writer = createWriter(64)
  writeVarint(writer, kind)
  return writer
}

/** Makes a change; one that is malformed was written by another build, and changes nothing. */
export function apply(kept: Kept, types: PieceTypes, bytes: Uint8Array): void {
  const reader = createReader(bytes)
  const kind = readVarint(reader)
  if (kind === DRAWS) {
    const draws = readVarint(reader)
    if (isDone(reader)) kept.draws = draws
  } else if (kind === GONE) {
    const id = readVarint(reader)
    const gen = readGen(reader)
    if (!isDone(reader)) return
    kept.rows.delete(id)
    given(kept, gen)
  } else if (kind === ROW) {
    const row = readRow(reader, types)
    if (!row || !isDone(reader)) return
    kept.rows.set(row.id, row)
    kept.nextId = Math.max(kept.nextId, row.id + 1)
    given(kept, row.gen)
  }
}

function given(kept: Kept, gen: number): void {
  for (const fork of kept.forks) if (fork.until === Infinity) fork.until = gen
  kept.gen = Math.max(kept.gen, gen)
}

/** All that a backup needs. */
export function snapshot({ kept }: Pieces, types: PieceTypes): Uint8Array {
  const writer = begin(SNAPSHOT)
  writeBytes(writer, kept.seed, SEED_MAX)
  writeVarint(writer, kept.draws)
  writeVarint(writer, kept.nextId)
  writeVarint(writer, kept.forks.length)
  for (const { after, until } of kept.forks) {
    writeGen(writer, after)
    writeGen(writer, until === Infinity ? 0 : until)
  }
  writeRows(writer, types, kept.gen, kept.rows.values())
  return finish(writer)
}

/** All that this member was told. */
export function told({ told: rows, processed }: Pieces, types: PieceTypes): Uint8Array {
  const writer = begin(TOLD)
  writeRows(writer, types, processed, rows.values())
  return finish(writer)
}

function writeRows(writer: ByteWriter, types: PieceTypes, gen: number, rows: Iterable<Row>): void {
  const all = [...rows]
  writeGen(writer, gen)
  writeVarint(writer, all.length)
  for (const row of all) writeRow(writer, types, row)
}

/**
 * Replaces the durable state. From what a member was told a session goes on whose newer
 * generations nobody has seen who is left: tags of those are of no history any more (O58).
 */
export function restore(pieces: Pieces, types: PieceTypes, bytes: Uint8Array): boolean {
  const reader = createReader(bytes)
  const kind = readVarint(reader)
  const { seed } = pieces.kept
  let kept: Kept | null = null
  if (kind === SNAPSHOT) kept = readSnapshot(reader, types)
  else if (kind === TOLD) kept = readTold(reader, types, seed)
  if (!kept || !isDone(reader)) return false
  pieces.kept = kept
  return true
}

function readSnapshot(reader: ByteReader, types: PieceTypes): Kept | null {
  const seed = readBytes(reader, SEED_MAX).slice()
  const draws = readVarint(reader)
  const nextId = readVarint(reader)
  const count = readVarint(reader)
  const forks: Kept['forks'] = []
  while (!reader.failed && forks.length < count) {
    const after = readGen(reader)
    forks.push({ after, until: readGen(reader) || Infinity })
  }
  const rows = readRows(reader, types)
  return rows && { ...rows, nextId, seed, draws, forks }
}

function readTold(reader: ByteReader, types: PieceTypes, seed: Uint8Array): Kept | null {
  const rows = readRows(reader, types)
  if (!rows) return null
  const nextId = Math.max(0, ...rows.rows.keys()) + 1
  return { ...rows, nextId, seed, draws: 0, forks: [{ after: rows.gen, until: Infinity }] }
}

function readRows(
  reader: ByteReader,
  types: PieceTypes,
): { rows: Map<number, Row>; gen: number } | null {
  const gen = readGen(reader)
  const count = readVarint(reader)
  const rows = new Map<number, Row>()
  for (let i = 0; i < count && !reader.failed; i++) {
    const row = readRow(reader, types)
    if (row) rows.set(row.id, row)
  }
  return reader.failed ? null : { rows, gen }
}
