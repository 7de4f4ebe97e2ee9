/**
 * The reliable messages of objects, as bytes.
 *
 *     TELL, UNOWNED  entry*                          objects; objects of departed members
 *     HIDE           (creator count version)*        you may no longer see these objects
 *     FOLLOW         epoch                           you are my primary: send me everything
 *     RESYNC         term                            you have everything: report what I lack
 *     REQUEST        number creator count version what:u8 to answers entry?
 *     ASK, DECLINE   creator count version by request     may member `by` have it? no
 *     GRANT          version entry                        you own it, from this state on
 *     REFUSE         number why by
 *     FULL           creator count version why:u8         there is no room for it
 *     TOTAL          count                                number of objects to come
 *
 * Numbers are varints. An entry is an object's whole state, or its tombstone:
 *
 *     creator count version(epoch count) owner type:u8 (0x80: gone)
 *     oseq, and of a living object: former fields stamp?
 */

import {
  type ByteReader,
  type ByteWriter,
  createWriter,
  fail,
  finish,
  readU8,
  readVarint,
  writeU8,
  writeVarint,
} from '../../wire/bytes.ts'
import { INC_MAX, type Millis } from '../../machine.ts'
import { readFields, writeFields } from '../../wire/fields/schema.ts'
import {
  type Version,
  type PendingRequest,
  COUNT_MAX,
  keyOf,
  type Lack,
  LACKS,
  OSEQ_WIRE_MAX,
  type Replica,
  type Request,
  type ObjectEntry,
  type SharedState,
  type Types,
  type RequestKind,
} from './state.ts'

const EIGHTHS = 8
/** Most stages in one record of ages. */
export const AGES_MAX = 3
/** Longest age on the wire, in eighths of a millisecond: a longer one says nothing of the path. */
export const AGE_MAX: number = 10_000 * EIGHTHS
/** Latest instant on the wire, in eighths of a millisecond: a thousand years. */
export const MADE_AT_MAX: number = 2 ** 48
export const STAMP_BYTES_MAX: number = 8 + 1 + 3 * AGES_MAX

/** `ages` plus the age at the n-th stage; null if an earlier stage is missing, or it is too old. */
export function agesAt(
  { madeAt, ages }: { madeAt: Millis; ages: readonly Millis[] | null },
  time: Millis,
  stage: number,
): readonly Millis[] | null {
  const age = Math.max(0, time - madeAt)
  return ages?.length === stage - 1 && age * EIGHTHS <= AGE_MAX ? [...ages, age] : null
}

/** Writes the stamp of a whole state. @param madeAt  session time, or NaN */
export function writeStamp(writer: ByteWriter, madeAt: Millis): void {
  writeVarint(writer, eighthsOf(madeAt))
}

/** Reads the stamp of a whole state; NaN if the owner did not know session time. */
export function readStamp(reader: ByteReader): Millis {
  const eighths = readVarint(reader)
  if (eighths > MADE_AT_MAX) fail(reader)
  return eighths / EIGHTHS || NaN
}

function eighthsOf(madeAt: Millis): number {
  return madeAt >= 0 ? Math.min(MADE_AT_MAX, Math.max(1, Math.round(madeAt * EIGHTHS))) : 0
}

/** Whether an update with that stamp, after one of the instant `before`, may omit it. */
export function isSameStamp(before: Millis, madeAt: Millis): boolean {
  return eighthsOf(madeAt) === Math.round(before * EIGHTHS)
}

/** Writes a stamp relative to `before`. @returns the instant to which the next is relative */
export function writeNextStamp(
  writer: ByteWriter,
  before: Millis,
  madeAt: Millis,
  ages: readonly Millis[] | null,
): Millis {
  const eighths = eighthsOf(madeAt)
  const difference = eighths - Math.round(before * EIGHTHS)
  const zigzag = difference < 0 ? -difference * 2 - 1 : difference * 2
  writeVarint(writer, (eighths === 0 ? 0 : 2 * (zigzag + 1)) + (ages === null ? 0 : 1))
  if (ages !== null) {
    writeVarint(writer, ages.length)
    for (const age of ages) writeVarint(writer, Math.round(age * EIGHTHS))
  }
  return eighths === 0 ? before : eighths / EIGHTHS
}

/** Reads the stamp of an update; the next one is relative to `last`. */
export function readNextStamp(
  reader: ByteReader,
  before: Millis,
): { madeAt: Millis; last: Millis; ages: Millis[] | null } {
  const step = readVarint(reader)
  const ages = step % 2 === 1 ? readAges(reader) : null
  if (step < 2) return { madeAt: NaN, last: before, ages }
  const zigzag = Math.floor(step / 2) - 1
  const difference = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
  const eighths = Math.round(before * EIGHTHS) + difference
  if (eighths < 1 || eighths > MADE_AT_MAX) fail(reader)
  return { madeAt: eighths / EIGHTHS, last: eighths / EIGHTHS, ages }
}

function readAges(reader: ByteReader): Millis[] {
  const length = readVarint(reader)
  if (length > AGES_MAX) fail(reader)
  const ages: Millis[] = []
  while (!reader.failed && ages.length < length) {
    const age = readVarint(reader)
    if (age > AGE_MAX) fail(reader)
    ages.push(age / EIGHTHS)
  }
  return ages
}

/** Highest epoch and highest count of a version. */
export const VERSION_MAX: number = 2 ** 32 - 1

export function writeVersion(writer: ByteWriter, version: Version): void {
  writeVarint(writer, version.epoch)
  writeVarint(writer, version.count)
}

export function readVersion(reader: ByteReader): Version {
  const epoch = readVarint(reader)
  const count = readVarint(reader)
  if (epoch > VERSION_MAX || count > VERSION_MAX) fail(reader)
  return { epoch, count }
}

export const KIND = {
  tell: 1,
  unowned: 2,
  hide: 3,
  follow: 4,
  resync: 5,
  request: 6,
  ask: 7,
  decline: 8,
  grant: 9,
  refuse: 10,
  full: 11,
  total: 12,
} as const

/** Most bytes of a message with several entries. */
export const BATCH_BYTES = 1_000
/** Most bytes of an entry without its fields. */
export const ENTRY_OVERHEAD: number = 48 + STAMP_BYTES_MAX

const GONE = 0x80

export function begin(kind: number): ByteWriter {
  const writer = createWriter(128)
  writeU8(writer, kind)
  return writer
}

type Named = Pick<Replica, 'creator' | 'count' | 'version'>

export function writeName(writer: ByteWriter, named: Named): void {
  for (const number of nameOf(named)) writeVarint(writer, number)
}

export function readName(reader: ByteReader): { key: number; version: Version } {
  const creator = readVarint(reader)
  const count = readVarint(reader)
  if (creator < 1 || creator >= INC_MAX || count < 1 || count > COUNT_MAX) fail(reader)
  return { key: keyOf(creator, count), version: readVersion(reader) }
}

export function writeEntry(writer: ByteWriter, types: Types, replica: SharedState): void {
  const { schema, timed } = types[replica.type]!
  writeName(writer, replica)
  writeVarint(writer, replica.owner)
  writeU8(writer, replica.type | (replica.dead ? GONE : 0))
  writeVarint(writer, replica.oseq)
  if (replica.dead) return
  writeVarint(writer, replica.former)
  writeFields(writer, schema, replica.fields, schema.all)
  if (timed) writeStamp(writer, replica.madeAt)
}

export function readEntry(reader: ByteReader, types: Types): ObjectEntry {
  const { key, version } = readName(reader)
  const owner = readVarint(reader)
  const typed = readU8(reader)
  const oseq = readVarint(reader)
  const rules = types[typed & ~GONE]
  if (!rules || oseq > OSEQ_WIRE_MAX || owner >= INC_MAX) fail(reader)
  const entry: ObjectEntry = {
    key,
    creator: Math.floor(key / 2 ** 32),
    count: key % 2 ** 32,
    version,
    owner,
    type: typed & ~GONE,
    dead: typed >= GONE,
    oseq,
    former: 0,
    fields: [],
    madeAt: NaN,
  }
  if (entry.dead || !rules || reader.failed) return entry
  entry.former = readVarint(reader)
  if (readFields(reader, rules.schema, entry.fields) !== rules.schema.all) fail(reader)
  if (rules.timed) entry.madeAt = readStamp(reader)
  return entry
}

export function plain(kind: number, ...numbers: number[]): Uint8Array {
  return finish(beginWith(kind, numbers))
}

export function withEntry(
  kind: number,
  types: Types,
  replica: Replica,
  ...numbers: number[]
): Uint8Array {
  const writer = beginWith(kind, numbers)
  writeEntry(writer, types, replica)
  return finish(writer)
}

function beginWith(kind: number, numbers: readonly number[]): ByteWriter {
  const writer = begin(kind)
  for (const number of numbers) writeVarint(writer, number)
  return writer
}

export function nameOf({ creator, count, version }: Named): number[] {
  return [creator, count, version.epoch, version.count]
}

const WHATS: readonly RequestKind[] = ['take', 'give', 'yes']

/** Encodes a REQUEST; a giver's includes the object's state. */
export function encodeRequest(
  types: Types,
  number: number,
  replica: Replica,
  { what, to, version, answers }: Request,
): Uint8Array {
  const name = nameOf({ ...replica, version })
  const numbers = [number, ...name, WHATS.indexOf(what), to, answers]
  if (what === 'take') return plain(KIND.request, ...numbers)
  return withEntry(KIND.request, types, replica, ...numbers)
}

export function readRequest(reader: ByteReader, types: Types): Omit<PendingRequest, 'from' | 'at'> {
  const number = readVarint(reader)
  const { key, version } = readName(reader)
  const what = WHATS[readU8(reader)]
  const to = readVarint(reader)
  const answers = readVarint(reader)
  const entry = what === 'give' || what === 'yes' ? readEntry(reader, types) : null
  if (what === undefined || (entry && entry.key !== key)) fail(reader)
  return { number, key, version, what: what ?? 'take', to, answers, entry }
}

export function readLack(reader: ByteReader): Lack {
  const why = LACKS[readU8(reader)]
  if (why === undefined) fail(reader)
  return why ?? 'full'
}
