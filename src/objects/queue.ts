/**
 * What waits for each peer: slots with something new, and when the next packet with updates may
 * leave. Changes of some milliseconds gather, so that a primary says a hundred members' moves to
 * each of them in few packets; the first after a while goes at once. What goes again to one peer,
 * or is open to it only now, goes with the next changes, which are said to all; alone one round
 * later.
 */

import type { Millis, PeerId } from '../machine.ts'
import { BARRIER, GATHER_MS, type Objects, type Replica, type Subscriber } from './state.ts'

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
  const slots = [...objects.fresh]
  objects.fresh.clear()
  for (const [peer, subscriber] of objects.subscribers) {
    // With the next link it is told all anew.
    if (!subscriber.linked) continue
    if (wait(subscriber, slots, now)) objects.news = true
    if (subscriber.todo.length > 0) objects.dirty.add(peer)
  }
}

// @returns whether anything of it is for that peer
function wait(subscriber: Subscriber, slots: readonly number[], now: Millis): boolean {
  const { barrier, queued, since, todo } = subscriber
  const before = todo.length
  for (const slot of slots) {
    if (barrier[slot] !== BARRIER.open || queued[slot] === 1) continue
    queued[slot] = 1
    since[slot] = now
    todo.push(slot)
  }
  return todo.length > before
}

/** Something of the object at that slot is new to a peer; it has waited since it changed. */
export function enqueue(
  objects: Objects,
  peer: PeerId,
  subscriber: Subscriber,
  slot: number,
): void {
  if (subscriber.barrier[slot] !== BARRIER.open || subscriber.queued[slot] === 1) return
  subscriber.queued[slot] = 1
  subscriber.todo.push(slot)
  objects.dirty.add(peer)
}

/** Peers to whom something may leave by now. */
export function drain(objects: Objects, now: Millis): Iterable<PeerId> {
  if (now < leavesAt(objects)) return []
  objects.leaveAt = now + EARLY * roundMs(objects)
  objects.news = false
  const ready = [...objects.dirty]
  objects.dirty.clear()
  return ready
}

/** When something may leave that waits; Infinity for nothing. */
export function leavesAt(objects: Objects): Millis {
  const { dirty, fresh, news, leaveAt } = objects
  if (news || fresh.size > 0) return leaveAt
  return dirty.size > 0 ? leaveAt + roundMs(objects) : Infinity
}

// From one round to the next.
function roundMs({ gatherMs, subscribers }: Objects): Millis {
  return Math.max(gatherMs, GATHER_MS + subscribers.size / PEERS_PER_MS)
}
