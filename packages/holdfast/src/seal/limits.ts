/**
 * The named limits of sealing. Those in `Limits` are data of the machine, so that the model checker
 * can run the shipped code in a small world. Both ends of a session use LIMITS.
 */

import type { Rate } from '../bucket.ts'
import type { Millis } from '../machine.ts'
import { only, type Versions } from '../wire/versions.ts'

/** The version of these messages, part of what both ends must agree on. */
export const SEAL_VERSION = 1
/** The versions that this build speaks. */
export const SEAL_VERSIONS: Versions = only(SEAL_VERSION)
/** Longest id of a session in the prologue, in bytes of UTF-8. */
export const SEAL_SESSION_MAX = 32
/** Shortest message 1: longer than any message 2 or cookie, so an answer never is. */
export const FIRST_MIN = 200
/** Longest JOIN in a message 1, in bytes. */
export const SEALED_JOIN_MAX = 1000
/** Longest text of a packet, in bytes: with all that carriers add it still fits a datagram. */
export const SEALED_TEXT_MAX = 1160
/** How far behind the newest a packet may come and still be told from one that came before. */
export const REPLAY_WINDOW = 2048
/** Packets that one key seals at most; their numbers fit three bytes. */
export const KEY_PACKETS_MAX: number = 2 ** 24 - 1
/** Age at which a key seals nothing more, though no new one was had. */
export const KEY_LIFE_MS: Millis = 180_000
/** A handshake that was not answered, or not confirmed, for so long failed. */
export const ASKING_MS: Millis = 5_000
/** For so long one that was asked waits for the first sealed packet. */
export const ANSWERING_MS: Millis = 10_000
/** First pause before a message 1 is sent again; it doubles, to a second. */
export const ASK_AGAIN_MS: Millis = 100
/** After so long the secret that cookies are made of is drawn anew; the one before counts too. */
export const COOKIE_MS: Millis = 120_000
/** A challenge is sent again after so long at the earliest, if more came from that address. */
export const CHALLENGE_MS: Millis = 250
/** Addresses of one peer that are being challenged; one more pushes out the oldest. */
export const PROBES_MAX = 4
/** Addresses of one peer that have shown themselves; one more pushes out the oldest. */
export const SHOWN_MAX = 4
/** Handshakes of others that are being computed. */
export const JOBS_MAX = 64
/** Peers that are known by their key. Beyond them, who has no link is forgotten for a new one. */
export const SEALED_PEERS_MAX = 512
/** Addresses for which floods are counted. */
export const FLOODERS_MAX = 256
/** Bytes of a cookie, and of each proof in a message 1. */
export const MAC_BYTES = 16
/** Bytes of the number in a challenge. */
export const CHALLENGE_BYTES = 8

/** What the model checker makes small. */
export interface Limits {
  /** See REPLAY_WINDOW. */
  readonly window: number
  /** A key is replaced when it is so old, or has sealed so many packets. */
  readonly rekeyMs: Millis
  readonly rekeyPackets: number
  /** For so long the old key of a link still opens beside the new one. */
  readonly overlapMs: Millis
  /** How many messages 1 are computed for all; beyond, an address must first show a cookie. */
  readonly firsts: Rate
  /** The same for one address that has shown its cookie. */
  readonly firstsOfOne: Rate
}

/** The limits of every real session. */
export const LIMITS: Limits = {
  window: REPLAY_WINDOW,
  rekeyMs: 120_000,
  rekeyPackets: 2 ** 20,
  overlapMs: 5_000,
  firsts: { max: 32, perSecond: 64 },
  firstsOfOne: { max: 4, perSecond: 4 },
}
