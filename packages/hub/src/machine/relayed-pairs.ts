/**
 * Between how many pairs of members the hub relays, for its figures.
 *
 * The hub does not look into datagrams. A pair that is direct keeps the relay as a spare: ten
 * datagrams each way in ten seconds. One that has no other path sends 23 at least. So a pair counts
 * if more than SPARE_MAX went one way in the last whole span of ten seconds.
 */

import type { Millis, PeerId } from '../../../holdfast/src/machine.ts'

const SPAN_MS: Millis = 10_000
const SPARE_MAX = 16

/** How many datagrams of a stream were relayed to each member of its session. */
export interface Relayed {
  /** When the current span began. */
  since: Millis
  current: Map<PeerId, number>
  /** Of the span before. */
  last: ReadonlyMap<PeerId, number>
}

export function create(now: Millis): Relayed {
  return { since: now, current: new Map(), last: new Map() }
}

/** A datagram was relayed. @param to  a member, so there are no more counts than members */
export function note(relayed: Relayed, now: Millis, to: PeerId): void {
  turnOver(relayed, now)
  relayed.current.set(to, (relayed.current.get(to) ?? 0) + 1)
}

function turnOver(relayed: Relayed, now: Millis): void {
  const past = now - relayed.since
  if (past < SPAN_MS) return
  relayed.last = past < 2 * SPAN_MS ? relayed.current : new Map()
  relayed.current = new Map()
  relayed.since = now - (past % SPAN_MS)
}

/** The streams of attached members, by session. */
interface Streams {
  readonly attached: ReadonlyMap<string, ReadonlyMap<PeerId, number>>
  readonly connections: ReadonlyMap<number, { relayed: Relayed }>
}

/** Pairs of attached members whose packets the hub relays. */
export function count({ attached, connections }: Streams, now: Millis): number {
  let pairs = 0
  for (const members of attached.values()) {
    const found = new Set<string>()
    for (const [inc, connection] of members) {
      const { relayed } = connections.get(connection)!
      turnOver(relayed, now)
      for (const [to, datagrams] of relayed.last) {
        if (datagrams <= SPARE_MAX || !members.has(to)) continue
        found.add(`${Math.min(inc, to)} ${Math.max(inc, to)}`)
      }
    }
    pairs += found.size
  }
  return pairs
}
