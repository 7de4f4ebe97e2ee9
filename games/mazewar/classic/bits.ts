/** Bits as the classic packets have them: highest first, fields across the borders of bytes. */

/** Puts fields of bits together. */
export interface Bits {
  bytes: number[]
  /** Bits in the last byte that are taken; 0 when it is whole. */
  taken: number
}

/** No bits. */
export function createBits(): Bits {
  return { bytes: [], taken: 0 }
}

/** Appends a number in so many bits, up to 32; of a larger one its lowest. */
export function put(bits: Bits, value: number, width: number): void {
  for (let left = width; left > 0;) {
    if (bits.taken === 0) bits.bytes.push(0)
    const count = Math.min(8 - bits.taken, left)
    left -= count
    const part = Math.floor(value / 2 ** left) % 2 ** count
    bits.bytes[bits.bytes.length - 1]! |= part << (8 - bits.taken - count)
    bits.taken = (bits.taken + count) % 8
  }
}

/** Reads fields of bits. */
export interface BitSource {
  readonly bytes: Uint8Array
  /** The next bit. */
  at: number
  /** Behind the last bit. */
  readonly end: number
  failed: boolean
}

/** Reads bytes from one on, up to before another. */
export function sourceOf(bytes: Uint8Array, from: number, to: number): BitSource {
  return { bytes, at: from * 8, end: to * 8, failed: false }
}

/** The next number of so many bits, up to 32; 0 and `failed` if there are too few. */
export function get(source: BitSource, width: number): number {
  if (source.at + width > source.end) {
    source.failed = true
    return 0
  }
  let value = 0
  for (let left = width; left > 0;) {
    const used = source.at & 7
    const count = Math.min(8 - used, left)
    const part = (source.bytes[source.at >> 3]! >> (8 - used - count)) & (2 ** count - 1)
    value = value * 2 ** count + part
    source.at += count
    left -= count
  }
  return value
}
