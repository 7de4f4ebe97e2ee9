/**
 * Ciphers and curves for the simulator and the checker: deterministic, cheap, and NOT SECURE.
 * Anybody could break them with a pencil. What they keep of real ones is that two ends agree, that
 * what was altered does not open, nor under another key, nonce or data, and that two texts hardly
 * ever have one hash. They have the sizes of real ones.
 */

import {
  BASE_POINT,
  KEY_BYTES,
  SIGNATURE_BYTES,
  TAG_BYTES,
  type Ciphers,
  type Curves,
  type SigningCurves,
} from '../ports.ts'

/** Two lanes of 32 bits over all bytes of the parts, and where one ends. */
function lanesOf(...parts: readonly Uint8Array[]): [low: number, high: number] {
  let low = 0x243f6a88
  let high = 0x85a308d3
  for (const bytes of parts) {
    for (let at = 0; at < bytes.length; at++) {
      low = Math.imul(low ^ bytes[at]!, 0x01000193)
      high = Math.imul(high ^ bytes[at]!, 0x5bd1e995) ^ (high >>> 15)
    }
    low = Math.imul(low ^ (bytes.length + 256), 0x2c1b3c6d)
    high = Math.imul(high ^ (bytes.length + 256), 0x297a2d39)
  }
  return [low, high]
}

function spread(low: number, high: number, into: Uint8Array, from: number, to: number): void {
  let word = low
  for (let at = from; at < to; at++) {
    word = Math.imul(word ^ (word >>> 15) ^ high, 0x2c1b3c6d) + at
    into[at] = (word ^ (word >>> 13)) >>> 8
  }
}

function digest(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(KEY_BYTES)
  const [low, high] = lanesOf(...parts)
  spread(low, high, bytes, 0, KEY_BYTES)
  return bytes
}

const INNER = Uint8Array.of(1)

function mask(key: Uint8Array, nonce: Uint8Array, from: Uint8Array, into: Uint8Array): void {
  const [low, high] = lanesOf(key, nonce)
  for (let at = 0; at < from.length; at++) {
    into[at] = from[at]! ^ (low >>> (at % 24)) ^ (high >>> (at % 23))
  }
}

/** Toys, not ciphers. */
export const toyCiphers: Ciphers = {
  name: 'toy',
  seal: (key, nonce, data, text, into) => {
    mask(key, nonce, text, into)
    const sealed = into.subarray(0, text.length)
    const [low, high] = lanesOf(key, nonce, data, sealed)
    spread(low, high, into, text.length, text.length + TAG_BYTES)
  },
  open: (key, nonce, data, sealed, into) => {
    const length = sealed.length - TAG_BYTES
    if (length < 0) return false
    const [low, high] = lanesOf(key, nonce, data, sealed.subarray(0, length))
    // As it was written: behind the text.
    const behind = new Uint8Array(sealed.length)
    spread(low, high, behind, length, sealed.length)
    for (let at = length; at < sealed.length; at++) if (behind[at] !== sealed[at]) return false
    mask(key, nonce, sealed.subarray(0, length), into)
    return true
  },
  hash: (bytes) => digest(bytes),
  hmac: (key, bytes) => digest(INNER, key, bytes),
}

/** Toys, not curves: a point times a secret is their product. Whoever can divide wins. */
export const toyCurves = {
  name: 'toy',
  agree: (secret, point) => {
    const product = new Uint8Array(KEY_BYTES)
    const [left, right, out] = [secret, point, product].map(
      (bytes) => new DataView(bytes.buffer, bytes.byteOffset, KEY_BYTES),
    )
    for (let at = 0; at < KEY_BYTES; at += 4) {
      // Odd, so that no secret makes nothing of a point that is something.
      const odd = left!.getUint32(at) | 1
      out!.setUint32(at, Math.imul(odd, wordOf(right!, point, at)))
    }
    return product.every((byte) => byte === 0) ? null : product
  },
  signer: (seed) => digest(seed),
  sign: (seed, message) => signature(digest(seed), message),
  signing: (seed: Uint8Array) => (message: Uint8Array) => signature(digest(seed), message),
  verify: (signer, message, signed) => {
    const wanted = signature(signer, message)
    return wanted.every((byte, at) => byte === signed[at])
  },
} satisfies Curves & SigningCurves

// The point that public keys are made from has one byte, and a product needs all words.
function wordOf(view: DataView, point: Uint8Array, at: number): number {
  const isBase = BASE_POINT.every((byte, place) => byte === point[place])
  return isBase ? 0x09090909 : view.getUint32(at)
}

function signature(signer: Uint8Array, message: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(SIGNATURE_BYTES)
  const [low, high] = lanesOf(signer, message)
  spread(low, high, bytes, 0, SIGNATURE_BYTES)
  return bytes
}
