/**
 * When the state of an object with motion was made, and how old it was on its way (T73).
 *
 *     madeAt:varint  ages:list(varint,3)      all in eighths of a millisecond
 *
 * `madeAt` is session time, 0 if its owner does not know that. Ages stand in few records: those
 * of the stages that the state has behind it, sent by its owner, received and sent by the primary.
 */

import type { Millis } from '../machine.ts'
import { type ByteReader, type ByteWriter, fail, readVarint, writeVarint } from '../wire/bytes.ts'

const EIGHTHS = 8
/** Stages that a record may say. */
export const AGES_MAX = 3
/** Longest age on the wire, in eighths of a millisecond: what is older tells nothing of the way. */
export const AGE_MAX: number = 10_000 * EIGHTHS
/** The stamp at its longest. */
export const STAMP_BYTES_MAX: number = 8 + 1 + 3 * AGES_MAX

/** The ages with that of the stage which it comes to now, or null if that is not the n-th. */
export function agesAt(
  { madeAt, ages }: { madeAt: Millis; ages: readonly Millis[] | null },
  time: Millis,
  stage: number,
): readonly Millis[] | null {
  const age = Math.max(0, time - madeAt)
  return ages?.length === stage - 1 && age * EIGHTHS <= AGE_MAX ? [...ages, age] : null
}

/** Writes the stamp. @param madeAt  session time, or NaN */
export function writeStamp(
  writer: ByteWriter,
  madeAt: Millis,
  ages: readonly Millis[] | null,
): void {
  writeVarint(writer, madeAt >= 0 ? Math.max(1, Math.round(madeAt * EIGHTHS)) : 0)
  writeVarint(writer, ages?.length ?? 0)
  for (const age of ages ?? []) writeVarint(writer, Math.round(age * EIGHTHS))
}

/** Reads the stamp; `madeAt` is NaN if its owner did not know. */
export function readStamp(reader: ByteReader): { madeAt: Millis; ages: Millis[] } {
  const madeAt = readVarint(reader) / EIGHTHS || NaN
  const length = readVarint(reader)
  if (length > AGES_MAX) fail(reader)
  const ages: Millis[] = []
  while (!reader.failed && ages.length < length) {
    const age = readVarint(reader)
    if (age > AGE_MAX) fail(reader)
    ages.push(age / EIGHTHS)
  }
  return { madeAt, ages }
}
