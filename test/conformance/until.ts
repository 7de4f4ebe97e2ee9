/** Waiting for real sockets: for what they bring, never for a span of time. */

/** Lets the event loop turn until the condition holds; the test's own limit ends a vain wait. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn()
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Seeded numbers from 0 to below 1, and bytes; good enough to fuzz with. */
export interface Dice {
  next(): number
  below(limit: number): number
  bytes(count: number): Uint8Array
}

/** The same seed gives the same numbers: xorshift32. */
export function dice(seed: number): Dice {
  let state = (seed * 0x9e3779b1) >>> 0 || 1
  const next = (): number => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { next, below, bytes: (count) => Uint8Array.from({ length: count }, () => below(256)) }
}
