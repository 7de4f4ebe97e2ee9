/**
 * Who may put a datagram behind those that wait in a member's stream (SE-16).
 *
 * A stream delivers everything in order, so a source that sends more than its target reads would
 * have all others wait behind it, or dropped. So each source has a share of what may wait: as much
 * as is free (dynamic thresholds: Choudhury and Hahne, IEEE/ACM ToN 1998). One alone may fill half
 * of it, and the rest is for others; of n that flood each has one part of n + 1, and one is always
 * free. A source of which nothing waits may always send a little.
 *
 * What waits is not held here: the stream reports how many bytes do, and as it is in order these
 * are the newest that were sent.
 */

/** Most relayed bytes that wait in a stream. */
export const RELAY_BACKLOG_MAX: number = 64 * 1024
/** Of a source of which nothing waits so many bytes may wait in any case: two datagrams. */
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

/** Nothing waits. */
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
  // Those little shares have an end too, or many sources would make a heap of them.
  if (backlog > 2 * RELAY_BACKLOG_MAX) return false
  queue.sent.push({ source, bytes })
  queue.total += bytes
  queue.held.set(source, held + bytes)
  return true
}

// What does not wait any more was read, and counts for nobody.
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
