/**
 * Writes and reads bits, most significant first, within whole bytes. Writing throws on a value that
 * does not fit. Reading expects hostile input: past the end a reader sets `failed` and reads zeros.
 */

/** A growing run of bits, from a whole byte on. */
export interface BitWriter {
  bytes: Uint8Array
  /** Whole bytes written so far. */
  length: number
  /** The bits that do not fill a byte yet, as a number, and their count: 0 to 7. */
  rest: number
  held: number
}

/** A cursor in untrusted bits. */
export interface BitReader {
  bytes: Uint8Array
  /** The next byte to read, and the end of the bytes. */
  at: number
  end: number
  /** The unread bits of the last byte, and their count: 0 to 7. */
  rest: number
  held: number
  failed: boolean
}

export const BITS_MAX = 32

export function createBitWriter(capacity = 32): BitWriter {
  return { bytes: new Uint8Array(capacity), length: 0, rest: 0, held: 0 }
}

/** Writes an unsigned number of 1 to 32 bits. @throws RangeError if it does not fit */
export function writeBits(writer: BitWriter, value: number, bits: number): void {
  if (value >>> 0 !== value || (bits < 32 && value >>> bits !== 0)) {
    throw new RangeError(`${bits} bits hold integers from 0 to ${2 ** bits - 1}: ${value}`)
  }
  if (writer.length + 5 > writer.bytes.length) grow(writer)
  if (bits > 24) {
    put(writer, value >>> 16, bits - 16)
    put(writer, value & 0xffff, 16)
  } else {
    put(writer, value, bits)
  }
}

// At most 24 bits: with up to 7 held ones they fit a positive 32-bit number.
function put(writer: BitWriter, value: number, bits: number): void {
  const all = (writer.rest << bits) | value
  const { bytes } = writer
  let held = writer.held + bits
  let at = writer.length
  while (held >= 8) {
    held -= 8
    bytes[at++] = all >>> held
  }
  writer.length = at
  writer.rest = all & ((1 << held) - 1)
  writer.held = held
}

function grow(writer: BitWriter): void {
  const grown = new Uint8Array(Math.max(writer.length + 5, writer.bytes.length * 2))
  grown.set(writer.bytes)
  writer.bytes = grown
}

/** Fills the last byte with zeros. */
export function padBits(writer: BitWriter): void {
  if (writer.held > 0) writeBits(writer, 0, 8 - writer.held)
}

export function finishBits(writer: BitWriter): Uint8Array {
  padBits(writer)
  return writer.bytes.slice(0, writer.length)
}

/** Starts reading; the bytes are not copied. */
export function createBitReader(bytes: Uint8Array): BitReader {
  return { bytes, at: 0, end: bytes.length, rest: 0, held: 0, failed: false }
}

/** Reads an unsigned number of 1 to 32 bits. */
export function readBits(reader: BitReader, bits: number): number {
  if (bits <= 24) return take(reader, bits)
  const high = take(reader, bits - 16)
  const low = take(reader, 16)
  return reader.failed ? 0 : high * 0x10000 + low
}

function take(reader: BitReader, bits: number): number {
  let { rest, held } = reader
  while (held < bits) {
    if (reader.at >= reader.end) return failBits(reader)
    rest = (rest << 8) | reader.bytes[reader.at++]!
    held += 8
  }
  held -= bits
  reader.rest = rest & ((1 << held) - 1)
  reader.held = held
  return rest >>> held
}

/** Marks the input malformed. @returns 0, to use as the value */
export function failBits(reader: BitReader): 0 {
  reader.failed = true
  reader.at = reader.end
  reader.rest = 0
  reader.held = 0
  return 0
}

/** Whether nothing failed and the padding bits are zeros. */
export function bitsAreWhole(reader: BitReader): boolean {
  return !reader.failed && reader.rest === 0
}

// A variable number of values in one place of a quantised state: their bits as a string. The first
// character is the count of unused bits of the last byte, 0 to 7; then comes a character for each
// byte. Equal bits are equal strings.

/** Packs what `write` writes into a string. */
export function pack(write: (writer: BitWriter) => void): string {
  const writer = createBitWriter()
  write(writer)
  const spare = (8 - writer.held) % 8
  padBits(writer)
  let packed = String.fromCharCode(spare)
  for (let i = 0; i < writer.length; i++) packed += String.fromCharCode(writer.bytes[i]!)
  return packed
}

export function writePacked(writer: BitWriter, packed: string): void {
  const last = packed.length - 1
  for (let i = 1; i <= last; i++) {
    const spare = i === last ? packed.charCodeAt(0) : 0
    writeBits(writer, packed.charCodeAt(i) >>> spare, 8 - spare)
  }
}

export function openPacked(packed: string): BitReader {
  const bytes = new Uint8Array(packed.length - 1)
  for (let i = 0; i < bytes.length; i++) bytes[i] = packed.charCodeAt(i + 1)
  return createBitReader(bytes)
}
