/**
 * The events of open slots. Each event is added once, in any order; a slot's digest does not depend
 * on the order.
 */

import type { PeerId } from '../../machine.ts'
import { WORLD_PLAYERS_MAX } from './messages.ts'
import { keyOf, type Slot, type SlotEvent, type Slots } from './state.ts'

// FNV-1a over the numbers, 16 bits at a time, then over the bytes.
const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/** The mark of an event: a 32-bit hash of its contents. */
export function markOf(event: Pick<SlotEvent, 'inc' | 'id' | 'slot' | 'gone' | 'body'>): number {
  let mark = OFFSET
  for (const word of [event.inc, event.id, event.slot, event.gone]) {
    mark = Math.imul(mark ^ (word & 0xffff), PRIME)
    mark = Math.imul(mark ^ (word >>> 16), PRIME)
  }
  for (const byte of event.body) mark = Math.imul(mark ^ byte, PRIME)
  // Sums of marks are compared, so the low bits must depend on all bits.
  mark ^= mark >>> 15
  return Math.imul(mark, 0x2c1b3c6d) >>> 0
}

function slotAt(slots: Slots, number: number): Slot {
  const known = slots.bySlot.get(number)
  if (known) return known
  const slot: Slot = { events: new Map(), counts: new Map(), digest: 0, foldInput: null }
  slots.bySlot.set(number, slot)
  return slot
}

/** Adds an event to its slot, and invalidates the worlds that were folded without it. */
export function insert(slots: Slots, event: SlotEvent): void {
  const slot = slotAt(slots, event.slot)
  const key = keyOf(event.inc, event.id)
  const old = slot.events.get(key)
  if (old) slot.digest = (slot.digest - old.mark) >>> 0
  else if (event.gone === 0) slot.counts.set(event.inc, (slot.counts.get(event.inc) ?? 0) + 1)
  slot.foldInput = null
  slot.events.set(key, event)
  slot.digest = (slot.digest + event.mark) >>> 0
  slots.acted = Math.max(slots.acted, event.slot)
  notePlayer(slots, event)
  invalidate(slots, event.slot)
}

// A player that acts after its `gone` event is back, in whichever order the two arrive.
function notePlayer({ bySlot, present }: Slots, { gone, slot, player }: SlotEvent): void {
  if (gone === 0) {
    if (present.size < WORLD_PLAYERS_MAX) present.add(player)
    return
  }
  for (const [number, { events }] of bySlot) {
    if (number <= slot) continue
    for (const later of events.values()) if (later.gone === 0 && later.player === gone) return
  }
  present.delete(gone)
}

function invalidate(slots: Slots, slot: number): void {
  if (slot >= slots.slot) slots.ahead = null
  const whole = slot - slots.base
  if (whole < slots.validWorlds) {
    slots.counters.again += slots.validWorlds - whole
    slots.validWorlds = whole
    slots.ahead = null
  }
  slots.changed = true
}

export function countOf(slots: Slots, number: number, inc: PeerId): number {
  return slots.bySlot.get(number)?.counts.get(inc) ?? 0
}

export function find(slots: Slots, slot: number, inc: PeerId, id: number): SlotEvent | undefined {
  return slots.bySlot.get(slot)?.events.get(keyOf(inc, id))
}

/**
 * The slots that a digest sent in slot `sentIn` covers. The last slot is left out, for late acts;
 * the first, so that a receiver whose clock is one slot off has all of them.
 */
export function rangeOf(sentIn: number, horizon: number): { from: number; to: number } {
  return { from: sentIn - horizon + 1, to: sentIn - 2 }
}

/** The 32-bit digest of all known events of these slots. */
export function digestOf(slots: Slots, from: number, to: number): number {
  let digest = 0
  for (let slot = from; slot <= to; slot++) {
    digest = (digest + (slots.bySlot.get(slot)?.digest ?? 0)) >>> 0
  }
  return digest
}
