/** Which of the last packets came before: a ring of bits behind the newest number. */

/** What came under one key. */
export interface Window {
  /** -1 before anything came. */
  newest: number
  /** Bit n % size, for each number above newest - size. */
  readonly seen: Uint32Array
}

/** Nothing came yet. @param size  numbers that are remembered */
export function create(size: number): Window {
  return { newest: -1, seen: new Uint32Array(Math.ceil(size / 32)) }
}

/** Whether it surely did not come before: one that is too far behind may have. */
export function isNew({ newest, seen }: Window, counter: number, size: number): boolean {
  if (counter > newest) return true
  if (counter <= newest - size) return false
  const bit = counter % size
  return (seen[bit >>> 5]! & (1 << (bit & 31))) === 0
}

/** It came, and proved to be sealed with the key. */
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
