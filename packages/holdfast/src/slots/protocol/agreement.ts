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
import {
  type Settled,
  type SettledReport,
  type SlotPeer,
  type Slots,
  type SlotsOut,
  GAPS_MAX,
  type SlotEvent,
  TALLIES_MAX,
  type Tally,
} from './state.ts'

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
function advanceAgreed(slots: Slots, agreed: number, out: SlotsOut): void {
  if (agreed <= slots.agreed) return
  slots.agreed = agreed
  const left = takeDiscarded(slots, agreed)
  if (left.length > 0) out.emit({ kind: 'slots-discarded', acts: left.map(({ act }) => act) })
}

// Tallies: the acts of each member in the settled world. Ids rise with the slots, so once an act is
// settled, the same member's earlier acts that are not settled never will be.

/** Marks an event as settled. A forged id harms only its sender. */
export function tally(slots: Slots, { inc, id }: SlotEvent): void {
  const known = slots.tallies.get(inc) ?? { upTo: 0, gaps: [] }
  if (id > known.upTo) {
    if (id > known.upTo + 1) known.gaps.push({ from: known.upTo + 1, to: id - 1 })
    known.upTo = id
  } else known.gaps = known.gaps.flatMap((gap) => without(gap, id))
  known.gaps = known.gaps.slice(-GAPS_MAX)
  slots.tallies.set(inc, known)
  if (slots.tallies.size > TALLIES_MAX) forgetOne(slots)
}

type Gap = Tally['gaps'][number]

function without({ from, to }: Gap, id: number): Gap[] {
  if (id < from || id > to) return [{ from, to }]
  const parts = [
    { from, to: id - 1 },
    { from: id + 1, to },
  ]
  return parts.filter((part) => part.from <= part.to)
}

function forgetOne(slots: Slots): void {
  for (const inc of slots.tallies.keys()) {
    if (!slots.here.has(inc)) return void slots.tallies.delete(inc)
  }
}

/** Own acts up to a slot that are not in the settled world; each is returned only once. */
export function takeDiscarded(slots: Slots, upTo: number): SlotEvent[] {
  const end = Math.min(upTo, slots.base)
  const known = slots.unsure.filter(({ slot }) => slot <= end)
  slots.unsure = slots.unsure.filter(({ slot }) => slot > end)
  return known.filter(({ inc, id }) => !isSettled(slots, inc, id))
}

/** Whether an act is in the settled world. */
export function isSettled({ tallies }: Slots, inc: PeerId, id: number): boolean {
  const known = tallies.get(inc)
  return (
    known !== undefined &&
    id <= known.upTo &&
    known.gaps.every(({ from, to }) => id < from || id > to)
  )
}

// The next session takes over our world of a lost one, which continues if nobody there has a world,
// and our own acts that were not agreed on. Each of these acts either counts in the next session's
// world, or is reported as discarded.
//
// Another member's world of the lost session may contain these acts, and may be the one that
// continues. So tallies of folded acts are carried over too. They are renamed, because members'
// numbers are unique only within a session.

/** A slot before the next session: its first agreement decides on the carried acts. */
const BEFORE = -1
/** Members' numbers are below this. */
const NAMES: number = 2 ** 32
/** How many sessions the new names distinguish. */
const SESSIONS: number = 2 ** 20

/** The state that the next session takes over; `slots` is that of the lost session. */
export function carryOver(
  slots: Slots,
): Pick<Slots, 'worlds' | 'validWorlds' | 'tallies' | 'unsure'> {
  const worlds = slots.worlds.slice(0, slots.validWorlds).slice(-1)
  const unsure = slots.unsure.map((event) => {
    return { ...event, inc: nameOf(slots, event.inc), slot: BEFORE }
  })
  return { worlds, validWorlds: worlds.length, tallies: folded(slots), unsure }
}

// The tallies of the world that continues. Those of earlier sessions stay only for unsure acts.
function folded(slots: Slots): Map<PeerId, Tally> {
  const last = slots.base + slots.validWorlds - 1
  const numbers = [...slots.bySlot.keys()].filter((number) => number <= last)
  for (const number of numbers.toSorted((one, other) => one - other)) {
    for (const event of slots.bySlot.get(number)!.events.values()) tally(slots, event)
  }
  const owed = new Set(slots.unsure.map(({ inc }) => inc))
  const own = [...slots.tallies].filter(([inc]) => inc < NAMES || owed.has(inc))
  return new Map(own.map(([inc, known]) => [nameOf(slots, inc), known]))
}

function nameOf({ seed }: Slots, inc: PeerId): number {
  return inc < NAMES ? NAMES * (1 + (seed % SESSIONS)) + inc : inc
}
