/** Ciphers that hide nothing, so that what was captured can be read; altered, it does not open. */

import { TAG_BYTES, type Ciphers } from '../packages/holdfast/src/ports.ts'
import { toyCiphers } from '../packages/sim/src/toy-ciphers.ts'

function tagOf(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  return toyCiphers.hmac(key, new Uint8Array(Buffer.concat(parts))).subarray(0, TAG_BYTES)
}

/** See above. */
export const openCiphers: Ciphers = {
  ...toyCiphers,
  name: 'open',
  seal: (key, nonce, data, text, into) => {
    into.set(text)
    into.set(tagOf(key, nonce, data, text), text.length)
  },
  open: (key, nonce, data, sealed, into) => {
    const length = sealed.length - TAG_BYTES
    if (length < 0) return false
    const text = sealed.subarray(0, length)
    into.set(text)
    return Buffer.compare(tagOf(key, nonce, data, text), sealed.subarray(length)) === 0
  },
}
