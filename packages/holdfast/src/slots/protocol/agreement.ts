/**
 * Agreement of all who play. The worlds of two reference members may differ in the acts that they
 * hold, and it is not known which of the two stays; so an act is void only where no world is left
 * that holds it.
 *
 * A member that hears everybody else compares, in rounds. In one round each peer reported the same
 * acts of a settled slot, and in a second one again, so that no world that was on its way meanwhile
 * holds others. An agreement is final: a newcomer takes its world from one of those who agreed.
 * Frames carry up to which slot all agree.
 */

import type { PeerId } from '../../machine.ts'
import { encode } from '../../wire/layout.ts'
import { slotsLayout } from './messages.ts'
import type { Settled, SettledWord, SlotPeer, Slots, SlotsOut } from './state.ts'
import { takeVoid } from './tally.ts'

/** A peer reported a settled slot that is settled here too. */
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

// The same acts make the same world, if all have the same rule (SL-3).
function judge(slots: Slots, inc: PeerId, mine: Settled, word: SettledWord, out: SlotsOut): void {
  const peer = slots.peers.get(inc)!
  if (word.hash === mine.hash) {
    // A world that was just taken is equal anyway: equality proves nothing before the next act.
    if (peer.diverged !== word.acts) peer.diverged = null
    return
  }
  const isKnown = peer.diverged !== null
  peer.diverged = word.acts
  if (isKnown) return
  const { slot } = word
  out.emit({ kind: 'slots-diverged', slot, player: slots.players.get(inc) ?? 0 })
  // A member that is about to take another world has none to be compared with.
  for (const [to, { standing }] of slots.peers) {
    if (standing === 'live') out.send(to, encode(slotsLayout, { kind: 'differs', slot, ...mine }))
  }
}

/** A peer reports that its world differs from somebody's with the same acts. */
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

/** Whether a slot will be settled here soon. */
export function isNear({ base, horizon }: Slots, slot: number): boolean {
  return slot > base && slot <= base + horizon
}

/** How many peers have the same acts as we, and other worlds. */
export function diverging({ peers }: Slots): number {
  let count = 0
  for (const { diverged } of peers.values()) if (diverged !== null) count++
  return count
}

/** Our world is another, or a peer's differs: earlier reports of the peers prove nothing. */
export function restart(slots: Slots, ...peers: readonly SlotPeer[]): void {
  for (const peer of peers) peer.same = -1
  slots.round = { mark: slots.base, before: -1 }
}

/** Ends the round if everybody has reported. */
export function look(slots: Slots, out: SlotsOut): void {
  const { round, base } = slots
  if (slots.standing !== 'live' || slots.asked !== 0) return
  if (!slots.rules.haveAllSaid(slots)) return
  slots.round = { mark: base, before: round.mark }
  learn(slots, round.before, out)
}

/** Whether everybody here has reported, since the round began, the same acts as ours. */
export function haveAllSaid({ here, me, peers, round }: Slots): boolean {
  for (const inc of here) {
    if (inc === me) continue
    const peer = peers.get(inc)
    if (peer?.standing === 'closed') continue
    // A peer of which nothing is known may hold any acts.
    if (peer?.standing !== 'live' || peer.same <= round.mark) return false
  }
  return true
}

/** All who play have the same acts up to that slot: an act not among them is void for ever. */
export function learn(slots: Slots, agreed: number, out: SlotsOut): void {
  if (agreed <= slots.agreed) return
  slots.agreed = agreed
  const left = takeVoid(slots, agreed)
  if (left.length > 0) out.emit({ kind: 'slots-discarded', acts: left.map(({ act }) => act) })
}
