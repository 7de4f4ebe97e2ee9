/** Chance from a seed, for bots and games without others: the same seed plays the same way. */

/** A row of numbers that looks like chance. Plain data. */
export interface Chance {
  state: number
}

/** The next number, from 0 up to but not including 1. */
export function next(chance: Chance): number {
  // Mulberry32, by Tommy Ettinger, in the public domain.
  chance.state = (chance.state + 0x6d2b79f5) | 0
  let mixed = Math.imul(chance.state ^ (chance.state >>> 15), chance.state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
}

/** A number around 0, mostly within 1 of it: three throws together. */
export function around(chance: Chance): number {
  return ((next(chance) + next(chance) + next(chance)) * 2 - 3) * 0.8
}

/** A number from min up to max. */
export function between(chance: Chance, min: number, max: number): number {
  return min + (max - min) * next(chance)
}
