/**
 * What waits for each peer: slots with something new, and when the next packet with updates may
 * leave. Changes of some milliseconds gather, so that a primary says a hundred members' moves to
 * each of them in few packets; the first after a while goes at once.
 */

import type { Millis, PeerId } from '../machine.ts'
import { GATE, type Objects, type Replica, type Sight } from './state.ts'

/** Between two packets with updates to one peer: the more peers, the longer. */
export const GATHER_MS: Millis = 4
/** So many peers more make it a millisecond longer. */
const PEERS_PER_MS = 16

/** Something of the object at that slot is new to a peer. */
export function enqueue(
  objects: Objects,
  now: Millis,
  peer: PeerId,
  sight: Sight,
  slot: number,
): void {
  if (sight.queued[slot] === 1) return
  sight.queued[slot] = 1
  sight.since[slot] = now
  sight.todo.push(slot)
  objects.dirty.add(peer)
}

/** An object changed: everybody who has its version lacks that. */
export function changed(objects: Objects, now: Millis, { slot }: Replica): void {
  for (const [peer, sight] of objects.sights) {
    if (sight.gate[slot] === GATE.open) enqueue(objects, now, peer, sight, slot)
  }
}

/** Peers to whom something may leave by now. */
export function drain(objects: Objects, now: Millis): PeerId[] {
  const ready: PeerId[] = []
  for (const peer of objects.dirty) {
    const sight = objects.sights.get(peer)
    if (sight && now < sight.nextAt) continue
    objects.dirty.delete(peer)
    if (!sight || sight.todo.length === 0) continue
    sight.nextAt = now + GATHER_MS + objects.sights.size / PEERS_PER_MS
    ready.push(peer)
  }
  return ready
}

/** When something may leave that waits; Infinity for nothing. */
export function leavesAt(objects: Objects): Millis {
  let due = Infinity
  for (const peer of objects.dirty)
    due = Math.min(due, objects.sights.get(peer)?.nextAt ?? Infinity)
  return due
}

/** What was on its way to a peer is not any more; it has waited since it changed. */
export function again(objects: Objects, peer: PeerId, sight: Sight, slot: number): void {
  sight.sent[slot] = 0
  if (sight.gate[slot] !== GATE.open || sight.queued[slot] === 1) return
  sight.queued[slot] = 1
  sight.todo.push(slot)
  objects.dirty.add(peer)
}
