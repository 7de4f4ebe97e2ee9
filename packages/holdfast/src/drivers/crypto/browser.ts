/** The ciphers and curves of a page. */

import { type Crypto, TAG_BYTES, type Ciphers } from '../../ports.ts'
import { curvesInPage } from './web-curves.ts'
import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { hashes } from './key-forms.ts'

/**
 * Ciphers that pass each key of this page's packets to `globalThis.holdfastKeyLog`, if that is a
 * function before the page joins: whoever may run code in the page can decrypt what it captured.
 */
function logged(ciphers: Ciphers): Ciphers {
  const { holdfastKeyLog: log } = globalThis as { holdfastKeyLog?: (key: Uint8Array) => void }
  if (typeof log !== 'function') return ciphers
  const logged = new Set<string>()
  return {
    ...ciphers,
    seal: (key, ...rest) => {
      const name = key.join()
      if (!logged.has(name)) log(key.slice())
      logged.add(name)
      ciphers.seal(key, ...rest)
    },
  }
}

// Pages have no synchronous cipher but the package @noble/ciphers, which writes only to buffers
// aligned to 4 bytes.
let scratch = new Uint8Array(2048)

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

export async function openInPage(): Promise<Crypto> {
  return { ciphers: logged(nobleCiphers), curves: await curvesInPage() }
}
