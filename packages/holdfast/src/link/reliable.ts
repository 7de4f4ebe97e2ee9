/**
 * The reliable ordered stream: messages are split into pieces and reassembled by the receiver.
 *
 * A piece keeps its number however many packets carry it (L2). By number the receiver keeps early
 * pieces and skips duplicates; it delivers messages in order, once. The sender runs at most `ahead`
 * pieces past the oldest unacked one and the receiver keeps room for as many, so honest ends never
 * refuse a packet for lack of room.
 *
 * `delivered` is cumulative (L3): a message takes effect only after all messages before it.
 */

import { badValue, HoldfastError, type Millis } from '../machine.ts'
import { createWriter, reset, writeRaw } from '../wire/bytes.ts'
import { type Arrivals, note } from './arrivals.ts'
import {
  MESSAGE_MAX,
  PIECE_MAX,
  QUEUE_BYTES_MAX,
  QUEUE_MESSAGES_MAX,
  type Limits,
} from './limits.ts'

/** Flag of a piece: the first of its message. */
export const FIRST = 1
/** Flag of a piece: the last of its message. */
export const LAST = 2

/** Stages of a piece. */
export const PIECE = { unsent: 0, flying: 1, again: 2, arrived: 3 } as const

export interface Piece {
  bytes: Uint8Array
  /** FIRST, LAST, both or neither. */
  flags: number
  /** One of PIECE. */
  stage: number
  /** Newest packet with the piece, or -1. */
  packet: number
  /** Since when it is due: when queued, or later, when all pieces before it had arrived. */
  at: Millis
}

export function createOutgoing() {
  return {
    /** Oldest piece not known to have arrived. Pieces are numbered from 1. */
    base: 1,
    /** First piece never sent. */
    unsent: 1,
    next: 1,
    /** Ring of the pieces from base to next; its length is a power of two. */
    ring: [null, null] as (Piece | null)[],
    /** Messages and bytes in the ring; at most QUEUE_MESSAGES_MAX and QUEUE_BYTES_MAX. */
    messages: 0,
    bytes: 0,
    /** No piece before this one needs a resend. */
    againFrom: 1,
    /** The last message that arrived completely, with all before it; 0 if none. */
    delivered: 0,
  }
}

export type Outgoing = ReturnType<typeof createOutgoing>

export function createIncoming() {
  return {
    /** Next piece in order. */
    next: 1,
    /** Pieces that came early, by number; at most `reorder` and those of one packet more. */
    early: new Map() as Map<number, { flags: number; bytes: Uint8Array }>,
    /** Pieces of an incomplete message; at most MESSAGE_MAX bytes. */
    partial: createWriter(0),
    /** A message has begun and is incomplete. */
    open: false,
  }
}

export type Incoming = ReturnType<typeof createIncoming>

/** @returns the number of its last piece @throws HoldfastError `bad-value`, `overloaded` */
export function queue(outgoing: Outgoing, now: Millis, bytes: Uint8Array): number {
  if (bytes.length > MESSAGE_MAX) {
    const limit = `${MESSAGE_MAX} bytes`
    throw badValue(`a message has at most ${limit}: ${bytes.length}`)
  }
  if (outgoing.messages >= QUEUE_MESSAGES_MAX || outgoing.bytes + bytes.length > QUEUE_BYTES_MAX) {
    const held = `${outgoing.messages} messages, ${outgoing.bytes} bytes`
    const limit = `${QUEUE_MESSAGES_MAX} messages or ${QUEUE_BYTES_MAX} bytes`
    throw new HoldfastError(
      'overloaded',
      `the link's queue holds ${held}, at most ${limit}; send less or wait for deliveries`,
    )
  }
  const end = Math.max(1, Math.ceil(bytes.length / PIECE_MAX))
  for (let index = 0; index < end; index++) {
    // Not `slice`: a Buffer's would share the bytes.
    const flags = (index === 0 ? FIRST : 0) | (index === end - 1 ? LAST : 0)
    const share = new Uint8Array(bytes.subarray(index * PIECE_MAX, (index + 1) * PIECE_MAX))
    push(outgoing, { bytes: share, flags, stage: PIECE.unsent, packet: -1, at: now })
  }
  outgoing.messages += 1
  outgoing.bytes += bytes.length
  return outgoing.next - 1
}

function push(outgoing: Outgoing, piece: Piece): void {
  const { ring, base, next } = outgoing
  if (next - base === ring.length) {
    const wider: (Piece | null)[] = Array.from({ length: ring.length * 2 }, () => null)
    for (let id = base; id < next; id++) {
      wider[id & (wider.length - 1)] = ring[id & (ring.length - 1)]!
    }
    outgoing.ring = wider
  }
  outgoing.ring[next & (outgoing.ring.length - 1)] = piece
  outgoing.next += 1
}

/** The piece of that number, or null if it was delivered or never queued. */
export function pieceAt(outgoing: Outgoing, id: number): Piece | null {
  if (id < outgoing.base || id >= outgoing.next) return null
  return outgoing.ring[id & (outgoing.ring.length - 1)] ?? null
}

/** The piece to send next: the oldest that needs a resend, else the first unsent; 0 for none. */
export function nextPiece(outgoing: Outgoing, limits: Limits): number {
  const { unsent, next, base } = outgoing
  // The search passes each piece once, and once more for each resend.
  let id = Math.max(outgoing.againFrom, base)
  while (id < unsent && pieceAt(outgoing, id)!.stage !== PIECE.again) id += 1
  outgoing.againFrom = id
  if (id < unsent) return id
  return unsent < next && unsent < base + limits.ahead ? unsent : 0
}

/** Notes that packet `sequence` carries the piece. @returns whether this is a resend */
export function sent(outgoing: Outgoing, id: number, sequence: number): boolean {
  const piece = pieceAt(outgoing, id)!
  const repeated = piece.stage === PIECE.again
  if (!repeated) outgoing.unsent = id + 1
  piece.stage = PIECE.flying
  piece.packet = sequence
  return repeated
}

/** Gives up a packet that carried the piece: the piece is resent unless a newer packet has it. */
export function given(outgoing: Outgoing, id: number, sequence: number): void {
  const piece = pieceAt(outgoing, id)
  if (piece?.packet === sequence) sendAgain(outgoing, id)
}

export function sendAgain(outgoing: Outgoing, id: number): void {
  const piece = pieceAt(outgoing, id)
  if (piece?.stage !== PIECE.flying) return
  piece.stage = PIECE.again
  outgoing.againFrom = Math.min(outgoing.againFrom, id)
}

export function arrivedPiece(outgoing: Outgoing, id: number): void {
  const piece = pieceAt(outgoing, id)
  if (piece !== null) piece.stage = PIECE.arrived
}

/** Releases arrived pieces in order. @returns whether `delivered` has grown */
export function settle(outgoing: Outgoing, now: Millis): boolean {
  const { base: first, delivered: before } = outgoing
  for (;;) {
    const { base, ring } = outgoing
    const piece = pieceAt(outgoing, base)
    if (piece?.stage !== PIECE.arrived) {
      if (piece && base > first) piece.at = now
      return outgoing.delivered > before
    }
    ring[base & (ring.length - 1)] = null
    outgoing.base += 1
    outgoing.bytes -= piece.bytes.length
    if ((piece.flags & LAST) !== 0) {
      outgoing.messages -= 1
      outgoing.delivered = base
    }
  }
}

/** @returns false if the peer broke the rules: a message lacks an end, or is too long */
export function take(
  incoming: Incoming,
  id: number,
  flags: number,
  bytes: Uint8Array,
  arrivals: Arrivals,
): boolean {
  if (id < incoming.next) return true
  if (id > incoming.next) {
    if (!incoming.early.has(id)) incoming.early.set(id, { flags, bytes: new Uint8Array(bytes) })
    return true
  }
  incoming.next += 1
  let sound = append(incoming, flags, bytes, arrivals)
  for (;;) {
    const early = incoming.early.get(incoming.next)
    if (early === undefined) return sound
    incoming.early.delete(incoming.next)
    incoming.next += 1
    sound = append(incoming, early.flags, early.bytes, arrivals) && sound
  }
}

/** Appends a piece to its message, and delivers the message when it is complete. */
export function append(
  incoming: Incoming,
  flags: number,
  bytes: Uint8Array,
  arrivals: Arrivals,
): boolean {
  const { partial } = incoming
  const begins = (flags & FIRST) !== 0
  const sound = begins !== incoming.open && partial.length + bytes.length <= MESSAGE_MAX
  if (!sound) reset(partial)
  incoming.open = (begins || sound) && (flags & LAST) === 0
  if (begins && (flags & LAST) !== 0) {
    note(arrivals, 'message', 0, bytes)
    return sound
  }
  if (!begins && !sound) return false
  writeRaw(partial, bytes)
  if ((flags & LAST) === 0) return sound
  // Copied, because the next message of this packet may reuse the buffer.
  const whole = partial.bytes.slice(0, partial.length)
  reset(partial)
  note(arrivals, 'message', 0, whole)
  return sound
}
