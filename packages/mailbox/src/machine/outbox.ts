/** The outbox: posts letters to peers and keeps them until they are acked. */

import { LETTER_OVERHEAD, type MailShelf } from '../../../holdfast/src/ports.ts'
import {
  digestOf,
  fits,
  isSame,
  lastCommon,
  livesWith,
  NO_DIGEST,
} from '../../../holdfast/src/wire/history.ts'
import type { Hello } from './messages.ts'
import { bind } from './pins.ts'
import { type Mailbox, type MailOut, type Peer, peerOf } from './state.ts'

/** How many bytes a letter counts against the limit of its peer. */
export function sizeOf(body: Uint8Array): number {
  return body.length + LETTER_OVERHEAD
}

/**
 * Whether that many letters and bytes still fit; otherwise nothing may be posted (S32).
 *
 * @param times  the multiple of the limits to allow
 */
export function hasRoom(
  box: Mailbox,
  to: string,
  letters: number,
  bytes: number,
  times = 1,
): boolean {
  const lettersMax = box.limits.lettersMax * times
  const bytesMax = box.limits.bytesMax * times
  const peer = box.peers.get(to)
  const waiting = peer ? peer.posted - peer.acked : 0
  return waiting + letters <= lettersMax && (peer?.bytes ?? 0) + bytes <= bytesMax
}

/** Posts a letter if there is room (S9). @returns its number, or 0 if there is none */
export function post(box: Mailbox, to: string, body: Uint8Array, out: MailOut): number {
  if (!hasRoom(box, to, 1, sizeOf(body))) return 0
  return add(box, to, body, out)
}

/** Posts a letter regardless of room. @returns its number */
export function add(box: Mailbox, to: string, body: Uint8Array, out: MailOut): number {
  const { life } = box
  const peer = peerOf(box, to)
  const n = ++peer.posted
  const digest = digestOf(peer.postedDigest, life, body)
  peer.bytes += sizeOf(body)
  peer.postedDigest = digest
  peer.ourLives = livesWith(peer.ourLives, n, life)
  if (peer.link) peer.link.woken = true
  out.record({ kind: 'posted', peer: to, n, body, life, digest })
  return n
}

/**
 * Takes an ack: the peer processed our letters up to n, so they are deleted here (S7).
 *
 * @param key  proved by the peer; null for a carrier without a handshake
 * @param ack  the number, with the digest of the peer's history up to it
 */
export function takeAck(
  box: Mailbox,
  from: string,
  key: Uint8Array | null,
  { n, digest }: { n: number; digest: Uint8Array },
  shelf: MailShelf,
  out: MailOut,
): void {
  const peer = peerOf(box, from)
  // A trusted carrier sends no digest, so none is looked up.
  const isVouched = isSame(digest, NO_DIGEST) && n <= peer.posted
  const ours = isVouched && n !== peer.posted ? NO_DIGEST : digestAt(peer, from, n, shelf)
  const why = mismatch(from, peer, n, ours !== null && fits(ours, digest))
  if (why !== null) {
    box.counters.forged++
    return fault(from, peer, why, out)
  }
  if (n <= peer.acked) return
  const bytes = shelf.weigh(from, peer.acked, n)
  peer.acked = n
  peer.ackedDigest = ours!
  peer.bytes -= bytes
  if (peer.link) land(peer.link, n)
  out.record({ kind: 'acked', peer: from, n, bytes, digest: ours! })
  bind(box, from, key, out)
  out.emit({ kind: 'acked', peer: from, n })
}

/** Our digest of letter n to that peer; null if the letter is not stored or was never posted. */
function digestAt(peer: Peer, id: string, n: number, shelf: MailShelf): Uint8Array | null {
  if (n === peer.acked) return peer.ackedDigest
  if (n === peer.posted) return peer.postedDigest
  if (n < peer.acked || n > peer.posted) return null
  return peer.link?.flight.find(({ upTo }) => upTo === n)?.digest ?? shelf.mark(id, n)
}

function mismatch(id: string, peer: Peer, n: number, isOurs: boolean): string | null {
  if (n > peer.posted) {
    return (
      `${id} has letter ${n} of this mailbox, which posted ${peer.posted} to it: this store is ` +
      'an older copy, or another one'
    )
  }
  if (n < peer.acked || isOurs) return null
  return (
    `${id} has another letter ${n} than this mailbox posted to it: one of the two stores is a ` +
    'copy of an older day that went on'
  )
}

function land(link: NonNullable<Peer['link']>, n: number): void {
  link.sent = Math.max(link.sent, n)
  while (link.flight.length > 0 && link.flight[0]!.upTo <= n) {
    link.flying -= link.flight.shift()!.bytes
  }
}

/** @returns why a hello's numbers do not fit ours, with the last common letter; null if they fit */
export function judge(id: string, peer: Peer, hello: Hello, shelf: MailShelf): string | null {
  const { heard, heardDigest, posted, postedDigest, acked } = hello
  const ours = digestAt(peer, id, heard, shelf)
  const parted = mismatch(id, peer, heard, ours === null || fits(ours, heardDigest))
  const to = commonTo(peer, hello)
  if (parted !== null) return `${parted}${named(to, `to ${id}`)}`
  if (heard < peer.acked) {
    return (
      `${id} acked letter ${peer.acked} of this mailbox once and now has ${heard}: it lost its ` +
      `store, or runs an older copy${named(to, `to ${id}`)}`
    )
  }
  const from = commonFrom(peer, hello)
  const isOther = posted === peer.heard && !fits(postedDigest, peer.heardDigest)
  if (posted < peer.heard || isOther) {
    return (
      `this mailbox has letter ${peer.heard} of ${id}, which posted ${posted}` +
      `${isOther ? ', but not the same' : ''}: its store is an older copy, or another one` +
      named(from, `from ${id}`)
    )
  }
  if (acked > peer.heard) {
    return (
      `${id} was told that its letter ${acked} took effect here, where ${peer.heard} did: this ` +
      `store is an older copy${named(from, `from ${id}`)}`
    )
  }
  return null
}

function named(common: number | null, which: string): string {
  const what = common === null ? 'is not known' : `is ${common}`
  return `; the last letter ${which} that both have ${what}`
}

/** The last letter to a peer that both sides share; null if unknown. */
export function commonTo(peer: Peer, { heard, theirLives }: Hello): number | null {
  return lastCommon({ lives: peer.ourLives, last: peer.posted }, { lives: theirLives, last: heard })
}

/** The last letter from a peer that both sides share; null if unknown. */
export function commonFrom(peer: Peer, { posted, ourLives }: Hello): number | null {
  return lastCommon({ lives: peer.theirLives, last: peer.heard }, { lives: ourLives, last: posted })
}

/** Stops letters to and from a peer until the histories are compared again. */
export function fault(id: string, peer: Peer, why: string, out: MailOut): void {
  if (peer.link) {
    peer.link.barred = true
    peer.link.complaint ??= why
  }
  setFault(id, peer, why, out)
}

/** Handles the other side's report that the histories diverged. */
export function receiveFault(id: string, peer: Peer, why: string, out: MailOut): void {
  if (peer.link) peer.link.barred = true
  if (peer.fault === null) setFault(id, peer, `${id} says: ${why}`, out)
}

function setFault(id: string, peer: Peer, why: string, out: MailOut): void {
  if (peer.fault === why) return
  peer.fault = why
  out.emit({ kind: 'fault', peer: id, why })
}
