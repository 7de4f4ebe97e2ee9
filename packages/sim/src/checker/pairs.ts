/**
 * Numbers by two numbers, each at least 0, as `remember` of cells.ts needs them. Most lookups read
 * one place in memory.
 *
 * The table is open addressing with linear steps, at most half full. A slot is four numbers, so
 * that none lies across two lines of the cache: the first of the two + 1, so that 0 is free, the
 * second, and the value.
 */

/** Numbers by two numbers. */
export interface Pairs {
  count: number
  slots: Int32Array
}

const SLOTS_FIRST = 64
const SLOT = 4

/** Nothing so far. */
export function create(): Pairs {
  return { count: 0, slots: new Int32Array(SLOTS_FIRST * SLOT) }
}

/** The number of the two, or -1. */
export function find({ slots }: Pairs, a: number, b: number): number {
  const mask = slots.length - SLOT
  for (let slot = slotOf(a, b) & mask; ; slot = (slot + SLOT) & mask) {
    const first = slots[slot]!
    if (first === a + 1 && slots[slot + 1] === b) return slots[slot + 2]!
    if (first === 0) return -1
  }
}

/** From now on that is the number of the two, which had none. @returns it */
export function keep(pairs: Pairs, a: number, b: number, value: number): number {
  if (++pairs.count * SLOT * 2 > pairs.slots.length) grow(pairs)
  place(pairs.slots, a, b, value)
  return value
}

function place(slots: Int32Array, a: number, b: number, value: number): void {
  const mask = slots.length - SLOT
  let slot = slotOf(a, b) & mask
  while (slots[slot] !== 0) slot = (slot + SLOT) & mask
  slots[slot] = a + 1
  slots[slot + 1] = b
  slots[slot + 2] = value
}

function grow(pairs: Pairs): void {
  const { slots } = pairs
  pairs.slots = new Int32Array(slots.length * 2)
  for (let slot = 0; slot < slots.length; slot += SLOT) {
    if (slots[slot] === 0) continue
    place(pairs.slots, slots[slot]! - 1, slots[slot + 1]!, slots[slot + 2]!)
  }
}

// A multiple of SLOT, once the low bits are masked off.
function slotOf(a: number, b: number): number {
  const mixed = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b)
  return (mixed ^ (mixed >>> 15)) << 2
}
