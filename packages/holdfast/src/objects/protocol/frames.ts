/**
 * Frames that many peers get. The updates that a primary sends in one tick are the same for most
 * peers: each is written for the first of them, and copied for all who lack the same.
 *
 * An update depends only on its object, on which of its fields are sent, on the update before it in
 * the frame and on the instant of the last stamp. Which fields are sent follows from the last
 * `oseq` that the peer has acked: they are the same for all peers that acked one from `low` to
 * below `high`. All this is scratch: it holds for one instant, and is no part of the state.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { type ByteWriter, createWriter, reset, writeRaw } from '../../wire/bytes.ts'
import { SEQUENCE_MODULUS } from '../../wire/sequence.ts'
import { BARRIER, type Objects, type Replica, type Subscriber, GATHER_MS } from './state.ts'

// After so many frames in one tick no more are kept for sharing.
const FRAMES_MAX = 8

/** One update of a shared frame. */
export interface SharedUpdate {
  replica: Replica
  index: number
  serial: number
  oseq: number
  low: number
  high: number
  /** Where the update ends in the frame. */
  end: number
  /** The instant from which the next stamp goes on. */
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

/** A frame of this instant with that object in it, best one that begins with it; or null. */
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

/** Whether a peer lacks exactly what that update carries. */
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

/**
 * Index of the update that may follow that object's; -1 for none. @param madeAt  of the last stamp
 */
export function indexAfter(
  { places, updates }: SharedFrame,
  index: number,
  madeAt: Millis,
): number {
  const place = places.get(index)
  return place === undefined || updates[place]!.madeAt !== madeAt ? -1 : place + 1
}

/** Begins a frame that others may share. Null if enough frames are kept already. */
export function beginFrame(objects: Objects, now: Millis): SharedFrame | null {
  if (!objects.rules.shares() || tickOf(objects, now).frames.length >= FRAMES_MAX) return null
  return { updates: [], places: new Map(), bytes: createWriter(256) }
}

/** Notes an update that was just written. @param end  where the update ends in the frame */
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

/** The frame is complete: keeps it for other peers. */
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

// The queue of each peer: indexes with something new, and when the next packet with updates may
// leave. Changes gather for some milliseconds, so that a primary sends a hundred members' moves to
// each of them in few packets; the first change after a pause leaves at once. An update that must
// be sent again to one peer, or that only now may be sent to it, leaves with the next changes,
// which go to all; if none come, it leaves one send tick later.

/** So many peers more make the time between two send ticks a millisecond longer. */
const PEERS_PER_MS = 16
// A member that changes things at a steady beat must not miss the next send tick by a hair.
const EARLY = 0.9

/** An object changed: `spread` queues the change for all who have its version. */
export function markChanged({ fresh }: Objects, { index }: Replica): void {
  fresh.add(index)
}

/** Queues what changed since the last call for each peer. */
export function enqueueChanged(objects: Objects, now: Millis): void {
  if (objects.fresh.size === 0) return
  const indexes = [...objects.fresh]
  objects.fresh.clear()
  for (const subscriber of objects.subscribers.values()) {
    // The peer is sent everything again over its next link.
    if (!subscriber.linked) continue
    if (enqueueAll(subscriber, indexes, now)) objects.changesWaiting = true
    if (subscriber.todo.length > 0) objects.dirty.add(subscriber.peer)
  }
}

// @returns whether any of the indexes is new to that peer
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

/** Queues an object for one peer; `since` already holds when it changed. */
export function enqueue({ dirty }: Objects, subscriber: Subscriber, index: number): void {
  const { peer, barrier, queued, todo } = subscriber
  if (barrier[index] !== BARRIER.open || queued[index] === 1) return
  queued[index] = 1
  todo.push(index)
  dirty.add(peer)
}

/** Peers to whom updates may leave by now. */
export function drain(objects: Objects, now: Millis): Iterable<PeerId> {
  if (now < sendDueAt(objects)) return []
  objects.nextSendAt = now + EARLY * tickMs(objects)
  objects.changesWaiting = false
  const ready = [...objects.dirty]
  objects.dirty.clear()
  return ready
}

/** When the queued updates may leave; Infinity if none are queued. */
export function sendDueAt(objects: Objects): Millis {
  const { dirty, fresh, changesWaiting, nextSendAt } = objects
  if (changesWaiting || fresh.size > 0) return nextSendAt
  return dirty.size > 0 ? nextSendAt + tickMs(objects) : Infinity
}

// Time from one send tick to the next.
function tickMs({ gatherMs, subscribers }: Objects): Millis {
  return Math.max(gatherMs, GATHER_MS + subscribers.size / PEERS_PER_MS)
}
