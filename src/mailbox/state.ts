/**
 * What a mailbox knows. Of each other mailbox five numbers are durable: the last letter posted to
 * it, the last that it acked, how many bytes lie between them, its last letter that took effect
 * here, and how often the one after that failed. All else may be forgotten at any moment: it only
 * spares work.
 */

import type { Millis, Out } from '../machine.ts'
import { LETTER_OVERHEAD, type MailChange, type MailHead } from '../ports.ts'
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
  /**
   * Letters that came and follow one on the other. Those that took effect stay until that is
   * durable: a turn that fails handles them again.
   */
  inbox: Map<number, Uint8Array>
  inboxBytes: number
  /** The last number in there, and the last that was taken out again. */
  came: number
  gone: number
  /** When the first of those that wait came, counted over all peers. */
  place: number
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
  /** Bytes in all inboxes. */
  inboxBytes: number
  /** How often letters came where none waited. */
  places: number
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
    inboxBytes: 0,
    places: 0,
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
      came: 0,
      gone: 0,
      place: 0,
      tries: 0,
      retryAt: 0,
      fault: null,
    }
    box.peers.set(id, peer)
  }
  return peer
}

/** What a turn did to the numbers of a peer never was: they are what is durable again. */
export function rewind(box: Mailbox, id: string, head: MailHead | null): void {
  const peer = peerOf(box, id)
  const { posted, acked, bytes, heard, tries } = head ?? NOTHING
  Object.assign(peer, { posted, acked, bytes, heard, tries, retryAt: 0 })
  peer.gone = Math.min(peer.gone, heard)
  if (waits(peer) && !peer.inbox.has(heard + 1)) emptyInbox(box, peer)
}

const NOTHING = { posted: 0, acked: 0, bytes: 0, heard: 0, tries: 0 }

/** What a turn did is durable: letters that took effect are kept no longer. */
export function settle(box: Mailbox, id: string): void {
  const peer = peerOf(box, id)
  while (peer.gone < peer.heard) {
    const body = peer.inbox.get(++peer.gone)
    if (!body) continue
    peer.inbox.delete(peer.gone)
    weighInbox(box, peer, -body.length - LETTER_OVERHEAD)
  }
}

/** Bytes come into an inbox, or go. */
export function weighInbox(box: Mailbox, peer: Peer, bytes: number): void {
  peer.inboxBytes += bytes
  box.inboxBytes += bytes
}

/** Letters that came from a peer and did not take effect are forgotten: it sends them again. */
export function emptyInbox(box: Mailbox, peer: Peer): void {
  weighInbox(box, peer, -peer.inboxBytes)
  peer.inbox = new Map()
  peer.came = 0
  peer.gone = peer.heard
}

/** Whether letters of that peer wait for their handler. */
export function waits(peer: Peer): boolean {
  return peer.came > peer.heard
}
