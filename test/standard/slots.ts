/**
 * Section 14 of the document, for the reader that knows nothing else: frames of slots. Throws
 * Malformed.
 */

import { limit, type Standard } from './document.ts'
import { type Cursor, integer, Malformed, type Read, varint } from './values.ts'

/** A frame: what holds for its slot, and events. */
export function readSlots(standard: Standard, bytes: Uint8Array): Read {
  const cursor = { bytes, at: 0 }
  const head = integer(cursor, 1)
  if (head > 63 || (bit(head, 16) && !bit(head, 2))) throw new Malformed(`a head of ${head}`)
  const slot = integer(cursor, 2)
  const root = varint(cursor)
  const digest = head % 2 === 1 ? integer(cursor, 4) : null
  const settled = bit(head, 2) ? integer(cursor, 4) : null
  const acts = bit(head, 2) ? integer(cursor, 4) : null
  const agreed = bit(head, 16) ? integer(cursor, 1) : null
  const events: Read[] = []
  while (cursor.at < bytes.length) events.push(readEvent(standard, cursor))
  const flags = { near: bit(head, 4), apart: bit(head, 8), seeks: bit(head, 32) }
  return { slot, root, ...flags, digest, settled, acts, agreed, events }
}

function bit(head: number, value: number): boolean {
  return Math.floor(head / value) % 2 === 1
}

function readEvent(standard: Standard, cursor: Cursor): Read {
  const head = integer(cursor, 1)
  const back = Math.floor(head / 4)
  const whose: Read = {}
  if (bit(head, 1)) {
    const inc = varint(cursor)
    if (inc >= 2 ** 24) throw new Malformed(`inc ${inc}`)
    Object.assign(whose, { inc, player: varint(cursor) })
  }
  const id = varint(cursor)
  if (id < 1 || id >= 2 ** 28) throw new Malformed(`an event of number ${id}`)
  const gone = bit(head, 2) ? varint(cursor) : 0
  if (bit(head, 2) && gone === 0) throw new Malformed('nobody went')
  const length = bit(head, 2) ? 0 : integer(cursor, 1)
  if (length > limit(standard, 'ACT_BYTES_MAX')) throw new Malformed(`an act of ${length} bytes`)
  const end = cursor.at + length
  if (end > cursor.bytes.length) throw new Malformed('past the end')
  const body = cursor.bytes.slice(cursor.at, end)
  cursor.at = end
  return { back, ...whose, id, gone, body }
}

/** The mark of an event, as the document makes it. */
export function markOf(words: readonly number[], body: Uint8Array): number {
  let sum = 0x811c9dc5
  const parts = words.flatMap((word) => [word % 65536, Math.floor(word / 65536)])
  for (const part of [...parts, ...body]) sum = Math.imul(sum ^ part, 0x01000193) >>> 0
  return Math.imul((sum ^ (sum >>> 15)) >>> 0, 0x2c1b3c6d) >>> 0
}
