/** The curves of node:crypto, for hubs, which create the object of a key once. */

import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import type { Curves, SigningCurves } from '../../ports.ts'
import { ED25519, privateKeyOf, publicKeyOf, SPKI_BYTES, X25519 } from './key-forms.ts'

/** Synchronous curves; `signing` creates the key of a seed once. */
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
