/**
 * Agreement of all players on their acts. The worlds of two reference members may hold different
 * acts, and either may prevail, so an act counts as discarded only when no world holds it.
 *
 * A member that receives from all others compares in rounds. In two successive rounds each peer
 * must report our acts of a settled slot, because a world in flight during the first round could
 * hold others. An agreement is final: a newcomer takes its world from a member that agreed. Frames
 * carry the slot up to which all agree.
 */

import type { PeerId } from '../../machine.ts'
import { encode } from '../../wire/layout.ts'
import { slotsLayout } from './messages.ts'
import type { Settled, SettledReport, SlotPeer, Slots, SlotsOut } from './state.ts'
import { takeDiscarded } from './tally.ts'

/** Receives a peer's report on a slot that is settled here too. */
export function receiveReport(
  slots: Slots,
  inc: PeerId,
  mine: Settled,
  report: SettledReport,
  out: SlotsOut,
): void {
  const peer = slots.peers.get(inc)!
  const isSame = report.acts === mine.acts
  if (isSame && !report.seeks) peer.same = Math.max(peer.same, report.slot)
  else restart(slots, peer)
  if (!isSame) return
  advanceAgreed(slots, report.agreed, out)
  endRound(slots, out)
  compareHashes(slots, inc, mine, report, out)
}

// The same acts make the same world if all have the same rule (SL-3).
function compareHashes(
  slots: Slots,
  inc: PeerId,
  mine: Settled,
  report: SettledReport,
  out: SlotsOut,
): void {
  const peer = slots.peers.get(inc)!
  if (report.hash === mine.hash) {
    // A world just adopted is equal in any case: equality proves nothing before the next act.
    if (peer.diverged !== report.acts) peer.diverged = null
    return
  }
  const isKnown = peer.diverged !== null
  peer.diverged = report.acts
  if (isKnown) return
  const { slot } = report
  out.emit({ kind: 'slots-diverged', slot, player: slots.players.get(inc) ?? 0 })
  // Only live members have a world to compare.
  for (const [to, { standing }] of slots.peers) {
    if (standing === 'live') out.send(to, encode(slotsLayout, { kind: 'differs', slot, ...mine }))
  }
}

/** A peer reports a world that differs from another member's with the same acts. */
export function receiveDiffers(
  slots: Slots,
  inc: PeerId,
  message: Pick<SettledReport, 'slot' | 'hash' | 'acts'>,
  out: SlotsOut,
): void {
  const { slot, hash, acts } = message
  const report = { slot, hash, acts, agreed: -1, seeks: true }
  const mine = slots.settled.get(slot)
  if (mine?.acts === acts) compareHashes(slots, inc, mine, report, out)
  else if (isNear(slots, slot)) slots.peers.get(inc)!.earlyReport = report
}

/** Whether a slot will be settled here soon. */
export function isNear({ base, horizon }: Slots, slot: number): boolean {
  return slot > base && slot <= base + horizon
}

/** Number of peers with our acts and a different world. */
export function diverging({ peers }: Slots): number {
  let count = 0
  for (const { diverged } of peers.values()) if (diverged !== null) count++
  return count
}

/** Restarts the round, because our world or a peer's changed: earlier reports prove nothing. */
export function restart(slots: Slots, ...peers: readonly SlotPeer[]): void {
  for (const peer of peers) peer.same = -1
  slots.round = { mark: slots.base, before: -1 }
}

export function endRound(slots: Slots, out: SlotsOut): void {
  const { round, base } = slots
  if (slots.standing !== 'live' || slots.asked !== 0) return
  if (!slots.rules.haveAllReported(slots)) return
  slots.round = { mark: base, before: round.mark }
  advanceAgreed(slots, round.before, out)
}

/** Whether every member here has reported our acts since the round began. */
export function haveAllReported({ here, me, peers, round }: Slots): boolean {
  for (const inc of here) {
    if (inc === me) continue
    const peer = peers.get(inc)
    if (peer?.standing === 'closed') continue
    // An unknown peer may hold any acts.
    if (peer?.standing !== 'live' || peer.same <= round.mark) return false
  }
  return true
}

/** All players have the same acts up to that slot: other acts up to there are discarded. */
export function advanceAgreed(slots: Slots, agreed: number, out: SlotsOut): void {
  if (agreed <= slots.agreed) return
  slots.agreed = agreed
  const left = takeDiscarded(slots, agreed)
  if (left.length > 0) out.emit({ kind: 'slots-discarded', acts: left.map(({ act }) => act) })
}
