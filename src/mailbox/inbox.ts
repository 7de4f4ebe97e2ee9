/** Letters of others: taken in order, each handed to the handler once it is its turn. */

import type { Millis } from '../machine.ts'
import type { Letter, MailShelf } from '../ports.ts'
import { decode } from '../wire/layout.ts'
import { type MailMessage, mailLayout } from './messages.ts'
import { fault, sizeOf, takeAck } from './outbox.ts'
import { type Mailbox, type MailOut, type Peer, peerOf, waits, weighInbox } from './state.ts'

/** How long an ack waits for a letter to ride on. */
export const ACK_DELAY_MS: Millis = 20
/** Bytes that may be on their way to one peer. */
export const WINDOW_BYTES: number = 1024 * 1024
/** Letters of one peer that may wait here, in bytes: more than any window. */
export const INBOX_BYTES_MAX: number = 4 * WINDOW_BYTES
/** Letters of all peers together, in bytes. */
export const INBOXES_BYTES_MAX: number = 64 * WINDOW_BYTES
/** How long a handler that threw is left alone at first; doubled each time. */
export const RETRY_MS: Millis = 50
/** And at most. */
export const RETRY_MAX_MS: Millis = 10_000
/** How long a letter waits that its handler has no room for. */
export const POSTPONE_MS: Millis = 200
/** Longest reason that is kept with a dead letter, in characters. */
export const WHY_MAX = 500

/** Takes what came from a peer; hostile. */
export function receive(
  box: Mailbox,
  now: Millis,
  from: string,
  bytes: Uint8Array,
  shelf: MailShelf,
  out: MailOut,
): void {
  const message = decode(mailLayout, bytes)
  if (message) hear(box, now, from, message, shelf, out)
  else box.counters.malformed++
}

/** The same for a message that was decoded: letters in order first, then the ack (S24). */
export function hear(
  box: Mailbox,
  now: Millis,
  from: string,
  message: MailMessage,
  shelf: MailShelf,
  out: MailOut,
): void {
  const peer = peerOf(box, from)
  if (message.kind === 'hello') return greet(box, from, peer, message.heard, shelf, out)
  const letters = message.letters.toSorted((a, b) => a.n - b.n)
  for (const letter of letters) if (!take(box, now, from, peer, letter, out)) break
  takeAck(box, from, message.ack, shelf, out)
  if (peer.link) peer.link.known = true
}

function greet(
  box: Mailbox,
  from: string,
  peer: Peer,
  heard: number,
  shelf: MailShelf,
  out: MailOut,
): void {
  if (heard < peer.acked) {
    const why =
      `${from} acked our letter ${peer.acked} once and now has ${heard}: it lost its store, or ` +
      'runs an older copy; restore the newer one, or give it a new id'
    return fault(from, peer, why, out)
  }
  takeAck(box, from, heard, shelf, out)
  if (!peer.link) return
  peer.link.known = true
  peer.link.asked = true
}

/** @returns false if the letters after it need not be looked at */
function take(
  box: Mailbox,
  now: Millis,
  from: string,
  peer: Peer,
  letter: Letter,
  out: MailOut,
): boolean {
  const expected = Math.max(peer.heard, peer.came) + 1
  if (letter.n < expected) {
    box.counters.duplicates++
    // Its ack was lost, so it is news after all.
    const isNews = letter.n <= peer.heard && letter.n > (peer.link?.told ?? Infinity)
    if (peer.link && isNews) peer.link.ackDue = now
    return true
  }
  if (letter.n > expected) {
    box.counters.gaps++
    out.emit({ kind: 'gap', peer: from, expected, got: letter.n })
    return false
  }
  const bytes = sizeOf(letter.body)
  if (peer.inboxBytes + bytes > INBOX_BYTES_MAX || box.inboxBytes + bytes > INBOXES_BYTES_MAX) {
    box.counters.flooding++
    out.emit({ kind: 'gap', peer: from, expected, got: letter.n })
    return false
  }
  if (!waits(peer)) peer.place = ++box.places
  peer.inbox.set(letter.n, letter.body)
  peer.came = letter.n
  weighInbox(box, peer, bytes)
  return true
}

/** The next letter of a peer that may be handled now; null if there is none. */
export function next(box: Mailbox, now: Millis, from: string): Letter | null {
  const peer = box.peers.get(from)
  if (!peer || peer.retryAt > now || peer.fault !== null) return null
  const n = peer.heard + 1
  const body = peer.inbox.get(n)
  return body ? { n, body } : null
}

/** The letter from `next` took effect. Belongs into one transaction with its effects. */
export function done(box: Mailbox, now: Millis, from: string, out: MailOut): void {
  const peer = peerOf(box, from)
  const n = peer.heard + 1
  const bytes = sizeOf(peer.inbox.get(n)!)
  peer.heard = n
  peer.tries = 0
  peer.retryAt = 0
  out.record({ kind: 'heard', peer: from, n })
  const { link } = peer
  if (!link) return
  link.unacked += bytes
  const wait = link.unacked >= WINDOW_BYTES / 4 ? 0 : ACK_DELAY_MS
  link.ackDue = Math.min(link.ackDue, now + wait)
}

/** It cannot be handled now, which is not its fault: it is handled again later, however often. */
export function postpone(box: Mailbox, now: Millis, from: string): void {
  peerOf(box, from).retryAt = now + POSTPONE_MS
}

/**
 * Its handler threw: it is handled again later, or set aside together with its number.
 *
 * @param spent  how often it failed besides, which no `tried` has recorded
 */
export function failed(
  box: Mailbox,
  now: Millis,
  from: string,
  thrown: string,
  out: MailOut,
  spent = 0,
): void {
  const peer = peerOf(box, from)
  const n = peer.heard + 1
  const body = peer.inbox.get(n)!
  peer.tries++
  if (peer.tries + spent < box.limits.triesMax) {
    out.record({ kind: 'tried', peer: from, n })
    peer.retryAt = now + Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** (peer.tries - 1))
    return
  }
  const why = thrown.slice(0, WHY_MAX)
  out.record({ kind: 'dead', peer: from, n, body, why })
  done(box, now, from, out)
  out.emit({ kind: 'dead', peer: from, n, why })
}
