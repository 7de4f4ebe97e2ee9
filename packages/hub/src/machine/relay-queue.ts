/**
 * Admission of relayed datagrams to the send queue of a member's stream (SE-16).
 *
 * A stream delivers in order, so a source that sends more than its target reads would delay all
 * others, or get them dropped. So each source may hold as much of the queue as is free (dynamic
 * thresholds: Choudhury and Hahne, IEEE/ACM ToN 1998). One source alone may fill half of it; n
 * flooding sources get one part of n + 1 each, and one part is always free. A source with nothing
 * in the queue may always send a little.
 *
 * The datagrams are not stored here. The stream reports how many bytes wait; as it is ordered,
 * these are the newest that were sent.
 */

/** Most relayed bytes waiting in a stream. */
export const RELAY_BACKLOG_MAX: number = 64 * 1024
/** Bytes that each source may always have in the queue: two datagrams. */
export const SHARE_MIN = 2_560

export interface RelayQueue {
  /** Sent datagrams, oldest first; from `head` on they may still wait. */
  sent: { source: string; bytes: number }[]
  head: number
  /** Bytes from `head` on. */
  total: number
  /** Bytes by source. */
  held: Map<string, number>
}

export function create(): RelayQueue {
  return { sent: [], head: 0, total: 0, held: new Map() }
}

/**
 * Whether a datagram may enter the stream; if so, counts it.
 *
 * @param backlog  bytes that wait in the stream now
 */
export function admit(queue: RelayQueue, backlog: number, source: string, bytes: number): boolean {
  dropRead(queue, backlog)
  const held = queue.held.get(source) ?? 0
  const free = RELAY_BACKLOG_MAX - backlog
  if (held + bytes > Math.max(SHARE_MIN, free)) return false
  // Bounds the minimum shares of many sources.
  if (backlog > 2 * RELAY_BACKLOG_MAX) return false
  queue.sent.push({ source, bytes })
  queue.total += bytes
  queue.held.set(source, held + bytes)
  return true
}

// Removes datagrams that no longer wait.
function dropRead(queue: RelayQueue, backlog: number): void {
  const { sent, held } = queue
  while (queue.total > backlog) {
    const { source, bytes } = sent[queue.head++]!
    queue.total -= bytes
    const left = held.get(source)! - bytes
    if (left > 0) held.set(source, left)
    else held.delete(source)
  }
  if (queue.head < 64 || queue.head * 2 < sent.length) return
  sent.splice(0, queue.head)
  queue.head = 0
}
