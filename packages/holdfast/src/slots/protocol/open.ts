/**
 * How a member gets a world: from a member that has one. If none has, the oldest member that wants
 * a world begins one.
 */

import { HoldfastError, type Millis, type PeerId } from '../../machine.ts'
import { plain } from '../../wire/text/plain.ts'
import { takesFrames } from './delivery.ts'
import { seal, settle, sumFrom } from './fold.ts'
import type { Game, Slots, SlotsOut } from './state.ts'
import { tally } from './tally.ts'
import { requestWorld } from './worlds.ts'

/** A member whose standing is unknown for this long counts as not playing. */
export const BEGIN_MS: Millis = 2_000
/** A member with a world of an earlier session waits this much longer. */
const WITH_OLD_MS: Millis = 10_000

/**
 * Opens the world for the application; it is available from one of the next slots.
 *
 * @throws HoldfastError `schema`, naming both options, if a member with precedence has others
 */
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
