/**
 * Levels: the order of pieces from bottom to top (O34-O38).
 *
 * There is always a level between two others: this is Figma's fractional indexing, as implemented
 * by `fractional-indexing`. The player who moves a piece chooses its level. Two players may choose
 * the same at once, so of equal levels the newer generation is on top (O37).
 */

import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing'
import { type ByteReader, createReader, fail, readText, readVarint } from '../../wire/bytes.ts'
import type { Row } from './state.ts'

/** Longest level, in bytes. */
export const LEVEL_MAX = 64
/** A longer level is replaced by a shorter one. */
export const LEVEL_LONG = 24
// Its neighbours with levels longer than this get new ones too.
const CROWDED = 12

/** Compares pieces by their order on the table, lowest first. */
export function byLevel(a: Row, b: Row): number {
  if (a.z !== b.z) return a.z < b.z ? -1 : 1
  return a.zg - b.zg
}

/** A level between two others; a null `low` is the bottom, a null `high` the top. */
export function between(low: string | null, high: string | null): string {
  // No level lies between two equal ones; the newer generation decides.
  if (low !== null && high !== null && low >= high) return low
  return generateKeyBetween(low, high)
}

const LEVEL: RegExp = /^[0-9A-Za-z]+$/
// The lowest possible level has none below it, so it is not allowed.
const LOWEST: string = `A${'0'.repeat(26)}`

/**
 * Whether a text is a level: a head that gives the length of the integer, the integer, and a
 * fraction that does not end in 0. The library accepts other characters, but sorts them wrongly.
 */
export function isLevel(text: string): boolean {
  if (!LEVEL.test(text) || text === LOWEST) return false
  const head = text.charCodeAt(0)
  // The heads a to z precede 1 to 26 digits, and so do Z to A.
  const whole = head >= 97 ? head - 95 : head >= 65 ? 92 - head : Infinity
  return text.length === whole || (text.length > whole && !text.endsWith('0'))
}

// Caches levels by their bytes, because the same levels are read repeatedly.
const KNOWN_LEVELS = 1_024
const known: string[] = []

export function readLevel(reader: ByteReader): string {
  const { bytes } = reader
  const length = readVarint(reader)
  const { at } = reader
  if (length > LEVEL_MAX || length > reader.end - at) {
    fail(reader)
    return ''
  }
  let hash = length
  for (let i = at; i < at + length; i++) hash = (hash * 31 + bytes[i]!) | 0
  const place = (hash >>> 0) % KNOWN_LEVELS
  const before = known[place]
  reader.at += length
  if (before !== undefined && isText(bytes, at, length, before)) return before
  const text = readText(createReader(bytes, at - 1, at + length), LEVEL_MAX)
  if (!isLevel(text)) fail(reader)
  else known[place] = text
  return text
}

function isText(bytes: Uint8Array, at: number, length: number, text: string): boolean {
  if (text.length !== length) return false
  for (let i = 0; i < length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false
  return true
}

export function above(rows: Iterable<Row>): string {
  let top: string | null = null
  for (const { z } of rows) if (top === null || z > top) top = z
  return generateKeyBetween(top, null)
}

export function below(rows: Iterable<Row>): string {
  let bottom: string | null = null
  for (const { z } of rows) if (bottom === null || z < bottom) bottom = z
  return generateKeyBetween(null, bottom)
}

/**
 * New levels, by id, of a piece with too long a level and of crowded neighbours: `most` at once.
 */
export function respaceLevels(
  rows: readonly Row[],
  crowded: Row,
  most: number,
): Map<number, string> {
  const sorted = rows.toSorted(byLevel)
  const at = sorted.indexOf(crowded)
  const side = (most - 1) >> 1
  let from = at
  let to = at + 1
  while (from > 0 && at - from < side && sorted[from - 1]!.z.length > CROWDED) from--
  while (to < sorted.length && to - at <= side && sorted[to]!.z.length > CROWDED) to++
  const [low, high] = [sorted[from - 1]?.z ?? null, sorted[to]?.z ?? null]
  const asItIs = new Map([[crowded.id, crowded.z]])
  if (low !== null && high !== null && low >= high) return asItIs
  const levels = generateNKeysBetween(low, high, to - from)
  if (levels.some(({ length }) => length > LEVEL_MAX)) return asItIs
  return new Map(sorted.slice(from, to).map(({ id }, i) => [id, levels[i]!]))
}
