/**
 * Counters of a stream server. This file does not use package `ws`, so that users of the types of a
 * hub's figures do not need its types.
 */

/** The counters at zero. */
export const NO_STREAMS = {
  accepted: 0,
  /** Closed with 1008 because of the page's origin, or of the host name that it used for us. */
  wrongOrigin: 0,
  wrongHost: 0,
  /** Closed with 1013 because connectionsMax streams were open. */
  full: 0,
  /** TCP connections closed because the request head took longer than handshakeMs. */
  handshakeTimeouts: 0,
  /** Closed as the oldest of waitingMax, in favour of a new one. */
  crowdedOut: 0,
  /** Malformed upgrade requests, or at a path of no stream server. */
  badUpgrades: 0,
  /** Streams closed because of frames that break RFC 6455, or are too big. */
  violations: 0,
  /** Text frames, which we never send: ignored. */
  texts: 0,
  /** Streams closed because pings stayed unanswered. */
  dead: 0,
  /** Streams closed because of too many text frames, pings and unrequested pongs. */
  flooding: 0,
  /** Messages that took too long, or were the oldest when all incomplete ones were too large. */
  halves: 0,
  /** Streams that did not read for too long, or had the most unread bytes when all had too many. */
  unread: 0,
}
/** Counts since the stream server was opened. */
export type StreamServerCounters = typeof NO_STREAMS
