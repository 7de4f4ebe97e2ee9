/**
 * The curves of WebCrypto, which are asynchronous. Pages over plain HTTP have no WebCrypto, and
 * older platforms lack these curves.
 */

import type { Curves } from '../../ports.ts'
import { ED25519, privateKeyOf, X25519 } from './key-forms.ts'

// WebCrypto's types refuse memory that others may alter meanwhile; a copy surely is none.
const own = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes)

/** The platform's curves; null where it does not have both. */
export async function webCurves(): Promise<Curves | null> {
  const subtle = (globalThis.crypto as Crypto | undefined)?.subtle
  if (subtle === undefined) return null
  try {
    await Promise.all([
      secretKey(subtle, 'X25519', new Uint8Array(32), ['deriveBits']),
      secretKey(subtle, 'Ed25519', new Uint8Array(32), ['sign']),
    ])
  } catch {
    return null
  }
  return { name: 'WebCrypto', agree: agreeing(subtle), ...signing(subtle) }
}

type Curve = 'X25519' | 'Ed25519'

function secretKey(
  subtle: SubtleCrypto,
  curve: Curve,
  secret: Uint8Array,
  uses: KeyUsage[],
): Promise<CryptoKey> {
  const form = privateKeyOf(curve === 'X25519' ? X25519 : ED25519, secret)
  // The public key is read from the exported secret key.
  return subtle.importKey('pkcs8', form, { name: curve }, curve === 'Ed25519', uses)
}

function agreeing(subtle: SubtleCrypto): Curves['agree'] {
  return async (secret, point) => {
    try {
      const [key, other] = await Promise.all([
        secretKey(subtle, 'X25519', secret, ['deriveBits']),
        subtle.importKey('raw', own(point), { name: 'X25519' }, true, []),
      ])
      const bits = await subtle.deriveBits({ name: 'X25519', public: other }, key, 256)
      const shared = new Uint8Array(bits)
      return shared.every((byte) => byte === 0) ? null : shared
    } catch {
      return null
    }
  }
}

function signing(subtle: SubtleCrypto): Pick<Curves, 'signer' | 'sign' | 'verify'> {
  const name = 'Ed25519'
  return {
    signer: async (seed) => {
      const key = await subtle.exportKey('jwk', await secretKey(subtle, name, seed, ['sign']))
      const text = atob(key.x!.replaceAll('-', '+').replaceAll('_', '/'))
      return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
    },
    sign: async (seed, message) => {
      const key = await secretKey(subtle, name, seed, ['sign'])
      return new Uint8Array(await subtle.sign({ name }, key, own(message)))
    },
    verify: async (signer, message, signature) => {
      try {
        const key = await subtle.importKey('raw', own(signer), { name }, true, ['verify'])
        return await subtle.verify({ name }, key, own(signature), own(message))
      } catch {
        return false
      }
    },
  }
}

/** The platform's curves; without them those of a package, which most pages never load. */
export async function curvesInPage(): Promise<Curves> {
  return (await webCurves()) ?? (await import('./noble-curves.ts')).nobleCurves
}
