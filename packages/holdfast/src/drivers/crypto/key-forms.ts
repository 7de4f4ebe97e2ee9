/**
 * Raw keys of 32 bytes in the forms that platforms take: PKCS #8 and SubjectPublicKeyInfo in DER
 * (RFC 8410). All such keys share a prefix, except for the number of the curve.
 */

import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { type Ciphers, KEY_BYTES } from '../../ports.ts'
import { toHex } from '../../wire/bytes.ts'

/** The last byte of the object identifier 1.3.101.110. */
export const X25519 = 110
/** The last byte of the object identifier 1.3.101.112. */
export const ED25519 = 112
/** Bytes of a public key's form before the key. */
export const SPKI_BYTES = 12

// A sequence of 46 bytes: version 0, a sequence with the identifier, and nested octet strings.
const PRIVATE = [0x30, 46, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0, 4, 34, 4, 32]
// A sequence of 42 bytes: a sequence with the identifier, and a bit string of 33 bytes, all used.
const PUBLIC = [0x30, 42, 0x30, 5, 6, 3, 0x2b, 0x65, 0, 3, 33, 0]

/** A secret or a seed as PKCS #8. */
export function privateKeyOf(curve: number, secret: Uint8Array): Uint8Array<ArrayBuffer> {
  return joined(PRIVATE, 11, curve, secret)
}

/** A public key as SubjectPublicKeyInfo. */
export function publicKeyOf(curve: number, point: Uint8Array): Uint8Array<ArrayBuffer> {
  return joined(PUBLIC, 8, curve, point)
}

function joined(
  form: readonly number[],
  at: number,
  curve: number,
  key: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(form.length + key.length)
  bytes.set(form)
  bytes[at] = curve
  bytes.set(key, form.length)
  return bytes
}

export const hashes: Pick<Ciphers, 'hash' | 'hmac'> = {
  hash: (bytes) => sha256(bytes),
  hmac: (key, bytes) => hmac(sha256, key, bytes),
}

/** A key for `keepRoom` of `join`: 64 hexadecimal digits. */
export function newRoomKey(): string {
  return toHex(globalThis.crypto.getRandomValues(new Uint8Array(KEY_BYTES)))
}
