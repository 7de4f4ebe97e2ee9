/**
 * The pump decides what to send and when. On each new connection it starts from durable numbers;
 * state kept in between only avoids resending.
 */

import type { Millis } from '../../../holdfast/src/machine.ts'
import type { MailShelf, Span } from '../../../holdfast/src/ports.ts'
import { digestOf, isSame, NO_DIGEST, NO_LIFE } from '../../../holdfast/src/wire/history.ts'
import { WINDOW_BYTES } from './inbox.ts'
import { BATCH_BYTES_MAX, BATCH_LETTERS_MAX, type MailMessage } from './messages.ts'
import { fault, sizeOf } from './outbox.ts'
import { createLink, emptyInbox, type Link, type Mailbox, type MailOut } from './state.ts'
import { type Peer, peerOf, waits } from './state.ts'

/**
 * Opens a connection to a peer; nothing was sent on it yet (S3).
 *
 * @param key  proved by the peer on it; null for a carrier without a handshake
 */
export function connected(
  box: Mailbox,
  now: Millis,
  id: string,
  key: Uint8Array | null = null,
): void {
  const peer = peerOf(box, id)
  // Drop letters that came under another key of this id; their sender resends its own.
  const last = peer.inbox.get(peer.came)
  if (last && waits(peer) && !isSame(last.key ?? NO_DIGEST, key ?? NO_DIGEST)) {
    emptyInbox(box, peer)
  }
  peer.link = createLink(box.limits, now, peer)
}

/** Closes the connection: letters in flight may have arrived or not. */
export function disconnected(box: Mailbox, id: string): void {
  const peer = box.peers.get(id)
  if (!peer) return
  peer.link = null
  emptyInbox(box, peer)
  // A peer that exchanged no letters leaves nothing behind.
  const isUnknown = peer.posted === 0 && peer.heard === 0 && peer.key === null
  if (isUnknown && peer.tries === 0) box.peers.delete(id)
}

/** Sends what is due. All recorded changes must be durable first, since messages reveal them. */
export function pump(box: Mailbox, now: Millis, shelf: MailShelf, out: MailOut): void {
  for (const [id, peer] of box.peers) {
    const { link } = peer
    if (!link) continue
    try {
      serve(box, now, { id, peer, link }, shelf, out)
    } catch (error) {
      // Only this peer's letters are unreadable: the others go on.
      fault(id, peer, error instanceof Error ? error.message : String(error), out)
    }
  }
}

interface Linked {
  id: string
  peer: Peer
  link: Link
}

function serve(box: Mailbox, now: Millis, linked: Linked, shelf: MailShelf, out: MailOut): void {
  const { id, peer, link } = linked
  const { policy } = box.limits
  // A hello is answered under any policy: the peer asked for it.
  if (!link.greeted && (policy === 'hello' || link.asked || peer.fault !== null)) {
    link.greeted = true
    link.acked = peer.heard
    out.send(id, helloOf(peer))
  }
  if (link.complaint !== null) {
    out.send(id, { kind: 'fault', why: link.complaint })
    link.complaint = null
  }
  // After a fault only the fault itself is sent, until the peer's hello fits.
  if (link.barred || peer.fault !== null) return
  if (link.known && (policy !== 'B' || link.woken)) sendLetters(linked, shelf, out)
  if (now < link.ackDue) return
  const alone = policy === 'hello' || policy === 'preemptive'
  if (alone) sendBatch(linked, NO_LETTERS, out)
  link.ackDue = Infinity
}

function helloOf(peer: Peer): MailMessage {
  const { heard, heardDigest, posted, postedDigest, acked, ourLives, theirLives } = peer
  return {
    kind: 'hello',
    heard,
    heardDigest,
    posted,
    postedDigest,
    acked,
    ourLives: [...ourLives],
    theirLives: [...theirLives],
  }
}

function sendLetters(linked: Linked, shelf: MailShelf, out: MailOut): void {
  const { id, peer, link } = linked
  while (link.sent < peer.posted && link.flying < WINDOW_BYTES) {
    const span = spanOf(shelf, id, link.sent)
    const { letters, life } = span
    const last = letters.at(-1)
    if (!last) return
    const bytes = letters.reduce((sum, { body }) => sum + sizeOf(body), 0)
    let digest = span.before
    for (const { body } of letters) digest = digestOf(digest, life, body)
    link.sent = last.n
    link.flight.push({ upTo: last.n, bytes, digest })
    link.flying += bytes
    sendBatch(linked, span, out)
  }
}

const NO_LETTERS: Span = { life: NO_LIFE, before: NO_DIGEST, letters: [] }

function spanOf(shelf: MailShelf, id: string, after: number): Span {
  const span = shelf.letters(id, after, BATCH_BYTES_MAX)
  return { ...span, letters: span.letters.slice(0, BATCH_LETTERS_MAX) }
}

function sendBatch({ id, peer, link }: Linked, span: Span, out: MailOut): void {
  link.acked = peer.heard
  link.ackDue = Infinity
  link.unacked = 0
  out.send(id, { kind: 'batch', ...span, ack: peer.heard, ackDigest: peer.heardDigest })
}

/** When `pump` next has something to send, or a waiting letter is retried. */
export function deadline(box: Mailbox): Millis {
  let due = Infinity
  for (const peer of box.peers.values()) {
    if (peer.fault !== null) continue
    if (peer.link) due = Math.min(due, peer.link.ackDue)
    if (waits(peer)) due = Math.min(due, peer.retryAt)
  }
  return due
}

/** One batch for a carrier without connections (S19): letters above what the peer has. */
export function batchFor(box: Mailbox, id: string, heard: number, shelf: MailShelf): MailMessage {
  const peer = box.peers.get(id)
  const span = spanOf(shelf, id, Math.max(heard, peer?.acked ?? 0))
  const { heard: ack = 0, heardDigest: ackDigest = NO_DIGEST } = peer ?? {}
  return { kind: 'batch', ...span, ack, ackDigest }
}
