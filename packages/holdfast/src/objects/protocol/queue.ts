/**
 * The queue of each peer: slots with something new, and when the next packet with updates may
 * leave. Changes gather for some milliseconds, so that a primary sends a hundred members' moves to
 * each of them in few packets; the first change after a pause leaves at once. An update that must
 * be sent again to one peer, or that only now may be sent to it, leaves with the next changes,
 * which go to all; if none come, it leaves one send tick later.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { BARRIER, GATHER_MS, type Objects, type Replica, type Subscriber } from './state.ts'

/** So many peers more make the time between two send ticks a millisecond longer. */
const PEERS_PER_MS = 16
// A member that changes things at a steady beat must not miss the next send tick by a hair.
const EARLY = 0.9

/**
 * An object changed: all who have its version lack the change. `spread` queues it for all at once.
 */
export function changed(objects: Objects, { slot }: Replica): void {
  if (objects.fresh.has(slot)) return
  objects.fresh.add(slot)
}

/** Queues what changed since the last call for each peer. */
export function spread(objects: Objects, now: Millis): void {
  if (objects.fresh.size === 0) return
  const slots = [...objects.fresh]
  objects.fresh.clear()
  for (const [peer, subscriber] of objects.subscribers) {
    // With its next link the peer is sent everything anew.
    if (!subscriber.linked) continue
    if (wait(subscriber, slots, now)) objects.news = true
    if (subscriber.todo.length > 0) objects.dirty.add(peer)
  }
}

// @returns whether any of the slots is new to that peer
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

/** Queues an object for one peer; `since` already holds when it changed. */
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

/** Peers to whom updates may leave by now. */
export function drain(objects: Objects, now: Millis): Iterable<PeerId> {
  if (now < leavesAt(objects)) return []
  objects.leaveAt = now + EARLY * roundMs(objects)
  objects.news = false
  const ready = [...objects.dirty]
  objects.dirty.clear()
  return ready
}

/** When the queued updates may leave; Infinity if none are queued. */
export function leavesAt(objects: Objects): Millis {
  const { dirty, fresh, news, leaveAt } = objects
  if (news || fresh.size > 0) return leaveAt
  return dirty.size > 0 ? leaveAt + roundMs(objects) : Infinity
}

// Time from one send tick to the next.
function roundMs({ gatherMs, subscribers }: Objects): Millis {
  return Math.max(gatherMs, GATHER_MS + subscribers.size / PEERS_PER_MS)
}
