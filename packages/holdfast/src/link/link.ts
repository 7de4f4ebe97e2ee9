/**
 * A link to one peer over lossy datagrams (B2, B3).
 *
 * Every packet is numbered and acked as a whole (B24) and never sent twice; a new packet carries
 * the contents of a lost one. Packets carry one reliable ordered stream each way, and unreliable
 * frames pulled from the layer above as a packet is built, so that the newest state always leaves.
 * Links of different pairs of peers have no common order (B12).
 *
 * The owner calls `receive` for each datagram, handles its arrivals and then calls `answer`;
 * `flush` when it has something to send, and `wake` at `deadline`. The rules are L1 to L10 of
 * docs/protocols/link.md.
 */

import { badValue, rulesOf } from '../machine.ts'
import type { Millis } from '../machine.ts'
import { type Arrivals, clear, note } from './arrivals.ts'
import { addFragment } from './packets/assembly.ts'
import { build, hasNumber } from './build.ts'
import {
  createSamples,
  EAGER_SAMPLES,
  errorOf,
  offsetOf,
  SURE_MS,
  takeAnswer,
} from './timing/clock.ts'
import {
  KIND,
  NO_BYTES,
  REL_OVERHEAD,
  asks,
  asksSoon,
  createFrames,
  nextFrame,
  open,
  rewind,
} from './packets/frames.ts'
import {
  ACK_DELAY_MAX,
  ACK_NOW_AFTER,
  ACK_SOON_AFTER,
  LIMITS,
  LINK_TIMEOUT,
  KEEPALIVE,
  PACKET_MAX,
  STATE_ACK_DELAY_MAX,
  STATE_ACK_SOON_AFTER,
} from './limits.ts'
import type { Limits } from './limits.ts'
import { createRtt, LATER_PACKETS, probeAt } from './timing/loss.ts'
import * as pace from './timing/pace.ts'
import { createHeader, isFragment, readHeader } from './packets/packet.ts'
import * as parts from './packets/parts.ts'
import * as reliable from './reliable.ts'
import { createState } from './state.ts'
import type { Link, LinkRules, LinkSink } from './state.ts'
import { ackedBy, detectLoss, takeAcks } from './verdict.ts'
import { accept, standing } from './window.ts'
import { unwrap } from '../wire/sequence.ts'

/** The rules of every real link. */
export const RULES: LinkRules = rulesOf<LinkRules>({
  hasNumber,
  refuses: (tooFar) => tooFar,
  take: ({ incoming }, id, flags, bytes, arrivals) => {
    return reliable.take(incoming, id, flags, bytes, arrivals)
  },
})

export { type Arrival, type Arrivals, createArrivals } from './arrivals.ts'
export { type Link, type LinkSink, NOTHING_WAITS } from './state.ts'

// CLOSE is not acked, so several copies leave.
const CLOSE_COPIES = 3
// The first probe sends one packet, later ones two.
const PROBE_PACKETS = 2

/** Options of a link. */
export interface LinkOptions {
  /** Longest time between packets we send; default KEEPALIVE. */
  keepaliveMs?: Millis
  /** Only for the model checker; default LIMITS and RULES. */
  limits?: Limits
  rules?: LinkRules
}

/** A fresh link. @throws HoldfastError code `bad-value` */
export function create(now: Millis, options: LinkOptions = {}): Link {
  const keepaliveMs = options.keepaliveMs ?? KEEPALIVE
  checkKeepalive(keepaliveMs)
  return createState(now, keepaliveMs, options.limits ?? LIMITS, options.rules ?? RULES)
}

/**
 * Queues a reliable message; `flush` sends it.
 *
 * @param bytes  copied; at most MESSAGE_MAX
 * @returns its number, for `delivered`; 0 if the link is closed and nothing was queued
 * @throws HoldfastError code `overloaded` beyond 4 MB or 4096 messages, `bad-value` if too long
 */
export function send(link: Link, now: Millis, bytes: Uint8Array): number {
  if (link.closed !== null) return 0
  startWaiting(link, now)
  return reliable.queue(link.outgoing, now, bytes)
}

/**
 * Queues an unreliable message of up to 16 parts; for short state use `scheduleWrite` and `write`.
 *
 * @returns false, with nothing sent, if the link is closed or too much waits already
 * @throws HoldfastError code `bad-value` if it is too long or the channel is out of range
 */
export function post(link: Link, now: Millis, channel: number, bytes: Uint8Array): boolean {
  if (link.closed !== null) return false
  startWaiting(link, now)
  return parts.post(link.parted, channel, bytes)
}

/** Notes that unreliable data waits: the link calls `write` when the next packet may leave. */
export function scheduleWrite(link: Link, now: Millis): void {
  startWaiting(link, now)
  link.writeScheduled = true
}

function startWaiting(link: Link, now: Millis): void {
  if (!hasWaiting(link)) link.waitsSince = now
}

/** Sets the longest time between packets we send. @throws HoldfastError code `bad-value` */
export function setKeepalive(link: Link, keepaliveMs: Millis): void {
  checkKeepalive(keepaliveMs)
  link.keepaliveMs = keepaliveMs
}

function checkKeepalive(keepaliveMs: Millis): void {
  if (keepaliveMs >= 1 && keepaliveMs <= LINK_TIMEOUT) return
  const range = `1 to ${LINK_TIMEOUT} ms`
  throw badValue(`a keepalive lies within ${range}: ${keepaliveMs}`)
}

/**
 * Sets session time minus our clock, for answers to the peer's questions (L9). While it is NaN
 * (unknown), this end does not answer.
 */
export function setClockShift(link: Link, shift: Millis): void {
  link.clock.shift = shift
}

/** Whether `offset` is the best of several measurements, or wrong by at most SURE_MS. */
export function isMeasured({ clock }: Link): boolean {
  return clock.samples.length >= EAGER_SAMPLES || errorOf(clock) <= SURE_MS
}

/** Discards the measurements of the path, because packets now take another one. */
export function measureAnew({ clock, rtt }: Link): void {
  Object.assign(clock, createSamples(), { shift: clock.shift })
  Object.assign(rtt, createRtt())
}

/** The peer's clock (with its shift) minus ours, or null while nothing is known (L9). */
export function offset(link: Link): Millis | null {
  return offsetOf(link.clock)
}

/**
 * Receives one packet, hostile until checked as a whole: one malformed frame voids the packet, and
 * a packet that cannot be kept whole is not acked (L1).
 *
 * @param packet  arrivals hold views of its bytes
 * @param arrivals  cleared, then filled from the packet; acks count even if the packet is refused
 *   for lack of room
 * @returns false, and counted, if it was malformed, a duplicate, stale, or refused for lack of
 * room. If true, call `answer` after handling the arrivals
 */
export function receive(link: Link, now: Millis, packet: Uint8Array, arrivals: Arrivals): boolean {
  clear(arrivals)
  if (link.closed !== null) return false
  link.counters.received += 1
  link.counters.bytesReceived += packet.length
  if (!isFragment(packet)) return receiveWhole(link, now, packet, arrivals)
  const whole = addFragment(link.assemblies, packet)
  if (whole === 'malformed') return refuse(link)
  return whole === null || receiveWhole(link, now, whole, arrivals)
}

function refuse(link: Link): false {
  link.counters.malformed += 1
  return false
}

// Shared by all links, because no other code runs while a packet is read.
const header = createHeader()
const frames = createFrames()

function receiveWhole(link: Link, now: Millis, packet: Uint8Array, arrivals: Arrivals): boolean {
  try {
    return digest(link, now, packet, arrivals)
  } finally {
    frames.bytes = NO_BYTES
  }
}

function digest(link: Link, now: Millis, packet: Uint8Array, arrivals: Arrivals): boolean {
  const { received, limits, counters } = link
  const start = readHeader(packet, 0, header)
  if (start < 0) return refuse(link)
  const sequence = unwrap(header.sequence % limits.modulus, received.newest, limits.modulus)
  const place = sequence < limits.first ? 'stale' : standing(received, sequence)
  if (place !== 'fresh') {
    counters[place] += 1
    return false
  }
  const acked = ackedBy(link, header)
  open(frames, packet, start, link.incoming.next)
  const found = inspect(link)
  if (acked === null || found === MALFORMED) return refuse(link)
  link.lastReceived = now
  takeAcks(link, now, acked, header.ackBits, frames.held, arrivals)
  detectLoss(link, now, arrivals)
  if (link.rules.refuses((found & NO_ROOM) !== 0)) {
    counters.droppedForRoom += 1
    return false
  }
  oweAck(link, now, accept(received, sequence), found, sequence)
  rewind(frames, start, link.incoming.next)
  while (nextFrame(frames)) apply(link, now, arrivals)
  return true
}

/** Sends an ack if a packet made it due at once (L6). */
export function answer(link: Link, now: Millis, sink: LinkSink): void {
  if (link.unanswered >= ACK_NOW_AFTER) build(link, now, sink, 'ack')
}

// Ack bits of the packets that it takes to declare one lost, and of that one.
const LATELY = 2 ** (LATER_PACKETS + 1) - 1

const MALFORMED = -1
const ASKS = 1
const SOON = 2
const NO_ROOM = 4

// Inspects all frames before any of them takes effect.
function inspect({ incoming, limits }: Link): number {
  let found = 0
  let next = incoming.next
  while (nextFrame(frames)) {
    if (asks(frames)) found |= ASKS
    if (asksSoon(frames)) found |= SOON
    if (frames.kind !== KIND.rel) continue
    if (frames.id === next) next += 1
    else if (frames.id >= next + limits.reorder) found |= NO_ROOM
  }
  return frames.failed ? MALFORMED : found
}

// Two packets are acked once everything received was read, and so is one out of order, which may
// reveal a loss. A single one waits for another, longer if it holds only newest state and no packet
// just before it is missing (L6). Bare acks are never acked.
function oweAck(link: Link, now: Millis, inOrder: boolean, found: number, sequence: number): void {
  const asking = (found & ASKS) !== 0
  if (sequence === link.received.newest) link.newestAt = asking ? now : NaN
  if (!asking) return
  link.unanswered += 1
  const soon = (found & SOON) !== 0 || (link.received.bits & LATELY) !== LATELY
  const many = soon ? ACK_SOON_AFTER : STATE_ACK_SOON_AFTER
  const delay = soon ? ACK_DELAY_MAX : STATE_ACK_DELAY_MAX
  const due = link.unanswered >= many || !inOrder ? now : now + delay
  link.ackAt = Math.min(link.ackAt, due)
}

function apply(link: Link, now: Millis, arrivals: Arrivals): void {
  const { clock } = link
  switch (frames.kind) {
    case KIND.rel: {
      const { id, flags } = frames
      const bytes = frames.bytes.subarray(frames.from, frames.to)
      if (!link.rules.take(link, id, flags, bytes, arrivals)) link.counters.malformed += 1
      return
    }
    case KIND.unrel:
      note(arrivals, 'frame', frames.channel, frames.bytes.subarray(frames.from, frames.to))
      return
    case KIND.umsg: {
      const whole = parts.takePart(link.parted, frames)
      if (whole !== null) note(arrivals, 'frame', frames.channel, whole)
      return
    }
    case KIND.clock:
      if (frames.flags !== 0) {
        takeAnswer(clock, now, frames.t0, frames.t1, frames.t2)
      } else {
        clock.question = frames.t0
        clock.questionAt = now
      }
      return
    case KIND.close:
      link.closed = frames.channel
  }
}

/** Sends waiting data, as far as window and pacing allow (L7). */
export function flush(link: Link, now: Millis, sink: LinkSink): void {
  while (hasWaiting(link) && pace.hasRoom(link.pace)) {
    if (!pace.mayLeave(link.pace, now, link.rtt.smoothed)) return
    if (!build(link, now, sink, 'data')) return
  }
}

function hasWaiting(link: Link): boolean {
  if (link.closed !== null) return false
  if (link.writeScheduled || link.parted.outbox.length > 0) return true
  return reliable.nextPiece(link.outgoing, link.limits) > 0
}

/** Handles everything due: losses, probes, paced data, delayed acks, keepalives. */
export function wake(link: Link, now: Millis, sink: LinkSink): void {
  if (link.closed !== null) return
  const { loss, sent } = link
  if (loss.lostAt <= now) detectLoss(link, now, sink)
  else if (sent.oldest < sent.next && probeAt(loss, link.rtt, sent.oldest) <= now) {
    probeLoss(link, now, sink)
  }
  flush(link, now, sink)
  if (link.ackAt <= now && !build(link, now, sink, 'ack')) link.ackAt = Infinity
  if (link.lastSent + link.keepaliveMs <= now) {
    link.counters.keepalives += 1
    // Counts as sent even if it could not leave, or the deadline would never advance.
    if (!build(link, now, sink, 'keepalive')) link.lastSent = now
  }
}

/** Tries a path: sends a packet that asks for an ack, whether data waits or not. */
export function probe(link: Link, now: Millis, sink: LinkSink): void {
  if (link.closed === null) build(link, now, sink, 'keepalive')
}

// Resends the oldest pieces, for which the stream waits. Window and pacing do not delay a probe,
// and a probe alone does not mark a loss (L5).
function probeLoss(link: Link, now: Millis, sink: LinkSink): void {
  const { loss, outgoing, counters } = link
  loss.probes += 1
  loss.probeFrom = now
  const packets = Math.min(loss.probes, PROBE_PACKETS)
  let room = packets * PACKET_MAX
  for (let id = outgoing.base; id < outgoing.unsent && room > 0; id++) {
    const piece = reliable.pieceAt(outgoing, id)!
    room -= piece.bytes.length + REL_OVERHEAD
    if (room > 0) reliable.sendAgain(outgoing, id)
  }
  for (let packet = 0; packet < packets; packet++) {
    counters.probes += 1
    build(link, now, sink, 'probe')
  }
}

/** When `wake` is due; Infinity if never. A wake at that time advances it. */
export function deadline(link: Link): Millis {
  if (link.closed !== null) return Infinity
  const { loss, sent } = link
  let at = Math.min(link.lastSent + link.keepaliveMs, link.ackAt)
  if (sent.oldest < sent.next) {
    const { lostAt } = loss
    at = Math.min(at, lostAt < Infinity ? lostAt : probeAt(loss, link.rtt, sent.oldest))
  }
  if (
    at > link.waitsSince &&
    pace.hasRoom(link.pace) &&
    hasWaiting(link) &&
    link.rules.hasNumber(link)
  ) {
    at = Math.min(at, Math.max(link.waitsSince, pace.leavesAt(link.pace, link.rtt.smoothed)))
  }
  return at
}

/** Sends CLOSE and falls silent. @param reason  0 to 255, for the peer */
export function close(link: Link, now: Millis, reason: number, sink: LinkSink): void {
  if (link.closed !== null) return
  link.closed = reason
  for (let copy = 0; copy < CLOSE_COPIES; copy++) build(link, now, sink, 'close')
}

/**
 * Whether the link is down (L8): closed by either end, or for LINK_TIMEOUT without a packet or
 * without progress of its reliable messages. Slow progress is no fault.
 */
export function isDown(link: Link, now: Millis): boolean {
  if (link.closed !== null || now - link.lastReceived >= LINK_TIMEOUT) return true
  const oldest = reliable.pieceAt(link.outgoing, link.outgoing.base)
  return oldest !== null && now - oldest.at >= LINK_TIMEOUT
}
