/**
 * The reference member: the member whose world the others take if settled worlds differ.
 *
 * If some members applied an act that came later than the horizon and others did not, folding again
 * cannot repair that: all must take one world, the reference member's. In a star that is the
 * primary; in a mesh it is the oldest member that plays and was not cut off from most of the
 * others. A member that does not receive from the reference takes the world of one that does.
 * The reference member decides nothing else.
 */

import type { Millis, PeerId } from '../../machine.ts'
import type { SlotPeer, Slots } from './state.ts'

/** The reference member, and whether we are it or receive from it. */
export interface Reference {
  reference: PeerId
  near: boolean
}

/** Whether a peer's frames came within half the horizon: if not, it may not receive ours. */
export function receivesFrom(slots: Slots, now: Millis, peer: SlotPeer): boolean {
  return now - peer.receivedAt <= (slots.horizon / 2) * slots.ms
}

/** Finds the reference member; see the head of this file. `reference` is 0 for none. */
export function referenceOf(slots: Slots, now: Millis): Reference {
  const { me, primary } = slots
  if (!slots.mesh) return { reference: primary, near: true }
  const mine = slots.standing === 'live' && !slots.apart ? me : Infinity
  let nearest = mine
  for (const [inc, peer] of slots.peers) {
    if (peer.standing === 'live' && !peer.apart && inc < nearest && receivesFrom(slots, now, peer))
      nearest = inc
  }
  let far = nearest
  for (const peer of slots.peers.values()) {
    const { follows } = peer
    const counts =
      peer.near && !peer.apart && slots.here.has(follows) && receivesFrom(slots, now, peer)
    if (counts && follows < far && follows !== 0) far = follows
  }
  if (far < nearest) return { reference: far, near: false }
  return nearest === Infinity ? { reference: 0, near: false } : { reference: nearest, near: true }
}

/**
 * A member that receives from fewer than half of all players, so long that it may have missed
 * settled acts, must not be the reference; of two halves the one with the oldest member keeps the
 * role.
 */
export function updateApart(slots: Slots, now: Millis): void {
  if (!slots.mesh || slots.standing !== 'live') return void (slots.apart = false)
  let [all, received] = [1, 1]
  let [oldest, oldestReceived] = [slots.me, slots.me]
  for (const [inc, peer] of slots.peers) {
    if (peer.standing !== 'live') continue
    all++
    oldest = Math.min(oldest, inc)
    if (!receivesFrom(slots, now, peer)) continue
    received++
    oldestReceived = Math.min(oldestReceived, inc)
  }
  const most = received * 2 > all || (received * 2 === all && oldestReceived === oldest)
  if (!most) slots.apart = true
  else if (slots.apart && referenceOf(slots, now).reference === 0) rejoin(slots, now)
}

// All were cut off, and receive from each other again: the oldest becomes the reference.
function rejoin(slots: Slots, now: Millis): void {
  for (const [inc, peer] of slots.peers) {
    if (inc < slots.me && peer.standing === 'live' && receivesFrom(slots, now, peer)) return
  }
  slots.apart = false
}
