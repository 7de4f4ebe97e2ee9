/**
 * Shared frames. In one tick a primary sends most peers the same updates: it writes each for the
 * first peer, and copies the bytes for every peer that lacks the same.
 *
 * The bytes of an update depend on its object, the fields sent, the update before it in the frame,
 * and the instant of the last stamp. The fields follow from the last `oseq` that the peer acked:
 * they are the same for all peers that acked one from `low` to below `high`. Shared frames are
 * scratch data of one tick, and not part of the state.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { type ByteWriter, createWriter, reset, writeRaw } from '../../wire/bytes.ts'
import { SEQUENCE_MODULUS } from '../../wire/sequence.ts'
import { BARRIER, type Objects, type Replica, type Subscriber, GATHER_MS } from './state.ts'

// Most frames kept for sharing in one tick.
const FRAMES_MAX = 8

export interface SharedUpdate {
  replica: Replica
  index: number
  serial: number
  oseq: number
  low: number
  high: number
  /** Where the update ends in the frame. */
  end: number
  /** The instant to which the next stamp is relative. */
  madeAt: Millis
}

/** A frame as it was written for one peer. */
export interface SharedFrame {
  updates: SharedUpdate[]
  /** Position of the update of each index. */
  places: Map<number, number>
  bytes: ByteWriter
}

interface Tick {
  now: Millis
  frames: SharedFrame[]
}

const ticks = new WeakMap<Objects, Tick>()

function tickOf(objects: Objects, now: Millis): Tick {
  const known = ticks.get(objects)
  if (known?.now === now) return known
  const round = { now, frames: [] }
  ticks.set(objects, round)
  return round
}

/** A frame of this tick that contains an object, preferably as its first; null for none. */
export function sharedFrame(objects: Objects, now: Millis, index: number): SharedFrame | null {
  if (!objects.rules.shares()) return null
  const { frames } = tickOf(objects, now)
  let found: SharedFrame | null = null
  for (const frame of frames) {
    if (frame.updates[0]!.index === index) return frame
    if (frame.places.has(index)) found ??= frame
  }
  return found
}

/** Whether a peer lacks exactly the fields of an update. */
export function lacksSame(subscriber: Subscriber, update: SharedUpdate): boolean {
  const { index, replica, oseq } = update
  const base = subscriber.acked[index]!
  return (
    base >= update.low &&
    base < update.high &&
    subscriber.sent[index] !== oseq &&
    subscriber.barrier[index] === BARRIER.open &&
    replica.oseq === oseq &&
    replica.serial === update.serial &&
    oseq - base < SEQUENCE_MODULUS / 2
  )
}

/** Position of the update after an object's; -1 if it may not follow the stamp `madeAt`. */
export function indexAfter(
  { places, updates }: SharedFrame,
  index: number,
  madeAt: Millis,
): number {
  const place = places.get(index)
  return place === undefined || updates[place]!.madeAt !== madeAt ? -1 : place + 1
}

/** Begins a frame for sharing; null if FRAMES_MAX are kept already. */
export function beginFrame(objects: Objects, now: Millis): SharedFrame | null {
  if (!objects.rules.shares() || tickOf(objects, now).frames.length >= FRAMES_MAX) return null
  return { updates: [], places: new Map(), bytes: createWriter(256) }
}

/** Adds an update that was just written. @param end  where the update ends in the frame */
export function addUpdate(
  frame: SharedFrame,
  replica: Replica,
  subscriber: Subscriber,
  end: number,
  { madeAt }: { madeAt: Millis },
): void {
  const { index, serial, oseq, changedAt } = replica
  const base = subscriber.acked[index]!
  let [low, high] = [0, oseq]
  for (const oseqOfField of changedAt) {
    if (oseqOfField <= base) low = Math.max(low, oseqOfField)
    else high = Math.min(high, oseqOfField)
  }
  frame.places.set(index, frame.updates.length)
  frame.updates.push({ replica, index, serial, oseq, low, high, end, madeAt })
}

export function keepFrame(
  objects: Objects,
  now: Millis,
  frame: SharedFrame,
  bytes: Uint8Array,
): void {
  if (frame.updates.length === 0) return
  reset(frame.bytes)
  writeRaw(frame.bytes, bytes)
  tickOf(objects, now).frames.push(frame)
}

// The queue of each peer (indexes with updates to send) and the send ticks. Changes gather for some
// milliseconds, so a primary sends a hundred members' moves to each of them in few packets; the
// first change after a pause is sent at once. A resend to one peer, or an update whose barrier has
// just opened, waits for the next changes, which go to all, or one send tick at most.

/** The time between two send ticks grows by a millisecond for this many peers. */
const PEERS_PER_MS = 16
// Tolerance, so that a member that changes objects at a fixed rate does not just miss a send tick.
const EARLY = 0.9

/** An object changed: `enqueueChanged` will queue it for every peer that has its version. */
export function markChanged({ fresh }: Objects, { index }: Replica): void {
  fresh.add(index)
}

/** Queues the objects that changed since the last call, for each peer. */
export function enqueueChanged(objects: Objects, now: Millis): void {
  if (objects.fresh.size === 0) return
  const indexes = [...objects.fresh]
  objects.fresh.clear()
  for (const subscriber of objects.subscribers.values()) {
    // The next link resends everything.
    if (!subscriber.linked) continue
    if (enqueueAll(subscriber, indexes, now)) objects.changesWaiting = true
    if (subscriber.todo.length > 0) objects.dirty.add(subscriber.peer)
  }
}

// @returns whether any index was not queued yet
function enqueueAll(subscriber: Subscriber, indexes: readonly number[], now: Millis): boolean {
  const { barrier, queued, since, todo } = subscriber
  const before = todo.length
  for (const index of indexes) {
    if (barrier[index] !== BARRIER.open || queued[index] === 1) continue
    queued[index] = 1
    since[index] = now
    todo.push(index)
  }
  return todo.length > before
}

/** Queues an object for one peer; `since` is already set. */
export function enqueue({ dirty }: Objects, subscriber: Subscriber, index: number): void {
  const { peer, barrier, queued, todo } = subscriber
  if (barrier[index] !== BARRIER.open || queued[index] === 1) return
  queued[index] = 1
  todo.push(index)
  dirty.add(peer)
}

/** The peers to which updates may be sent now. */
export function drain(objects: Objects, now: Millis): Iterable<PeerId> {
  if (now < sendDueAt(objects)) return []
  objects.nextSendAt = now + EARLY * tickMs(objects)
  objects.changesWaiting = false
  const ready = [...objects.dirty]
  objects.dirty.clear()
  return ready
}

/** When the queued updates may be sent; Infinity if none are queued. */
export function sendDueAt(objects: Objects): Millis {
  const { dirty, fresh, changesWaiting, nextSendAt } = objects
  if (changesWaiting || fresh.size > 0) return nextSendAt
  return dirty.size > 0 ? nextSendAt + tickMs(objects) : Infinity
}

// Time from one send tick to the next.
function tickMs({ gatherMs, subscribers }: Objects): Millis {
  return Math.max(gatherMs, GATHER_MS + subscribers.size / PEERS_PER_MS)
}
