/**
 * What is counted at a door for streams. Nothing of package `ws` stands here, so that who reads the
 * types of a hub's figures does not need its types too.
 */

/** What happened at the door since it was opened. */
export interface StreamServerCounters {
  accepted: number
  /** Closed with 1008 because of the page's origin, or of the name that it has for us. */
  wrongOrigin: number
  wrongHost: number
  /** Closed with 1013 because connectionsMax streams were open. */
  full: number
  /** TCP connections closed because a whole request head took longer than handshakeMs. */
  handshakeTimeouts: number
  /** The oldest of waitingMax, closed in favour of a new one. */
  crowdedOut: number
  /** Requests for an upgrade that was malformed, or at a path that is nobody's. */
  badUpgrades: number
  /** Streams closed because of frames that break RFC 6455, or are too big. */
  violations: number
  /** Text frames, which we never send: ignored. */
  texts: number
  /** Streams closed because pings stayed without an answer. */
  dead: number
  /** Streams closed because of too many text frames, pings and pongs that nobody asked for. */
  flooding: number
  /** A message took too long, or was the oldest when all halves were too much. */
  halves: number
  /** What was sent was not read for too long, or was the most when it was too much in all. */
  unread: number
}

/** Nothing has happened. */
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
