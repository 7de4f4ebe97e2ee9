/**
 * World transfer: to a newcomer, and to a member that received acts too late.
 *
 *     INQUIRY   ->   WORLD{slot, world, tallies of its acts, open events}
 *
 * This is the paper's state inquiry (M5, M6) for whole worlds: a member that adopts a world has the
 * same state as the sender, and knows which of its own acts are not in it.
 */

import { type Millis, type PeerId, HoldfastError } from '../../machine.ts'
import { MESSAGE_MAX } from '../../link/limits.ts'
import { encode } from '../../wire/layout.ts'
import { insert, markOf } from './events.ts'
import { type WireEvent, takesFrames } from './frames.ts'
import { seal, settle, sumFrom } from './fold.ts'
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
import { plain } from '../../wire/text/plain.ts'
import { tally } from './agreement.ts'

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

/** Adopts a world in slot `at`. The message is hostile. @returns false for an invalid one */
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

// A member without a world gets one from a member that has it. If none has, the oldest member that
// wants a world begins one.

/** A member whose standing is unknown for this long counts as not playing. */
export const BEGIN_MS: Millis = 2_000
/** A member with a world of an earlier session waits this much longer. */
const WITH_OLD_MS: Millis = 10_000

/** Opens the world. @throws HoldfastError `schema` if a member with precedence has other options */
export function open(slots: Slots, game: Game): void {
  const wish = { standing: 'joining', print: game.print } as const
  for (const inc of slots.peers.keys()) {
    if (yieldsTo(slots, wish, inc))
      throw new HoldfastError('schema', mismatchOf(slots, game.says, inc))
  }
  slots.standing = 'joining'
  // A peer that announced itself while we had no game may play another game.
  for (const peer of slots.peers.values()) {
    if (takesFrames(peer) && peer.print !== game.print) peer.standing = 'closed'
  }
  slots.ms = game.ms
  slots.print = game.print
  slots.says = game.says
  slots.beginAt = NaN
  slots.askAt = -Infinity
}

type Own = Pick<Slots, 'standing' | 'print'>

/**
 * Whether a member with other options has precedence over us. In a star only the primary has it. In
 * a mesh a member with a world precedes one without, and the older precedes the younger.
 */
function yieldsTo(slots: Slots, { standing, print }: Own, to: PeerId): boolean {
  const { me, mesh, primary } = slots
  const peer = slots.peers.get(to)
  if (standing === 'closed' || !peer || peer.print === print) return false
  if (peer.claims !== 'joining' && peer.claims !== 'live') return false
  if (!mesh) return to === primary
  return peer.claims === standing ? to < me : peer.claims === 'live'
}

/** Closes our world if a member with other options has precedence over us (SL-4). */
export function yieldTo(slots: Slots, to: PeerId, out: SlotsOut): void {
  if (!yieldsTo(slots, slots, to)) return
  const why = mismatchOf(slots, slots.says, to)
  slots.standing = 'closed'
  slots.print = 0
  slots.says = ''
  out.emit({ kind: 'slots-refused', why })
}

// The error text with both sides' options, in the same order.
function mismatchOf({ peers, players }: Slots, here: string, to: PeerId): string {
  const [ours, theirs] = [here, peers.get(to)!.says].map(optionsOf)
  return `worlds of slots do not fit: here ${ours}, at player ${players.get(to) ?? '?'} ${theirs}`
}

// The text comes from the network: it may be long, and a terminal may show it.
function optionsOf(says: string): string {
  const [ms, order, ...fields] = says.slice(0, SHOWN_MAX).split(' ')
  return plain(`ms ${ms}, order ${order}, act ${fields.join(' ')}`)
}

const SHOWN_MAX = 200

/** As a member without a world: requests one from a member that has it, or begins one. */
export function findWorld(slots: Slots, game: Game, now: Millis, out: SlotsOut): void {
  if (slots.me === 0) return
  if (Number.isNaN(slots.beginAt)) slots.beginAt = now + BEGIN_MS
  const living = oldest(slots, 'live')
  if (living !== 0) return requestWorld(slots, now, living, out)
  // A world is settled after slot 0 at the earliest.
  if (slots.slot < 1) return
  // In a star only the primary begins one.
  if (!slots.mesh && slots.me !== slots.primary) return
  // A world of an earlier session must not continue while a member may have the current one.
  const until = slots.beginAt + (slots.validWorlds > 0 ? WITH_OLD_MS : 0)
  if (isSomebodyUnknown(slots) && now < until) return
  const other = oldest(slots, 'joining')
  if (slots.mesh && other !== 0 && other < slots.me) return
  // After the loss of a session the world continues from its last state.
  const world = slots.worlds[slots.validWorlds - 1] ?? seal(game.start)
  tallyPast(slots)
  // Worlds begun by different members differ, even if nobody has acted in them.
  settle(slots, slots.slot - 1, world, sumFrom(slots, slots.slot, 0))
  slots.standing = 'live'
  slots.changed = true
}

// Past acts count if they are folded into the world that continues; the others are dropped.
function tallyPast(slots: Slots): void {
  const folded = slots.base + slots.validWorlds - 1
  for (const [number, { events }] of slots.bySlot) {
    if (number >= slots.slot) continue
    for (const event of events.values()) if (number <= folded) tally(slots, event)
    slots.bySlot.delete(number)
  }
}

function isSomebodyUnknown(slots: Slots): boolean {
  for (const inc of slots.here) {
    if (inc !== slots.me && (slots.peers.get(inc)?.standing ?? 'unknown') === 'unknown') return true
  }
  return false
}

// The oldest member with that standing; 0 for none. In a star only the primary can answer.
function oldest(slots: Slots, standing: 'live' | 'joining'): PeerId {
  let found = 0
  for (const [inc, peer] of slots.peers) {
    if (peer.standing !== standing || !slots.here.has(inc)) continue
    if (!slots.mesh && slots.me !== slots.primary && inc !== slots.primary) continue
    if (found === 0 || inc < found) found = inc
  }
  return found
}
