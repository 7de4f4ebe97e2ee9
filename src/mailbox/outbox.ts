/** Letters to others: posted, kept until acked. */

import { LETTER_OVERHEAD, type MailShelf } from '../ports.ts'
import { type Mailbox, type MailOut, type Peer, peerOf } from './state.ts'

/** What a letter takes of its peer's bound. */
export function sizeOf(body: Uint8Array): number {
  return body.length + LETTER_OVERHEAD
}

/** Whether letters of that many bytes still fit: else nothing may be posted (S32). */
export function hasRoom(box: Mailbox, to: string, letters: number, bytes: number): boolean {
  const { lettersMax, bytesMax } = box.limits
  const peer = box.peers.get(to)
  const waiting = peer ? peer.posted - peer.acked : 0
  return waiting + letters <= lettersMax && (peer?.bytes ?? 0) + bytes <= bytesMax
}

/** Adds a letter (S9). @returns its number, or 0 if there is no room */
export function post(box: Mailbox, to: string, body: Uint8Array, out: MailOut): number {
  if (!hasRoom(box, to, 1, sizeOf(body))) return 0
  const peer = peerOf(box, to)
  peer.posted++
  peer.bytes += sizeOf(body)
  if (peer.link) peer.link.woken = true
  out.record({ kind: 'posted', peer: to, n: peer.posted, body })
  return peer.posted
}

/** The peer has processed our letters up to n: they are kept no longer (S7). */
export function takeAck(
  box: Mailbox,
  from: string,
  n: number,
  shelf: MailShelf,
  out: MailOut,
): void {
  const peer = peerOf(box, from)
  if (n > peer.posted) return forged(box, from, peer, n, out)
  if (n <= peer.acked) return
  const bytes = shelf.weigh(from, peer.acked, n)
  peer.acked = n
  peer.bytes -= bytes
  if (peer.link) land(peer.link, n)
  out.record({ kind: 'acked', peer: from, n, bytes })
  out.emit({ kind: 'acked', peer: from, n })
}

function land(link: NonNullable<Peer['link']>, n: number): void {
  link.sent = Math.max(link.sent, n)
  while (link.flight.length > 0 && link.flight[0]!.upTo <= n) {
    link.flying -= link.flight.shift()!.bytes
  }
}

function forged(box: Mailbox, from: string, peer: Peer, n: number, out: MailOut): void {
  box.counters.forged++
  fault(
    from,
    peer,
    `${from} acked letter ${n}, but ${peer.posted} were posted to it: this store is older than ` +
      'what was sent from it, or it is another mailbox; restore the newer one',
    out,
  )
}

/** Stops letters between two stores that do not fit together. */
export function fault(id: string, peer: Peer, why: string, out: MailOut): void {
  if (peer.fault !== null) return
  peer.fault = why
  out.emit({ kind: 'fault', peer: id, why })
}
