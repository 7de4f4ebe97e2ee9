/**
 * Histories of letters, and how to tell two of them apart.
 *
 * For each direction of a pair both sides keep a running digest: letter n's is computed from letter
 * n - 1's, the life of the store that posted the letter, and its bytes. A store begins a new life
 * at each opening, so two copies of a store never post the same letter, even with equal bodies.
 * Both sides also keep the lives and the first number of each, to find the last letter that two
 * histories share.
 *
 * The digest is MurmurHash3 (x86, 128 bits), seeded with the previous digest. It guards against
 * mistakes, not lies: a lying side may claim anything about its own letters anyway.
 */

import type { Life } from '../ports.ts'

export const DIGEST_BYTES = 16
/** Bytes of a life's name. */
export const LIFE_BYTES = 8
/** Most lives kept for a direction. */
export const LIVES_MAX = 16

/** The digest before the first letter; elsewhere an unknown digest, which fits any. */
export const NO_DIGEST: Uint8Array = new Uint8Array(DIGEST_BYTES)
/** The life of replicas, which must post the same bytes. */
export const NO_LIFE: Uint8Array = new Uint8Array(LIFE_BYTES)

const [C1, C2, C3, C4] = [0x239b961b, 0xab0e9789, 0x38b34ae5, 0xa1e38b93]

/** The letters `mail`, little-endian. */
const SALT = 0x6c69616d

function word(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

function turn(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by))
}

function finish(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/** The digest of a letter, from the previous digest, the life that posted it, and its bytes. */
export function digestOf(before: Uint8Array, life: Uint8Array, body: Uint8Array): Uint8Array {
  let [a, b, c, d] = [word(before, 0), word(before, 4), word(before, 8), word(before, 12)]
  // The life enters as two words of the seed; the salt keeps an empty letter's digest from being 0.
  a ^= word(life, 0)
  b ^= word(life, 4)
  c ^= SALT
  const { length } = body
  const whole = length - (length % 16)
  for (let at = 0; at < whole; at += 16) {
    a ^= Math.imul(turn(Math.imul(word(body, at), C1), 15), C2)
    a = (Math.imul((turn(a, 19) + b) | 0, 5) + 0x561ccd1b) | 0
    b ^= Math.imul(turn(Math.imul(word(body, at + 4), C2), 16), C3)
    b = (Math.imul((turn(b, 17) + c) | 0, 5) + 0x0bcaa747) | 0
    c ^= Math.imul(turn(Math.imul(word(body, at + 8), C3), 17), C4)
    c = (Math.imul((turn(c, 15) + d) | 0, 5) + 0x96cd1c35) | 0
    d ^= Math.imul(turn(Math.imul(word(body, at + 12), C4), 18), C1)
    d = (Math.imul((turn(d, 13) + a) | 0, 5) + 0x32ac3b17) | 0
  }
  // The last bytes, padded with zeros to sixteen; zeros change nothing.
  REST.fill(0)
  for (let at = whole; at < length; at++) REST[at - whole] = body[at]!
  d ^= Math.imul(turn(Math.imul(word(REST, 12), C4), 18), C1)
  c ^= Math.imul(turn(Math.imul(word(REST, 8), C3), 17), C4)
  b ^= Math.imul(turn(Math.imul(word(REST, 4), C2), 16), C3)
  a ^= Math.imul(turn(Math.imul(word(REST, 0), C1), 15), C2)
  return sealed(a ^ length, b ^ length, c ^ length, d ^ length)
}

/** Shared buffer for a letter's last bytes: allocating one would cost more than the digest. */
const REST = new Uint8Array(16)

function sealed(a: number, b: number, c: number, d: number): Uint8Array {
  const first = (a + b + c + d) | 0
  const [e, f, g, h] = [finish(first), finish(b + first), finish(c + first), finish(d + first)]
  const sum = (e + f + g + h) | 0
  const digest = new Uint8Array(DIGEST_BYTES)
  put(digest, 0, sum)
  put(digest, 4, f + sum)
  put(digest, 8, g + sum)
  put(digest, 12, h + sum)
  return digest
}

function put(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value >>> 16
  bytes[at + 3] = value >>> 24
}

/** Whether two digests fit; NO_DIGEST fits any. */
export function fits(one: Uint8Array, other: Uint8Array): boolean {
  return isSame(one, other) || isSame(one, NO_DIGEST) || isSame(other, NO_DIGEST)
}

export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return one.length === other.length
}

/** The lives of a direction after its next letter, which may begin a new one. */
export function livesWith(lives: readonly Life[], n: number, life: Uint8Array): readonly Life[] {
  const last = lives.at(-1)
  if (last && isSame(last.life, life)) return lives
  return [...lives, { first: n, life }].slice(-LIVES_MAX)
}

/** One side's record of one direction: its lives, and the last letter. */
export interface Line {
  lives: readonly Life[]
  last: number
}

/** The last letter that two histories share; null if it is unknown. */
export function lastCommon(one: Line, other: Line): number | null {
  if (one.last === 0 || other.last === 0) return 0
  const begun = one.lives.findIndex((a) => other.lives.some((b) => equal(a, b)))
  if (begun < 0) return startsAtOne(one) && startsAtOne(other) ? 0 : null
  const shift = other.lives.findIndex((b) => equal(one.lives[begun]!, b)) - begun
  for (let at = begun; ; at++) {
    const [mine, theirs] = [endOf(one, at), endOf(other, at + shift)]
    const [next, their] = [one.lives[at + 1], other.lives[at + 1 + shift]]
    if (!next || !their || !equal(next, their)) return Math.min(mine, theirs)
  }
}

function equal(one: Life, other: Life): boolean {
  return one.first === other.first && isSame(one.life, other.life)
}

function startsAtOne({ lives }: Line): boolean {
  return lives[0]?.first === 1
}

function endOf({ lives, last }: Line, at: number): number {
  const next = lives[at + 1]
  return next ? next.first - 1 : last
}
