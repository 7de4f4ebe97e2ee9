/**
 * The state of a mailbox. For each other mailbox five numbers are durable: the last letter posted
 * to it, the last that it acked, how many bytes lie between them, its last letter that took effect
 * here, and how often the one after that failed. All else may be forgotten at any moment: it only
 * saves work.
 */

import type { Millis, Out } from '../../../holdfast/src/machine.ts'
import { LETTER_OVERHEAD, type MailChange, type MailHead } from '../../../holdfast/src/ports.ts'
import { NO_DIGEST, NO_LIFE } from '../../../holdfast/src/wire/history.ts'
import type { Hello, MailMessage } from './messages.ts'

/**
 * What is sent without being asked for, and when.
 *
 *   hello        on connection each sends its numbers; letters and acks go only where they are
 *   needed
 *   preemptive   on connection all unacked letters and the ack are sent, just in case (S5)
 *   A            likewise, but an ack never goes alone: the next letter carries it (S12)
 *   B            nothing is sent on connection; the next letter takes all others along (S13)
 */
export type Policy = 'hello' | 'preemptive' | 'A' | 'B'

/**
 * What becomes of a letter whose handler threw too often.
 *
 *   stop      letters of its sender wait behind it until its handler works, or its owner decides
 *   setAside  it becomes a dead letter, and those behind it go on
 */
export type OnPoison = 'stop' | 'setAside'

/** The limits of a mailbox, and its policy. */
export interface Limits {
  policy: Policy
  /** Letters that may wait for one peer. */
  lettersMax: number
  /** Bytes of these letters. */
  bytesMax: number
  /** How often a handler may throw at one letter before that is poison. */
  triesMax: number
  onPoison: OnPoison
}

/** A connection to a peer over which nothing went yet. */
export function createLink({ policy }: Limits, now: Millis, peer: Pick<MailHead, 'acked'>) {
  return {
    /** The peer's numbers are known; under `hello` letters wait for that. */
    known: policy !== 'hello',
    /** Histories did not fit on this connection: nothing more is sent or accepted on it. */
    barred: false,
    /** The reason for that, to be sent to the peer. */
    complaint: null as string | null,
    /** The peer's hello on this connection. */
    theirs: null as Hello | null,
    /** A hello or a batch came over it. */
    wasHeard: false,
    /** We sent our hello. */
    greeted: false,
    /** The peer sent its hello, which is answered under any policy. */
    asked: false,
    /** A letter was posted since the connection opened. */
    woken: false,
    /** Letters up to this one went over this connection, or the peer has them. */
    sent: peer.acked,
    /** The last ack that went over this connection; -1 for none. */
    acked: -1,
    /** When an ack is sent alone; with the original's own policy one is sent just in case. */
    ackDue: policy === 'preemptive' ? now : Infinity,
    /** Bytes that took effect since the last ack. */
    unacked: 0,
    /** Letters on their way, oldest first. */
    flight: [] as { upTo: number; bytes: number; digest: Uint8Array }[],
    flying: 0,
  }
}

/** A connection to a peer. */
export type Link = ReturnType<typeof createLink>

/** A letter that came. */
export interface Arrived {
  body: Uint8Array
  life: Uint8Array
  digest: Uint8Array
  /** The key of the connection that it came on; null for a carrier without a greeting. */
  key: Uint8Array | null
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
  key: null,
  root: null,
}

function createPeer() {
  return {
    ...NOTHING,
    link: null as Link | null,
    /**
     * Letters that came and follow one on the other. Letters that took effect stay until that is
     * durable: if the turn fails they are handled again.
     */
    inbox: new Map<number, Arrived>(),
    inboxBytes: 0,
    /** The last number in the inbox, and the last that was taken out again. */
    came: 0,
    gone: 0,
    /** When the first waiting letter came, counted over all peers. */
    place: 0,
    /** When the first waiting letter is handled again. */
    retryAt: 0,
    /** Why letters are stopped; null if they are not. It is decided again on each connection. */
    fault: null as string | null,
  }
}

/** Another mailbox. */
export type Peer = ReturnType<typeof createPeer>

/** Events for the owner of the mailbox. */
export type MailEvent =
  /** The peer has processed our letters up to this number. */
  | { kind: 'acked'; peer: string; n: number }
  /** A letter became a dead letter. */
  | { kind: 'dead'; peer: string; n: number; why: string }
  /** The peer has another key from now on, which its old one signed. */
  | { kind: 'key'; peer: string; key: Uint8Array }
  /** The histories of the two stores do not fit; letters between them are stopped. */
  | { kind: 'fault'; peer: string; why: string }
  /** Letters are missing between those we have and those that came. */
  | { kind: 'gap'; peer: string; expected: number; got: number }

/** The sink of a mailbox. */
export type MailOut = Out<MailMessage, MailChange, MailEvent, string>

function noCounts() {
  return {
    malformed: 0,
    /** Letters that had taken effect before. */
    duplicates: 0,
    gaps: 0,
    /** Acks for letters that were never posted. */
    forged: 0,
    /** Letters over the limits of inboxes. */
    flooding: 0,
    /** Letters that fit no type that the application declared, or are about a key and wrong. */
    unfit: 0,
    /** Greetings that were refused here, but for keys. */
    greetings: 0,
    /** Greetings, and messages, of somebody who is known by another key. */
    otherKey: 0,
    /** Greetings of somebody who did not prove its key. */
    unproved: 0,
    /** Connections that ended before their greeting was over: too late, or too many. */
    ungreeted: 0,
  }
}

/** Counts of what was refused, by reason. */
export type Counters = ReturnType<typeof noCounts>

/** Ids and their keys; null for an id that its first letter or ack binds. */
export type Listed = ReadonlyMap<string, Uint8Array | null>

/** Limits of a mailbox in a file. */
export const LIMITS: Limits = {
  policy: 'hello',
  lettersMax: 1_000_000,
  bytesMax: 2 ** 30,
  triesMax: 5,
  onPoison: 'stop',
}

/** A mailbox from the numbers in its store. */
export function create(
  heads: readonly MailHead[],
  limits: Limits = LIMITS,
  life: Uint8Array = NO_LIFE,
  listed: Listed | null = null,
) {
  const box = {
    limits,
    /** The name of this life of the store, under which letters are posted. */
    life,
    /** The only ids that may come, with their keys, if these are given; null for all. */
    listed,
    peers: new Map<string, Peer>(),
    counters: noCounts(),
    /** Bytes in all inboxes. */
    inboxBytes: 0,
    /** How often a letter came for a peer with no letter waiting. */
    places: 0,
  }
  for (const { peer, ...numbers } of heads) Object.assign(peerOf(box, peer), numbers)
  return box
}

/** One mailbox. */
export type Mailbox = ReturnType<typeof create>

/** The state of a peer; an unknown one has no letters. */
export function peerOf({ peers }: Pick<Mailbox, 'peers'>, id: string): Peer {
  let peer = peers.get(id)
  if (!peer) peers.set(id, (peer = createPeer()))
  return peer
}

/** A turn failed: the numbers of a peer are again those that are durable. */
export function rewind(box: Mailbox, id: string, head: MailHead | null): void {
  const peer = peerOf(box, id)
  const { peer: _id, ...numbers } = head ?? { peer: id, ...NOTHING }
  Object.assign(peer, numbers, { retryAt: 0 })
  peer.gone = Math.min(peer.gone, peer.heard)
  if (waits(peer) && !peer.inbox.has(peer.heard + 1)) emptyInbox(box, peer)
}

/** The effects of a turn are durable: letters that took effect are not kept any longer. */
export function settle(box: Mailbox, id: string): void {
  const peer = box.peers.get(id)
  // The peer was forgotten.
  if (!peer) return
  while (peer.gone < peer.heard) {
    const letter = peer.inbox.get(++peer.gone)
    if (!letter) continue
    peer.inbox.delete(peer.gone)
    weighInbox(box, peer, -letter.body.length - LETTER_OVERHEAD)
  }
}

/** Counts bytes that come into an inbox, or leave it. */
export function weighInbox(box: Mailbox, peer: Peer, bytes: number): void {
  peer.inboxBytes += bytes
  box.inboxBytes += bytes
}

/** Forgets letters of a peer that did not take effect: the peer sends them again. */
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
