/**
 * Bits in and out, most significant first. What is written is ours and throws when it does
 * not fit; what is read is the network's: past the end a reader has `failed` and reads zeros.
 */

/** A growing run of bits. */
export interface BitWriter {
  bytes: Uint8Array
  /** Bits written so far. */
  length: number
}

/** A place in bits that came from elsewhere. */
export interface BitReader {
  readonly bytes: Uint8Array
  at: number
  failed: boolean
}

/** Most bits of one number. */
export const BITS_MAX = 32

/** An empty writer. */
export function createBitWriter(capacity = 32): BitWriter {
  return { bytes: new Uint8Array(capacity), length: 0 }
}

/** What was written, the last byte filled up with zeros. */
export function finishBits(writer: BitWriter): Uint8Array {
  return writer.bytes.slice(0, Math.ceil(writer.length / 8))
}

/** Writes an unsigned number of 1 to 32 bits. @throws RangeError if it does not fit */
export function writeBits(writer: BitWriter, value: number, bits: number): void {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits) {
    throw new RangeError(`${bits} bits hold integers from 0 to ${2 ** bits - 1}: ${value}`)
  }
  const need = Math.ceil((writer.length + bits) / 8)
  if (need > writer.bytes.length) {
    const grown = new Uint8Array(Math.max(need, writer.bytes.length * 2))
    grown.set(writer.bytes)
    writer.bytes = grown
  }
  let left = bits
  while (left > 0) {
    const room = 8 - (writer.length & 7)
    const count = Math.min(room, left)
    const part = Math.floor(value / 2 ** (left - count)) % 2 ** count
    const index = writer.length >>> 3
    // A reused writer may hold old bits: clear what this part will cover.
    const kept = room === 8 ? 0 : writer.bytes[index]!
    writer.bytes[index] = kept | (part << (room - count))
    writer.length += count
    left -= count
  }
}

/** Starts to read. The bytes are not copied. */
export function createBitReader(bytes: Uint8Array): BitReader {
  return { bytes, at: 0, failed: false }
}

/** Reads an unsigned number of 1 to 32 bits. */
export function readBits(reader: BitReader, bits: number): number {
  if (reader.failed || reader.at + bits > reader.bytes.length * 8) {
    reader.failed = true
    return 0
  }
  let value = 0
  let left = bits
  while (left > 0) {
    const room = 8 - (reader.at & 7)
    const count = Math.min(room, left)
    const byte = reader.bytes[reader.at >>> 3]!
    value = value * 2 ** count + ((byte >>> (room - count)) & (2 ** count - 1))
    reader.at += count
    left -= count
  }
  return value
}

/** Whether all was read: nothing is left but zeros that fill the last byte. */
export function bitsAreDone(reader: BitReader): boolean {
  if (reader.failed || Math.ceil(reader.at / 8) !== reader.bytes.length) return false
  const rest = (8 - (reader.at & 7)) & 7
  return rest === 0 || readBits(reader, rest) === 0
}
