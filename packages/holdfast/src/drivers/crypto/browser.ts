/** Which ciphers and curves a page uses. */

import type { Crypto } from '../../ports.ts'
import { curvesInPage } from './web-curves.ts'
import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { TAG_BYTES, type Ciphers } from '../../ports.ts'
import { hashes } from './key-forms.ts'

// For who debugs: a page whose `globalThis.holdfastKeyLog` is a function before it joins has each
// key of its packets given to it, so that what was captured on its streams can be opened.

/** Those ciphers, whose keys are told where somebody asks for that. */
export function logged(ciphers: Ciphers): Ciphers {
  const { holdfastKeyLog: log } = globalThis as { holdfastKeyLog?: (key: Uint8Array) => void }
  if (typeof log !== 'function') return ciphers
  const told = new Set<string>()
  return {
    ...ciphers,
    seal: (key, ...rest) => {
      const name = key.join()
      if (!told.has(name)) log(key.slice())
      told.add(name)
      ciphers.seal(key, ...rest)
    },
  }
}

// The package @noble/ciphers: for pages, where nothing else seals without making one wait.

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

/** Opens both. */
export async function openInPage(): Promise<Crypto> {
  return { ciphers: logged(nobleCiphers), curves: await curvesInPage() }
}
