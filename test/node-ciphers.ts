/**
 * The ciphers of node:crypto, to measure and test ours against. They make some objects at each
 * call, whose cost is that of a kilobyte.
 */

import { createCipheriv, createDecipheriv } from 'node:crypto'
import { hashes } from '../packages/holdfast/src/drivers/crypto/key-forms.ts'
import { TAG_BYTES, type Ciphers } from '../packages/holdfast/src/ports.ts'

const NAME = 'chacha20-poly1305'
const OPTIONS = { authTagLength: TAG_BYTES } as const

/** Its ciphers. */
export const nodeCiphers: Ciphers = {
  name: 'node:crypto',
  seal: (key, nonce, data, text, into) => {
    const cipher = createCipheriv(NAME, key, nonce, OPTIONS)
    cipher.setAAD(data, { plaintextLength: text.length })
    into.set(cipher.update(text))
    cipher.final()
    into.set(cipher.getAuthTag(), text.length)
  },
  open: (key, nonce, data, sealed, into) => {
    if (sealed.length < TAG_BYTES) return false
    const length = sealed.length - TAG_BYTES
    const cipher = createDecipheriv(NAME, key, nonce, OPTIONS)
    cipher.setAAD(data, { plaintextLength: length })
    cipher.setAuthTag(sealed.subarray(length))
    into.set(cipher.update(sealed.subarray(0, length)))
    try {
      cipher.final()
      return true
    } catch {
      return false
    }
  },
  ...hashes,
}
