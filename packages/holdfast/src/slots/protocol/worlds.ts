/**
 * World transfer: to a newcomer, and to a member that received acts too late.
 *
 *     INQUIRY   ->   WORLD{slot, world, tallies of its acts, open events}
 *
 * This is the paper's state inquiry (M5, M6) for whole worlds: a member that adopts a world has the
 * same state as the sender, and knows which of its own acts are not in it.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { MESSAGE_MAX } from '../../link/limits.ts'
import { encode } from '../../wire/layout.ts'
import { insert, markOf } from './events.ts'
import type { WireEvent } from './frames.ts'
import { seal, settle } from './fold.ts'
import { slotsLayout, WORLD_EVENTS_MAX, WORLD_PLAYERS_MAX, type WorldMessage } from './messages.ts'
import {
  ACT_BYTES_MAX,
  AHEAD_SLOTS,
  type Game,
  LEAP_SLOTS,
  GAPS_MAX,
  type Sealed,
  type SlotEvent,
  type Slots,
  type SlotsOut,
  TALLIES_MAX,
} from './state.ts'

/** An unanswered inquiry is repeated after this. */
export const ASK_AGAIN_MS: Millis = 600
/** Least time between two worlds sent to one member. */
export const ANSWER_AGAIN_MS: Millis = 300
/** Highest age of a received world; an older one would take too long to fold. */
export const WORLD_AGE_MS: Millis = 30_000

/** Makes an event from its wire form. @returns null if the game cannot decode it */
export function eventOf(game: Game, sent: WireEvent, direct: boolean): SlotEvent | null {
  const act = sent.gone > 0 ? null : game.decode(sent.body)
  if (act === undefined || sent.body.length > ACT_BYTES_MAX) return null
  const { inc, player, id, slot, gone, body } = sent
  return { inc, player, id, slot, body, act, gone, mark: markOf(sent), direct, held: [] }
}

/** Requests a member's world, at most once per ASK_AGAIN_MS. */
export function requestWorld(slots: Slots, now: Millis, to: PeerId, out: SlotsOut): void {
  if (!slots.rules.mayAsk(slots, now)) return
  slots.asked = to
  slots.askAt = now + ASK_AGAIN_MS
  out.send(to, encode(slotsLayout, { kind: 'inquiry' }))
}

/** The answer to an inquiry. Events that do not fit follow in frames; gaps are dropped. */
export function encodeWorld(slots: Slots): Uint8Array {
  const whole = encode(slotsLayout, worldOf(slots, 1))
  if (whole.length < MESSAGE_MAX) return whole
  const half = encode(slotsLayout, worldOf(slots, 0.25))
  return half.length < MESSAGE_MAX ? half : encode(slotsLayout, worldOf(slots, 0))
}

function worldOf(slots: Slots, share: number): WorldMessage {
  const events: WireEvent[] = []
  for (const { events: open } of slots.bySlot.values()) events.push(...open.values())
  return {
    kind: 'world',
    slot: slots.base,
    text: slots.worlds[0]!.text,
    acts: slots.settled.get(slots.base)!.acts,
    present: [...slots.present].slice(0, WORLD_PLAYERS_MAX),
    tallies: [...slots.tallies].slice(-TALLIES_MAX).map(([inc, { upTo, gaps }]) => {
      const from = Math.max(0, gaps.length - GAPS_MAX * share)
      return { inc, upTo, gaps: gaps.slice(from) }
    }),
    events: events.slice(0, WORLD_EVENTS_MAX * share),
  }
}

/**
 * Adopts another member's world, in slot `at`. The message is hostile.
 *
 * @returns false for an invalid message
 */
export function adopt(slots: Slots, game: Game, message: WorldMessage, at: number): boolean {
  const { slot } = message
  const read = readWorld(message.text)
  if (!read || !isRecent(slots, slot, at)) return false
  // Keeps open events: the others have them, or they are in flight.
  const open = [...slots.bySlot].filter(([number]) => number > slot)
  slots.bySlot.clear()
  slots.settled.clear()
  slots.present = new Set(message.present)
  slots.tallies = new Map(message.tallies.map(({ inc, upTo, gaps }) => [inc, { upTo, gaps }]))
  settle(slots, slot, read, message.acts)
  slots.acted = Math.max(slots.acted, slot)
  // If our clock is behind the sender's, it catches up; no slot is folded twice meanwhile.
  slots.slot = Math.max(slots.slot, slot + 1)
  for (const [, { events }] of open) for (const event of events.values()) insert(slots, event)
  for (const sent of message.events) {
    const event =
      sent.slot > slot && sent.slot <= slots.slot + AHEAD_SLOTS && eventOf(game, sent, false)
    if (event) insert(slots, event)
  }
  slots.standing = 'live'
  slots.apart = false
  slots.counters.adopted++
  return true
}

// Also fails for a world nested too deep to fold.
function readWorld(text: string): Sealed | null {
  try {
    return seal(JSON.parse(text))
  } catch {
    return null
  }
}

// A world must be recent, because all slots from its own to the current one must be folded.
function isRecent({ ms, horizon }: Slots, slot: number, at: number): boolean {
  const age = Math.max(LEAP_SLOTS, Math.ceil(WORLD_AGE_MS / ms)) + horizon
  return slot >= at - age && slot <= at + AHEAD_SLOTS
}
