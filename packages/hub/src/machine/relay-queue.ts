/**
 * Which relayed datagrams may wait in the stream of a member (SE-16).
 *
 * A stream delivers in order, so one source that sends more than its target reads would delay all
 * others, or have them dropped. So each source has a share of the queue: as much as is free
 * (dynamic thresholds: Choudhury and Hahne, IEEE/ACM ToN 1998). One source alone may fill half of
 * it; of n that flood, each has one part of n + 1, and one is always free. A source with nothing
 * in the queue may always send a little.
 *
 * The datagrams are not held here: the stream reports how many bytes wait, and as it is in order
 * these are the newest that were sent.
 */

/** Most relayed bytes that wait in a stream. */
export const RELAY_BACKLOG_MAX: number = 64 * 1024
/** Bytes that a source may always have in the queue: two datagrams. */
export const SHARE_MIN = 2_560

/** Datagrams that may wait in one stream. */
export interface RelayQueue {
  /** What was sent, oldest first; `head` is where that begins which may still wait. */
  sent: { source: string; bytes: number }[]
  head: number
  /** The sum of those. */
  total: number
  /** By source. */
  held: Map<string, number>
}

/** An empty queue. */
export function create(): RelayQueue {
  return { sent: [], head: 0, total: 0, held: new Map() }
}

/**
 * Whether a datagram may be put into the stream; if so, it is counted.
 *
 * @param backlog  bytes that wait in the stream now
 */
export function admit(queue: RelayQueue, backlog: number, source: string, bytes: number): boolean {
  dropRead(queue, backlog)
  const held = queue.held.get(source) ?? 0
  const free = RELAY_BACKLOG_MAX - backlog
  if (held + bytes > Math.max(SHARE_MIN, free)) return false
  // The minimum shares of many sources are bounded too.
  if (backlog > 2 * RELAY_BACKLOG_MAX) return false
  queue.sent.push({ source, bytes })
  queue.total += bytes
  queue.held.set(source, held + bytes)
  return true
}

// Datagrams that no longer wait were read.
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
