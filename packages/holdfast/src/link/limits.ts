/**
 * The limits of a link. Those in `Limits` are data of the link, so that the model checker can run
 * the shipped code in a small scope: four sequence numbers instead of 65,536, a window of three
 * packets instead of 128. Both ends must use the same; a session always uses LIMITS.
 */

import type { Millis } from '../machine.ts'
import { SEQUENCE_MODULUS } from '../wire/sequence.ts'

/**
 * Longest packet we send, header included, in bytes. Sealed it has 1,156 bytes, the most that
 * node-datachannel puts into one UDP packet; Chromium takes 1,160.
 */
export const PACKET_MAX = 1132
/** Longest reliable message of one `send`, in bytes (L10). */
export const MESSAGE_MAX: number = 80 * 1024
/**
 * Most bytes of a message in one packet; longer messages are split (L10). Such a piece still fits
 * beside the longest header and an ack delay.
 */
export const PIECE_MAX = 1104
/** Most bytes waiting or in flight in the reliable queue (L7). */
export const QUEUE_BYTES_MAX: number = 4 * 1024 * 1024
/** Most messages waiting or in flight in the reliable queue (L7). */
export const QUEUE_MESSAGES_MAX = 4096
/** Largest frame body that `write` may append, in bytes. */
export const FRAME_MAX = 1104
/** First channel of unreliable frames; lower numbers are reserved for the link. */
export const CHANNEL_MIN = 4
/** Last channel of unreliable frames. */
export const CHANNEL_MAX = 255
/**
 * The link is down after this long without a packet, or without progress of waiting messages (L8).
 */
export const LINK_TIMEOUT: Millis = 10_000
/** Keepalive between members that are not primary and backup (L8). */
export const KEEPALIVE: Millis = 200
/** Longest delay of an ack (L6). */
export const ACK_DELAY_MAX: Millis = 25
/** The same for a packet of newest state only: a newer one follows anyway. */
export const STATE_ACK_DELAY_MAX: Millis = 100
/** After this many packets an ack is due once the carrier has delivered all it received (L6). */
export const ACK_SOON_AFTER = 2
/** The same for packets of newest state only. */
export const STATE_ACK_SOON_AFTER = 8
/** After this many packets an ack leaves at once. */
export const ACK_NOW_AFTER = 16

/** The limits that the model checker shrinks. */
export interface Limits {
  /** How many sequence numbers the wire distinguishes. */
  readonly modulus: number
  /** Most packets from the oldest without a verdict to the newest. */
  readonly window: number
  /** Packets that each end remembers; at least twice the window. */
  readonly memory: number
  /** How far ahead of the oldest unacked piece the sender may run, in pieces. */
  readonly ahead: number
  /** How far ahead of the next piece the receiver keeps pieces; no less than `ahead`. */
  readonly reorder: number
  /** First sequence number of either end. */
  readonly first: number
}

export const LIMITS: Limits = {
  modulus: SEQUENCE_MODULUS,
  window: 128,
  memory: 256,
  ahead: 1024,
  reorder: 1024,
  first: 0,
}
