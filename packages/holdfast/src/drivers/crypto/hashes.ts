/** SHA-256 and HMAC of @noble/hashes, on Node and in pages: a handshake needs some fifty. */

import { hmac as keyed } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import type { Ciphers } from '../../ports.ts'

/** The part of all ciphers that is no cipher. */
export const hashes: Pick<Ciphers, 'hash' | 'hmac'> = {
  hash: (bytes) => sha256(bytes),
  hmac: (key, bytes) => keyed(sha256, key, bytes),
}
