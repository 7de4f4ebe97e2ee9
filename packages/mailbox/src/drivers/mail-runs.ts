/** The letters of one transaction to one peer share a row, a run: many cost as little as one. */

import { LETTER_OVERHEAD, type Letter } from '../../../holdfast/src/ports.ts'
import { isSame } from '../../../holdfast/src/wire/history.ts'

/** Most bytes of a run, with overhead; a larger letter is a run of its own. */
export const RUN_BYTES_MAX: number = 64 * 1024

export interface Run {
  /** The life that posted them, and the digest before the first letter. */
  life: Uint8Array
  before: Uint8Array
  /** The digest of the last. */
  digest: Uint8Array
  first: number
  last: number
  /** Bytes of the letters, with LETTER_OVERHEAD for each. */
  bytes: number
  bodies: Uint8Array[]
}

/** Appends a letter to the last run or a new one. @param before  the digest before it */
export function addTo(
  runs: Run[],
  { n, body, life, digest }: Letter & { life: Uint8Array; digest: Uint8Array },
  before: Uint8Array,
): void {
  const size = body.length + LETTER_OVERHEAD
  const last = runs.at(-1)
  const follows = last && last.last + 1 === n && isSame(last.life, life)
  if (!follows || last.bytes + size > RUN_BYTES_MAX) {
    runs.push({ life, before, digest, first: n, last: n, bytes: size, bodies: [body] })
    return
  }
  last.last = n
  last.digest = digest
  last.bytes += size
  last.bodies.push(body)
}

/** Packs the bodies of a run: a four-byte length before each. */
export function pack({ bodies, bytes }: Run): Uint8Array {
  const packed = new Uint8Array(bytes - bodies.length * (LETTER_OVERHEAD - 4))
  const view = new DataView(packed.buffer)
  let at = 0
  for (const body of bodies) {
    view.setUint32(at, body.length)
    packed.set(body, at + 4)
    at += 4 + body.length
  }
  return packed
}

/** The letters of a packed run; null if damaged. */
export function unpack(first: number, last: number, packed: Uint8Array): Letter[] | null {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  const letters: Letter[] = []
  let at = 0
  for (let n = first; n <= last; n++) {
    if (at + 4 > packed.length) return null
    const end = at + 4 + view.getUint32(at)
    if (end > packed.length) return null
    letters.push({ n, body: packed.slice(at + 4, end) })
    at = end
  }
  return at === packed.length ? letters : null
}

/** Bytes of the letters up to that number in a packed run, with LETTER_OVERHEAD for each. */
export function weighUpTo(first: number, upTo: number, packed: Uint8Array): number {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  let bytes = 0
  let at = 0
  for (let n = first; n <= upTo && at < packed.length; n++) {
    const length = view.getUint32(at)
    bytes += length + LETTER_OVERHEAD
    at += 4 + length
  }
  return bytes
}

/** CRC-32 (IEEE) of the concatenated parts. */
export function checksum(...parts: readonly Uint8Array[]): number {
  let crc = 0xffffffff
  for (const bytes of parts) {
    for (let i = 0; i < bytes.length; i++) crc = TABLE[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8)
  }
  return (crc ^ 0xffffffff) >>> 0
}

const encoder = new TextEncoder()
const scratch = new Uint8Array(8_192)

/** Encodes fields for a row checksum; valid until the next call. */
export function rowBytes(...fields: readonly (number | string)[]): Uint8Array {
  const text = fields.join('\0')
  // A UTF-16 unit takes at most three bytes of UTF-8.
  if (text.length * 3 > scratch.length) return encoder.encode(text)
  return scratch.subarray(0, encoder.encodeInto(text, scratch).written)
}

const TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1
  return crc >>> 0
})
