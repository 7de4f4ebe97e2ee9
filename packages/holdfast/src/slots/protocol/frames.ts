/**
 * The unreliable frame that members exchange while a world is open.
 *
 *     head      1 digest | 2 settled | 4 near | 8 apart | 16 agreed | 32 seeks
 *     slot      u16, the low bits of the current slot
 *     root      varint, the reference member that the sender follows; 0 for none
 *     digest    u32, of the events of the slots in `rangeOf`
 *     settled   u32, the hash of the settled world
 *     acts      u32, the sum of the marks of the acts in that world
 *     agreed    u8, slots from the settled one back to the last on which all players agree
 *     events    to the end of the frame
 *
 * Each frame repeats unacked events, so a lost frame delays them only until the next. If digests
 * differ, one side lacks an event, and each side sends all events that the other may lack, whoever
 * made them. So a third member relays events between two members that do not receive each other.
 */

import type { Millis, PeerId } from '../../machine.ts'
import {
  type ByteReader,
  type ByteWriter,
  fail,
  readRaw,
  readU16,
  readU32,
  readU8,
  readVarint,
  writeRaw,
  writeU16,
  writeU32,
  writeU8,
  writeVarint,
} from '../../wire/bytes.ts'
import { unwrap } from '../../wire/sequence.ts'
import { digestOf, rangeOf } from './events.ts'
import { type Reference, referenceOf } from './reference.ts'
import {
  ACT_BYTES_MAX,
  AHEAD_SLOTS,
  type SettledReport,
  type SlotEvent,
  type SlotPeer,
  type Slots,
  UNSURE_SLOTS,
} from './state.ts'

/** An unacked event is resent after this, or earlier if its packet is reported lost. */
export const AGAIN_MS: Millis = 250
/** Slots between two frames to a peer, at most. */
export const IDLE_SLOTS = 5
/** The same while an event is open or not agreed on. */
export const BUSY_SLOTS = 2

const HEAD = { digest: 1, settled: 2, near: 4, apart: 8, agreed: 16, seeks: 32 } as const
const HEAD_ALL = 63
// An older agreement is not reported, because no member waits for it.
const AGREED_BACK_MAX = 255
const EVENT = { foreign: 1, gone: 2, backShift: 2 } as const
// Head, slot, reference member, digest, hash, acts, agreed.
const HEAD_MAX = 1 + 2 + 8 + 4 + 4 + 4 + 1
// Head, member, player, id, length or player gone, act.
const EVENT_MAX: number = 1 + 8 + 8 + 8 + 8 + ACT_BYTES_MAX

/** An event as a frame or a world carries it. */
export type WireEvent = Pick<SlotEvent, 'inc' | 'player' | 'id' | 'slot' | 'gone' | 'body'>

export interface Frame {
  slot: number
  reference: PeerId
  near: boolean
  apart: boolean
  digest: number | null
  settled: SettledReport | null
  events: WireEvent[]
}

/** Writes one frame. @returns the events in it */
function writeFrame(
  slots: Slots,
  now: Millis,
  peer: SlotPeer,
  { reference, near }: Reference,
  writer: ByteWriter,
  budget: number,
): SlotEvent[] {
  const end = writer.length + budget
  const { slot } = slots
  // Digest and settled state change once a slot, so they are sent once a slot.
  const isFirst = peer.sentIn !== slot
  const over = slot - 1 - slots.horizon
  const settled = isFirst ? slots.settled.get(over) : undefined
  const back = over - Math.min(slots.agreed, over)
  const agreed = settled !== undefined && slots.agreed >= 0 && back <= AGREED_BACK_MAX
  const flags = (isFirst ? HEAD.digest : 0) | (settled ? HEAD.settled : 0)
  const more = (agreed ? HEAD.agreed : 0) | (slots.asked !== 0 ? HEAD.seeks : 0)
  writeU8(writer, flags | more | (near ? HEAD.near : 0) | (slots.apart ? HEAD.apart : 0))
  writeU16(writer, slot & 0xffff)
  writeVarint(writer, reference)
  if (isFirst) {
    const { from, to } = rangeOf(slot, slots.horizon)
    writeU32(writer, digestOf(slots, from, to))
  }
  if (settled) {
    writeU32(writer, settled.hash)
    writeU32(writer, settled.acts)
    if (agreed) writeU8(writer, back)
  }
  peer.sentIn = slot
  return writeUnacked(slots, now, peer, writer, end)
}

function writeUnacked(
  slots: Slots,
  now: Millis,
  peer: SlotPeer,
  writer: ByteWriter,
  end: number,
): SlotEvent[] {
  const carried: SlotEvent[] = []
  let dueAt = Infinity
  for (const [event, sentAt] of peer.unacked) {
    if (event.slot <= slots.base) peer.unacked.delete(event)
    else if (writer.length + EVENT_MAX > end) dueAt = Math.min(dueAt, sentAt)
    else {
      writeEvent(writer, slots, event)
      peer.unacked.set(event, now + AGAIN_MS)
      dueAt = Math.min(dueAt, now + AGAIN_MS)
      carried.push(event)
    }
  }
  peer.dueAt = dueAt
  return carried
}

function writeEvent(writer: ByteWriter, slots: Slots, event: WireEvent): void {
  const foreign = event.inc !== slots.me
  const back = slots.slot + AHEAD_SLOTS - event.slot
  const head = (foreign ? EVENT.foreign : 0) | (event.gone > 0 ? EVENT.gone : 0)
  writeU8(writer, head | (back << EVENT.backShift))
  if (foreign) {
    writeVarint(writer, event.inc)
    writeVarint(writer, event.player)
  }
  writeVarint(writer, event.id)
  if (event.gone > 0) return writeVarint(writer, event.gone)
  writeU8(writer, event.body.length)
  writeRaw(writer, event.body)
}

/** Most bytes of a frame with one event. */
export const FRAME_ROOM: number = HEAD_MAX + EVENT_MAX

/** Reads a peer's frame, which is hostile; null if malformed. @param near  our current slot */
export function readFrame(
  reader: ByteReader,
  near: number,
  from: Pick<SlotEvent, 'inc' | 'player'>,
  horizon: number,
): Frame | null {
  const head = readU8(reader)
  const slot = unwrap(readU16(reader), near)
  const reference = readVarint(reader)
  const digest = head & HEAD.digest ? readU32(reader) : null
  if (head > HEAD_ALL || slot < 0 || (head & HEAD.agreed && !(head & HEAD.settled))) return null
  const settled = head & HEAD.settled ? readSettled(reader, head, slot - 1 - horizon) : null
  const events: WireEvent[] = []
  while (!reader.failed && reader.at < reader.end) events.push(readEvent(reader, slot, from))
  if (reader.failed) return null
  const flags = { near: (head & HEAD.near) > 0, apart: (head & HEAD.apart) > 0 }
  return { slot, reference, ...flags, digest, settled, events }
}

function readSettled(reader: ByteReader, head: number, slot: number): SettledReport {
  const hash = readU32(reader)
  const acts = readU32(reader)
  const agreed = head & HEAD.agreed ? slot - readU8(reader) : -1
  return { slot, hash, acts, agreed, seeks: (head & HEAD.seeks) > 0 }
}

function readEvent(
  reader: ByteReader,
  slot: number,
  from: Pick<SlotEvent, 'inc' | 'player'>,
): WireEvent {
  const head = readU8(reader)
  const foreign = (head & EVENT.foreign) > 0
  const inc = foreign ? readVarint(reader) : from.inc
  const player = foreign ? readVarint(reader) : from.player
  const id = readVarint(reader)
  const gone = head & EVENT.gone ? readVarint(reader) : 0
  const length = head & EVENT.gone ? 0 : readU8(reader)
  if (length > ACT_BYTES_MAX || id === 0 || id >= 2 ** 28 || inc >= 2 ** 24) fail(reader)
  if (head & EVENT.gone && gone === 0) fail(reader)
  const body = readRaw(reader, length).slice()
  return { inc, player, id, slot: slot + AHEAD_SLOTS - (head >> EVENT.backShift), gone, body }
}

// Delivery of events: an event stays queued for a peer until the peer acks it, or it is settled. In
// a star the primary sends each member the others' events. In a mesh every member sends its own,
// and resends events that digests show to be missing.

// The share of a slot for which the primary of a star gathers events before forwarding them.
const GATHER_SHARE = 0.2

/** Whether a peer gets frames, because it has a world of this game or wants one. */
export function takesFrames(peer: SlotPeer): boolean {
  return peer.standing === 'live' || peer.standing === 'joining'
}

/** Queues an event for one peer, unless the peer has it or it is already queued. */
export function queueEvent(
  slots: Slots,
  inc: PeerId,
  event: SlotEvent,
  now: Millis = -Infinity,
): void {
  const peer = slots.peers.get(inc)
  if (!peer || !takesFrames(peer)) return
  if (event.inc === inc || event.held.includes(inc) || peer.unacked.has(event)) return
  peer.unacked.set(event, now)
  peer.dueAt = Math.min(peer.dueAt, now)
  slots.dueAt = Math.min(slots.dueAt, now)
}

/** As primary of a star: forwards an event to all, after a short wait for more events. */
export function forward(slots: Slots, now: Millis, event: SlotEvent): void {
  if (slots.mesh || slots.me !== slots.primary) return
  const at = now + slots.ms * GATHER_SHARE
  for (const inc of slots.peers.keys()) queueEvent(slots, inc, event, at)
}

/** The peers that are due a frame. Checks all once a slot, and when an event is due. */
export function collectDue(slots: Slots, now: Millis): PeerId[] {
  if (slots.standing === 'closed' || Number.isNaN(slots.slot)) return []
  if (now < slots.dueAt && slots.scannedIn === slots.slot) return []
  slots.scannedIn = slots.slot
  slots.dueAt = Infinity
  const due: PeerId[] = []
  for (const [inc, peer] of slots.peers) {
    if (!takesFrames(peer)) continue
    if (isDue(slots, now, peer)) due.push(inc)
    else slots.dueAt = Math.min(slots.dueAt, peer.dueAt)
  }
  return due
}

export function isDueTo(slots: Slots, now: Millis, to: PeerId): boolean {
  const peer = slots.peers.get(to)
  return slots.standing !== 'closed' && !!peer && takesFrames(peer) && isDue(slots, now, peer)
}

function isDue(slots: Slots, now: Millis, peer: SlotPeer): boolean {
  if (peer.dueAt <= now) return true
  return slots.slot - peer.sentIn >= (isBusy(slots) ? BUSY_SLOTS : IDLE_SLOTS)
}

// Whether an event is open or not agreed on. Ends when own acts are no longer remembered.
function isBusy({ bySlot, acted, agreed, slot }: Slots): boolean {
  return bySlot.size > 0 || (acted > agreed && slot - acted < UNSURE_SLOTS)
}

/** Appends a frame to packet `seq`, if the peer is due one. */
export function write(
  slots: Slots,
  now: Millis,
  to: PeerId,
  seq: number,
  writer: ByteWriter,
  budget: number,
): boolean {
  const peer = slots.peers.get(to)
  if (!peer || budget < FRAME_ROOM || !isDueTo(slots, now, to)) return false
  const carried = writeFrame(slots, now, peer, referenceOf(slots, now), writer, budget)
  if (carried.length > 0) peer.flights.set(seq, carried)
  slots.dueAt = Math.min(slots.dueAt, peer.dueAt)
  return true
}

/** A packet was acked: the peer has its events. */
export function onAcked(slots: Slots, from: PeerId, seq: number): void {
  const peer = slots.peers.get(from)
  for (const event of peer?.flights.get(seq) ?? []) {
    if (!event.held.includes(from)) event.held.push(from)
    peer!.unacked.delete(event)
  }
  peer?.flights.delete(seq)
}

/** A packet is lost: its events are due at once. */
export function onLost(slots: Slots, from: PeerId, seq: number): void {
  const peer = slots.peers.get(from)
  for (const event of peer?.flights.get(seq) ?? []) {
    if (peer!.unacked.has(event)) {
      peer!.unacked.set(event, -Infinity)
      peer!.dueAt = -Infinity
      slots.dueAt = -Infinity
    }
  }
  peer?.flights.delete(seq)
}
