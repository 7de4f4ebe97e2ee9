/**
 * The limits of sealing. Those in `Limits` are data of a seal, so that the model checker can run
 * the shipped code with small ones. Real sessions use LIMITS.
 */

import type { Rate } from '../bucket.ts'
import type { Millis } from '../machine.ts'
import { only, type Versions } from '../wire/versions.ts'

/** The version of these messages, part of what both ends must agree on. */
export const SEAL_VERSION = 1
export const SEAL_VERSIONS: Versions = only(SEAL_VERSION)
/** Longest id of a session in the prologue, in bytes of UTF-8. */
export const SEAL_SESSION_MAX = 32
/** Shortest message 1: longer than any message 2 or cookie, so that no answer amplifies. */
export const FIRST_MIN = 200
/** Longest JOIN in a message 1, in bytes. */
export const SEALED_JOIN_MAX = 1000
/** Longest text of a packet, in bytes; sealed it goes in one UDP packet by every carrier. */
export const SEALED_TEXT_MAX = 1132
/** How far behind the newest a packet may be and still be distinguished from a replay. */
export const REPLAY_WINDOW = 2048
/** Packets that one key seals at most; their numbers fit three bytes. */
export const KEY_PACKETS_MAX: number = 2 ** 24 - 1
/** Age at which a key stops sealing, also without a successor. */
export const KEY_LIFE_MS: Millis = 180_000
/** A handshake fails when it is not answered or confirmed for so long. */
export const ASKING_MS: Millis = 5_000
/** How long a responder waits for the first sealed packet. */
export const ANSWERING_MS: Millis = 10_000
/** First pause before message 1 is repeated; it doubles up to a second. */
export const ASK_AGAIN_MS: Millis = 100
/** Lifetime of the cookie secret; the previous one stays valid too. */
export const COOKIE_MS: Millis = 120_000
/** Shortest interval between challenges of an address that a packet showed. */
export const CHALLENGE_MS: Millis = 250
/** How long one number challenges an address. */
export const NUMBER_MS: Millis = 1_000
/** Most challenged addresses of one peer; one more replaces the oldest. */
export const PROBES_MAX = 8
/** Most validated addresses of one peer; one more replaces the one that answered longest ago. */
export const SHOWN_MAX = 8
/** Most incoming handshakes computed at once. */
export const JOBS_MAX = 64
/** Most known peers. Beyond that, a new one replaces one without a link. */
export const SEALED_PEERS_MAX = 512
/** Most addresses with a token bucket. */
export const FLOODERS_MAX = 256
/** Bytes of a cookie, and of each proof in a message 1. */
export const MAC_BYTES = 16
/** Bytes of the number in a challenge. */
export const CHALLENGE_BYTES = 8

/** The limits that the model checker makes small. */
export interface Limits {
  readonly window: number
  /** A key is replaced when it is so old, or has sealed so many packets. */
  readonly rekeyMs: Millis
  readonly rekeyPackets: number
  /** How long the old key of a link still opens packets. */
  readonly overlapMs: Millis
  /** Rate of messages 1 computed without a cookie. */
  readonly firsts: Rate
  /** Rate for one address with a cookie. */
  readonly firstsOfOne: Rate
}

export const LIMITS: Limits = {
  window: REPLAY_WINDOW,
  rekeyMs: 120_000,
  rekeyPackets: 2 ** 20,
  overlapMs: 5_000,
  firsts: { max: 32, perSecond: 64 },
  firstsOfOne: { max: 4, perSecond: 4 },
}
