/**
 * What a link has learnt about each path to its peer: round trips, losses, how much may be in
 * flight. One sequence numbers the packets of all paths, so packets of a fast path overtake those
 * of a slow one. Each packet also has a place among those of its path: only there does order mean
 * anything.
 */

import type { Millis } from '../machine.ts'
import { PATHS_KEPT } from '../paths/paths.ts'
import { createRtt, LATER_PACKETS, sample } from './timing/loss.ts'
import { createPace } from './timing/pace.ts'

export function createPath(now: Millis, id: number) {
  return {
    /** As the owner numbers paths. */
    id,
    rtt: createRtt(),
    pace: createPace(now),
    /** A packet is lost once one this many places later has arrived. */
    later: LATER_PACKETS,
    /** The place of the next packet. */
    next: 0,
    /** Packets that ask for an ack, and those that counted as lost and did not arrive later. */
    asked: 0,
    lost: 0,
    /** The newest place known to have arrived; -1 before the first. */
    newestAcked: -1,
  }
}

export type LinkPath = ReturnType<typeof createPath>

interface OnPaths {
  readonly paths: LinkPath[]
  /** The id of the path by which packets leave. */
  using: number
}

/** The path by which packets leave. */
export function current({ paths, using }: OnPaths): LinkPath {
  return paths[using % PATHS_KEPT]!
}

/** The figures of a path; null if they are gone. */
export function find({ paths }: OnPaths, id: number): LinkPath | null {
  const path = paths[id % PATHS_KEPT]
  return path?.id === id ? path : null
}

/**
 * Packets leave by that path from now on.
 *
 * @param id  0 to 65535; of two paths in use at a time no two ids are equal modulo PATHS_KEPT
 * @param trip  a round trip measured there; NaN if none was
 */
export function use(link: OnPaths, now: Millis, id: number, trip: Millis): void {
  if (link.using === id) return
  const place = id % PATHS_KEPT
  if (link.paths[place]?.id !== id) link.paths[place] = createPath(now, id)
  link.using = id
  const { rtt } = current(link)
  if (rtt.samples === 0 && !Number.isNaN(trip)) sample(rtt, trip, 0)
}
