/**
 * Folds events into worlds, slot by slot, by the game's rule; equal at every member (M31, M32).
 *
 * Worlds are kept from the base, which is settled, to the last complete slot. A late event
 * invalidates the worlds after it; they are folded again on the next read.
 */

import * as prng from '../../faults/prng.ts'
import { HoldfastError } from '../../machine.ts'
import { fingerprint } from '../../wire/digest.ts'
import { toJson } from '../../wire/text/json.ts'
import { restart, tally } from './agreement.ts'
import { markOf } from './events.ts'
import {
  AHEAD_SLOTS,
  type FoldInput,
  type Game,
  HISTORY_SLOTS,
  LEAP_SLOTS,
  type Sealed,
  type SlotEvent,
  type Slots,
  type Turn,
  WORLD_BYTES_MAX,
} from './state.ts'

/** The world of the last complete slot; while we are not live, our last world. */
export function shown(slots: Slots, game: Game): unknown {
  if (slots.standing !== 'live') return lastWorld(slots, game)
  fold(slots, game)
  return slots.worlds.at(-1)!.world
}

/** The same with the known events of the current slot, so that our own acts show at once. */
export function ahead(slots: Slots, game: Game): unknown {
  if (slots.standing !== 'live') return lastWorld(slots, game)
  fold(slots, game)
  slots.ahead ??= next(slots, game, slots.worlds.at(-1)!, slots.slot)
  return slots.ahead.world
}

function lastWorld({ worlds, validWorlds }: Slots, game: Game): unknown {
  return validWorlds > 0 ? worlds[validWorlds - 1]!.world : game.start
}

function fold(slots: Slots, game: Game): void {
  const { base, worlds } = slots
  const whole = slots.slot - base
  for (let i = slots.validWorlds; i < whole; i++)
    worlds[i] = next(slots, game, worlds[i - 1]!, base + i)
  slots.validWorlds = Math.max(slots.validWorlds, whole)
}

function next(slots: Slots, game: Game, before: Sealed, slot: number): Sealed {
  const { acts, left } = foldInputOf(slots, game, slot)
  try {
    const after = game.rule(before.world, acts, turnOf(slots, slot, left))
    return after === before.world ? before : seal(after)
  } catch (error) {
    slots.counters.failed++
    // A slot that is folded again fails again.
    const isKnown = slots.failures.some((failure) => failure.slot === slot)
    if (!isKnown && slots.failures.length < FAILURES_MAX) slots.failures.push({ slot, error })
    return before
  }
}

// Most failures that are reported at once.
const FAILURES_MAX = 8
const NOTHING: FoldInput = { acts: [], left: [], events: [] }

function foldInputOf(slots: Slots, game: Game, slot: number): FoldInput {
  const known = slots.bySlot.get(slot)
  if (!known) return NOTHING
  if (known.foldInput) return known.foldInput
  const events = slots.rules.sorted(slots, game, slot, [...known.events.values()])
  const input: FoldInput = { acts: [], left: [], events }
  for (const { player, act, gone } of events) {
    if (gone === 0) input.acts.push({ by: player, act })
    else input.left.push(gone)
  }
  known.foldInput = input
  return input
}

/** Orders events by the tie-break, then by age, over incarnations too (M32). */
export function sorted(slots: Slots, game: Game, slot: number, events: SlotEvent[]): SlotEvent[] {
  const rank = game.order === 'fair' ? fairRank(slots, slot) : ({ player }: SlotEvent) => player
  return events.sort((a, b) => rank(b) - rank(a) || a.inc - b.inc || a.id - b.id)
}

// In the fair order every player comes first equally often.
function fairRank({ seed }: Slots, slot: number): (event: SlotEvent) => number {
  const ranks = new Map<number, number>()
  return ({ player }) => {
    let rank = ranks.get(player)
    if (rank === undefined) {
      rank = prng.word(
        prng.create((seed ^ Math.imul(slot, 0x9e3779b1) ^ Math.imul(player, 0x85ebca6b)) >>> 0),
      )
      ranks.set(player, rank)
    }
    return rank
  }
}

function turnOf({ seed }: Slots, slot: number, left: readonly number[]): Turn {
  let chance: prng.Prng | null = null
  const random = (): number => {
    chance ??= prng.create((seed ^ Math.imul(slot, 0x9e3779b1)) >>> 0)
    return prng.next(chance)
  }
  return { slot, left, random }
}

/**
 * @throws HoldfastError `bad-value` above WORLD_BYTES_MAX, TypeError for values that JSON lacks or
 * changes (NaN, Infinity, undefined, -0), RangeError for a world nested too deep
 */
export function seal(world: unknown): Sealed {
  const text = toJson(freeze(world))
  const bytes = text.length * 3 > WORLD_BYTES_MAX ? encoder.encode(text).length : 0
  const limit = `a world has at most ${WORLD_BYTES_MAX} bytes as JSON`
  if (bytes > WORLD_BYTES_MAX) throw new HoldfastError('bad-value', `${limit}: ${bytes}`)
  return { world, text }
}

const encoder = new TextEncoder()

// A rule that mutated a world would change the past; on a frozen world it throws instead. An object
// that the rule froze itself may contain unfrozen ones, so every object is checked, once.
function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    if (survivesJson(value)) return value
    throw new TypeError(`a world has no ${Object.is(value, -0) ? '-0' : String(value)} in it`)
  }
  if (checked.has(value)) return value
  if (!Array.isArray(value) && !isRecord(value))
    throw new TypeError('a world has plain values only')
  const names = Object.keys(value)
  // JSON skips symbols and non-enumerable properties, and evaluates getters.
  if (Reflect.ownKeys(value).length !== names.length + (Array.isArray(value) ? 1 : 0)) {
    throw new TypeError('a world has plain values only, each under a name that can be listed')
  }
  for (const name of names) {
    const field = Object.getOwnPropertyDescriptor(value, name)!
    if (field.get || field.set) throw new TypeError(`a world has no getter in it: ${name}`)
    freeze(field.value)
  }
  Object.freeze(value)
  checked.add(value)
  return value
}

// Deeply frozen objects that hold plain values only: nothing can change them.
const checked = new WeakSet<object>()

// JSON turns NaN into null and -0 into 0, and omits undefined.
function survivesJson(value: unknown): boolean {
  if (value === undefined) return false
  return typeof value !== 'number' || (Number.isFinite(value) && !Object.is(value, -0))
}

// A Map is `{}` in JSON, so a member that adopts the world would have another one.
function isRecord(value: object): boolean {
  const kind: unknown = Object.getPrototypeOf(value)
  return kind === null || kind === Object.prototype
}

/** Makes a world the base of later slots. @param acts  the sum of the marks of its acts */
export function settle(slots: Slots, base: number, world: Sealed, acts: number): void {
  slots.base = base
  slots.worlds = [world]
  slots.validWorlds = 1
  slots.ahead = null
  slots.settled.set(base, { hash: fingerprint(world.text), acts })
  restart(slots, ...slots.peers.values())
}

/** The sum of acts of a world that continued alone; it includes a mark like that of an event. */
export function sumFrom(slots: Slots, slot: number, acts: number): number {
  const mark = markOf({ inc: slots.me, id: 0, slot, gone: 0, body: new Uint8Array(0) })
  return (acts + mark) >>> 0
}

/** Advances to a later slot, and settles the slots that left the horizon. */
export function advance(slots: Slots, game: Game, to: number): void {
  if (to <= slots.slot) return
  if (to - slots.slot > LEAP_SLOTS) leap(slots, game, to)
  slots.slot = to
  slots.ahead = null
  slots.changed = true
  const over = to - 1 - slots.horizon - slots.base
  if (over <= 0) return
  fold(slots, game)
  for (let settled = 0; settled < over; settled++) settleNext(slots)
}

// After a standstill the world continues from its last state.
function leap(slots: Slots, game: Game, to: number): void {
  // By then every known event is in a past slot, so it counts.
  advance(slots, game, slots.slot + AHEAD_SLOTS + slots.horizon + 2)
  fold(slots, game)
  const world = slots.worlds.at(-1)!
  const { acts } = slots.settled.get(slots.base)!
  slots.bySlot.clear()
  slots.settled.clear()
  settle(slots, to - 1 - slots.horizon, world, sumFrom(slots, to, acts))
}

function settleNext(slots: Slots): void {
  const { settled, bySlot } = slots
  const old = slots.worlds.shift()
  slots.validWorlds--
  const before = settled.get(slots.base)!
  const base = ++slots.base
  const world = slots.worlds[0]!
  const hash = world === old ? before.hash : fingerprint(world.text)
  settled.set(base, { hash, acts: (before.acts + (bySlot.get(base)?.digest ?? 0)) >>> 0 })
  // The slot was folded, so its events are sorted.
  for (const event of bySlot.get(base)?.foldInput?.events ?? []) tally(slots, event)
  bySlot.delete(base)
  settled.delete(base - HISTORY_SLOTS)
}
