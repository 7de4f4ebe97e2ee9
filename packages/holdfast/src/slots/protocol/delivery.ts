/**
 * Delivery of events: an event stays queued for a peer until the peer acks it, or it is settled. In
 * a star the primary sends each member the others' events. In a mesh every member sends its own,
 * and resends events that digests show to be missing.
 */

import type { Millis, PeerId } from '../../machine.ts'
import type { ByteWriter } from '../../wire/bytes.ts'
import { BUSY_SLOTS, FRAME_ROOM, IDLE_SLOTS, writeFrame } from './frames.ts'
import { referenceOf } from './reference.ts'
import { type SlotEvent, type SlotPeer, type Slots, UNSURE_SLOTS } from './state.ts'

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

export function queueEventForAll(slots: Slots, now: Millis, event: SlotEvent): void {
  for (const inc of slots.peers.keys()) queueEvent(slots, inc, event, now)
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
  return slots.slot - peer.saidIn >= (isBusy(slots) ? BUSY_SLOTS : IDLE_SLOTS)
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
