/**
 * What a mailbox knows. Of each other mailbox five numbers are durable: the last letter posted to
 * it, the last that it acked, how many bytes lie between them, its last letter that took effect
 * here, and how often the one after that failed. All else may be forgotten at any moment: it only
 * spares work.
 */

import type { Millis, Out } from '../machine.ts'
import { LETTER_OVERHEAD, type MailChange, type MailHead } from '../ports.ts'
import { NO_DIGEST, NO_LIFE } from '../wire/history.ts'
import type { Hello, MailMessage } from './messages.ts'

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
  /** Histories did not fit on this connection: nothing more goes over it or is taken from it. */
  barred: boolean
  /** What the peer is to be told of that. */
  complaint: string | null
  /** What the peer said of itself on this connection. */
  theirs: Hello | null
  /** A hello or a batch came over it. */
  wasHeard: boolean
  /** We said what we have. */
  greeted: boolean
  /** The peer did, so it is said in return whatever the policy. */
  asked: boolean
  /** A letter was posted since the connection stands. */
  woken: boolean
  /** Letters up to this one went over this connection, or the peer has them. */
  sent: number
  /** The last ack that went over this connection; -1 for none. */
  acked: number
  /** When an ack goes alone. */
  ackDue: Millis
  /** Bytes that took effect since the last ack. */
  unacked: number
  /** What is on its way, oldest first. */
  flight: { upTo: number; bytes: number; digest: Uint8Array }[]
  flying: number
}

/** A letter that came. */
export interface Arrived {
  body: Uint8Array
  life: Uint8Array
  digest: Uint8Array
}

/** Another mailbox. */
export interface Peer extends Omit<MailHead, 'peer'> {
  link: Link | null
  /**
   * Letters that came and follow one on the other. Those that took effect stay until that is
   * durable: a turn that fails handles them again.
   */
  inbox: Map<number, Arrived>
  inboxBytes: number
  /** The last number in there, and the last that was taken out again. */
  came: number
  gone: number
  /** When the first of those that wait came, counted over all peers. */
  place: number
  /** When the first of them is handled again. */
  retryAt: Millis
  /** Why letters rest; null if all is well. It is judged anew on each connection. */
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
  /** The name of this life of the store; letters are posted in it. */
  life: Uint8Array
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
export function create(
  heads: readonly MailHead[],
  limits: Limits = LIMITS,
  life: Uint8Array = NO_LIFE,
): Mailbox {
  const box: Mailbox = {
    limits,
    life,
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
      ...NOTHING,
      link: null,
      inbox: new Map(),
      inboxBytes: 0,
      came: 0,
      gone: 0,
      place: 0,
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
  const { peer: _id, ...numbers } = head ?? { peer: id, ...NOTHING }
  Object.assign(peer, numbers, { retryAt: 0 })
  peer.gone = Math.min(peer.gone, peer.heard)
  if (waits(peer) && !peer.inbox.has(peer.heard + 1)) emptyInbox(box, peer)
}

const NOTHING: Omit<MailHead, 'peer'> = {
  posted: 0,
  acked: 0,
  bytes: 0,
  heard: 0,
  tries: 0,
  postedDigest: NO_DIGEST,
  ackedDigest: NO_DIGEST,
  heardDigest: NO_DIGEST,
  ourLives: [],
  theirLives: [],
}

/** What a turn did is durable: letters that took effect are kept no longer. */
export function settle(box: Mailbox, id: string): void {
  const peer = box.peers.get(id)
  // It was forgotten.
  if (!peer) return
  while (peer.gone < peer.heard) {
    const letter = peer.inbox.get(++peer.gone)
    if (!letter) continue
    peer.inbox.delete(peer.gone)
    weighInbox(box, peer, -letter.body.length - LETTER_OVERHEAD)
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
