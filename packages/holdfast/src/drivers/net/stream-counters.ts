/**
 * Counters of a server of streams. This file uses nothing of package `ws`, so that a program that
 * uses the types of a hub's figures does not need its types too.
 */

/** Counts since the server of streams was opened. */
export interface StreamServerCounters {
  accepted: number
  /**
   * Closed with 1008 because of the page's origin, or because of the host name that it used for us.
   */
  wrongOrigin: number
  wrongHost: number
  /** Closed with 1013 because connectionsMax streams were open. */
  full: number
  /** TCP connections closed because a whole request head took longer than handshakeMs. */
  handshakeTimeouts: number
  /** Closed as the oldest of waitingMax, in favour of a new one. */
  crowdedOut: number
  /** Malformed requests for an upgrade, or at a path that no server of streams has. */
  badUpgrades: number
  /** Streams closed because of frames that break RFC 6455, or are too big. */
  violations: number
  /** Text frames, which we never send: ignored. */
  texts: number
  /** Streams closed because pings stayed without an answer. */
  dead: number
  /** Streams closed because of too many text frames, pings and pongs that nobody asked for. */
  flooding: number
  /** Messages that took too long, or were the oldest when all incomplete ones were too many. */
  halves: number
  /** Streams that did not read for too long, or had the most unread bytes when all had too many. */
  unread: number
}

/** Counters at zero. */
export function createCounters(): StreamServerCounters {
  return {
    accepted: 0,
    wrongOrigin: 0,
    wrongHost: 0,
    full: 0,
    handshakeTimeouts: 0,
    crowdedOut: 0,
    badUpgrades: 0,
    violations: 0,
    texts: 0,
    dead: 0,
    flooding: 0,
    halves: 0,
    unread: 0,
  }
}
