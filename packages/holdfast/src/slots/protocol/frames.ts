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
import type { Reference } from './reference.ts'
import {
  ACT_BYTES_MAX,
  AHEAD_SLOTS,
  type SettledReport,
  type SlotEvent,
  type SlotPeer,
  type Slots,
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
export function writeFrame(
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
  const says = peer.saidIn !== slot
  const over = slot - 1 - slots.horizon
  const settled = says ? slots.settled.get(over) : undefined
  const back = over - Math.min(slots.agreed, over)
  const agreed = settled !== undefined && slots.agreed >= 0 && back <= AGREED_BACK_MAX
  const flags = (says ? HEAD.digest : 0) | (settled ? HEAD.settled : 0)
  const more = (agreed ? HEAD.agreed : 0) | (slots.asked !== 0 ? HEAD.seeks : 0)
  writeU8(writer, flags | more | (near ? HEAD.near : 0) | (slots.apart ? HEAD.apart : 0))
  writeU16(writer, slot & 0xffff)
  writeVarint(writer, reference)
  if (says) {
    const { from, to } = rangeOf(slot, slots.horizon)
    writeU32(writer, digestOf(slots, from, to))
  }
  if (settled) {
    writeU32(writer, settled.hash)
    writeU32(writer, settled.acts)
    if (agreed) writeU8(writer, back)
  }
  peer.saidIn = slot
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

/**
 * Reads a peer's frame. Its bytes are hostile.
 *
 * @param near  our current slot
 * @param horizon  slots that stay open
 * @returns null for a malformed frame
 */
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
  const said = { near: (head & HEAD.near) > 0, apart: (head & HEAD.apart) > 0 }
  return { slot, reference, ...said, digest, settled, events }
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
