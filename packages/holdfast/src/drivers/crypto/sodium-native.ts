/**
 * The package sodium-native: libsodium as a binary. It is the fastest on Node, but takes 18
 * megabytes; so it is an optional peer dependency, used where it is installed.
 */

import { createRequire } from 'node:module'
import type { Ciphers } from '../../ports.ts'
import { hashes } from './key-forms.ts'

type Bytes = Uint8Array

interface Sodium {
  crypto_aead_chacha20poly1305_ietf_encrypt(
    ...of: [into: Bytes, text: Bytes, data: Bytes | null, none: null, nonce: Bytes, key: Bytes]
  ): number
  /** @throws Error if these bytes were not sealed with these arguments */
  crypto_aead_chacha20poly1305_ietf_decrypt(
    ...of: [into: Bytes, none: null, sealed: Bytes, data: Bytes | null, nonce: Bytes, key: Bytes]
  ): number
}

const require = createRequire(import.meta.url)

/** Its ciphers; null where it is not installed. @param load  loads it in its place, for tests */
export function sodiumNative(load?: () => unknown): Ciphers | null {
  let sodium: Sodium
  try {
    sodium = (load ? load() : require('sodium-native')) as Sodium
  } catch {
    return null
  }
  return {
    name: 'sodium-native',
    seal: (key, nonce, data, text, into) => {
      const known = data.length === 0 ? null : data
      sodium.crypto_aead_chacha20poly1305_ietf_encrypt(into, text, known, null, nonce, key)
    },
    open: (key, nonce, data, sealed, into) => {
      const known = data.length === 0 ? null : data
      try {
        sodium.crypto_aead_chacha20poly1305_ietf_decrypt(into, null, sealed, known, nonce, key)
        return true
      } catch {
        return false
      }
    },
    ...hashes,
  }
}
