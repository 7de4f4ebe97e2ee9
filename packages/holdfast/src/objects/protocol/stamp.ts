/**
 * Stamps: when the state of an object with motion was made, and its age at each stage (T73).
 *
 *     entry   madeAt:varint                               all in eighths of a millisecond
 *     update  step:varint  ages:list(varint,3), if any
 *
 * `madeAt` is session time, 0 if the owner does not know it. The step encodes the difference to the
 * instant before in the frame, which begins at 0: 0 or 1 if the instant is unknown, else
 * 2 * (zigzag(difference) + 1). After an odd step come the ages at the stages passed so far: sent
 * by the owner, received by the primary, sent by the primary. Few updates carry ages.
 */

import type { Millis } from '../../machine.ts'
import {
  type ByteReader,
  type ByteWriter,
  fail,
  readVarint,
  writeVarint,
} from '../../wire/bytes.ts'

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

// The version of an object's ownership (B43, B51) decides which of two entries is newer.
//
// A version starts at (0, 0) and rises with each change of owner. It combines the epoch of the
// granting primary and a count. So two primaries never make the same version, and a grant by a
// successor fences off every grant by a deposed primary.

/** Plain data, never changed in place. */
export interface Version {
  readonly epoch: number
  readonly count: number
}

/** The version of an object that still has its first owner. */
export const FIRST: Version = Object.freeze({ epoch: 0, count: 0 })

export function compare(a: Version, b: Version): number {
  return a.epoch - b.epoch || a.count - b.count
}

/** Highest epoch and highest count of a version. */
export const VERSION_MAX: number = 2 ** 32 - 1

/** The version of a grant in `epoch`: newer than `known`, unless that is of a later epoch. */
export function after(known: Version, epoch: number): Version {
  return { epoch, count: known.epoch < epoch ? 1 : known.count + 1 }
}

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
