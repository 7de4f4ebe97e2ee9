/**
 * What waits for each peer: slots with something new, and when the next packet with updates may
 * leave. Changes of some milliseconds gather, so that a primary says a hundred members' moves to
 * each of them in few packets; the first after a while goes at once.
 */

import type { Millis, PeerId } from '../machine.ts'
import { GATE, GATHER_MS, type Objects, type Replica, type Sight } from './state.ts'

/** So many peers more make the time between two rounds a millisecond longer. */
const PEERS_PER_MS = 16
// Who changes things at a steady beat is not always late enough for the next round by a hair.
const EARLY = 0.9

/** An object changed: everybody who has its version lacks that. They are told of all at once. */
export function changed(objects: Objects, { slot }: Replica): void {
  if (objects.fresh.has(slot)) return
  objects.fresh.add(slot)
}

/** What changed since the last time waits for each peer. */
export function spread(objects: Objects, now: Millis): void {
  if (objects.fresh.size === 0) return
  for (const [peer, sight] of objects.sights) {
    // With the next link it is told all anew.
    if (!sight.linked) continue
    const { gate, queued, since, todo } = sight
    for (const slot of objects.fresh) {
      if (gate[slot] !== GATE.open || queued[slot] === 1) continue
      queued[slot] = 1
      since[slot] = now
      todo.push(slot)
    }
    if (todo.length > 0) objects.dirty.add(peer)
  }
  objects.fresh.clear()
}

/** Something of the object at that slot is new to a peer; it has waited since it changed. */
export function enqueue(objects: Objects, peer: PeerId, sight: Sight, slot: number): void {
  if (sight.gate[slot] !== GATE.open || sight.queued[slot] === 1) return
  sight.queued[slot] = 1
  sight.todo.push(slot)
  objects.dirty.add(peer)
}

/** Peers to whom something may leave by now. */
export function drain(objects: Objects, now: Millis): Iterable<PeerId> {
  if (objects.dirty.size === 0 || now < objects.leaveAt) return []
  const most = Math.max(objects.gatherMs, GATHER_MS + objects.sights.size / PEERS_PER_MS)
  objects.leaveAt = now + EARLY * most
  const ready = [...objects.dirty]
  objects.dirty.clear()
  return ready
}

/** When something may leave that waits; Infinity for nothing. */
export function leavesAt({ dirty, fresh, leaveAt }: Objects): Millis {
  return dirty.size + fresh.size > 0 ? leaveAt : Infinity
}
