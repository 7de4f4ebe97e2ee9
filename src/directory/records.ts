/**
 * What a hub keeps of a session on disk, in the form of now and in those of before. Nobody of a
 * session that was kept before link keys were speaks this version, so it does no harm that its keys
 * are not known: the session is listed until it is forgotten.
 */

import { MEMBERS_MAX } from '../machine.ts'
import { KEY_BYTES } from '../ports.ts'
import { decode, encode, flag, list, record, varint, word } from '../wire/layout.ts'
import { type Entry, entry, hash, type Listed, listed, place } from './messages.ts'

/** What is kept of one session. */
export interface Kept {
  entry: Entry
  members: Listed[]
  /** The session's members may recover it. */
  recovers: boolean
}

const form = word(['terms', 'links'])
/** One session as the hub keeps it on disk; `form` is `links`. */
export const stored = record({ form, entry, members: list(listed, MEMBERS_MAX), recovers: flag })

const listedBefore = record({ inc: varint, player: varint, hash })
const keptBefore = { members: list(listedBefore, MEMBERS_MAX), recovers: flag }
/** The form before link keys were added; `form` is `terms`. */
export const storedWithTerms = record({ form, entry, ...keptBefore })
/** The form before terms were added. */
export const storedBefore = record({ entry: record(place), ...keptBefore })

/** The record of a session. */
export function writeRecord(kept: Kept): Uint8Array {
  return encode(stored, { form: 'links', ...kept })
}

/** Reads a record; null if it is none of ours. */
export function readRecord(bytes: Uint8Array): Kept | null {
  const read = decode(stored, bytes)
  if (read?.form !== 'links') return broughtUp(bytes)
  const { entry: known, members, recovers } = read
  return { entry: known, members, recovers }
}

function broughtUp(bytes: Uint8Array): Kept | null {
  const read = decode(storedWithTerms, bytes)
  const before = read?.form === 'terms' ? read : decode(storedBefore, bytes)
  if (!before) return null
  const members = before.members.map((one) => ({ ...one, link: new Uint8Array(KEY_BYTES) }))
  return { entry: { terms: '', ...before.entry }, members, recovers: before.recovers }
}
