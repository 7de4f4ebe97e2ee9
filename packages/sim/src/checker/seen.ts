/**
 * The states that a search has seen, as numbers in typed arrays: a Map of ten million entries costs
 * several times the memory at half the speed.
 *
 * A state is known by its hash, and numbered in the order of discovery. The table of hashes uses
 * open addressing with linear probing, at most half full; a slot holds a hash + 1, and 0 is free.
 * Most steps lead to known states, and finding that out reads one place in memory, which is what a
 * step of a large search waits for.
 */

const CAPACITY_FIRST = 1024

export function create() {
  return {
    count: 0,
    /** By state number: the parent state, -1 for the first. */
    parents: new Int32Array(CAPACITY_FIRST),
    /** By state number: the ordinal of the parent's action that led to it. */
    ordinals: new Int32Array(CAPACITY_FIRST),
    /** The 53-bit hashes + 1, still exact integers. */
    slots: new Float64Array(CAPACITY_FIRST * 2),
  }
}

export type Seen = ReturnType<typeof create>

/** Whether a state with this hash is known. */
export function has({ slots }: Seen, key: number): boolean {
  const mark = key + 1
  const mask = slots.length - 1
  // `key | 0` keeps the low 32 of 53 bits, over which the hash spreads well.
  for (let slot = (key | 0) & mask; ; slot = (slot + 1) & mask) {
    const found = slots[slot]!
    if (found === mark) return true
    if (found === 0) return false
  }
}

/** Adds a new state. @returns its number */
export function add(seen: Seen, key: number, parent: number, ordinal: number): number {
  if (seen.count === seen.parents.length) grow(seen)
  const id = seen.count++
  seen.parents[id] = parent
  seen.ordinals[id] = ordinal
  place(seen.slots, key + 1)
  return id
}

function place(slots: Float64Array, mark: number): void {
  const mask = slots.length - 1
  let slot = ((mark - 1) | 0) & mask
  while (slots[slot] !== 0) slot = (slot + 1) & mask
  slots[slot] = mark
}

function grow(seen: Seen): void {
  const size = seen.parents.length * 2
  const { parents, ordinals, slots } = seen
  seen.parents = new Int32Array(size)
  seen.parents.set(parents)
  seen.ordinals = new Int32Array(size)
  seen.ordinals.set(ordinals)
  seen.slots = new Float64Array(size * 2)
  for (const mark of slots) if (mark !== 0) place(seen.slots, mark)
}
