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

import { badValue, rulesOf, type Millis, assert } from '../machine.ts'
import { type Arrivals, clear, note } from './arrivals.ts'
import { addFragment } from './packets/assembly.ts'
import {
  EAGER_SAMPLES,
  errorOf,
  offsetOf,
  SURE_MS,
  takeAnswer,
  ask,
  shouldAsk,
} from './timing/clock.ts'
import * as frames from './packets/frames.ts'
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
  type Limits,
  CHANNEL_MAX,
  CHANNEL_MIN,
  FRAME_MAX,
} from './limits.ts'
import { LATER_PACKETS, probeAt } from './timing/loss.ts'
import * as pace from './timing/pace.ts'
import { createHeader, isFragment, readHeader, writeHeader } from './packets/packet.ts'
import * as parts from './packets/parts.ts'
import { current } from './paths.ts'
import * as reliable from './reliable.ts'
import { createState, type Link, type LinkRules, type LinkSink, NOTHING_WAITS } from './state.ts'
import { ackedBy, detectLoss, takeAcks, giveUp } from './verdict.ts'
import { accept, standing, enter, noteRun, slotOf } from './window.ts'
import { unwrap, wrap } from '../wire/sequence.ts'
import { createWriter, type ByteWriter } from '../wire/bytes.ts'

export const RULES: LinkRules = rulesOf<LinkRules>({
  hasNumber,
  refuses: (tooFar) => tooFar,
  take: ({ incoming }, id, flags, bytes, arrivals) => {
    return reliable.take(incoming, id, flags, bytes, arrivals)
  },
})

export { type Arrival, type Arrivals, createArrivals } from './arrivals.ts'
export { current, use } from './paths.ts'
export { type Link, type LinkSink, NOTHING_WAITS } from './state.ts'

// CLOSE is not acked, so several copies leave.
const CLOSE_COPIES = 3
// The first probe sends one packet, later ones two.
const PROBE_PACKETS = 2

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

export function setKeepalive(link: Link, keepaliveMs: Millis): void {
  checkKeepalive(keepaliveMs)
  link.keepaliveMs = keepaliveMs
}

function checkKeepalive(keepaliveMs: Millis): void {
  if (keepaliveMs >= 1 && keepaliveMs <= LINK_TIMEOUT) return
  const range = `1 to ${LINK_TIMEOUT} ms`
  throw badValue(`a keepalive lies within ${range}: ${keepaliveMs}`)
}

/** Whether `offset` is the best of several measurements, or wrong by at most SURE_MS. */
export function isMeasured({ clock }: Link): boolean {
  return clock.samples.length >= EAGER_SAMPLES || errorOf(clock) <= SURE_MS
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
 * @param by  id of the path by which it came; -1 if that is none of ours
 * @returns false, and counted, if it was malformed, a duplicate, stale, or refused for lack of
 * room. If true, call `answer` after handling the arrivals
 */
export function receive(
  link: Link,
  now: Millis,
  packet: Uint8Array,
  arrivals: Arrivals,
  by: number = link.using,
): boolean {
  clear(arrivals)
  if (link.closed !== null) return false
  link.counters.received += 1
  link.counters.bytesReceived += packet.length
  cameBy = by
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
const cursor = frames.createFrames()
let cameBy = 0

function receiveWhole(link: Link, now: Millis, packet: Uint8Array, arrivals: Arrivals): boolean {
  try {
    return digest(link, now, packet, arrivals)
  } finally {
    cursor.bytes = frames.NO_BYTES
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
  frames.open(cursor, packet, start, link.incoming.next)
  const found = inspect(link)
  if (acked === null || found === MALFORMED) return refuse(link)
  link.lastReceived = now
  takeAcks(link, now, acked, header.ackBits, cursor.held, cameBy, arrivals)
  detectLoss(link, now, arrivals)
  if (link.rules.refuses((found & NO_ROOM) !== 0)) {
    counters.droppedForRoom += 1
    return false
  }
  oweAck(link, now, accept(received, sequence), found, sequence)
  frames.rewind(cursor, start, link.incoming.next)
  while (frames.nextFrame(cursor)) apply(link, now, arrivals)
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
  while (frames.nextFrame(cursor)) {
    if (frames.asks(cursor)) found |= ASKS
    if (frames.asksSoon(cursor)) found |= SOON
    if (cursor.kind !== frames.KIND.rel) continue
    if (cursor.id === next) next += 1
    else if (cursor.id >= next + limits.reorder) found |= NO_ROOM
  }
  return cursor.failed ? MALFORMED : found
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
  switch (cursor.kind) {
    case frames.KIND.rel: {
      const { id, flags } = cursor
      const bytes = cursor.bytes.subarray(cursor.from, cursor.to)
      if (!link.rules.take(link, id, flags, bytes, arrivals)) link.counters.malformed += 1
      return
    }
    case frames.KIND.unrel:
      note(arrivals, 'frame', cursor.channel, cursor.bytes.subarray(cursor.from, cursor.to))
      return
    case frames.KIND.umsg: {
      const whole = parts.takePart(link.parted, cursor)
      if (whole !== null) note(arrivals, 'frame', cursor.channel, whole)
      return
    }
    case frames.KIND.clock:
      if (cursor.flags !== 0) {
        takeAnswer(clock, now, cameBy, cursor.t0, cursor.t1, cursor.t2)
      } else {
        clock.question = cursor.t0
        clock.questionAt = now
      }
      return
    case frames.KIND.close:
      link.closed = cursor.channel
  }
}

/** Sends waiting data, as far as window and pacing allow (L7). */
export function flush(link: Link, now: Millis, sink: LinkSink): void {
  const path = current(link)
  while (hasWaiting(link) && pace.hasRoom(path.pace)) {
    if (!pace.mayLeave(path.pace, now, path.rtt.smoothed)) return
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
  else if (sent.oldest < sent.next && probeAt(loss, current(link).rtt, sent.oldest) <= now) {
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
    room -= piece.bytes.length + frames.REL_OVERHEAD
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
  const path = current(link)
  let at = Math.min(link.lastSent + link.keepaliveMs, link.ackAt)
  if (sent.oldest < sent.next) {
    const { lostAt } = loss
    at = Math.min(at, lostAt < Infinity ? lostAt : probeAt(loss, path.rtt, sent.oldest))
  }
  if (
    at > link.waitsSince &&
    pace.hasRoom(path.pace) &&
    hasWaiting(link) &&
    link.rules.hasNumber(link)
  ) {
    at = Math.min(at, Math.max(link.waitsSince, pace.leavesAt(path.pace, path.rtt.smoothed)))
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

// Building a packet: header, ack delay, clocks, then all waiting content.
//
// Frames are written straight into a buffer shared by all links. A sink may hand the packet to
// another link at once, so buffers are borrowed like frames of a call stack. When reliable messages
// and newest state both wait, they alternate in filling a packet first, so neither a long snapshot
// nor motion starves the other.

/**
 * Why a packet is built. `data` leaves only if something waits; `probe` and `keepalive` leave in
 * any case and ask for an ack.
 */
export type Purpose = 'data' | 'ack' | 'probe' | 'keepalive' | 'close'

// With less room than this the link does not ask for newest state.
const ROOM_MIN = 16
const ACK_DELAY_TOLD: Millis = 0.125

const buffers: ByteWriter[] = []
let borrowed = 0

/** @returns whether a packet left; `data` without content also clears `writeScheduled` */
export function build(link: Link, now: Millis, sink: LinkSink, purpose: Purpose): boolean {
  const writer = (buffers[borrowed] ??= createWriter(2048))
  borrowed += 1
  try {
    return fill(link, now, sink, purpose, writer)
  } finally {
    borrowed -= 1
  }
}

function fill(
  link: Link,
  now: Millis,
  sink: LinkSink,
  purpose: Purpose,
  writer: ByteWriter,
): boolean {
  const { sent, clock } = link
  if (!makeRoom(link, purpose, sink)) return false
  const sequence = sent.next
  sent.runCount[slotOf(sent, sequence)] = 0
  startPacket(link, now, writer)
  const answers = writeAnswer(link, now, writer)
  const parted = link.parted.outbox.length
  let content = false
  if (purpose === 'data' || purpose === 'probe') content = writeContent(link, sink, writer)
  else if (purpose === 'close') frames.writeClose(writer, link.closed ?? 0)
  if (purpose === 'data' && !content && !answers) {
    link.writeScheduled = false
    return false
  }
  // An answer may leave alone: it may be why a whole frame did not fit.
  const questions =
    purpose !== 'close' &&
    shouldAsk(clock, now, current(link).rtt.smoothed) &&
    writer.length + frames.QUESTION_BYTES <= PACKET_MAX
  if (questions) frames.writeQuestion(writer, now)
  const asked = purpose === 'probe' || purpose === 'keepalive'
  const onlyState = !questions && isOnlyState(link, sequence, parted)
  const pads = onlyState && (asked || (content && isTight(link, writer)))
  if (pads) frames.writePad(writer)
  if (answers) clock.question = NaN
  if (questions) ask(clock, now, link.using)
  if (!onlyState || pads) link.loss.soonest = sequence
  commit(link, now, writer.length, content || questions || asked)
  sink.packet(writer.bytes.subarray(0, writer.length))
  return true
}

// Whether the packet holds only newest state, whose ack may be delayed longer.
function isOnlyState({ sent, parted }: Link, sequence: number, before: number): boolean {
  return sent.runCount[slotOf(sent, sequence)] === 0 && parted.outbox.length === before
}

// Half of the window is in flight, so a slow ack would stall us.
function isTight(link: Link, { length }: ByteWriter): boolean {
  const { flying, window } = current(link).pace
  return (flying + length) * 2 > window && length < PACKET_MAX
}

/** Whether a packet may be numbered now without giving up an older one. */
export function hasNumber(link: Link): boolean {
  const { sent, limits } = link
  return sent.next - sent.oldest < limits.window && isTellable(link)
}

// Beyond half the modulus the peer could mistake a new sequence for an old one.
function isTellable({ sent, limits }: Link): boolean {
  return sent.next - sent.newestAcked < limits.modulus / 2
}

// New data waits for the window. Packets that keep the link alive evict the oldest packet instead.
function makeRoom(link: Link, purpose: Purpose, sink: LinkSink): boolean {
  if (link.rules.hasNumber(link)) return true
  if (purpose === 'data' || !isTellable(link)) return false
  const { sent } = link
  link.counters.evicted += 1
  giveUp(link, sent.oldest, sink)
  return true
}

function startPacket(link: Link, now: Millis, writer: ByteWriter): void {
  const { sent, received, limits } = link
  const sequence = wrap(sent.next, limits.modulus)
  // Before the first packet arrives no ack bit is set, so nothing is acked.
  const ack = wrap(received.newest, limits.modulus)
  writer.length = writeHeader(writer.bytes, 0, sequence, ack, received.bits)
  const held = now - link.newestAt
  if (held >= ACK_DELAY_TOLD) frames.writeAckDelay(writer, held)
}

function writeAnswer({ clock }: Link, now: Millis, writer: ByteWriter): boolean {
  const { question, questionAt, shift } = clock
  if (Number.isNaN(question) || Number.isNaN(shift)) return false
  frames.writeAnswer(writer, question, questionAt + shift, now + shift)
  return true
}

function writeContent(link: Link, sink: LinkSink, writer: ByteWriter): boolean {
  const start = writer.length
  const both = link.writeScheduled && reliable.nextPiece(link.outgoing, link.limits) > 0
  if (both) link.reliableFirst = !link.reliableFirst
  if (both && !link.reliableFirst) pull(link, sink, writer)
  writePieces(link, writer)
  writeParts(link, writer)
  if (link.writeScheduled && !(both && !link.reliableFirst)) pull(link, sink, writer)
  return writer.length > start
}

function writePieces(link: Link, writer: ByteWriter): void {
  const { outgoing, limits, sent } = link
  let before = 0
  for (;;) {
    const id = reliable.nextPiece(outgoing, limits)
    if (id === 0) return
    const { bytes, flags } = reliable.pieceAt(outgoing, id)!
    if (writer.length + frames.REL_OVERHEAD + bytes.length > PACKET_MAX) return
    if (!noteRun(sent, id)) return
    frames.writePiece(writer, id, before, flags, bytes)
    if (reliable.sent(outgoing, id, sent.next)) link.counters.retransmitted += 1
    before = id
  }
}

function writeParts({ parted }: Link, writer: ByteWriter): void {
  let count = 0
  for (const one of parted.outbox) {
    if (writer.length + frames.UMSG_OVERHEAD + one.bytes.length > PACKET_MAX) break
    frames.writePart(writer, one.channel, one.message, one.part, one.parts, one.bytes)
    count += 1
  }
  parted.outbox.splice(0, count)
}

function pull(link: Link, sink: LinkSink, writer: ByteWriter): void {
  const sequence = link.sent.next
  for (;;) {
    const start = writer.length
    const budget = Math.min(FRAME_MAX, PACKET_MAX - start - frames.UNREL_OVERHEAD)
    if (budget < ROOM_MIN) return
    writer.length = start + frames.UNREL_OVERHEAD - 1
    const channel = sink.write(sequence, writer, budget)
    if (channel < 0) {
      writer.length = start
      if (channel === NOTHING_WAITS) link.writeScheduled = false
      return
    }
    const length = writer.length - start - frames.UNREL_OVERHEAD + 1
    assert(length <= budget, `a frame of channel ${channel} keeps its ${budget} bytes: ${length}`)
    assert(channel >= CHANNEL_MIN && channel <= CHANNEL_MAX, `${channel} is a channel`)
    frames.wrapBody(writer, start, channel)
  }
}

function commit(link: Link, now: Millis, size: number, asks: boolean): void {
  const { counters } = link
  const path = current(link)
  enter(link.sent, now, size, !asks, path)
  counters.sent += 1
  counters.bytesSent += size
  link.lastSent = now
  link.unanswered = 0
  link.ackAt = Infinity
  link.newestAt = NaN
  if (!asks) {
    counters.bareAcks += 1
    return
  }
  path.asked += 1
  pace.left(path.pace, size)
  link.loss.probeFrom = now
}
