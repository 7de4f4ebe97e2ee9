/** The inbox: accepts letters in order and gives each its turn with the handler. */

import type { Millis } from '../../../holdfast/src/machine.ts'
import type { Letter, MailShelf } from '../../../holdfast/src/ports.ts'
import { digestOf, fits, isSame, livesWith, NO_DIGEST } from '../../../holdfast/src/wire/history.ts'
import type { Batch, Hello, MailMessage } from './messages.ts'
import { fault, judge, sizeOf, takeAck, receiveFault } from './outbox.ts'
import { bind, fitsKey } from './pins.ts'
import type { Arrived, Mailbox, MailOut, Peer } from './state.ts'
import { peerOf, waits, weighInbox } from './state.ts'

/** How long an ack waits for a letter to piggyback on. */
export const ACK_DELAY_MS: Millis = 20
/** Most bytes in flight to one peer. */
export const WINDOW_BYTES: number = 1024 * 1024
/** Most bytes of one peer's letters that wait here: more than any window. */
export const INBOX_BYTES_MAX: number = 4 * WINDOW_BYTES
/** The same over all peers. */
export const INBOXES_BYTES_MAX: number = 64 * WINDOW_BYTES
/** The first wait before a failed letter is retried; doubled each time. */
export const RETRY_MS: Millis = 50
/** The longest wait: a blocked queue is retried every two minutes. */
export const RETRY_MAX_MS: Millis = 120_000
/** How long a letter waits when its handler found an outbox full. */
export const POSTPONE_MS: Millis = 200
/** Longest reason stored with a dead letter, in characters. */
export const WHY_MAX = 500

/**
 * Takes an untrusted message: its letters in order, then its ack (S24). All-zero digests are not
 * compared: the carrier is trusted then.
 *
 * @param key  proved by the peer on its connection; null for a carrier without a handshake
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
  // A first batch counts like a hello: acks may be stale within a connection, not at its start.
  const isFirst = link !== null && !link.wasHeard
  if (link) link.wasHeard = true
  if (isFirst && message.ack < peer.acked) {
    return fault(from, peer, older(from, peer.acked, message.ack), out)
  }
  // Without connections, histories may fit now; on a connection, its first message decides.
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

/** A letter of a batch, with its history as far as known. */
type Placed = Letter & Omit<Arrived, 'key'>

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
    // It follows another letter, or differs from the known one: another history.
    const isOther = letter.follows === false || !fits(digest, known)
    if (isOther) return parted(from, peer, n, out)
    arrived.push(letter)
  }
  for (const letter of arrived) if (!take(box, now, sender, letter, out)) break
}

/** The letters of a batch in order, with their digests as far as known. */
function* histories(
  { letters, life, before }: Batch,
  tip: number,
  tipDigest: Uint8Array,
): Iterable<Placed & { follows: boolean }> {
  let digest = before
  let last: number | null = null
  for (const { n, body } of letters.toSorted((a, b) => a.n - b.n)) {
    // After a gap, or from a carrier without digests, the digest is unknown.
    const isNext = last === null || n === last + 1
    const isKnown = n === 1 || (isNext && !isSame(digest, NO_DIGEST))
    const follows = n !== tip + 1 || !isKnown || fits(digest, tipDigest)
    const from = n === tip + 1 && isSame(digest, NO_DIGEST) ? tipDigest : digest
    if (n !== last) digest = isKnown || n === tip + 1 ? digestOf(from, life, body) : NO_DIGEST
    yield { n, body, life, digest, follows }
    last = n
  }
}

function digestBefore(peer: Peer): Uint8Array {
  return waits(peer) ? peer.inbox.get(peer.came)!.digest : peer.heardDigest
}

function parted(from: string, peer: Peer, n: number, out: MailOut): void {
  const why =
    `letter ${n} of ${from} does not follow on what this mailbox has of it: one of the two ` +
    'stores is a copy of an older day that went on'
  fault(from, peer, why, out)
}

/** @returns false if later letters can be skipped */
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
    // Its ack was lost, so it must be sent again.
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

/** The next letter of a peer that may be handled now; null for none. */
export function next(box: Mailbox, now: Millis, from: string): Letter | null {
  const peer = box.peers.get(from)
  if (!peer || peer.retryAt > now || peer.fault !== null) return null
  const n = peer.heard + 1
  const letter = peer.inbox.get(n)
  return letter ? { n, body: letter.body } : null
}

/** Records that the letter from `next` took effect, in one transaction with the effects. */
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

/** Postpones a letter that is not at fault; this never counts as a failure. */
export function postpone(box: Mailbox, now: Millis, from: string, ms: Millis = POSTPONE_MS): void {
  peerOf(box, from).retryAt = now + ms
}

/** The wait after so many failures. */
export function waitAfter(tries: number): Millis {
  return Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** (tries - 1))
}

/**
 * Records that the handler threw: the letter is retried later or, after too many failures and if
 * `onPoison` says so, becomes a dead letter.
 *
 * @param spent  further failures, which no `tried` has recorded
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

/** Makes the letter from `next` a dead letter, in one transaction with its number. */
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
