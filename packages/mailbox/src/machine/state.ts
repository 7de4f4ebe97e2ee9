/**
 * The state of a mailbox. Five numbers per peer are durable: the last letter posted to it, the last
 * it acked, the bytes between these, its last letter that took effect here, and how often the next
 * one failed. Everything else is a cache that may be lost at any moment.
 */

import type { Millis, Out } from '../../../holdfast/src/machine.ts'
import { LETTER_OVERHEAD, type MailChange, type MailHead } from '../../../holdfast/src/ports.ts'
import { NO_DIGEST, NO_LIFE } from '../../../holdfast/src/wire/history.ts'
import type { Hello, MailMessage } from './messages.ts'

/**
 * What is sent unprompted, and when.
 *
 *   hello        on connection each side sends its numbers; letters and acks go only if needed
 *   preemptive   on connection all unacked letters and the ack are sent unconditionally (S5)
 *   A            likewise, but an ack never goes alone: the next letter carries it (S12)
 *   B            nothing is sent on connection; the next posted letter triggers the others (S13)
 */
export type Policy = 'hello' | 'preemptive' | 'A' | 'B'

/**
 * What happens to a letter whose handler failed too often.
 *
 *   stop      its sender's later letters wait until its handler works or the owner decides
 *   setAside  it becomes a dead letter, and later letters go on
 */
export type OnPoison = 'stop' | 'setAside'

export interface Limits {
  policy: Policy
  /** Most letters waiting for one peer. */
  lettersMax: number
  /** Bytes of these letters. */
  bytesMax: number
  /** How often a handler may fail a letter before the letter is poison. */
  triesMax: number
  onPoison: OnPoison
}

/** Creates a connection to a peer, with nothing sent yet. */
export function createLink({ policy }: Limits, now: Millis, peer: Pick<MailHead, 'acked'>) {
  return {
    /** The peer's numbers are known; under `hello` letters wait for them. */
    known: policy !== 'hello',
    /** Histories diverged on this connection: nothing more is sent or accepted. */
    barred: false,
    /** The reason, still to be sent to the peer. */
    complaint: null as string | null,
    /** The peer's hello on this connection. */
    theirs: null as Hello | null,
    /** A hello or a batch was received. */
    wasHeard: false,
    /** We sent our hello. */
    greeted: false,
    /** The peer sent its hello, which gets an answer under any policy. */
    asked: false,
    /** A letter was posted since the connection opened. */
    woken: false,
    /** Letters up to this one were sent on this connection, or the peer has them. */
    sent: peer.acked,
    /** The last ack sent on this connection; -1 for none. */
    acked: -1,
    /** When an ack is sent alone; under `preemptive` one is due at once. */
    ackDue: policy === 'preemptive' ? now : Infinity,
    /** Bytes of letters that took effect since the last ack. */
    unacked: 0,
    /** Batches in flight, oldest first. */
    flight: [] as { upTo: number; bytes: number; digest: Uint8Array }[],
    flying: 0,
  }
}

export type Link = ReturnType<typeof createLink>

export interface Arrived {
  body: Uint8Array
  life: Uint8Array
  digest: Uint8Array
  /** The key proved on its connection; null for a carrier without a handshake. */
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
     * Received letters, consecutive. A letter that took effect stays until that is durable, so a
     * failed turn can handle it again.
     */
    inbox: new Map<number, Arrived>(),
    inboxBytes: 0,
    /** The last received number, and the last removed from the inbox. */
    came: 0,
    gone: 0,
    /** The arrival order of the first waiting letter, over all peers. */
    place: 0,
    /** When the first waiting letter is retried. */
    retryAt: 0,
    /** Why letters are stopped; null if they are not. Each connection decides again. */
    fault: null as string | null,
  }
}

export type Peer = ReturnType<typeof createPeer>

export type MailEvent =
  /** The peer has processed our letters up to this number. */
  | { kind: 'acked'; peer: string; n: number }
  | { kind: 'dead'; peer: string; n: number; why: string }
  | { kind: 'key'; peer: string; key: Uint8Array }
  /** The histories of the two stores diverged; letters between them stop. */
  | { kind: 'fault'; peer: string; why: string }
  /** Letters are missing before those received. */
  | { kind: 'gap'; peer: string; expected: number; got: number }

export type MailOut = Out<MailMessage, MailChange, MailEvent, string>

function noCounts() {
  return {
    malformed: 0,
    /** Letters received before. */
    duplicates: 0,
    gaps: 0,
    /** Acks for letters that were never posted, or of another history. */
    forged: 0,
    /** Letters over the inbox limits. */
    flooding: 0,
    /** Letters that fit no declared type, and invalid key letters. */
    unfit: 0,
    /** Handshakes refused here, other than for keys. */
    greetings: 0,
    /** Handshakes and messages under a key other than the known one. */
    otherKey: 0,
    /** Handshakes that did not prove their key. */
    unproved: 0,
    /** Connections that ended before their handshake: too slow, or too many. */
    ungreeted: 0,
  }
}

export type Counters = ReturnType<typeof noCounts>

/** Listed ids and their keys; null where the first letter or ack binds the key. */
export type Listed = ReadonlyMap<string, Uint8Array | null>

export const LIMITS: Limits = {
  policy: 'hello',
  lettersMax: 1_000_000,
  bytesMax: 2 ** 30,
  triesMax: 5,
  onPoison: 'stop',
}

export function create(
  heads: readonly MailHead[],
  limits: Limits = LIMITS,
  life: Uint8Array = NO_LIFE,
  listed: Listed | null = null,
) {
  const box = {
    limits,
    life,
    /** The only ids admitted, with their keys; null for all. */
    listed,
    peers: new Map<string, Peer>(),
    counters: noCounts(),
    inboxBytes: 0,
    /** Counts arrivals of first waiting letters, for `place`. */
    places: 0,
  }
  for (const { peer, ...numbers } of heads) Object.assign(peerOf(box, peer), numbers)
  return box
}

export type Mailbox = ReturnType<typeof create>

export function peerOf({ peers }: Pick<Mailbox, 'peers'>, id: string): Peer {
  let peer = peers.get(id)
  if (!peer) peers.set(id, (peer = createPeer()))
  return peer
}

/** Undoes a failed turn: restores a peer's durable numbers. */
export function rewind(box: Mailbox, id: string, head: MailHead | null): void {
  const peer = peerOf(box, id)
  const { peer: _id, ...numbers } = head ?? { peer: id, ...NOTHING }
  Object.assign(peer, numbers, { retryAt: 0 })
  peer.gone = Math.min(peer.gone, peer.heard)
  if (waits(peer) && !peer.inbox.has(peer.heard + 1)) emptyInbox(box, peer)
}

/** Deletes the letters whose effects are durable now. */
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

export function weighInbox(box: Mailbox, peer: Peer, bytes: number): void {
  peer.inboxBytes += bytes
  box.inboxBytes += bytes
}

/** Drops the letters that did not take effect: the peer resends them. */
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
