/**
 * The reference member: the others take its world if settled worlds differ.
 *
 * When only some members applied an act that came after the horizon, folding again cannot repair
 * the difference: all must take one world, the reference member's. In a star the reference is the
 * primary; in a mesh it is the oldest playing member that was not cut off from most of the others.
 * A member that does not receive from the reference takes the world of one that does. The reference
 * decides nothing else.
 */

import type { Millis, PeerId } from '../../machine.ts'
import type { SlotPeer, Slots } from './state.ts'

/** The reference member, and whether we are it or receive from it. */
export interface Reference {
  reference: PeerId
  near: boolean
}

/** Whether a peer's last frame came within half the horizon; else it may not receive ours. */
export function receivesFrom(slots: Slots, now: Millis, peer: SlotPeer): boolean {
  return now - peer.receivedAt <= (slots.horizon / 2) * slots.ms
}

/** Finds the reference member; 0 for none. */
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
 * Sets `apart`: a member that receives from fewer than half of all players may have missed settled
 * acts, so it must not be the reference. Of two halves, the one with the oldest member keeps the
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

// All members were cut off and receive again: the oldest becomes the reference.
function rejoin(slots: Slots, now: Millis): void {
  for (const [inc, peer] of slots.peers) {
    if (inc < slots.me && peer.standing === 'live' && receivesFrom(slots, now, peer)) return
  }
  slots.apart = false
}
