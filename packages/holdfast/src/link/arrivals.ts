/**
 * Arrivals: everything that one packet carried, kept in order until `receive` has returned.
 *
 * A receiver of an event may do anything with the link, or drop it. So no events are emitted while
 * a packet is being read: the link notes arrivals, and its owner goes through them afterwards. The
 * entries are reused for each packet, so that a packet of newest state does not cost a list.
 *
 * Bounded: the frames of a packet, the messages that waited for one of them, and one verdict for
 * each packet of the window.
 */

/** One arrival. Its bytes are valid as long as those of the packet. */
export interface Arrival {
  /**
   * A reliable `message`, in order, once; an unreliable `frame` and its channel; a packet that
   * was `acked` (once; also late, after `lost`) or probably `lost` (once, never after `acked`); or
   * `delivered`: every reliable message up to a number arrived (L3).
   */
  what: 'message' | 'frame' | 'acked' | 'lost' | 'delivered'
  /** Channel of a frame, sequence of a packet, number of a message delivered; else 0. */
  number: number
  /** The bytes of a message or frame; else empty. */
  bytes: Uint8Array
}

/** The arrivals of a packet: the first `count` of the list. */
export interface Arrivals {
  readonly list: Arrival[]
  count: number
  /** The packet probably did not arrive; the same function as a sink's. */
  lost(sequence: number): void
}

const NO_BYTES = new Uint8Array(0)

/** An empty list of arrivals. */
export function createArrivals(): Arrivals {
  const arrivals: Arrivals = {
    list: [],
    count: 0,
    lost: (sequence) => note(arrivals, 'lost', sequence),
  }
  return arrivals
}

/** Notes one arrival. */
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

/** Forgets all arrivals, and releases the buffers of their bytes. */
export function clear(arrivals: Arrivals): void {
  for (let i = 0; i < arrivals.count; i++) arrivals.list[i]!.bytes = NO_BYTES
  arrivals.count = 0
}
