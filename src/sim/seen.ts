/**
 * The states that a search has met, as numbers in typed arrays: a Map of ten million entries
 * costs several times the memory and half the speed.
 *
 * A state's number is its index in the order of finding. The table is open addressing with linear
 * steps, at most half full; a slot holds a number + 1, and 0 is free.
 */

/** All states found so far. */
export interface Seen {
  count: number
  /** By number of state: its 53-bit hash. */
  keys: Float64Array
  /** By number of state: the state it was first reached from, -1 for the first. */
  parents: Int32Array
  /** By number of state: which of the parent's actions led to it. */
  ordinals: Int32Array
  slots: Int32Array
}

const CAPACITY_FIRST = 1024

/** No states yet. */
export function create(): Seen {
  return {
    count: 0,
    keys: new Float64Array(CAPACITY_FIRST),
    parents: new Int32Array(CAPACITY_FIRST),
    ordinals: new Int32Array(CAPACITY_FIRST),
    slots: new Int32Array(CAPACITY_FIRST * 2),
  }
}

/** The number of the state with this hash, or -1. */
export function find(seen: Seen, key: number): number {
  const { slots, keys } = seen
  const mask = slots.length - 1
  // `key | 0` keeps the low 32 of the 53 bits, and the hash spreads well over them.
  for (let slot = (key | 0) & mask; ; slot = (slot + 1) & mask) {
    const id = slots[slot]! - 1
    if (id < 0 || keys[id] === key) return id
  }
}

/** Adds a state that `find` does not know. @returns its number */
export function add(seen: Seen, key: number, parent: number, ordinal: number): number {
  if (seen.count === seen.keys.length) grow(seen)
  const id = seen.count++
  seen.keys[id] = key
  seen.parents[id] = parent
  seen.ordinals[id] = ordinal
  place(seen, key, id)
  return id
}

function place(seen: Seen, key: number, id: number): void {
  const { slots } = seen
  const mask = slots.length - 1
  let slot = (key | 0) & mask
  while (slots[slot] !== 0) slot = (slot + 1) & mask
  slots[slot] = id + 1
}

function grow(seen: Seen): void {
  const size = seen.keys.length * 2
  const { keys, parents, ordinals } = seen
  seen.keys = new Float64Array(size)
  seen.keys.set(keys)
  seen.parents = new Int32Array(size)
  seen.parents.set(parents)
  seen.ordinals = new Int32Array(size)
  seen.ordinals.set(ordinals)
  seen.slots = new Int32Array(size * 2)
  for (let id = 0; id < seen.count; id++) place(seen, seen.keys[id]!, id)
}
