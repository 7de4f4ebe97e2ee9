/** Receives the events of other members, and makes our own. */

import type { Millis, PeerId } from '../../machine.ts'
import { queueEvent, type WireEvent } from './frames.ts'
import { countOf, find, insert } from './events.ts'
import { receivesFrom } from './reference.ts'
import {
  ACTS_PER_SLOT,
  AHEAD_SLOTS,
  type Context,
  type Game,
  type SlotEvent,
  type Slots,
  UNSURE_MAX,
} from './state.ts'
import { eventOf } from './worlds.ts'

// Allowance for members that others know before we do.
const STRANGERS_MAX = 4

/** Receives an event from a peer. @returns the event if it is new */
export function receiveEvent(ctx: Context, from: PeerId, sent: WireEvent): SlotEvent | null {
  const { slots } = ctx
  const counted = slots.rules.counted(slots, sent)
  const known = find(slots, counted.slot, counted.inc, counted.id)
  if (known) receiveAgain(ctx, from, counted, known)
  else if (slots.rules.isLate(slots, counted.slot)) slots.counters.late++
  else return insertNew(ctx, from, counted)
  return null
}

function insertNew(ctx: Context, from: PeerId, sent: WireEvent): SlotEvent | null {
  const { slots, game } = ctx
  const event = isAllowed(ctx, from, sent) ? eventOf(game, sent, sent.inc === from) : null
  if (!event) {
    slots.counters.refused++
    return null
  }
  if (from !== event.inc) event.held.push(from)
  insert(slots, event)
  return event
}

// The author's copy of an event replaces one that came through another member.
function receiveAgain(
  { slots, game }: Context,
  from: PeerId,
  sent: WireEvent,
  known: SlotEvent,
): void {
  if (sent.inc !== from) {
    if (!known.held.includes(from)) known.held.push(from)
    return
  }
  const event = known.direct ? null : eventOf(game, sent, true)
  if (!event) return
  event.held = known.held
  if (event.mark !== known.mark) insert(slots, event)
  known.direct = true
}

function isAllowed({ slots, now }: Context, from: PeerId, sent: WireEvent): boolean {
  const { inc, player, slot, gone } = sent
  // An event of ours that we do not know is forged.
  if (inc === slots.me || slot > slots.slot + AHEAD_SLOTS) return false
  if ((slots.players.get(inc) ?? player) !== player || player === 0) return false
  const most = ACTS_PER_SLOT * (slots.here.size + STRANGERS_MAX)
  if ((slots.bySlot.get(slot)?.events.size ?? 0) >= most) return false
  if (gone > 0) return !isHere(slots, now, from, gone)
  return countOf(slots, slot, inc) < ACTS_PER_SLOT
}

// A player is not gone while we receive from one of its members.
function isHere(slots: Slots, now: Millis, from: PeerId, player: number): boolean {
  if (player === slots.player) return true
  for (const inc of slots.here) {
    const peer = slots.peers.get(inc)
    const same = slots.players.get(inc) === player && inc !== from
    if (same && peer && receivesFrom(slots, now, peer)) return true
  }
  return false
}

/** Makes an event of ours in the current slot, and queues it for all. */
export function makeEvent(
  slots: Slots,
  now: Millis,
  game: Game,
  body: Uint8Array,
  gone: number,
): void {
  const { me: inc, player, slot } = slots
  const id = slots.nextId++
  const event = eventOf(game, { inc, player, id, slot, gone, body }, true)!
  insert(slots, event)
  if (gone === 0) slots.unsure.push(event)
  if (slots.unsure.length > UNSURE_MAX) slots.unsure.shift()
  for (const peer of slots.peers.keys()) queueEvent(slots, peer, event, now)
}

/** As reference member: reports players that acted and have left as gone. */
export function reportGone(slots: Slots, game: Game, now: Millis): void {
  const here = new Set<number>()
  for (const inc of slots.here) here.add(slots.players.get(inc)!)
  for (const player of slots.present) {
    if (!here.has(player)) makeEvent(slots, now, game, new Uint8Array(0), player)
  }
}

/** Whether one more act of ours fits into the current slot. */
export function hasRoom(slots: Slots): boolean {
  return countOf(slots, slots.slot, slots.me) < ACTS_PER_SLOT
}
