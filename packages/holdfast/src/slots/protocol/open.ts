/**
 * How a member gets a world: from a member that has one; if no member does, the oldest that wants
 * one begins one.
 */

import { HoldfastError, type Millis, type PeerId } from '../../machine.ts'
import { plain } from '../../wire/text/plain.ts'
import { takesFrames } from './delivery.ts'
import { seal, settle, sumFrom } from './fold.ts'
import type { Game, Slots, SlotsOut } from './state.ts'
import { tally } from './tally.ts'
import { requestWorld } from './worlds.ts'

/** A member whose standing is unknown after this counts as not playing. */
export const BEGIN_MS: Millis = 2_000
/** A member with a world of an earlier session waits this much longer. */
const WITH_OLD_MS: Millis = 10_000

/**
 * The application wants a world: it comes with one of the next slots.
 *
 * @throws HoldfastError `schema` if a member that goes before us has other options, with both named
 */
export function open(slots: Slots, game: Game): void {
  const wish = { standing: 'joining', print: game.print } as const
  for (const inc of slots.peers.keys()) {
    if (yieldsTo(slots, wish, inc))
      throw new HoldfastError('schema', mismatchOf(slots, game.says, inc))
  }
  slots.standing = 'joining'
  // A peer that announced its standing while we had no game may play another game.
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
 * Whether we give way to a member with other options: in a star to the primary; in a mesh a member
 * that has a world goes before one that wants one, and the older before the younger.
 */
function yieldsTo(slots: Slots, { standing, print }: Own, to: PeerId): boolean {
  const { me, mesh, primary } = slots
  const peer = slots.peers.get(to)
  if (standing === 'closed' || !peer || peer.print === print) return false
  if (peer.claims !== 'joining' && peer.claims !== 'live') return false
  if (!mesh) return to === primary
  return peer.claims === standing ? to < me : peer.claims === 'live'
}

/** Closes our world if a member has other options and goes before us (SL-4). */
export function yieldTo(slots: Slots, to: PeerId, out: SlotsOut): void {
  if (!yieldsTo(slots, slots, to)) return
  const why = mismatchOf(slots, slots.says, to)
  slots.standing = 'closed'
  slots.print = 0
  slots.says = ''
  out.emit({ kind: 'slots-refused', why })
}

// Names both sides' options, in the order in which they can differ.
function mismatchOf({ peers, players }: Slots, here: string, to: PeerId): string {
  const [ours, theirs] = [here, peers.get(to)!.says].map(optionsOf)
  return `worlds of slots do not fit: here ${ours}, at player ${players.get(to) ?? '?'} ${theirs}`
}

// The text comes from the network: it may be of any length, and may be shown in a terminal.
function optionsOf(says: string): string {
  const [ms, order, ...fields] = says.slice(0, SHOWN_MAX).split(' ')
  return plain(`ms ${ms}, order ${order}, act ${fields.join(' ')}`)
}

const SHOWN_MAX = 200

/** As a member without a world: asks one that has a world, or begins one. */
export function findWorld(slots: Slots, game: Game, now: Millis, out: SlotsOut): void {
  if (slots.me === 0) return
  if (Number.isNaN(slots.beginAt)) slots.beginAt = now + BEGIN_MS
  const living = oldest(slots, 'live')
  if (living !== 0) return requestWorld(slots, now, living, out)
  // A world is settled after slot 0 at the earliest.
  if (slots.slot < 1) return
  // In a star the primary begins.
  if (!slots.mesh && slots.me !== slots.primary) return
  // An earlier session's world must not go on while somebody may have the present one.
  const until = slots.beginAt + (slots.validWorlds > 0 ? WITH_OLD_MS : 0)
  if (isSomebodyUnknown(slots) && now < until) return
  const other = oldest(slots, 'joining')
  if (slots.mesh && other !== 0 && other < slots.me) return
  // After the loss of a session the world goes on from where it was.
  const world = slots.worlds[slots.validWorlds - 1] ?? seal(game.start)
  tallyPast(slots)
  // Two worlds that were begun apart are not the same, though nobody has acted in either.
  settle(slots, slots.slot - 1, world, sumFrom(slots, slots.slot, 0))
  slots.standing = 'live'
  slots.changed = true
}

// Acts that are folded into the world that goes on count; other acts of slots that are over do not.
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

// The oldest member of that standing; 0 for none. In a star only the primary can answer.
function oldest(slots: Slots, standing: 'live' | 'joining'): PeerId {
  let found = 0
  for (const [inc, peer] of slots.peers) {
    if (peer.standing !== standing || !slots.here.has(inc)) continue
    if (!slots.mesh && slots.me !== slots.primary && inc !== slots.primary) continue
    if (found === 0 || inc < found) found = inc
  }
  return found
}
