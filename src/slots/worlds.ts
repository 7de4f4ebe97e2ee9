/**
 * Worlds on their way from one member to another: to who comes, and to whom too much was late.
 *
 *     INQUIRY{acts}   ->   WORLD{slot, world, open events, which of the acts count}
 *
 * This is the state inquiry of the source (M5, M6) between whole worlds: who takes one has, from
 * then on, what the other has, and is told which acts of its own nobody else knows of.
 */

import type { Millis, PeerId } from '../machine.ts'
import { isJson, toJson } from '../wire/json.ts'
import { encode } from '../wire/layout.ts'
import { insert, markOf } from './events.ts'
import type { Told } from './frames.ts'
import { settle } from './fold.ts'
import { EVENTS_MAX, slotsLayout, UNSURE_MAX, type WorldMessage } from './messages.ts'
import {
  ACT_BYTES_MAX,
  type Game,
  HORIZON_SLOTS,
  keyOf,
  type SlotEvent,
  type Slots,
  type SlotsOut,
} from './state.ts'

/** An inquiry without an answer is made again after this. */
export const ASK_AGAIN_MS: Millis = 600
/** Nobody is sent the world more often. */
export const ANSWER_AGAIN_MS: Millis = 300

/** An event with all that is derived. @returns null if the game cannot read it */
export function eventOf(game: Game, told: Told, direct: boolean): SlotEvent | null {
  const act = told.gone > 0 ? null : game.decode(told.body)
  if (act === undefined || told.body.length > ACT_BYTES_MAX) return null
  return { ...told, act, mark: markOf(told), direct, held: new Set() }
}

/** Asks a member for its world, unless somebody was asked a moment ago. */
export function ask(slots: Slots, now: Millis, to: PeerId, out: SlotsOut): void {
  if (now < slots.askAt || slots.variant === 'never-asks') return
  slots.asked = to
  slots.askAt = now + ASK_AGAIN_MS
  const acts = slots.unsure.slice(-UNSURE_MAX).map(({ inc, id }) => keyOf(inc, id))
  out.send(to, encode(slotsLayout, { kind: 'inquiry', acts }))
}

/** The answer to somebody's inquiry. */
export function worldFor(slots: Slots, keys: readonly number[]): WorldMessage {
  const asked = new Set(keys)
  const counted: number[] = []
  const events: Told[] = []
  for (const entries of slots.settled.values()) {
    for (const key of entries) if (asked.has(key)) counted.push(key)
  }
  for (const { events: open } of slots.bySlot.values()) {
    for (const [key, event] of open) {
      if (asked.has(key)) counted.push(key)
      if (events.length < EVENTS_MAX) events.push(event)
    }
  }
  return {
    kind: 'world',
    slot: slots.base,
    seed: slots.seed,
    text: toJson(slots.worlds[0]),
    present: [...slots.present],
    events,
    counted: counted.slice(0, UNSURE_MAX),
  }
}

/**
 * Takes the world of another for ours.
 *
 * @returns acts of ours that do not count, or null for a message that cannot be
 */
export function adopt(slots: Slots, game: Game, message: WorldMessage): unknown[] | null {
  const { slot } = message
  if (!isJson(message.text)) return null
  const open = openEvents(slots, slot)
  slots.bySlot.clear()
  slots.hashes.clear()
  slots.settled.clear()
  slots.seed = message.seed
  slots.present = new Set(message.present)
  settle(slots, slot, JSON.parse(message.text))
  // A clock behind that of the other catches up; nothing is folded twice meanwhile.
  slots.slot = Math.max(slots.slot, slot + 1)
  for (const event of open) insert(slots, event)
  for (const told of message.events) {
    const event =
      told.slot > slot && told.slot <= slots.slot + HORIZON_SLOTS && eventOf(game, told, false)
    if (event) insert(slots, event)
  }
  slots.standing = 'live'
  slots.apart = false
  slots.counters.adopted++
  return takeVoid(slots, slot, new Set(message.counted))
}

// What is still open stays: it was told to the others, or is on its way.
function openEvents(slots: Slots, base: number): SlotEvent[] {
  const open: SlotEvent[] = []
  for (const [number, { events }] of slots.bySlot) if (number > base) open.push(...events.values())
  return open
}

function takeVoid(slots: Slots, base: number, counted: ReadonlySet<number>): unknown[] {
  const gone = slots.unsure.filter(
    (event) => event.slot <= base && !counted.has(keyOf(event.inc, event.id)),
  )
  slots.unsure = slots.unsure.filter((event) => event.slot > base)
  return gone.map((event) => event.act)
}
