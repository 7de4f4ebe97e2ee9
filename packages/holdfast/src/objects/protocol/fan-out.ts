/**
 * Fan-out: the speaker of an object sends its newest version to every peer that may know the object
 * (B13, B14, B19, B38-B40). Newcomers, new links and new primaries are no special cases: they are
 * only owed more.
 *
 * In a star the primary speaks for all objects to every member but the owner, and a member speaks
 * for its own objects to the primary. In a mesh each owner speaks for its objects to all. Updates
 * wait behind a delivery barrier until the peer has their version. `delivered` opens the barrier,
 * because every message up to that one has arrived (B55); an acked packet never opens it.
 */

import type { PeerId } from '../../machine.ts'
import { finish } from '../../wire/bytes.ts'
import {
  BATCH_BYTES,
  begin,
  ENTRY_OVERHEAD,
  KIND,
  plain,
  writeEntry,
  writeName,
} from './messages.ts'
import {
  at,
  BARRIER,
  leads,
  type Objects,
  type Replica,
  type Subscriber,
  type Context,
} from './state.ts'
import { enqueue, enqueueChanged } from './updates.ts'

/** Most messages of entries in flight to one peer. */
export const BATCHES_MAX = 32

export function ensureCapacity(subscriber: Subscriber, index: number): void {
  if (index < subscriber.barrier.length) return
  const size = Math.max(index + 1, subscriber.barrier.length * 2)
  subscriber.barrier = widen(subscriber.barrier, size)
  subscriber.acked = widen(subscriber.acked, size)
  subscriber.sent = widen(subscriber.sent, size)
  subscriber.seen = widen(subscriber.seen, size)
  subscriber.queued = widen(subscriber.queued, size)
  subscriber.since = widen(subscriber.since, size)
}

function widen<Row extends Uint8Array | Uint32Array | Float64Array>(row: Row, size: number): Row {
  const wide = new (row.constructor as new (length: number) => Row)(size)
  wide.set(row)
  return wide
}

/** Forgets what a peer has, not what it may see. @param knew  the peer may still have some of it */
export function forgetAll(subscriber: Subscriber, knew = false): void {
  subscriber.follows = false
  for (let index = 0; index < subscriber.barrier.length; index++) {
    if (subscriber.barrier[index] !== BARRIER.none)
      subscriber.barrier[index] = knew ? BARRIER.sent : BARRIER.none
  }
  subscriber.acked.fill(0)
  subscriber.sent.fill(0)
  subscriber.queued.fill(0)
  subscriber.owed.length = 0
  subscriber.todo.length = 0
  subscriber.awaited.length = 0
  subscriber.carried.clear()
}

export function sendsTo(objects: Objects, replica: Replica, peer: PeerId): boolean {
  if (objects.mesh) return replica.owner === objects.me
  if (leads(objects)) return replica.owner !== peer
  return replica.owner === objects.me && peer === objects.primary
}

/** An object has a new version: owes it to every peer to which we send the object. */
export function announce(ctx: Context, replica: Replica): void {
  const { objects } = ctx
  const { index } = replica
  replica.serial = objects.nextSerial++
  objects.serials[index] = replica.serial
  for (const subscriber of objects.subscribers.values()) {
    if (index < subscriber.barrier.length) {
      subscriber.acked[index] = 0
      subscriber.sent[index] = 0
      subscriber.queued[index] = 0
    }
    owe(ctx, subscriber, replica)
  }
}

export function oweAll(ctx: Context, subscriber: Subscriber): void {
  const { replicas, rules } = ctx.objects
  for (const replica of replicas.values()) {
    if (replica.dead && !rules.tombstone('send')) continue
    owe(ctx, subscriber, replica)
  }
}

/** Owes a peer the object's version, or a HIDE, if we send it the object. */
export function owe(ctx: Context, subscriber: Subscriber, replica: Replica): void {
  const { objects } = ctx
  const { index } = replica
  if (!maySend(ctx, subscriber, replica)) {
    // Keeps no state for a peer to which we do not send the object.
    if (index < subscriber.barrier.length) subscriber.barrier[index] = BARRIER.none
    return
  }
  ensureCapacity(subscriber, index)
  const gate = subscriber.barrier[index]!
  const hides = !replica.dead && !mayKnow(ctx, subscriber, replica)
  // In a mesh the peer may know the object from an earlier owner.
  const wasSent = gate !== BARRIER.none || (objects.mesh && replica.version.count > 0)
  // A peer that sent us an older version ignored our HIDE, because it owned the object then.
  const isOutdated = subscriber.outdated.has(index)
  if (hides && !isOutdated && (!wasSent || gate === BARRIER.hidden)) return
  subscriber.outdated.delete(index)
  const listed = gate === BARRIER.owed || gate === BARRIER.hiding
  subscriber.barrier[index] = hides ? BARRIER.hiding : BARRIER.owed
  if (!listed) subscriber.owed.push(index)
  objects.owing.add(subscriber.peer)
}

// In a star a member listens only to its primary, so messages sent before its FOLLOW are lost.
function maySend({ objects }: Context, subscriber: Subscriber, replica: Replica): boolean {
  const { peer, linked, follows } = subscriber
  if (!linked || !objects.here.has(peer)) return false
  if (!objects.mesh && leads(objects) && !follows) return false
  return objects.rules.sendsTo(objects, replica, peer)
}

function mayKnow(
  { objects, types }: Context,
  { peer, seen }: Subscriber,
  replica: Replica,
): boolean {
  if (types[replica.type]!.visibility === null || peer === objects.primary) return true
  return seen[replica.index] === 1
}

/** How many objects of other members a peer may know, by our state. */
export function countVisible(ctx: Context, subscriber: Subscriber): number {
  const others = [...ctx.objects.replicas.values()].filter((replica) => {
    return !replica.dead && replica.owner !== subscriber.peer
  })
  return others.filter((replica) => mayKnow(ctx, subscriber, replica)).length
}

/** Sends owed entries, at most BATCHES_MAX messages in flight per peer, and then a due RESYNC. */
export function flush(ctx: Context): void {
  const { objects, out } = ctx
  enqueueChanged(objects, ctx.now)
  for (const peer of objects.owing) {
    const subscriber = objects.subscribers.get(peer)
    while (subscriber && mayTakeMore(subscriber) && sendBatch(ctx, subscriber));
  }
  // Requests follow the owed entries, so the primary decides with everything that we knew.
  for (const { to, bytes } of objects.outbox.splice(0)) out.send(to, bytes)
  for (const peer of objects.owing) sendResync(ctx, peer)
}

function mayTakeMore({ linked, owed, awaited }: Subscriber): boolean {
  return linked && owed.length > 0 && awaited.length < BATCHES_MAX
}

// RESYNC asks a peer what else it has, once everything owed to the peer was sent.
function sendResync({ objects, out }: Context, peer: PeerId): void {
  const subscriber = objects.subscribers.get(peer)
  if (subscriber && (subscriber.owed.length > 0 || (subscriber.resyncDue && !subscriber.linked)))
    return
  objects.owing.delete(peer)
  if (!subscriber?.resyncDue) return
  subscriber.resyncDue = false
  out.send(peer, plain(KIND.resync, objects.term.from))
}

function sendBatch({ objects, types, out }: Context, subscriber: Subscriber): boolean {
  const { peer } = subscriber
  const states = begin(KIND.tell)
  const hidden = begin(KIND.hide)
  const entries: number[] = []
  let taken = 0
  for (const index of subscriber.owed) {
    const replica = at(objects, index)
    if (replica && subscriber.barrier[index] === BARRIER.owed) {
      const room = types[replica.type]!.schema.bytesMax + ENTRY_OVERHEAD
      if (entries.length > 0 && states.length + room > BATCH_BYTES) break
      writeEntry(states, types, replica)
      subscriber.barrier[index] = BARRIER.sent
      entries.push(index, replica.serial, replica.oseq)
    } else if (replica && subscriber.barrier[index] === BARRIER.hiding) {
      if (hidden.length > BATCH_BYTES) break
      writeName(hidden, replica)
      subscriber.barrier[index] = BARRIER.hidden
      unawait(subscriber, index)
    }
    taken++
  }
  subscriber.owed.splice(0, taken)
  if (hidden.length > 1 && out.send(peer, finish(hidden)) === 0) subscriber.linked = false
  if (entries.length === 0 || !subscriber.linked) return subscriber.linked
  const message = out.send(peer, finish(states))
  if (message > 0) subscriber.awaited.push({ message, entries })
  else subscriber.linked = false
  return subscriber.linked
}

// The delivery of an entry sent before the HIDE must not open the barrier: an entry sent after the
// HIDE may still be in flight.
function unawait({ awaited }: Subscriber, index: number): void {
  for (const { entries } of awaited) {
    for (let i = 0; i < entries.length; i += 3) if (entries[i] === index) entries[i + 1] = 0
  }
}

/** All messages up to `upTo` have arrived: updates of their objects may follow (L3, B14, B40). */
export function delivered(objects: Objects, peer: PeerId, upTo: number): void {
  const subscriber = objects.subscribers.get(peer)
  if (!subscriber) return
  while (subscriber.awaited.length > 0 && subscriber.awaited[0]!.message <= upTo) {
    open(objects, subscriber, subscriber.awaited.shift()!.entries)
  }
}

// Opens the barriers of a delivered message's objects whose version has not changed since.
function open(objects: Objects, subscriber: Subscriber, entries: number[]): void {
  for (let i = 0; i < entries.length; i += 3) {
    const index = entries[i]!
    const replica = at(objects, index)
    if (!replica || replica.serial !== entries[i + 1] || subscriber.barrier[index] !== BARRIER.sent)
      continue
    subscriber.barrier[index] = BARRIER.open
    subscriber.acked[index] = Math.max(subscriber.acked[index]!, entries[i + 2]!)
    if (!replica.dead && replica.oseq > subscriber.acked[index]!) {
      // The update waited behind the barrier, so it goes first.
      subscriber.since[index] = 0
      enqueue(objects, subscriber, index)
    }
  }
}
