/** The package @noble/curves, which is slow; only pages without WebCrypto's curves load it. */

import { ed25519, x25519 } from '@noble/curves/ed25519.js'
import type { Curves } from '../../ports.ts'

export const nobleCurves: Curves = {
  name: '@noble/curves',
  agree: (secret, point) => {
    try {
      return x25519.getSharedSecret(secret, point)
    } catch {
      return null
    }
  },
  signer: (seed) => ed25519.getPublicKey(seed),
  sign: (seed, message) => ed25519.sign(message, seed),
  verify: (signer, message, signature) => {
    try {
      return ed25519.verify(signature, message, signer)
    } catch {
      return false
    }
  },
}
