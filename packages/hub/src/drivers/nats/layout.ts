/** How records and blobs lie in NATS: subjects, and the content of a record's message. */

import { createHash } from 'node:crypto'
import { KEY_MAX, RECORD_MAX } from '../../../../holdfast/src/drivers/store/limits.ts'
import {
  blob,
  decode,
  encode,
  list,
  maybe,
  record,
  text,
  u32,
  type ValueOf,
  varint,
  word,
} from '../../../../holdfast/src/wire/layout.ts'

/** Longest name of a record in a subject; a server takes lines of 4,096 bytes. */
const TOKEN_MAX = 256
/** Most bytes of a message. NATS takes 1 MiB with its headers, if nobody changed that. */
export const CHUNK_MAX: number = 512 * 1024
/** Most blobs of one record, and most bytes of a name. */
export const BLOBS_MAX = 4_096
const NAME_BYTES_MAX: number = 3 * KEY_MAX

const content = record({
  form: word(['record']),
  key: text(NAME_BYTES_MAX),
  /** Which of a store's changes it is: an id of the store, and a count. */
  writer: u32,
  change: varint,
  /** The message that it replaces, also one that removed the record; 0 for none. */
  before: varint,
  /** The messages of each blob, by their sequence numbers in the stream of blobs. */
  blobs: list(record({ name: text(NAME_BYTES_MAX), parts: list(varint, 64) }), BLOBS_MAX),
  /** Null removes the record. */
  value: maybe(blob(RECORD_MAX)),
})

/** The messages of each blob that a record names. */
export type Parts = ReadonlyMap<string, readonly number[]>

/** The content of a record's message. */
export type Content = Omit<ValueOf<typeof content>, 'form' | 'blobs'> & { readonly blobs: Parts }

export function encodeContent({ blobs, ...more }: Content): Uint8Array {
  const named = Array.from(blobs, ([name, parts]) => ({ name, parts: [...parts] }))
  return encode(content, { form: 'record', ...more, blobs: named })
}

/** Null for a message that no hub wrote. */
export function readContent(bytes: Uint8Array): Content | null {
  const read = decode(content, bytes)
  if (!read) return null
  const { form: _, blobs, ...more } = read
  return { ...more, blobs: new Map(blobs.map(({ name, parts }) => [name, parts])) }
}

/** A key as one token of a subject: readable, unless it is long. */
export function tokenOf(key: string): string {
  // NATS gives dots and stars a meaning, and percent signs none.
  const token = encodeURIComponent(key).replaceAll('.', '%2E').replaceAll('*', '%2A')
  if (token.length <= TOKEN_MAX) return token
  return `%${createHash('sha256').update(key).digest('hex')}`
}

/** The names of a bucket's streams and subjects. */
export function namesOf(bucket: string) {
  const records = `holdfast.${bucket}.record`
  return {
    records: `${bucket}-records`,
    /** The subjects in that stream. */
    subjects: [`${records}.*`, `holdfast.${bucket}.barrier`],
    record: (token: string): string => `${records}.${token}`,
    /** The token in the subject of a record; null for another subject. */
    tokenIn: (subject: string): string | null => {
      return subject.startsWith(records) ? subject.slice(records.length + 1) : null
    },
    barrier: `holdfast.${bucket}.barrier`,
    blobs: `${bucket}-blobs`,
    blob: `holdfast.${bucket}.blob`,
    links: `holdfast.${bucket}.hub`,
  }
}

export type Names = ReturnType<typeof namesOf>
