/** Letters of others: taken in order, each handed to the handler once it is its turn. */

import type { Millis } from '../../../holdfast/src/machine.ts'
import type { Letter, MailShelf } from '../../../holdfast/src/ports.ts'
import { digestOf, fits, isSame, livesWith, NO_DIGEST } from '../../../holdfast/src/wire/history.ts'
import type { Batch, Hello, MailMessage } from './messages.ts'
import { fault, judge, sizeOf, takeAck, receiveFault } from './outbox.ts'
import { bind, fitsKey } from './pins.ts'
import type { Arrived, Mailbox, MailOut, Peer } from './state.ts'
import { peerOf, waits, weighInbox } from './state.ts'

/** How long an ack waits for a letter that can carry it. */
export const ACK_DELAY_MS: Millis = 20
/** Bytes that may be on their way to one peer. */
export const WINDOW_BYTES: number = 1024 * 1024
/** Letters of one peer that may wait here, in bytes: more than any window. */
export const INBOX_BYTES_MAX: number = 4 * WINDOW_BYTES
/** Letters of all peers together, in bytes. */
export const INBOXES_BYTES_MAX: number = 64 * WINDOW_BYTES
/** How long a handler that threw is not called again at first; doubled each time. */
export const RETRY_MS: Millis = 50
/** And at most this: a line that stands is tried every two minutes. */
export const RETRY_MAX_MS: Millis = 120_000
/** How long a letter waits whose handler had no room in an outbox. */
export const POSTPONE_MS: Millis = 200
/** Longest reason that is kept with a dead letter, in characters. */
export const WHY_MAX = 500

/**
 * Takes a message, which is hostile: letters in order first, then the ack (S24). Digests that are
 * all zero are not compared: then the carrier is trusted.
 *
 * @param key  that the peer proved on its connection; null for a carrier without a greeting
 */
export function receive(
  box: Mailbox,
  now: Millis,
  from: string,
  message: MailMessage,
  shelf: MailShelf,
  out: MailOut,
  key: Uint8Array | null = null,
): void {
  if (key && !fitsKey(box, from, key)) return void box.counters.otherKey++
  const peer = peerOf(box, from)
  const { link } = peer
  if (message.kind === 'hello') return greet(box, { from, peer, key }, message, shelf, out)
  if (link?.barred) return
  if (message.kind === 'fault') return receiveFault(from, peer, message.why, out)
  // A first batch counts like a hello: an ack may be late on a connection, but not at its start.
  const isFirst = link !== null && !link.wasHeard
  if (link) link.wasHeard = true
  if (isFirst && message.ack < peer.acked) {
    return fault(from, peer, older(from, peer.acked, message.ack), out)
  }
  // Without connections, histories may fit now; on a connection, its start decides.
  if (!link || isFirst) peer.fault = null
  takeLetters(box, now, { from, peer, key }, message, out)
  if (peer.fault !== null) return
  takeAck(box, from, key, { n: message.ack, digest: message.ackDigest }, shelf, out)
  if (peer.link) peer.link.known = true
}

function older(from: string, acked: number, ack: number): string {
  return (
    `${from} acked letter ${acked} of this mailbox once and now has ${ack}: it lost its store, ` +
    'or runs an older copy'
  )
}

/** A letter of a batch, with what of its history is known. */
type Placed = Letter & Omit<Arrived, 'key'>

/** Whose message it is. */
interface Sender {
  from: string
  peer: Peer
  key: Uint8Array | null
}

function greet(
  box: Mailbox,
  { from, peer, key }: Sender,
  hello: Hello,
  shelf: MailShelf,
  out: MailOut,
): void {
  const { link } = peer
  if (link) Object.assign(link, { theirs: hello, asked: true, wasHeard: true })
  if (link?.barred) return
  const why = judge(from, peer, hello, shelf)
  if (why !== null) return fault(from, peer, why, out)
  peer.fault = null
  takeAck(box, from, key, { n: hello.heard, digest: hello.heardDigest }, shelf, out)
  if (link) link.known = true
}

function takeLetters(box: Mailbox, now: Millis, sender: Sender, batch: Batch, out: MailOut): void {
  const { from, peer } = sender
  const tip = Math.max(peer.heard, peer.came)
  const arrived: Placed[] = []
  for (const letter of histories(batch, tip, digestBefore(peer))) {
    const { n, digest } = letter
    const known = n === tip ? digestBefore(peer) : NO_DIGEST
    // It follows on another letter, or differs from the one in this place: another history.
    const isOther = letter.follows === false || !fits(digest, known)
    if (isOther) return parted(from, peer, n, out)
    arrived.push(letter)
  }
  for (const letter of arrived) if (!take(box, now, sender, letter, out)) break
}

/** The letters of a batch in order, with their digests as far as these are known. */
function* histories(
  { letters, life, before }: Batch,
  tip: number,
  tipDigest: Uint8Array,
): Iterable<Placed & { follows: boolean }> {
  let digest = before
  let last: number | null = null
  for (const { n, body } of letters.toSorted((a, b) => a.n - b.n)) {
    // Behind a gap, or where the carrier sends no digests, no digest is known.
    const isNext = last === null || n === last + 1
    const isKnown = n === 1 || (isNext && !isSame(digest, NO_DIGEST))
    const follows = n !== tip + 1 || !isKnown || fits(digest, tipDigest)
    const from = n === tip + 1 && isSame(digest, NO_DIGEST) ? tipDigest : digest
    if (n !== last) digest = isKnown || n === tip + 1 ? digestOf(from, life, body) : NO_DIGEST
    yield { n, body, life, digest, follows }
    last = n
  }
}

/** The digest of the last letter that came. */
function digestBefore(peer: Peer): Uint8Array {
  return waits(peer) ? peer.inbox.get(peer.came)!.digest : peer.heardDigest
}

function parted(from: string, peer: Peer, n: number, out: MailOut): void {
  const why =
    `letter ${n} of ${from} does not follow on what this mailbox has of it: one of the two ` +
    'stores is a copy of an older day that went on'
  fault(from, peer, why, out)
}

/** @returns false if the letters after it need not be looked at */
function take(
  box: Mailbox,
  now: Millis,
  { from, peer, key }: Sender,
  letter: Placed,
  out: MailOut,
): boolean {
  const { n, body, life, digest } = letter
  const expected = Math.max(peer.heard, peer.came) + 1
  if (n < expected) {
    box.counters.duplicates++
    // The ack of this letter was lost, so it must be sent again.
    const isNews = n <= peer.heard && n > (peer.link?.acked ?? Infinity)
    if (peer.link && isNews) peer.link.ackDue = now
    return true
  }
  const bytes = sizeOf(body)
  const isFlood =
    peer.inboxBytes + bytes > INBOX_BYTES_MAX || box.inboxBytes + bytes > INBOXES_BYTES_MAX
  if (n > expected || isFlood) {
    if (n > expected) box.counters.gaps++
    else box.counters.flooding++
    out.emit({ kind: 'gap', peer: from, expected, got: n })
    return false
  }
  if (!waits(peer)) peer.place = ++box.places
  peer.inbox.set(n, { body, life, digest, key })
  peer.came = n
  weighInbox(box, peer, bytes)
  return true
}

/** The next letter of a peer that may be handled now; null if there is none. */
export function next(box: Mailbox, now: Millis, from: string): Letter | null {
  const peer = box.peers.get(from)
  if (!peer || peer.retryAt > now || peer.fault !== null) return null
  const n = peer.heard + 1
  const letter = peer.inbox.get(n)
  return letter ? { n, body: letter.body } : null
}

/** The letter from `next` took effect. This belongs into one transaction with the effects. */
export function done(box: Mailbox, now: Millis, from: string, out: MailOut): void {
  const peer = peerOf(box, from)
  const n = peer.heard + 1
  const { body, life, digest, key } = peer.inbox.get(n)!
  const bytes = sizeOf(body)
  peer.heard = n
  peer.heardDigest = digest
  peer.theirLives = livesWith(peer.theirLives, n, life)
  peer.tries = 0
  peer.retryAt = 0
  out.record({ kind: 'heard', peer: from, n, life, digest })
  bind(box, from, key, out)
  const { link } = peer
  if (!link) return
  link.unacked += bytes
  const wait = link.unacked >= WINDOW_BYTES / 4 ? 0 : ACK_DELAY_MS
  link.ackDue = Math.min(link.ackDue, now + wait)
}

/** The letter cannot be handled now, by no fault of its own: it is tried again, however often. */
export function postpone(box: Mailbox, now: Millis, from: string, ms: Millis = POSTPONE_MS): void {
  peerOf(box, from).retryAt = now + ms
}

/** How long a letter waits that failed so often. */
export function waitAfter(tries: number): Millis {
  return Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** (tries - 1))
}

/**
 * The letter's handler threw: it is handled again later, or where that is `onPoison` becomes a dead
 * letter, once it threw too often.
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
  const { triesMax, onPoison } = box.limits
  const tries = peer.tries + spent + 1
  if (onPoison === 'setAside' && tries >= triesMax) return setAside(box, now, from, thrown, out)
  peer.tries++
  out.record({ kind: 'tried', peer: from, n: peer.heard + 1 })
  peer.retryAt = now + waitAfter(tries)
}

/** The letter from `next` becomes a dead letter, together with its number. */
export function setAside(
  box: Mailbox,
  now: Millis,
  from: string,
  thrown: string,
  out: MailOut,
): void {
  const peer = peerOf(box, from)
  const n = peer.heard + 1
  const { body } = peer.inbox.get(n)!
  const why = thrown.slice(0, WHY_MAX)
  out.record({ kind: 'dead', peer: from, n, body, why })
  done(box, now, from, out)
  out.emit({ kind: 'dead', peer: from, n, why })
}
