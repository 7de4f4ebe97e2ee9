/**
 * Secrets, proofs and hashes.
 *
 * A process has one secret of 16 random bytes and derives one proof from it for each purpose, so a
 * peer that learns one proof cannot use it for another purpose. Other members keep only the hash of
 * a proof: SHA-256, truncated to 16 bytes.
 */

import { sha256 } from '@noble/hashes/sha2.js'
import { joined } from './bytes.ts'

/** Bytes of a secret, a proof and a hash. */
export const DIGEST_BYTES = 16

/** A proof's purpose: acting at the register, or marking the primary of an epoch. */
export type Purpose = 'register' | `lineage ${number}`

/** The first 16 bytes of SHA-256. */
export function digest(bytes: Uint8Array): Uint8Array {
  return sha256(bytes).slice(0, DIGEST_BYTES)
}

export function proofOf(secret: Uint8Array, purpose: Purpose): Uint8Array {
  return digest(joined(secret, new TextEncoder().encode(purpose)))
}

export function proves(proof: Uint8Array, hash: Uint8Array): boolean {
  return sameBytes(digest(proof), hash)
}

/** Whether two runs of bytes are equal; the time does not depend on where they differ. */
export function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  let difference = 0
  for (let i = 0; i < left.length; i++) difference |= left[i]! ^ right[i]!
  return difference === 0
}

/** A 32-bit fingerprint of a text, for comparing schemas: FNV-1a. */
export function fingerprint(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193)
  }
  return hash >>> 0
}
