/**
 * Noise_IK_25519_ChaChaPoly_SHA256, revision 34, message by message. The points that two ends have
 * in common are computed elsewhere, for a platform may make one wait; all else is here.
 *
 *     -> e, es, s, ss     message 1: the asker knows the other's key, and shows its own to it alone
 *     <- e, ee, se        message 2
 *
 * https://noiseprotocol.org/noise.html, sections 5 and 7.
 */

import { CIPHER_NONCE_BYTES, KEY_BYTES, TAG_BYTES, type Ciphers } from '../ports.ts'
import { joined } from '../wire/bytes.ts'

const NAME = new TextEncoder().encode('Noise_IK_25519_ChaChaPoly_SHA256')
const NOTHING = new Uint8Array(0)

/** What both ends have said so far. */
export interface Noise {
  chain: Uint8Array
  hash: Uint8Array
}

/** Before message 1. @param responder  the public key of the one that is asked */
export function begin(c: Ciphers, prologue: Uint8Array, responder: Uint8Array): Noise {
  // The name is as long as a hash.
  const noise = { chain: NAME, hash: NAME }
  mixHash(c, noise, prologue)
  mixHash(c, noise, responder)
  return noise
}

/** Message 1. @param e  the asker's key of this handshake; @param s  its own */
export function writeFirst(
  c: Ciphers,
  noise: Noise,
  { e, s, es, ss }: Readonly<Record<'e' | 's' | 'es' | 'ss', Uint8Array>>,
  payload: Uint8Array,
): Uint8Array {
  mixHash(c, noise, e)
  const shown = sealed(c, noise, mixKey(c, noise, es), s)
  return joined(e, shown, sealed(c, noise, mixKey(c, noise, ss), payload))
}

/** How many bytes of message 1 are before its sealed payload. */
export const FIRST_KEYS: number = 2 * KEY_BYTES + TAG_BYTES

/** Of message 1: who asks. Null if it was not sealed for us. */
export function readAsker(
  c: Ciphers,
  noise: Noise,
  message: Uint8Array,
  es: Uint8Array,
): Uint8Array | null {
  mixHash(c, noise, message.subarray(0, KEY_BYTES))
  return opened(c, noise, mixKey(c, noise, es), message.subarray(KEY_BYTES, FIRST_KEYS))
}

/** Of message 1, after `readAsker`: what it says. Null if the asker has not that key's secret. */
export function readFirst(
  c: Ciphers,
  noise: Noise,
  message: Uint8Array,
  ss: Uint8Array,
): Uint8Array | null {
  return opened(c, noise, mixKey(c, noise, ss), message.subarray(FIRST_KEYS))
}

/** Message 2. @param e  the key of this handshake of the one that was asked */
export function writeSecond(
  c: Ciphers,
  noise: Noise,
  { e, ee, se }: Readonly<Record<'e' | 'ee' | 'se', Uint8Array>>,
  payload: Uint8Array,
): Uint8Array {
  mixHash(c, noise, e)
  mixKey(c, noise, ee)
  return joined(e, sealed(c, noise, mixKey(c, noise, se), payload))
}

/** What message 2 says; null if it is no answer to this message 1 by the one that was asked. */
export function readSecond(
  c: Ciphers,
  noise: Noise,
  message: Uint8Array,
  { ee, se }: Readonly<Record<'ee' | 'se', Uint8Array>>,
): Uint8Array | null {
  mixHash(c, noise, message.subarray(0, KEY_BYTES))
  mixKey(c, noise, ee)
  return opened(c, noise, mixKey(c, noise, se), message.subarray(KEY_BYTES))
}

/** The keys of packets: those of the asker, those of the one that was asked. */
export function split(c: Ciphers, noise: Noise): [asker: Uint8Array, asked: Uint8Array] {
  return derive(c, noise.chain, NOTHING)
}

const nonce = new Uint8Array(CIPHER_NONCE_BYTES)

/** The nonce of the packet or text of that number; valid until the next call. */
export function nonceOf(counter: number): Uint8Array {
  nonce[4] = counter
  nonce[5] = counter >>> 8
  nonce[6] = counter >>> 16
  return nonce
}

function mixHash(c: Ciphers, noise: Noise, bytes: Uint8Array): void {
  noise.hash = c.hash(joined(noise.hash, bytes))
}

function mixKey(c: Ciphers, noise: Noise, input: Uint8Array): Uint8Array {
  const [chain, key] = derive(c, noise.chain, input)
  noise.chain = chain
  return key
}

// HKDF (RFC 5869) with two outputs, as Noise uses it.
function derive(c: Ciphers, chain: Uint8Array, input: Uint8Array): [Uint8Array, Uint8Array] {
  const secret = c.hmac(chain, input)
  const first = c.hmac(secret, Uint8Array.of(1))
  return [first, c.hmac(secret, joined(first, Uint8Array.of(2)))]
}

// Each key of a handshake seals one text.
function sealed(c: Ciphers, noise: Noise, key: Uint8Array, text: Uint8Array): Uint8Array {
  const into = new Uint8Array(text.length + TAG_BYTES)
  c.seal(key, nonceOf(0), noise.hash, text, into)
  mixHash(c, noise, into)
  return into
}

function opened(c: Ciphers, noise: Noise, key: Uint8Array, from: Uint8Array): Uint8Array | null {
  if (from.length < TAG_BYTES) return null
  const into = new Uint8Array(from.length - TAG_BYTES)
  if (!c.open(key, nonceOf(0), noise.hash, from, into)) return null
  mixHash(c, noise, from)
  return into
}
