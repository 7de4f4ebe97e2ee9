/**
 * The version of an object's ownership (B43, B51): it decides which of two entries is newer.
 *
 * A version starts at (0, 0) and rises with each change of owner. The primary that makes a grant
 * counts it, behind its own epoch; so two primaries never make the same version, and any grant of
 * its successor beats a deposed primary's.
 */

import {
  type ByteReader,
  type ByteWriter,
  fail,
  readVarint,
  writeVarint,
} from '../../wire/bytes.ts'

/** Plain data, never changed in place. */
export interface Version {
  readonly epoch: number
  readonly count: number
}

/** The version of an object that never changed its owner. */
export const FIRST: Version = Object.freeze({ epoch: 0, count: 0 })

/** Below 0 if a is older, 0 if they are the same, above 0 if a is newer. */
export function compare(a: Version, b: Version): number {
  return a.epoch - b.epoch || a.count - b.count
}

/** Epochs and counts of versions are at most this. */
export const VERSION_MAX: number = 2 ** 32 - 1

/**
 * The version of a grant in an epoch: newer than the known one, which is of that epoch or an
 * earlier one.
 */
export function after(known: Version, epoch: number): Version {
  return { epoch, count: known.epoch < epoch ? 1 : known.count + 1 }
}

/** Writes two varints. */
export function writeVersion(writer: ByteWriter, version: Version): void {
  writeVarint(writer, version.epoch)
  writeVarint(writer, version.count)
}

/** Reads a version. */
export function readVersion(reader: ByteReader): Version {
  const epoch = readVarint(reader)
  const count = readVarint(reader)
  if (epoch > VERSION_MAX || count > VERSION_MAX) fail(reader)
  return { epoch, count }
}
