/**
 * node:crypto, to measure against and for tests. Its ChaCha20-Poly1305 makes some objects at each
 * call, whose cost is that of a kilobyte; its curves make one of each key.
 */

import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { TAG_BYTES, type Ciphers, type Curves, type SigningCurves } from '../../ports.ts'
import { ED25519, privateKeyOf, publicKeyOf, SPKI_BYTES, X25519, hashes } from './key-forms.ts'

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

/** Its curves, which make nobody wait; `signing` makes the key of a seed once. */
export const nodeCurves = {
  name: 'node:crypto',
  agree: (secret, point) => {
    try {
      const ends = { privateKey: secretKey(X25519, secret), publicKey: openKey(X25519, point) }
      return new Uint8Array(diffieHellman(ends))
    } catch {
      return null
    }
  },
  signer: (seed) => {
    const key = createPublicKey(secretKey(ED25519, seed)).export({ format: 'der', type: 'spki' })
    return new Uint8Array(key.subarray(SPKI_BYTES))
  },
  sign: (seed, message) => signing(seed)(message),
  signing,
  verify: (signer, message, signature) => {
    return verify(null, message, openKey(ED25519, signer), signature)
  },
} satisfies Curves & SigningCurves

function signing(seed: Uint8Array): (message: Uint8Array) => Uint8Array {
  const key = secretKey(ED25519, seed)
  return (message) => new Uint8Array(sign(null, message, key))
}

function secretKey(curve: number, secret: Uint8Array): KeyObject {
  const key = Buffer.from(privateKeyOf(curve, secret))
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
}

function openKey(curve: number, point: Uint8Array): KeyObject {
  const key = Buffer.from(publicKeyOf(curve, point))
  return createPublicKey({ key, format: 'der', type: 'spki' })
}
