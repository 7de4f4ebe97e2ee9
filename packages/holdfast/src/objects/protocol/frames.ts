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
  slot: number
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
  /** Index of each slot's update. */
  places: Map<number, number>
  bytes: ByteWriter
}

interface Round {
  now: Millis
  frames: SharedFrame[]
}

const rounds = new WeakMap<Objects, Round>()

function roundOf(objects: Objects, now: Millis): Round {
  const known = rounds.get(objects)
  if (known?.now === now) return known
  const round = { now, frames: [] }
  rounds.set(objects, round)
  return round
}

/** A frame of this instant with that object in it, best one that begins with it; or null. */
export function sharedFrame(objects: Objects, now: Millis, slot: number): SharedFrame | null {
  if (!objects.rules.shares()) return null
  const { frames } = roundOf(objects, now)
  let found: SharedFrame | null = null
  for (const frame of frames) {
    if (frame.updates[0]!.slot === slot) return frame
    if (frame.places.has(slot)) found ??= frame
  }
  return found
}

/** Whether a peer lacks exactly what that update carries. */
export function lacksSame(subscriber: Subscriber, update: SharedUpdate): boolean {
  const { slot, replica, oseq } = update
  const base = subscriber.acked[slot]!
  return (
    base >= update.low &&
    base < update.high &&
    subscriber.sent[slot] !== oseq &&
    subscriber.barrier[slot] === BARRIER.open &&
    replica.oseq === oseq &&
    replica.serial === update.serial &&
    oseq - base < SEQUENCE_MODULUS / 2
  )
}

/**
 * Index of the update that may follow that object's; -1 for none. @param madeAt  of the last stamp
 */
export function behindOf({ places, updates }: SharedFrame, slot: number, madeAt: Millis): number {
  const place = places.get(slot)
  return place === undefined || updates[place]!.madeAt !== madeAt ? -1 : place + 1
}

/** Begins a frame that others may share. Null if enough frames are kept already. */
export function beginFrame(objects: Objects, now: Millis): SharedFrame | null {
  if (!objects.rules.shares() || roundOf(objects, now).frames.length >= FRAMES_MAX) return null
  return { updates: [], places: new Map(), bytes: createWriter(256) }
}

/** Notes an update that was just written. @param end  where the update ends in the frame */
export function noteUpdate(
  frame: SharedFrame,
  replica: Replica,
  subscriber: Subscriber,
  end: number,
  { madeAt }: { madeAt: Millis },
): void {
  const { slot, serial, oseq, changedAt } = replica
  const base = subscriber.acked[slot]!
  let [low, high] = [0, oseq]
  for (const changed of changedAt) {
    if (changed <= base) low = Math.max(low, changed)
    else high = Math.min(high, changed)
  }
  frame.places.set(slot, frame.updates.length)
  frame.updates.push({ replica, slot, serial, oseq, low, high, end, madeAt })
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
  roundOf(objects, now).frames.push(frame)
}

// The queue of each peer: slots with something new, and when the next packet with updates may
// leave. Changes gather for some milliseconds, so that a primary sends a hundred members' moves to
// each of them in few packets; the first change after a pause leaves at once. An update that must
// be sent again to one peer, or that only now may be sent to it, leaves with the next changes,
// which go to all; if none come, it leaves one send tick later.

/** So many peers more make the time between two send ticks a millisecond longer. */
const PEERS_PER_MS = 16
// A member that changes things at a steady beat must not miss the next send tick by a hair.
const EARLY = 0.9

/** An object changed: `spread` queues the change for all who have its version. */
export function changed({ fresh }: Objects, { slot }: Replica): void {
  fresh.add(slot)
}

/** Queues what changed since the last call for each peer. */
export function spread(objects: Objects, now: Millis): void {
  if (objects.fresh.size === 0) return
  const slots = [...objects.fresh]
  objects.fresh.clear()
  for (const subscriber of objects.subscribers.values()) {
    // With its next link the peer is sent everything anew.
    if (!subscriber.linked) continue
    if (wait(subscriber, slots, now)) objects.news = true
    if (subscriber.todo.length > 0) objects.dirty.add(subscriber.peer)
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
export function enqueue({ dirty }: Objects, subscriber: Subscriber, slot: number): void {
  const { peer, barrier, queued, todo } = subscriber
  if (barrier[slot] !== BARRIER.open || queued[slot] === 1) return
  queued[slot] = 1
  todo.push(slot)
  dirty.add(peer)
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
