/** The replay window: a ring of bits behind the newest number. */

/** The packets received under one key. */
export interface Window {
  /** -1 before the first. */
  newest: number
  /** Bit n % size, for each number above newest - size. */
  readonly seen: Uint32Array
}

/** An empty window. @param size  how many numbers are remembered */
export function create(size: number): Window {
  return { newest: -1, seen: new Uint32Array(Math.ceil(size / 32)) }
}

/** Whether a number is surely new: one that is too far behind may not be. */
export function isNew({ newest, seen }: Window, counter: number, size: number): boolean {
  if (counter > newest) return true
  if (counter <= newest - size) return false
  const bit = counter % size
  return (seen[bit >>> 5]! & (1 << (bit & 31))) === 0
}

/** Marks the number of an authentic packet. */
export function mark(window: Window, counter: number, size: number): void {
  const { newest, seen } = window
  if (counter - newest >= size) seen.fill(0)
  else for (let n = newest + 1; n < counter; n++) clear(seen, n % size)
  const bit = counter % size
  seen[bit >>> 5]! |= 1 << (bit & 31)
  if (counter > newest) window.newest = counter
}

function clear(seen: Uint32Array, bit: number): void {
  seen[bit >>> 5]! &= ~(1 << (bit & 31))
}
