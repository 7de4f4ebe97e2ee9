/**
 * Arrivals: the contents of one packet, kept in order until `receive` returns.
 *
 * An event receiver may do anything with the link, or drop it, so reading a packet emits no events:
 * the link notes arrivals, and its owner handles them afterwards. Packets reuse the entries, so a
 * packet of newest state allocates no list.
 *
 * Bounded by a packet's frames, the messages that waited for one of them, and one verdict for each
 * packet of the window.
 */

/** One arrival. Its bytes are valid as long as the packet's. */
export interface Arrival {
  /**
   * A reliable `message`, in order, once; an unreliable `frame` and its channel; a packet that
   * was `acked` (once; also late, after `lost`) or probably `lost` (once, never after `acked`); or
   * `delivered`: every reliable message up to a number arrived (L3).
   */
  what: 'message' | 'frame' | 'acked' | 'lost' | 'delivered'
  /** Channel of a frame, sequence of a packet, number of a message delivered; else 0. */
  number: number
  bytes: Uint8Array
}

export interface Arrivals {
  readonly list: Arrival[]
  count: number
  /** Notes that a packet is probably lost; the same function as a sink's. */
  lost(sequence: number): void
}

const NO_BYTES = new Uint8Array(0)

export function createArrivals(): Arrivals {
  const arrivals: Arrivals = {
    list: [],
    count: 0,
    lost: (sequence) => note(arrivals, 'lost', sequence),
  }
  return arrivals
}

export function note(
  arrivals: Arrivals,
  what: Arrival['what'],
  number: number,
  bytes: Uint8Array = NO_BYTES,
): void {
  const entry = arrivals.list[arrivals.count++]
  if (entry === undefined) {
    arrivals.list.push({ what, number, bytes })
    return
  }
  entry.what = what
  entry.number = number
  entry.bytes = bytes
}

/** Clears all arrivals and releases the buffers of their bytes. */
export function clear(arrivals: Arrivals): void {
  for (let i = 0; i < arrivals.count; i++) arrivals.list[i]!.bytes = NO_BYTES
  arrivals.count = 0
}
