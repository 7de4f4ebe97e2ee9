/**
 * Noise_IK_25519_ChaChaPoly_SHA256, revision 34, message by message. Shared points are computed
 * elsewhere, because some platforms compute them asynchronously.
 *
 *     -> e, es, s, ss     message 1: the initiator knows the responder's key, and reveals its own
 *     <- e, ee, se        message 2
 *
 * https://noiseprotocol.org/noise.html, sections 5 and 7.
 */

import { CIPHER_NONCE_BYTES, KEY_BYTES, TAG_BYTES, type Ciphers } from '../ports.ts'
import { joined } from '../wire/bytes.ts'

const NAME = new TextEncoder().encode('Noise_IK_25519_ChaChaPoly_SHA256')
const NOTHING = new Uint8Array(0)

/** The symmetric state of a handshake. */
export interface Noise {
  chain: Uint8Array
  hash: Uint8Array
}

/** The state before message 1. @param responder  its public key */
export function begin(c: Ciphers, prologue: Uint8Array, responder: Uint8Array): Noise {
  // The name is as long as a hash.
  const noise = { chain: NAME, hash: NAME }
  mixHash(c, noise, prologue)
  mixHash(c, noise, responder)
  return noise
}

/** Writes message 1. @param e  the initiator's ephemeral key; @param s  its static key */
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

/** Reads the initiator's static key in message 1. Null if it was not sealed for us. */
export function readInitiator(
  c: Ciphers,
  noise: Noise,
  message: Uint8Array,
  es: Uint8Array,
): Uint8Array | null {
  mixHash(c, noise, message.subarray(0, KEY_BYTES))
  return opened(c, noise, mixKey(c, noise, es), message.subarray(KEY_BYTES, FIRST_KEYS))
}

/** Reads the payload of message 1, after `readInitiator`; null if it lacks that key's secret. */
export function readFirst(
  c: Ciphers,
  noise: Noise,
  message: Uint8Array,
  ss: Uint8Array,
): Uint8Array | null {
  return opened(c, noise, mixKey(c, noise, ss), message.subarray(FIRST_KEYS))
}

/** Writes message 2. @param e  the responder's ephemeral key */
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

/** Reads the payload of message 2; null if it is no answer of the responder to this message 1. */
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

/** The transport keys: the initiator's, the responder's. */
export function split(c: Ciphers, noise: Noise): [initiator: Uint8Array, responder: Uint8Array] {
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
