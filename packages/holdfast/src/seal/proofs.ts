/**
 * Checks before any curve is computed: a MAC proves that the initiator knows our link key, and
 * under load a cookie proves that it owns its address.
 */

import * as buckets from '../bucket.ts'
import type { Millis } from '../machine.ts'
import { sameBytes } from '../wire/digest.ts'
import { COOKIE_MS, FLOODERS_MAX, MAC_BYTES } from './limits.ts'
import { COOKIE_DATAGRAM, KIND, indexAt, putIndex } from './messages.ts'
import { joined } from '../wire/bytes.ts'
import { nonceOf } from './noise.ts'
import { NONE, draw, keyFor, type InitiatorHandshake, type Seal } from './state.ts'

const encoder = new TextEncoder()

/** The bytes followed by the MAC for the responder. */
export function proven(seal: Seal, key: Uint8Array, bytes: Uint8Array): Uint8Array {
  return joined(bytes, seal.ciphers.hmac(key, bytes).subarray(0, MAC_BYTES))
}

/** Whether the MAC that ends at `end` covers all bytes before it. */
export function isProven(seal: Seal, bytes: Uint8Array, end: number = bytes.length): boolean {
  const from = end - MAC_BYTES
  const wanted = seal.ciphers.hmac(seal.proofKey, bytes.subarray(0, from)).subarray(0, MAC_BYTES)
  return sameBytes(wanted, bytes.subarray(from, end))
}

/** Message 1 for an address: with the cookie of that address, if it gave one. */
export function withCookie(seal: Seal, now: Millis, initiator: InitiatorHandshake): Uint8Array {
  const { cookie, message, address } = initiator
  const holds = cookie !== null && cookie.address === address && now < cookie.at + COOKIE_MS
  if (!holds) return joined(message, new Uint8Array(MAC_BYTES))
  return joined(message, seal.ciphers.hmac(cookie.bytes, message).subarray(0, MAC_BYTES))
}

/** Whether to compute this message 1; if not, it was answered with a cookie or dropped. */
export function isAffordable(seal: Seal, now: Millis, from: string, bytes: Uint8Array): boolean {
  const { limits, counters } = seal
  if (buckets.take(seal.firsts, limits.firsts, now, 1)) return true
  if (!showsCookie(seal, now, from, bytes)) {
    counters.cookies++
    seal.out.datagram(from, cookieFor(seal, now, from, bytes))
    return false
  }
  if (buckets.take(bucketOf(seal, now, from), limits.firstsOfOne, now, 1)) return true
  counters.flooded++
  return false
}

function bucketOf(seal: Seal, now: Millis, from: string): buckets.Bucket {
  const { flooders, limits } = seal
  const found = flooders.get(from)
  if (found) return found
  const bucket = buckets.create(now, limits.firstsOfOne)
  if (flooders.size >= FLOODERS_MAX) flooders.delete(flooders.keys().next().value!)
  flooders.set(from, bucket)
  return bucket
}

function showsCookie(seal: Seal, now: Millis, from: string, bytes: Uint8Array): boolean {
  turn(seal, now)
  const end = bytes.length - MAC_BYTES
  for (const secret of [seal.cookies.secret, seal.cookies.before]) {
    if (secret.length === 0) continue
    const wanted = seal.ciphers.hmac(cookieOf(seal, secret, from), bytes.subarray(0, end))
    if (sameBytes(wanted.subarray(0, MAC_BYTES), bytes.subarray(end))) return true
  }
  return false
}

function cookieOf(seal: Seal, secret: Uint8Array, from: string): Uint8Array {
  return seal.ciphers.hmac(secret, encoder.encode(from)).subarray(0, MAC_BYTES)
}

function turn(seal: Seal, now: Millis): void {
  const { cookies } = seal
  if (now < cookies.at + COOKIE_MS) return
  const before = now < cookies.at + 2 * COOKIE_MS ? cookies.secret : NONE
  seal.cookies = { secret: draw(seal), before, at: now }
}

// Sealed so that only the sender of that message 1 can read it.
function cookieFor(seal: Seal, now: Millis, from: string, first: Uint8Array): Uint8Array {
  turn(seal, now)
  const { ciphers } = seal
  const datagram = new Uint8Array(COOKIE_DATAGRAM)
  const salt = draw(seal).subarray(0, MAC_BYTES)
  datagram[0] = KIND.cookie
  putIndex(datagram, 1, indexAt(first, 2))
  datagram.set(salt, 5)
  const key = ciphers.hmac(seal.cookieKey, joined(salt, firstProof(first)))
  const into = datagram.subarray(5 + MAC_BYTES)
  const cookie = cookieOf(seal, seal.cookies.secret, from)
  ciphers.seal(key, nonceOf(0), NONE, cookie, into)
  return datagram
}

/** Reads a cookie; null if it is no answer to our last message 1. */
export function readCookie(
  seal: Seal,
  initiator: InitiatorHandshake,
  point: Uint8Array,
  datagram: Uint8Array,
): Uint8Array | null {
  const { ciphers } = seal
  const salt = datagram.subarray(5, 5 + MAC_BYTES)
  const proof = initiator.message.subarray(initiator.message.length - MAC_BYTES)
  const key = ciphers.hmac(keyFor(seal, 'cookie', point), joined(salt, proof))
  const cookie = new Uint8Array(MAC_BYTES)
  const sealed = datagram.subarray(5 + MAC_BYTES)
  return ciphers.open(key, nonceOf(0), NONE, sealed, cookie) ? cookie : null
}

function firstProof(first: Uint8Array): Uint8Array {
  return first.subarray(first.length - 2 * MAC_BYTES, first.length - MAC_BYTES)
}
