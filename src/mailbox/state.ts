/**
 * What a mailbox knows. Of each other mailbox five numbers are durable: the last letter posted to
 * it, the last that it acked, how many bytes lie between them, its last letter that took effect
 * here, and how often the one after that failed. All else may be forgotten at any moment: it only
 * spares work.
 */

import type { Millis, Out } from '../machine.ts'
import type { MailChange, MailHead } from '../ports.ts'
import type { MailMessage } from './messages.ts'

/**
 * What goes unasked, and when.
 *
 *   hello        each says on connection what it has; letters and acks go only where they are news
 *   preemptive   on connection all unacked letters and the ack go, just in case (S5)
 *   A            likewise, but an ack never goes alone: it rides on the next letter (S12)
 *   B            nothing goes on connection; the next letter takes all others along (S13)
 */
export type Policy = 'hello' | 'preemptive' | 'A' | 'B'

/** What a mailbox may hold, and how it goes about it. */
export interface Limits {
  policy: Policy
  /** Letters that may wait for one peer. */
  lettersMax: number
  /** Their bytes. */
  bytesMax: number
  /** How often a handler may throw at one letter before it is set aside. */
  triesMax: number
}

/** A connection to a peer. */
export interface Link {
  /** The peer said what it has; under `hello` letters wait for that. */
  known: boolean
  /** We said what we have. */
  greeted: boolean
  /** The peer did, so it is said in return whatever the policy. */
  asked: boolean
  /** A letter was posted since the connection stands. */
  woken: boolean
  /** Letters up to this one went over this connection, or the peer has them. */
  sent: number
  /** The last ack that went over this connection; -1 for none. */
  told: number
  /** When an ack goes alone. */
  ackDue: Millis
  /** Bytes that took effect since the last ack. */
  unacked: number
  /** What is on its way, oldest first. */
  flight: { upTo: number; bytes: number }[]
  flying: number
}

/** Another mailbox. */
export interface Peer extends Omit<MailHead, 'peer'> {
  link: Link | null
  /** Letters that came and follow one on the other from `heard` on. */
  inbox: Map<number, Uint8Array>
  inboxBytes: number
  /** When the first of them is handled again. */
  retryAt: Millis
  /** Why nothing goes to it any more; null if all is well. */
  fault: string | null
}

/** What happened that somebody may want to know. */
export type MailEvent =
  /** The peer has processed our letters up to this number. */
  | { kind: 'acked'; peer: string; n: number }
  /** A letter was set aside. */
  | { kind: 'dead'; peer: string; n: number; why: string }
  /** The stores of the two do not fit together; letters between them rest. */
  | { kind: 'fault'; peer: string; why: string }
  /** Letters are missing between what we have and what came. */
  | { kind: 'gap'; peer: string; expected: number; got: number }

/** The sink of a mailbox. */
export type MailOut = Out<MailMessage, MailChange, MailEvent, string>

/** What was refused, by why. */
export interface Counters {
  malformed: number
  /** Letters that had taken effect before. */
  duplicates: number
  gaps: number
  /** Acks for letters that were never posted. */
  forged: number
  /** Letters beyond what one peer may have under way. */
  flooding: number
}

/** One mailbox. */
export interface Mailbox {
  limits: Limits
  peers: Map<string, Peer>
  counters: Counters
}

/** Bounds of a mailbox in a file. */
export const LIMITS: Limits = {
  policy: 'hello',
  lettersMax: 1_000_000,
  bytesMax: 2 ** 30,
  triesMax: 5,
}

/** A mailbox as its store has it. */
export function create(heads: readonly MailHead[], limits: Limits = LIMITS): Mailbox {
  const box: Mailbox = {
    limits,
    peers: new Map(),
    counters: { malformed: 0, duplicates: 0, gaps: 0, forged: 0, flooding: 0 },
  }
  for (const { peer, ...numbers } of heads) Object.assign(peerOf(box, peer), numbers)
  return box
}

/** What is known of a peer; one that was never heard of has no letters. */
export function peerOf(box: Mailbox, id: string): Peer {
  let peer = box.peers.get(id)
  if (!peer) {
    peer = {
      posted: 0,
      acked: 0,
      bytes: 0,
      heard: 0,
      link: null,
      inbox: new Map(),
      inboxBytes: 0,
      tries: 0,
      retryAt: 0,
      fault: null,
    }
    box.peers.set(id, peer)
  }
  return peer
}
