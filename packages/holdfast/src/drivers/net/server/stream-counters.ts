/**
 * Counters of a server of streams. This file uses nothing of package `ws`, so that a program that
 * uses the types of a hub's figures does not need its types too.
 */

/** The counters at zero. */
export const NO_STREAMS = {
  accepted: 0,
  /**
   * Closed with 1008 because of the page's origin, or because of the host name that it used for us.
   */
  wrongOrigin: 0,
  wrongHost: 0,
  /** Closed with 1013 because connectionsMax streams were open. */
  full: 0,
  /** TCP connections closed because a whole request head took longer than handshakeMs. */
  handshakeTimeouts: 0,
  /** Closed as the oldest of waitingMax, in favour of a new one. */
  crowdedOut: 0,
  /** Malformed requests for an upgrade, or at a path that no server of streams has. */
  badUpgrades: 0,
  /** Streams closed because of frames that break RFC 6455, or are too big. */
  violations: 0,
  /** Text frames, which we never send: ignored. */
  texts: 0,
  /** Streams closed because pings stayed without an answer. */
  dead: 0,
  /** Streams closed because of too many text frames, pings and pongs that nobody asked for. */
  flooding: 0,
  /** Messages that took too long, or were the oldest when all incomplete ones were too many. */
  halves: 0,
  /** Streams that did not read for too long, or had the most unread bytes when all had too many. */
  unread: 0,
}
/** Counts since the server of streams was opened. */
export type StreamServerCounters = typeof NO_STREAMS
