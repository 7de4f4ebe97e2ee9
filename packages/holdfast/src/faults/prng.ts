/**
 * Seeded random draws: the same seed gives the same run on any machine.
 *
 * The state is four 32-bit numbers, plain data that a machine's state can contain and clone. The
 * step is Doty-Humphrey's sfc32 (small fast chaotic, with a counter), which passes PractRand; the
 * counter makes every period at least 2^32 steps. Not fit for secrets.
 */

import { HoldfastError } from '../machine.ts'

export interface Prng {
  a: number
  b: number
  c: number
  counter: number
}

/** Steps that spread the seed over the whole state. */
const WARM_UP = 12

/** A generator for a seed. @param seed a safe integer or a text */
export function create(seed: number | string): Prng {
  if (typeof seed === 'string') return spread(textSum(seed, 1), textSum(seed, 2))
  if (!Number.isSafeInteger(seed)) {
    throw new HoldfastError('bad-value', `a seed must be a safe integer or a text: ${seed}`)
  }
  return spread(seed | 0, Math.floor(seed / 2 ** 32) | 0)
}

/** A number from 0 to 2^32 - 1. */
export function word(prng: Prng): number {
  const sum = (prng.a + prng.b + prng.counter) | 0
  prng.counter = (prng.counter + 1) | 0
  prng.a = prng.b ^ (prng.b >>> 9)
  prng.b = (prng.c + (prng.c << 3)) | 0
  prng.c = (((prng.c << 21) | (prng.c >>> 11)) + sum) | 0
  return sum >>> 0
}

/** A number from 0 up to but not 1, in steps of 2^-32. */
export function next(prng: Prng): number {
  return word(prng) / 0x100000000
}

/** A whole number from 0 to count - 1. @throws HoldfastError 'bad-value' unless 1 to 2^32 */
export function below(prng: Prng, count: number): number {
  if (!Number.isInteger(count) || count < 1 || count > 0x100000000) {
    throw new HoldfastError('bad-value', `below needs a count from 1 to 2^32: ${count}`)
  }
  return Math.floor(next(prng) * count)
}

/** A number from min up to but not max. */
export function between(prng: Prng, min: number, max: number): number {
  return min + next(prng) * (max - min)
}

/** True with this probability. 0 and 1 draw nothing, so a disabled fault changes no later draw. */
export function chance(prng: Prng, probability: number): boolean {
  if (probability <= 0) return false
  return probability >= 1 || next(prng) < probability
}

/** One of the items. @throws HoldfastError 'bad-value' if there are none */
export function pick<Item>(prng: Prng, items: readonly Item[]): Item {
  return items[below(prng, items.length)]!
}

export function fill(prng: Prng, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += 4) {
    let rest = word(prng)
    // Writes past the end of the array are ignored.
    for (let i = at; i < at + 4; i++) {
      bytes[i] = rest & 0xff
      rest >>>= 8
    }
  }
}

/**
 * A separate generator for one purpose. It depends on the seed, the label and the number of draws
 * from the parent so far, and draws nothing from the parent.
 */
export function fork(prng: Prng, label: string): Prng {
  return spread(prng.a ^ textSum(label, 1) ^ prng.counter, prng.b ^ prng.c ^ textSum(label, 2))
}

function spread(one: number, two: number): Prng {
  const prng = { a: two | 0, b: one | 0, c: 0x2545f491, counter: 1 }
  for (let i = 0; i < WARM_UP; i++) word(prng)
  return prng
}

function textSum(text: string, start: number): number {
  let sum = Math.imul(start, 0x01000193) ^ text.length
  for (let i = 0; i < text.length; i++) {
    sum = Math.imul(sum ^ text.charCodeAt(i), 0x5bd1e995)
    sum ^= sum >>> 15
  }
  return sum
}
