/**
 * Ciphers and curves for the simulator and the checker: deterministic, cheap, and NOT SECURE:
 * anybody could break them with a pencil. Like real ones, two ends agree, altered text does not
 * open, nor under another key, nonce or data, and two texts hardly ever have the same hash. Sizes
 * are real.
 */

import {
  BASE_POINT,
  KEY_BYTES,
  SIGNATURE_BYTES,
  TAG_BYTES,
  type Ciphers,
  type Curves,
  type SigningCurves,
} from '../../holdfast/src/ports.ts'

// Two 32-bit lanes over all bytes of some parts, including where each ends. They are globals
// because returning two numbers would cost more; the code between is synchronous.
let low = 0
let high = 0

function begin(): void {
  low = 0x243f6a88
  high = 0x85a308d3
}

function absorb(bytes: Uint8Array, length: number = bytes.length): void {
  let [one, two] = [low, high]
  for (let at = 0; at < length; at++) {
    one = Math.imul(one ^ bytes[at]!, 0x01000193)
    two = Math.imul(two ^ bytes[at]!, 0x5bd1e995) ^ (two >>> 15)
  }
  low = Math.imul(one ^ (length + 256), 0x2c1b3c6d)
  high = Math.imul(two ^ (length + 256), 0x297a2d39)
}

function spread(into: Uint8Array, from: number, to: number): void {
  let word = low
  for (let at = from; at < to; at++) {
    word = next(word, at)
    into[at] = byteOf(word)
  }
}

// Whether `spread` would write these bytes there.
function isSpread(bytes: Uint8Array, from: number): boolean {
  let word = low
  for (let at = from; at < bytes.length; at++) {
    word = next(word, at)
    if (bytes[at] !== byteOf(word)) return false
  }
  return true
}

function next(word: number, at: number): number {
  return Math.imul(word ^ (word >>> 15) ^ high, 0x2c1b3c6d) + at
}

function byteOf(word: number): number {
  return ((word ^ (word >>> 13)) >>> 8) & 0xff
}

function digest(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(KEY_BYTES)
  begin()
  for (const part of parts) absorb(part)
  spread(bytes, 0, KEY_BYTES)
  return bytes
}

const INNER = Uint8Array.of(1)

// Masks text with lanes computed from key and nonce.
function mask(
  [one, two]: readonly [number, number],
  from: Uint8Array,
  into: Uint8Array,
  length: number,
): void {
  let [left, right] = [0, 0]
  for (let at = 0; at < length; at++) {
    into[at] = from[at]! ^ (one >>> left) ^ (two >>> right)
    if (++left === 24) left = 0
    if (++right === 23) right = 0
  }
}

/** Toys, not ciphers. */
export const toyCiphers: Ciphers = {
  name: 'toy',
  seal: (key, nonce, data, text, into) => {
    begin()
    absorb(key)
    absorb(nonce)
    mask([low, high], text, into, text.length)
    absorb(data)
    absorb(into, text.length)
    spread(into, text.length, text.length + TAG_BYTES)
  },
  open: (key, nonce, data, sealed, into) => {
    const length = sealed.length - TAG_BYTES
    if (length < 0) return false
    begin()
    absorb(key)
    absorb(nonce)
    const lanes = [low, high] as const
    absorb(data)
    absorb(sealed, length)
    // The tag follows the text.
    if (!isSpread(sealed, length)) return false
    mask(lanes, sealed, into, length)
    return true
  },
  hash: (bytes) => digest(bytes),
  hmac: (key, bytes) => digest(INNER, key, bytes),
}

/** Toys, not curves: a secret times a point is their product. Division breaks them. */
export const toyCurves = {
  name: 'toy',
  agree: (secret, point) => {
    const product = new Uint8Array(KEY_BYTES)
    const [left, right, out] = [secret, point, product].map(
      (bytes) => new DataView(bytes.buffer, bytes.byteOffset, KEY_BYTES),
    )
    for (let at = 0; at < KEY_BYTES; at += 4) {
      // Odd, so that no secret maps a nonzero point to zero.
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

// The base point has one nonzero byte, but a product needs all words.
function wordOf(view: DataView, point: Uint8Array, at: number): number {
  const isBase = BASE_POINT.every((byte, place) => byte === point[place])
  return isBase ? 0x09090909 : view.getUint32(at)
}

function signature(signer: Uint8Array, message: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(SIGNATURE_BYTES)
  begin()
  absorb(signer)
  absorb(message)
  spread(bytes, 0, SIGNATURE_BYTES)
  return bytes
}
