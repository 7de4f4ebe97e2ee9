/**
 * A variable number of values in one place of a quantised state: their bits as a string. The first
 * character is the count of unused bits of the last byte, 0 to 7; then comes a character for each
 * byte. Equal bits are equal strings.
 */

import {
  type BitReader,
  type BitWriter,
  createBitReader,
  createBitWriter,
  padBits,
  writeBits,
} from '../bits.ts'

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
