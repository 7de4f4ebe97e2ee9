/**
 * A room in a file, exported from a hub or from its primary, to continue elsewhere.
 *
 * The file contains the segments as the hub stores them, possibly sealed; the id of their session,
 * which is part of the seal; and what a new session of the room needs.
 */

import { badValue, NAME_MAX, type Millis } from '../machine.ts'
import { shown } from '../wire/fields/fields.ts'
import { joined } from '../wire/bytes.ts'
import { digest, DIGEST_BYTES, sameBytes } from '../wire/digest.ts'
import {
  blob,
  decode,
  encode,
  flag,
  list,
  record,
  text,
  type ValueOf,
  varint,
} from '../wire/layout.ts'
import { negotiate, only, encodeVersions, formatVersions, type Versions } from '../wire/versions.ts'
import { SEGMENTS_MAX, SESSION_ID_MAX, TERMS_MAX, topology } from './messages.ts'
import { entrant, ENTRANTS_MAX } from './tickets.ts'

export const SAVED_MAX: number = 4 * 1024 * 1024
/** A file begins with this, and the version of what follows. */
export const MARK = 'HOLDFAST ROOM'
/** The version that this build writes and reads. */
export const SAVED_VERSION = 1
export const SAVED_VERSIONS: Versions = only(SAVED_VERSION)

const HEAD_BYTES = MARK.length + 1 + DIGEST_BYTES

/** Layout of what follows the mark, the version and the digest of it. */
export const savedLayout = record({
  game: text(NAME_MAX),
  room: text(NAME_MAX),
  session: text(SESSION_ID_MAX),
  playersMax: varint,
  topology,
  terms: text(TERMS_MAX),
  recovers: flag,
  hosts: flag,
  /** The last epoch of the session; opening it continues after that. */
  epoch: varint,
  /** The next member number: no member had this one or a larger one. */
  next: varint,
  /** Session time when it was saved, in ms; it continues from there. */
  time: varint,
  /** The length of the log up to the last segment. */
  index: varint,
  /** Players that were admitted by a ticket, as far as the exporter knows. */
  entrants: list(entrant, ENTRANTS_MAX),
  /** Segments: a snapshot, and entries after it. */
  segments: list(blob(SAVED_MAX), SEGMENTS_MAX),
})
/** A room that was saved. Times are in ms of session time. */
export type Saved = ValueOf<typeof savedLayout> & { readonly time: Millis }

export function writeSaved(saved: Saved): Uint8Array {
  const body = encode(savedLayout, saved)
  const version = Uint8Array.of(encodeVersions(SAVED_VERSIONS))
  return joined(new TextEncoder().encode(MARK), version, digest(body), body)
}

/** Reads a file, or explains what is wrong with it, as a clause that begins with a verb. */
export function readSaved(bytes: Uint8Array): Saved | { readonly why: string } {
  if (new TextDecoder().decode(bytes.subarray(0, MARK.length)) !== MARK) {
    return { why: 'is no saved room' }
  }
  if (bytes.length > SAVED_MAX) {
    return { why: `has ${bytes.length} bytes of at most ${SAVED_MAX}` }
  }
  const version = bytes[MARK.length]
  if (negotiate(SAVED_VERSIONS, version ?? 0) === null) {
    const [its, ours] = [version ?? 0, SAVED_VERSIONS].map(formatVersions)
    return { why: `is of ${its}, and this build reads ${ours}` }
  }
  const body = bytes.subarray(HEAD_BYTES)
  const isWhole = sameBytes(digest(body), bytes.subarray(MARK.length + 1, HEAD_BYTES))
  return (isWhole && decode(savedLayout, body)) || { why: 'is damaged' }
}

/** The room in a file, as an option of that name. @throws HoldfastError `bad-value` */
export function savedIn(name: string, from: unknown): Saved {
  if (!(from instanceof Uint8Array)) {
    throw badValue(`${name} is what session.export gave, a Uint8Array: ${shown(from)}`)
  }
  const saved = readSaved(from)
  if ('why' in saved) throw badValue(`${name} ${saved.why}`)
  return saved
}
