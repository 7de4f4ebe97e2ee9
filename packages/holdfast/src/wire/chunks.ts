/** Long runs of bytes, split for messages and reassembled. */

import { joined } from './bytes.ts'

export interface Piece {
  piece: number
  of: number
  bytes: Uint8Array
}

/** The pieces received so far, in order. */
export interface Incoming {
  of: number
  pieces: Uint8Array[]
}

/** Splits bytes into pieces; no bytes make one empty piece. */
export function* cut(bytes: Uint8Array, size: number): Iterable<Piece> {
  const of = Math.max(1, Math.ceil(bytes.length / size))
  for (let piece = 0; piece < of; piece++) {
    yield { piece, of, bytes: bytes.slice(piece * size, (piece + 1) * size) }
  }
}

/** Takes the next piece: the first begins a new run, and one that does not fit is ignored. */
export function take(known: Incoming | null, next: Piece): Incoming | null {
  if (next.piece === 0) return { of: next.of, pieces: [next.bytes] }
  if (!known || known.of !== next.of || known.pieces.length !== next.piece) return known
  known.pieces.push(next.bytes)
  return known
}

/** All the bytes, or null while a piece is missing. */
export function whole({ of, pieces }: Incoming): Uint8Array | null {
  return pieces.length < of ? null : joined(...pieces)
}
