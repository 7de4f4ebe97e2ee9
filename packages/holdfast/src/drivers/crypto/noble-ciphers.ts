/** The package @noble/ciphers: for pages, where nothing else seals without making one wait. */

import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { TAG_BYTES, type Ciphers } from '../../ports.ts'
import { hashes } from './hashes.ts'

// It writes to places that are whole words from the beginning of their memory alone.
let scratch = new Uint8Array(2048)

/** Its ciphers. */
export const nobleCiphers: Ciphers = {
  name: '@noble/ciphers',
  seal: (key, nonce, data, text, into) => {
    const out = room(text.length + TAG_BYTES)
    into.set(chacha20poly1305(key, nonce, data).encrypt(text, out))
  },
  open: (key, nonce, data, sealed, into) => {
    if (sealed.length < TAG_BYTES) return false
    const out = room(sealed.length - TAG_BYTES)
    try {
      into.set(chacha20poly1305(key, nonce, data).decrypt(sealed, out))
      return true
    } catch {
      return false
    }
  },
  ...hashes,
}

function room(bytes: number): Uint8Array {
  if (scratch.length < bytes) scratch = new Uint8Array(2 * bytes)
  return scratch.subarray(0, bytes)
}
