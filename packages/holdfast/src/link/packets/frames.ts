/**
 * Frames: a packet's contents after its header, one after the other to its end.
 *
 *     0 PAD       nothing; asks for an ack, so an empty packet can
 *     1 REL       piece:16 or varint  length:varint  bytes
 *     2 UNREL     channel:8  length:varint  bytes
 *     3 UMSG      channel:8  message:16  part:4 parts-1:4  length:varint  bytes
 *     4 CLOCK     t0:f64, and in an answer  t1:f64  t2:f64
 *     5 BARRIER   reserved; malformed today
 *     6 CLOSE     reason:8
 *     8 ACKDELAY  delay:varint, in eighths of a millisecond
 *
 * The first byte holds the kind in its low half and flags in its high half: for REL the first
 * (0x10) and last (0x20) piece of a message, for CLOCK an answer (0x10), else 0. The first REL of a
 * packet has the low 16 bits of its piece's number, each further one the count of numbers skipped.
 * Integers are big-endian, varints LEB128 in shortest form.
 *
 * A packet asks for an ack if it holds anything but ACKDELAY, CLOCK answers and CLOSE.
 */

import {
  type ByteWriter,
  readF64,
  readU16,
  readU8,
  readVarint,
  writeF64,
  writeU16,
  writeU8,
  writeVarint,
} from '../../wire/bytes.ts'
import { unwrap } from '../../wire/sequence.ts'
import { CHANNEL_MIN, FRAME_MAX, PIECE_MAX } from '../limits.ts'

/** The kinds of frames. */
export const KIND = { pad: 0, rel: 1, unrel: 2, umsg: 3, clock: 4, close: 6, ackDelay: 8 } as const

const ANSWER = 1
const EIGHTHS = 8
/** Longest delay that an ACKDELAY may carry, in eighths of a millisecond. */
const DELAY_MAX = 10_000 * EIGHTHS
/** Most parts of one unreliable message (L10). */
export const PARTS_MAX = 16

/** Most bytes of a REL frame besides its piece. */
export const REL_OVERHEAD = 5
/** Most bytes of a UMSG frame besides its part. */
export const UMSG_OVERHEAD = 7
/** Bytes of a CLOCK frame with a question. */
export const QUESTION_BYTES = 9
/** Most bytes of an UNREL frame besides its body. */
export const UNREL_OVERHEAD = 4

export const NO_BYTES: Uint8Array = new Uint8Array(0)

/** A cursor, reused for one packet after another. */
export function createFrames() {
  return {
    bytes: NO_BYTES,
    at: 0,
    end: 0,
    failed: false,
    kind: 0,
    /** REL: FIRST and LAST. CLOCK: 1 for an answer. */
    flags: 0,
    /** UNREL, UMSG: the channel. CLOSE: the reason. */
    channel: 0,
    /** REL: the piece, a plain number. UMSG: the message, 0 to 65535. */
    id: 0,
    /** UMSG: which part, of how many. */
    part: 0,
    parts: 0,
    /** Where the body is in `bytes`. */
    from: 0,
    to: 0,
    /** CLOCK: t0, t1, t2. All in Millis. */
    t0: 0,
    t1: 0,
    t2: 0,
    /** A piece number near that of the first REL; afterwards the piece last read. */
    near: 0,
    first: true,
    /** How long the peer delayed its ack, from the last ACKDELAY. */
    held: 0,
  }
}

export type Frames = ReturnType<typeof createFrames>

/** Starts reading a packet's frames at `at`. @param near  the next piece in order */
export function open(frames: Frames, bytes: Uint8Array, at: number, near: number): void {
  frames.bytes = bytes
  frames.end = bytes.length
  frames.failed = false
  frames.held = 0
  rewind(frames, at, near)
}

export function rewind(frames: Frames, at: number, near: number): void {
  frames.at = at
  frames.near = near
  frames.first = true
}

/** Whether a frame of this kind asks for an ack. */
export function asks(frames: Frames): boolean {
  const { kind, flags } = frames
  return kind < KIND.clock || (kind === KIND.clock && flags === 0)
}

/** Whether a frame of this kind asks for an early ack (L6). */
export function asksSoon(frames: Frames): boolean {
  return frames.kind !== KIND.unrel && asks(frames)
}

/** Reads the next frame. False at the end, or with `failed` set when it is malformed. */
export function nextFrame(frames: Frames): boolean {
  if (frames.at >= frames.end) return false
  const first = readU8(frames)
  frames.kind = first & 0x0f
  frames.flags = first >>> 4
  const most = frames.kind === KIND.rel ? 3 : frames.kind === KIND.clock ? ANSWER : 0
  if (frames.flags > most) return refuse(frames)
  switch (frames.kind) {
    case KIND.pad:
      return true
    case KIND.rel:
      readPiece(frames)
      return body(frames, PIECE_MAX)
    case KIND.unrel:
      readChannel(frames)
      return body(frames, FRAME_MAX)
    case KIND.umsg:
      return readPart(frames)
    case KIND.clock:
      return readClock(frames)
    case KIND.close:
      frames.channel = readU8(frames)
      return !frames.failed
    case KIND.ackDelay:
      return readAckDelay(frames)
    default:
      return refuse(frames)
  }
}

function refuse(frames: Frames): false {
  frames.failed = true
  frames.at = frames.end
  return false
}

function readPiece(frames: Frames): void {
  frames.id = frames.first
    ? unwrap(readU16(frames), frames.near)
    : frames.near + 1 + readVarint(frames)
  frames.near = frames.id
  frames.first = false
  // Pieces are numbered from 1, and numbers must stay exact.
  if (frames.id < 1 || !Number.isSafeInteger(frames.id)) refuse(frames)
}

function readChannel(frames: Frames): void {
  frames.channel = readU8(frames)
  if (frames.channel < CHANNEL_MIN) refuse(frames)
}

function readPart(frames: Frames): boolean {
  readChannel(frames)
  frames.id = readU16(frames)
  const split = readU8(frames)
  frames.part = split >>> 4
  frames.parts = (split & 0x0f) + 1
  if (frames.part >= frames.parts) return refuse(frames)
  return body(frames, PIECE_MAX)
}

function readClock(frames: Frames): boolean {
  frames.t0 = readF64(frames)
  if (frames.flags === ANSWER) {
    frames.t1 = readF64(frames)
    frames.t2 = readF64(frames)
  }
  return !frames.failed
}

function readAckDelay(frames: Frames): boolean {
  const delay = readVarint(frames)
  if (delay > DELAY_MAX) return refuse(frames)
  frames.held = delay / EIGHTHS
  return !frames.failed
}

function body(frames: Frames, most: number): boolean {
  const length = readVarint(frames)
  if (frames.failed || length > most || length > frames.end - frames.at) return refuse(frames)
  frames.from = frames.at
  frames.to = frames.at + length
  frames.at = frames.to
  return true
}

export function writePad(writer: ByteWriter): void {
  writeU8(writer, KIND.pad)
}

/** A piece of a reliable message. @param before  the piece before it in this packet, or 0 */
export function writePiece(
  writer: ByteWriter,
  id: number,
  before: number,
  flags: number,
  bytes: Uint8Array,
): void {
  writeU8(writer, KIND.rel | (flags << 4))
  if (before === 0) writeU16(writer, id % 65536)
  else writeVarint(writer, id - before - 1)
  writeVarint(writer, bytes.length)
  // Written directly: the builder has checked the room.
  writer.bytes.set(bytes, writer.length)
  writer.length += bytes.length
}

export function writePart(
  writer: ByteWriter,
  channel: number,
  message: number,
  part: number,
  parts: number,
  bytes: Uint8Array,
): void {
  writeU8(writer, KIND.umsg)
  writeU8(writer, channel)
  writeU16(writer, message)
  writeU8(writer, (part << 4) | (parts - 1))
  writeVarint(writer, bytes.length)
  writer.bytes.set(bytes, writer.length)
  writer.length += bytes.length
}

export function writeQuestion(writer: ByteWriter, t0: number): void {
  writeU8(writer, KIND.clock)
  writeF64(writer, t0)
}

export function writeAnswer(writer: ByteWriter, t0: number, t1: number, t2: number): void {
  writeU8(writer, KIND.clock | (ANSWER << 4))
  writeF64(writer, t0)
  writeF64(writer, t1)
  writeF64(writer, t2)
}

/** Announces that no more packets will come. @param reason  0 to 255, for the layer above */
export function writeClose(writer: ByteWriter, reason: number): void {
  writeU8(writer, KIND.close)
  writeU8(writer, reason)
}

export function writeAckDelay(writer: ByteWriter, delay: number): void {
  writeU8(writer, KIND.ackDelay)
  writeVarint(writer, Math.min(DELAY_MAX, Math.round(delay * EIGHTHS)))
}

/**
 * Writes kind, channel and length before a body that begins three bytes after `start`, and moves
 * the body if its length takes two bytes.
 */
export function wrapBody(writer: ByteWriter, start: number, channel: number): void {
  const length = writer.length - start - 3
  const { bytes } = writer
  bytes[start] = KIND.unrel
  bytes[start + 1] = channel
  if (length < 0x80) {
    bytes[start + 2] = length
    return
  }
  bytes.copyWithin(start + 4, start + 3, writer.length)
  bytes[start + 2] = (length & 0x7f) | 0x80
  bytes[start + 3] = length >>> 7
  writer.length += 1
}
