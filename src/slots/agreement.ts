/**
 * What all who play agree on. Worlds of two roots may differ in which acts they hold, and it is
 * not known which of the roots stays; so an act is void only where no world is left that has it.
 *
 * Whoever hears everybody else compares: in one round each said the same acts of a settled slot,
 * and in a second one again, so that no world that was on its way meanwhile has others. What was
 * agreed on stays so: whoever comes takes a world from one of them. Frames say up to which slot.
 */

import type { PeerId } from '../machine.ts'
import { encode } from '../wire/layout.ts'
import { slotsLayout } from './messages.ts'
import type { Settled, SettledWord, SlotPeer, Slots, SlotsOut } from './state.ts'
import { takeVoid } from './tally.ts'

/** What a peer says of a settled slot that is settled here too. */
export function hear(
  slots: Slots,
  inc: PeerId,
  mine: Settled,
  word: SettledWord,
  out: SlotsOut,
): void {
  const peer = slots.peers.get(inc)!
  const isSame = word.acts === mine.acts
  if (isSame && !word.seeks) peer.same = Math.max(peer.same, word.slot)
  else restart(slots, peer)
  if (!isSame) return
  learn(slots, word.agreed, out)
  look(slots, out)
  judge(slots, inc, mine, word, out)
}

// The same acts make the same world, if rules are the same (SL-3).
function judge(slots: Slots, inc: PeerId, mine: Settled, word: SettledWord, out: SlotsOut): void {
  const peer = slots.peers.get(inc)!
  if (word.hash === mine.hash) {
    // A world that was taken is the same until something is done in it.
    if (peer.diverged !== word.acts) peer.diverged = null
    return
  }
  const isKnown = peer.diverged !== null
  peer.diverged = word.acts
  if (isKnown) return
  const { slot } = word
  out.emit({ kind: 'slots-diverged', slot, player: slots.players.get(inc) ?? 0 })
  // Whoever takes a world in a moment has none to be compared with then.
  for (const [to, { standing }] of slots.peers) {
    if (standing === 'live') out.send(to, encode(slotsLayout, { kind: 'differs', slot, ...mine }))
  }
}

/** A peer says that its world is another than somebody's. */
export function hearDiffers(
  slots: Slots,
  inc: PeerId,
  said: Pick<SettledWord, 'slot' | 'hash' | 'acts'>,
  out: SlotsOut,
): void {
  const { slot, hash, acts } = said
  const word = { slot, hash, acts, agreed: -1, seeks: true }
  const mine = slots.settled.get(slot)
  if (mine?.acts === acts) judge(slots, inc, mine, word, out)
  else if (isNear(slots, slot)) slots.peers.get(inc)!.kept = word
}

/** Whether a slot is settled here soon. */
export function isNear({ base, horizon }: Slots, slot: number): boolean {
  return slot > base && slot <= base + horizon
}

/** How many others have the same acts and other worlds. */
export function diverging({ peers }: Slots): number {
  let count = 0
  for (const { diverged } of peers.values()) if (diverged !== null) count++
  return count
}

/** Our world is another, or not that of a peer: what was heard before says nothing. */
export function restart(slots: Slots, ...peers: readonly SlotPeer[]): void {
  for (const peer of peers) peer.same = -1
  slots.round = { mark: slots.base, before: -1 }
}

/** Whether a round is over. */
export function look(slots: Slots, out: SlotsOut): void {
  const { round, base } = slots
  if (slots.standing !== 'live' || slots.asked !== 0) return
  if (!slots.rules.haveAllSaid(slots)) return
  slots.round = { mark: base, before: round.mark }
  learn(slots, round.before, out)
}

/** Whether everybody here has said, since the round began, that its acts are ours. */
export function haveAllSaid({ here, me, peers, round }: Slots): boolean {
  for (const inc of here) {
    if (inc === me) continue
    const peer = peers.get(inc)
    if (peer?.standing === 'closed') continue
    // Of whom nothing is known anything may be.
    if (peer?.standing !== 'live' || peer.same <= round.mark) return false
  }
  return true
}

/** All who play have the same acts up to that slot: what is void there is void for ever. */
export function learn(slots: Slots, agreed: number, out: SlotsOut): void {
  if (agreed <= slots.agreed) return
  slots.agreed = agreed
  tellVoid(slots, agreed, out)
}

// Tells which of our own acts up to a slot are not in our world.
function tellVoid(slots: Slots, upTo: number, out: SlotsOut): void {
  const left = takeVoid(slots, upTo)
  if (left.length > 0) out.emit({ kind: 'slots-void', acts: left.map(({ act }) => act) })
}
