/**
 * Builds one packet: header, ack delay, clocks, then all waiting content.
 *
 * Frames are written straight into a buffer shared by all links. A sink may hand the packet to
 * another link at once, so buffers are borrowed like frames of a call stack. When reliable messages
 * and newest state both wait, they alternate in filling a packet first, so neither a long snapshot
 * nor motion starves the other.
 */

import { assert } from '../machine.ts'
import type { Millis } from '../machine.ts'
import { createWriter } from '../wire/bytes.ts'
import type { ByteWriter } from '../wire/bytes.ts'
import { wrap } from '../wire/sequence.ts'
import { ask, shouldAsk } from './timing/clock.ts'
import * as frames from './packets/frames.ts'
import { CHANNEL_MAX, CHANNEL_MIN, FRAME_MAX, PACKET_MAX } from './limits.ts'
import * as pace from './timing/pace.ts'
import { writeHeader } from './packets/packet.ts'
import * as reliable from './reliable.ts'
import { type Link, type LinkSink, NOTHING_WAITS } from './state.ts'
import { giveUp } from './verdict.ts'
import { enter, noteRun, slotOf } from './window.ts'

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

/**
 * Builds and emits one packet.
 *
 * @returns whether one left; `data` with nothing to send also clears `writeScheduled`
 */
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
    shouldAsk(clock, now, link.rtt.smoothed) &&
    writer.length + frames.QUESTION_BYTES <= PACKET_MAX
  if (questions) frames.writeQuestion(writer, now)
  const asked = purpose === 'probe' || purpose === 'keepalive'
  const onlyState = !questions && isOnlyState(link, sequence, parted)
  const pads = onlyState && (asked || (content && isTight(link, writer)))
  if (pads) frames.writePad(writer)
  if (answers) clock.question = NaN
  if (questions) ask(clock, now)
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
function isTight({ pace: { flying, window } }: Link, { length }: ByteWriter): boolean {
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
  enter(link.sent, now, size, !asks)
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
  pace.left(link.pace, size)
  link.loss.probeFrom = now
}
