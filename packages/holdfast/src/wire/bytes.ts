/**
 * Reads and writes whole bytes: big-endian integers, LEB128 varints, UTF-8 text.
 *
 * Written values are ours, so one that does not fit throws. Input is hostile: a reader never throws
 * and never leaves its bytes; on an error it sets `failed` and reads zeros.
 */

const encoder = new TextEncoder()
// A leading byte order mark is part of the text.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

// Longer texts go to the library.
const PLAIN_MAX = 32

/** Largest value of a varint here: 2^53 - 1, eight bytes of seven bits at most. */
export const VARINT_MAX: number = Number.MAX_SAFE_INTEGER

/** A growing run of bytes. Plain data: `bytes` may be longer than `length`. */
export interface ByteWriter {
  bytes: Uint8Array
  length: number
}

/** A cursor in untrusted bytes. */
export interface ByteReader {
  readonly bytes: Uint8Array
  at: number
  readonly end: number
  /** A read ran past the end or found a malformed value; everything read since is zero. */
  failed: boolean
}

/** An empty writer. @param capacity first size in bytes; it grows by doubling */
export function createWriter(capacity = 64): ByteWriter {
  return { bytes: new Uint8Array(capacity), length: 0 }
}

/** The written bytes, as a copy of exactly their length. */
export function finish({ bytes, length }: ByteWriter): Uint8Array {
  if (length > PLAIN_MAX) return bytes.slice(0, length)
  // Copying a few bytes by hand is faster.
  const copy = new Uint8Array(length)
  for (let at = 0; at < length; at++) copy[at] = bytes[at]!
  return copy
}

/** Empties a writer and keeps its memory. */
export function reset(writer: ByteWriter): void {
  writer.length = 0
}

function reserve(writer: ByteWriter, count: number): number {
  const at = writer.length
  const need = at + count
  if (need > writer.bytes.length) {
    const grown = new Uint8Array(Math.max(need, writer.bytes.length * 2))
    grown.set(writer.bytes.subarray(0, at))
    writer.bytes = grown
  }
  writer.length = need
  return at
}

function inRange(value: number, max: number, name: string): void {
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw new RangeError(`${name} must be an integer from 0 to ${max}: ${value}`)
  }
}

export function writeU8(writer: ByteWriter, value: number): void {
  inRange(value, 0xff, 'u8')
  const at = reserve(writer, 1)
  writer.bytes[at] = value
}

export function writeU16(writer: ByteWriter, value: number): void {
  inRange(value, 0xffff, 'u16')
  const at = reserve(writer, 2)
  writer.bytes[at] = value >>> 8
  writer.bytes[at + 1] = value & 0xff
}

export function writeU32(writer: ByteWriter, value: number): void {
  inRange(value, 0xffffffff, 'u32')
  const at = reserve(writer, 4)
  writer.bytes[at] = value >>> 24
  writer.bytes[at + 1] = (value >>> 16) & 0xff
  writer.bytes[at + 2] = (value >>> 8) & 0xff
  writer.bytes[at + 3] = value & 0xff
}

/** LEB128, shortest form, 1 to 8 bytes. @throws RangeError outside 0 to 2^53 - 1 */
export function writeVarint(writer: ByteWriter, value: number): void {
  inRange(value, VARINT_MAX, 'varint')
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) {
    const at = reserve(writer, 1)
    writer.bytes[at] = (rest % 0x80) | 0x80
  }
  const at = reserve(writer, 1)
  writer.bytes[at] = rest
}

export function writeF64(writer: ByteWriter, value: number): void {
  const at = reserve(writer, 8)
  new DataView(writer.bytes.buffer, writer.bytes.byteOffset + at, 8).setFloat64(0, value)
}

/** The bytes themselves, without a length. */
export function writeRaw(writer: ByteWriter, bytes: Uint8Array): void {
  // Reserved first, because `reserve` may replace `writer.bytes`.
  const at = reserve(writer, bytes.length)
  writer.bytes.set(bytes, at)
}

/** A varint length, then the bytes. @throws RangeError above max bytes */
export function writeBytes(writer: ByteWriter, bytes: Uint8Array, max: number): void {
  inRange(bytes.length, max, 'length in bytes')
  writeVarint(writer, bytes.length)
  writeRaw(writer, bytes)
}

/** UTF-8 with a varint length in bytes. @throws RangeError above max bytes */
export function writeText(writer: ByteWriter, text: string, max: number): void {
  if (text.length > PLAIN_MAX || !writePlain(writer, text, max)) {
    writeBytes(writer, encoder.encode(text), max)
  }
}

// Most texts are short ASCII: writing them needs no temporary array.
function writePlain(writer: ByteWriter, text: string, max: number): boolean {
  const before = writer.length
  inRange(text.length, max, 'length in bytes')
  writeVarint(writer, text.length)
  const at = reserve(writer, text.length)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x80) {
      writer.length = before
      return false
    }
    writer.bytes[at + i] = code
  }
  return true
}

/** Starts reading; the bytes are not copied. */
export function createReader(bytes: Uint8Array, at = 0, end: number = bytes.length): ByteReader {
  return { bytes, at, end, failed: false }
}

/** Whether nothing failed and no bytes are left. */
export function isDone(reader: ByteReader): boolean {
  return !reader.failed && reader.at === reader.end
}

/** Marks the input malformed. @returns 0, to use as the value */
export function fail(reader: ByteReader): 0 {
  reader.failed = true
  reader.at = reader.end
  return 0
}

// The offset of the next `count` bytes. If too few are left, the reader fails and stays at its end.
function take(reader: ByteReader, count: number): number {
  if (count > reader.end - reader.at) return fail(reader)
  const at = reader.at
  reader.at += count
  return at
}

export function readU8(reader: ByteReader): number {
  const at = take(reader, 1)
  return reader.failed ? 0 : reader.bytes[at]!
}

export function readU16(reader: ByteReader): number {
  const at = take(reader, 2)
  return reader.failed ? 0 : (reader.bytes[at]! << 8) | reader.bytes[at + 1]!
}

export function readU32(reader: ByteReader): number {
  const at = take(reader, 4)
  if (reader.failed) return 0
  const { bytes } = reader
  return (
    ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
  )
}

/** LEB128 in its shortest form; a longer form or more than 2^53 - 1 is malformed. */
export function readVarint(reader: ByteReader): number {
  const first = reader.at < reader.end ? reader.bytes[reader.at]! : 0x80
  // Most varints have one byte.
  if (first < 0x80) {
    reader.at++
    return first
  }
  let value = 0
  let scale = 1
  for (let count = 0; count < 8; count++) {
    const byte = readU8(reader)
    value += (byte & 0x7f) * scale
    if (byte < 0x80) {
      // A zero last byte is one too many; a read past the end gives one, too.
      return byte !== 0 && value <= VARINT_MAX ? value : fail(reader)
    }
    scale *= 0x80
  }
  return fail(reader)
}

/** IEEE 754 double, big-endian; NaN and infinities are malformed. */
export function readF64(reader: ByteReader): number {
  const at = take(reader, 8)
  if (reader.failed) return 0
  const value = new DataView(reader.bytes.buffer, reader.bytes.byteOffset + at, 8).getFloat64(0)
  return Number.isFinite(value) ? value : fail(reader)
}

/** Exactly count bytes, as a copy. */
export function readRaw(reader: ByteReader, count: number): Uint8Array {
  const at = take(reader, count)
  // A Buffer's `slice` would share its bytes.
  return reader.failed ? new Uint8Array(0) : new Uint8Array(reader.bytes.subarray(at, at + count))
}

/** A varint length of at most max, then the bytes, as a copy. */
export function readBytes(reader: ByteReader, max: number): Uint8Array {
  const length = readVarint(reader)
  if (length > max) fail(reader)
  return readRaw(reader, length)
}

/** UTF-8 of at most max bytes; malformed UTF-8 is malformed input. */
export function readText(reader: ByteReader, max: number): string {
  const length = readVarint(reader)
  if (length > max) fail(reader)
  const at = take(reader, length)
  if (reader.failed) return ''
  const plain = length <= PLAIN_MAX ? readPlain(reader.bytes, at, length) : null
  if (plain !== null) return plain
  try {
    return decoder.decode(reader.bytes.subarray(at, at + length))
  } catch {
    fail(reader)
    return ''
  }
}

function readPlain(bytes: Uint8Array, at: number, length: number): string | null {
  let text = ''
  for (let i = at; i < at + length; i++) {
    if (bytes[i]! >= 0x80) return null
    text += String.fromCharCode(bytes[i]!)
  }
  return text
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Two lower-case hex digits for each byte. */
export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

/** Exactly `bytes` bytes from hex digits of either case; null for anything else. */
export function fromHex(text: unknown, bytes: number): Uint8Array | null {
  if (typeof text !== 'string' || text.length !== 2 * bytes || !/^[\da-f]*$/i.test(text))
    return null
  const byteAt = (at: number): number => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16)
  return Uint8Array.from({ length: bytes }, (_, at) => byteAt(at))
}
