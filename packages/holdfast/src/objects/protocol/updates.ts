/**
 * Updates: the newest state of changed objects, pulled into packets (B15-B18, B20-B22).
 *
 * An update carries every field that the peer has not acked, not only the fields that changed since
 * the last update. So any one update makes the peer complete, and the peer can drop updates that
 * arrive out of order (B56). An update is sent after a change, and again after a packet loss.
 *
 *     update  head [what] [moment] fields
 *     head    zigzag(count - count before) * 4 + 2 (what follows) + 1 (moment follows)
 *     what    type * 2 + 1 (another creator or version), then these
 *     moment  oseq:u16 stamp?
 *
 * Each update omits what it shares with the update before it in the frame; the first follows
 * creator 0, version (0, 0), count 0, type 0, oseq 0 and instant 0. `oseq` is its low 16 bits.
 * Objects that their owner changed together share both oseq (see `joinRound`) and instant.
 */

import { INC_MAX, type Millis, type PeerId } from '../../machine.ts'
import {
  type ByteReader,
  type ByteWriter,
  createReader,
  createWriter,
  finish,
  readU16,
  readU8,
  readVarint,
  reset,
  writeRaw,
  writeU16,
  writeU8,
  writeVarint,
} from '../../wire/bytes.ts'
import { type Quantised, readFields, writeFields } from '../../wire/fields/schema.ts'
import { SEQUENCE_MODULUS, wrap } from '../../wire/sequence.ts'
import {
  agesAt,
  AGES_MAX,
  isSameStamp,
  readNextStamp,
  STAMP_BYTES_MAX,
  writeNextStamp,
  readVersion,
  writeVersion,
} from './messages.ts'
import {
  FIRST,
  type Version,
  compare,
  at,
  COUNT_MAX,
  BARRIER,
  keyOf,
  relays,
  type Objects,
  type Replica,
  type Subscriber,
  type Context,
  type Carried,
  type Types,
  GATHER_MS,
} from './state.ts'

// Head, type, creator, version and oseq at their longest.
const UPDATE_OVERHEAD: number = 6 + 1 + 3 + 16 + 2 + STAMP_BYTES_MAX

// Remaining updates wait for the next tick if they fill less than this share of a packet.
const TAIL = 0.5

export interface Update {
  key: number
  version: Version
  type: number
  /** Low 16 bits of the update's oseq. */
  low: number
  mask: number
  /** Valid until the next update is read. */
  fields: Quantised
  madeAt: Millis
  ages: readonly Millis[] | null
}

/** The head of the update before, to which the next is relative. */
interface Before {
  creator: PeerId
  count: number
  version: Version
  type: number
  /** Low 16 bits. */
  low: number
  madeAt: Millis
}

function atFirst(): Before {
  return { creator: 0, count: 0, version: FIRST, type: 0, low: 0, madeAt: 0 }
}

/** Appends updates for a peer. @returns whether there were any */
export function write(
  objects: Objects,
  types: Types,
  now: Millis,
  peer: PeerId,
  seq: number,
  writer: ByteWriter,
  budget: number,
): boolean {
  const subscriber = objects.subscribers.get(peer)
  if (!subscriber || !waits(objects, now, peer)) return false
  // Updates that did not fit are ranked before the next packet.
  if (subscriber.behind > 0 && subscriber.rankedAt !== now) rank(objects, types, now, subscriber)
  const end = writer.length + budget
  const carried = subscriber.carried.get(seq) ?? []
  const count = fill({ objects, types, now, subscriber, writer, end, carried, said: [] })
  subscriber.behind = subscriber.todo.length > 0 ? Math.max(1, count) : 0
  subscriber.filledAt = now
  if (isTail(subscriber, now)) objects.dirty.add(peer)
  if (count > 0) subscriber.carried.set(seq, carried)
  return count > 0
}

/** Whether more updates may go to a peer in this send tick. */
export function waits(objects: Objects, now: Millis, peer: PeerId): boolean {
  const subscriber = objects.subscribers.get(peer)
  return subscriber !== undefined && subscriber.todo.length > 0 && !isTail(subscriber, now)
}

// An almost empty packet costs too much: the rest goes first in the next tick.
function isTail({ behind, filledAt, todo }: Subscriber, now: Millis): boolean {
  return filledAt === now && todo.length < behind * TAIL
}

interface Filling {
  objects: Objects
  types: Types
  now: Millis
  subscriber: Subscriber
  writer: ByteWriter
  end: number
  /** The updates of the packet. */
  carried: Carried[]
  /** Index, serial and oseq of those that are written for this peer alone. */
  said: number[]
}

// Copies bytes from an earlier peer's frame of this tick for as long as both peers lack the same.
// Returns how many updates it wrote or copied.
function fill(filling: Filling): number {
  const { objects, now, subscriber, writer } = filling
  const { todo } = subscriber
  const start = writer.length
  let copied = 0
  let like = sharedFrame(objects, now, todo[0]!)
  const own = like ? null : beginFrame(objects, now)
  // Index in `like` from which both frames are equal; -1 while they differ.
  let next = like?.updates[0]!.index === todo[0] ? 0 : -1
  let before = atFirst()
  let taken = 0
  while (taken < todo.length) {
    if (next === like?.updates.length) {
      like = sharedFrame(objects, now, todo[taken]!)
      next = -1
    }
    const run = like && next >= 0 ? copyRun(filling, like, next, taken) : 0
    if (like && run > 0) {
      taken += run
      next += run
      copied += run
      const { replica, oseq, madeAt } = like.updates[next - 1]!
      const { creator, count, version, type } = replica
      before = { creator, count, version, type, low: wrap(oseq), madeAt }
      continue
    }
    const index = todo[taken]!
    const written = writeNext(filling, index, before)
    if (written < 0) break
    if (own && written > 0)
      addUpdate(own, at(objects, index)!, subscriber, writer.length - start, before)
    if (like && written > 0) next = indexAfter(like, at(objects, index)!, before.madeAt)
    taken++
  }
  todo.copyWithin(0, taken)
  todo.length -= taken
  if (own) keepFrame(objects, now, own, writer.bytes.subarray(start, writer.length))
  const { said, carried } = filling
  if (said.length > 0) carried.push({ said, from: 0, to: said.length })
  return copied + said.length / 3
}

// Copies updates of a frame for as long as this peer lacks exactly the same. @returns how many
function copyRun(
  { subscriber, writer, end, carried }: Filling,
  { updates, bytes, said }: SharedFrame,
  next: number,
  taken: number,
): number {
  const { todo, queued, sent } = subscriber
  const from = next === 0 ? 0 : updates[next - 1]!.end
  const room = end - writer.length + from
  let run = 0
  for (; next + run < updates.length && taken + run < todo.length; run++) {
    const update = updates[next + run]!
    const { index, oseq } = update
    if (todo[taken + run] !== index || queued[index] !== 1 || update.end > room) break
    if (!lacksSame(subscriber, update)) break
    sent[index] = oseq
    queued[index] = 0
  }
  if (run === 0) return 0
  writeRaw(writer, bytes.bytes.subarray(from, updates[next + run - 1]!.end))
  carried.push({ said, from: next * 3, to: (next + run) * 3 })
  return run
}

// @returns how many bytes; 0 if the peer lacks no field of the object, -1 if there is no room
function writeNext(filling: Filling, index: number, before: Before): number {
  const { objects, types, subscriber, writer, end } = filling
  const start = writer.length
  const replica = subscriber.queued[index] === 1 ? at(objects, index) : null
  const mask = replica ? missingFields(objects, subscriber, replica) : 0
  if (replica && mask !== 0) {
    const room = types[replica.type]!.schema.bytesMax + UPDATE_OVERHEAD
    if (start + room > end) return -1
    writeUpdate(filling, replica, mask, before)
    subscriber.sent[index] = replica.oseq
    filling.said.push(index, replica.serial, replica.oseq)
  }
  subscriber.queued[index] = 0
  return writer.length - start
}

// Sorts by waiting time multiplied by weight, most urgent first.
function rank(objects: Objects, types: Types, now: Millis, subscriber: Subscriber): void {
  const urgency = (index: number): number => {
    const replica = at(objects, index)
    return replica ? (now - subscriber.since[index]! + 1) * types[replica.type]!.weight : Infinity
  }
  const { todo } = subscriber
  subscriber.rankedAt = now
  if (isInOrder(types, subscriber)) return
  const urgencies = todo.map(urgency)
  const ranked = todo.map((index, place) => ({ index, urgency: urgencies[place]! }))
  ranked.sort((a, b) => b.urgency - a.urgency)
  for (const [place, { index }] of ranked.entries()) todo[place] = index
}

// The queue is usually in order, because later changes are appended.
function isInOrder(types: Types, { todo, since }: Subscriber): boolean {
  let latest = -Infinity
  for (const index of todo) {
    if (since[index]! < latest) return false
    latest = since[index]!
  }
  return types.every(({ weight }) => weight === types[0]!.weight)
}

// Mask of the fields that a peer has not acked; 0 if they are in flight.
function missingFields(objects: Objects, subscriber: Subscriber, replica: Replica): number {
  const { index, oseq, changedAt } = replica
  const { peer, barrier, acked, sent, owed } = subscriber
  if (barrier[index] !== BARRIER.open) return 0
  // A peer so far behind that the low bits of oseq are ambiguous gets the whole state again.
  if (oseq - acked[index]! >= SEQUENCE_MODULUS / 2) {
    barrier[index] = BARRIER.owed
    owed.push(index)
    objects.owing.add(peer)
    return 0
  }
  if (oseq <= acked[index]! || oseq === sent[index]!) return 0
  const base = objects.rules.base(subscriber, index)
  let mask = 0
  for (let field = 0; field < changedAt.length; field++) {
    if (changedAt[field]! > base) mask |= 1 << field
  }
  return mask >>> 0
}

function writeUpdate(filling: Filling, replica: Replica, mask: number, before: Before): void {
  const { objects, types, now, writer } = filling
  const { creator, count, version, type } = replica
  const { timed } = types[type]!
  const low = wrap(replica.oseq)
  const ages = timed ? agesAt(replica, now + objects.offset, relays(objects) ? 1 : AGES_MAX) : null
  const step = count - before.count
  const strange = creator !== before.creator || compare(version, before.version) !== 0
  const hasWhat = strange || type !== before.type
  const hasMoment =
    low !== before.low || ages !== null || (timed && !isSameStamp(before.madeAt, replica.madeAt))
  const zigzag = step < 0 ? -step * 2 - 1 : step * 2
  writeVarint(writer, zigzag * 4 + (hasWhat ? 2 : 0) + (hasMoment ? 1 : 0))
  if (hasWhat) writeU8(writer, type * 2 + (strange ? 1 : 0))
  if (strange) {
    writeVarint(writer, creator)
    writeVersion(writer, version)
  }
  if (hasMoment) writeU16(writer, low)
  if (hasMoment && timed)
    before.madeAt = writeNextStamp(writer, before.madeAt, replica.madeAt, ages)
  writeRaw(writer, body(types, replica, mask))
  before.creator = creator
  before.count = count
  before.version = version
  before.type = type
  before.low = low
}

const scratch = createWriter(1024)

// Caches the bytes for the next peer, because most peers lack the same fields.
function body(types: Types, replica: Replica, mask: number): Uint8Array {
  const { written, oseq } = replica
  if (written?.oseq === oseq && written.mask === mask) return written.bytes
  reset(scratch)
  writeFields(scratch, types[replica.type]!.schema, replica.fields, mask)
  replica.written = { oseq, mask, bytes: finish(scratch) }
  return replica.written.bytes
}

const fieldsOf = new WeakMap<object, Quantised>()

/** Calls `each` for the updates of a frame. @returns false for a malformed one, where it stops */
export function readUpdates(
  types: Types,
  bytes: Uint8Array,
  each: (update: Update) => void,
): boolean {
  const reader = createReader(bytes)
  const before = atFirst()
  while (reader.at < reader.end) {
    const update = readUpdate(reader, types, before)
    if (update === null) return false
    each(update)
  }
  return true
}

function readUpdate(reader: ByteReader, types: Types, before: Before): Update | null {
  const head = readVarint(reader)
  const zigzag = Math.floor(head / 4)
  before.count += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
  if ((head & 2) !== 0) readWhat(reader, before)
  const { creator, count, version, type } = before
  const rules = types[type]
  const named = creator > 0 && creator < INC_MAX && count > 0 && count <= COUNT_MAX
  if (!rules || !named || reader.failed) return null
  const hasMoment = (head & 1) !== 0
  if (hasMoment) before.low = readU16(reader)
  const stamp = hasMoment && rules.timed ? readNextStamp(reader, before.madeAt) : null
  let fields = fieldsOf.get(rules)
  if (!fields) fieldsOf.set(rules, (fields = []))
  const mask = readFields(reader, rules.schema, fields)
  if (reader.failed) return null
  if (stamp) before.madeAt = stamp.last
  return {
    key: keyOf(creator, count),
    version,
    type,
    low: before.low,
    mask,
    fields,
    madeAt: stamp?.madeAt ?? (rules.timed && before.madeAt > 0 ? before.madeAt : NaN),
    ages: stamp?.ages ?? null,
  }
}

function readWhat(reader: ByteReader, before: Before): void {
  const what = readU8(reader)
  before.type = what >> 1
  if (what % 2 === 0) return
  before.creator = readVarint(reader)
  before.version = readVersion(reader)
}

export function acked(objects: Objects, peer: PeerId, seq: number): void {
  eachUpdate(objects, peer, seq, (subscriber, index, oseq) => {
    if (subscriber.acked[index]! < oseq) subscriber.acked[index] = oseq
  })
}

/** A packet counts as lost: its objects are resent in their newest state. */
export function lost(objects: Objects, peer: PeerId, seq: number): void {
  eachUpdate(objects, peer, seq, (subscriber, index, oseq) => {
    // A newer update has been sent since, so this loss does not matter.
    if (subscriber.sent[index] !== oseq || subscriber.acked[index]! >= oseq) return
    subscriber.sent[index] = 0
    enqueue(objects, subscriber, index)
  })
}

// Calls `each` for every update of a packet whose object still has the version it had then.
function eachUpdate(
  { subscribers, serials }: Objects,
  peer: PeerId,
  seq: number,
  each: (subscriber: Subscriber, index: number, oseq: number) => void,
): void {
  const subscriber = subscribers.get(peer)
  const carried = subscriber?.carried.get(seq)
  if (!subscriber || !carried) return
  subscriber.carried.delete(seq)
  for (const { said, from, to } of carried) {
    for (let i = from; i < to; i += 3) {
      const index = said[i]!
      if (serials[index] === said[i + 1]) each(subscriber, index, said[i + 2]!)
    }
  }
}

// Dead reckoning: a change that the viewers extrapolate correctly need not be sent (B17).
//
// Viewers extrapolate an object from the last sent state. The owner computes the same, and leaves a
// change unsent while the extrapolation is close enough. After UNSENT_MS at most it sends the exact
// state, before viewers stop extrapolating. A due change waits up to COMPANY_MS for other changes,
// to save a packet to every peer.

/** An unsent change is due after this: before a viewer stops extrapolating. */
export const UNSENT_MS: Millis = 2_000
/** A due change waits at most this long for other changes to share its packet. */
export const COMPANY_MS: Millis = 100

/** Sends the current state of one of our objects. */
export function sendState(objects: Objects, now: Millis, replica: Replica): void {
  objects.unsent.delete(replica.key)
  replica.sentAt = now
  joinRound(objects, replica)
  markChanged(objects, replica)
}

/** Sends the unsent changes that are due. */
export function sendUnsent({ objects, now }: Context): void {
  if (now < (objects.fresh.size > 0 ? objects.unsentAt : unsentDueAt(objects))) return
  objects.unsentAt = Infinity
  for (const key of objects.unsent) {
    const replica = objects.replicas.get(key)
    if (replica && now - replica.sentAt < UNSENT_MS) {
      objects.unsentAt = Math.min(objects.unsentAt, replica.sentAt + UNSENT_MS)
      continue
    }
    objects.unsent.delete(key)
    if (replica && !replica.dead && replica.owner === objects.me) sendState(objects, now, replica)
  }
}

/** When unsent changes are sent even without other changes; Infinity if there are none. */
export function unsentDueAt({ unsentAt }: Objects): Millis {
  return unsentAt + COMPANY_MS
}

/** Defers a change if a state was sent recently. @returns whether it was deferred */
export function defer(objects: Objects, now: Millis, replica: Replica): boolean {
  const due = replica.sentAt + UNSENT_MS
  if (now >= due) return false
  objects.unsent.add(replica.key)
  objects.unsentAt = Math.min(objects.unsentAt, due)
  return true
}

// Shared frames. In one tick a primary sends most peers the same updates: it writes each for the
// first peer, and copies the bytes for every peer that lacks the same.
//
// The bytes of an update depend on its object, the fields sent, the update before it in the frame,
// and the instant of the last stamp. The fields follow from the last `oseq` that the peer acked:
// they are the same for all peers that acked one from `low` to below `high`. Shared frames are
// scratch data of one tick, and not part of the state.

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
  /** Index, serial and oseq of each update. */
  said: number[]
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
function sharedFrame(objects: Objects, now: Millis, index: number): SharedFrame | null {
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
function lacksSame(subscriber: Subscriber, update: SharedUpdate): boolean {
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
 * Position of the update after an object's; -1 if it may not follow what a peer was just told of
 * the object: the same state, and as the instant of the last stamp `madeAt`.
 */
export function indexAfter(
  { places, updates }: SharedFrame,
  { index, serial, oseq }: Replica,
  madeAt: Millis,
): number {
  const place = places.get(index)
  const update = place === undefined ? undefined : updates[place]
  const isSame = update?.serial === serial && update.oseq === oseq && update.madeAt === madeAt
  return isSame ? place! + 1 : -1
}

/** Begins a frame for sharing; null if FRAMES_MAX are kept already. */
export function beginFrame(objects: Objects, now: Millis): SharedFrame | null {
  if (!objects.rules.shares() || tickOf(objects, now).frames.length >= FRAMES_MAX) return null
  return { updates: [], said: [], places: new Map(), bytes: createWriter(256) }
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
  let low = 0
  let high = oseq
  for (const oseqOfField of changedAt) {
    if (oseqOfField <= base) low = Math.max(low, oseqOfField)
    else high = Math.min(high, oseqOfField)
  }
  frame.places.set(index, frame.updates.length)
  frame.updates.push({ replica, index, serial, oseq, low, high, end, madeAt })
  frame.said.push(index, serial, oseq)
}

function keepFrame(objects: Objects, now: Millis, frame: SharedFrame, bytes: Uint8Array): void {
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
const LATE = 1.1

// An object catches up with the round by so much at most, once a round. A link takes packets up to
// 256 out of order: in as many rounds an oseq rises by far less than the 32,768 that 16 bits tell
// apart.
const CATCH_UP_MAX = 16
// Most changes of one object in a send tick that the round follows.
const CHANGES_MAX = 8
// A round beyond this stays: each oseq may still rise as often again.
const ROUND_MAX = 2 ** 30

/**
 * A changed state of one of our objects leaves. All that leave in a send tick get the same oseq,
 * the round of that tick, so that a frame names it once. An object that rested catches up in steps.
 */
function joinRound(objects: Objects, replica: Replica): void {
  const { round } = objects
  if (replica.round !== round) {
    replica.round = round
    replica.oseq = Math.max(replica.oseq, Math.min(round, replica.oseq + CATCH_UP_MAX))
  }
  // Former owners chose the oseq of their objects: one far ahead does not count.
  if (replica.oseq < round + CHANGES_MAX)
    objects.newestOseq = Math.max(objects.newestOseq, replica.oseq)
}

function endRound(objects: Objects): void {
  if (objects.newestOseq >= objects.round)
    objects.round = Math.min(ROUND_MAX, objects.newestOseq + 1)
  objects.isPaced = objects.hasOwn
  objects.hasOwn = false
}

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

export function drain(objects: Objects, now: Millis): Iterable<PeerId> {
  if (now < sendDueAt(objects)) return []
  objects.nextSendAt = now + EARLY * tickMs(objects)
  objects.changesWaiting = false
  endRound(objects)
  const ready = [...objects.dirty]
  objects.dirty.clear()
  return ready
}

/** When the queued updates may be sent; Infinity if none are queued. */
export function sendDueAt(objects: Objects): Millis {
  const { dirty, fresh, changesWaiting, nextSendAt } = objects
  if (changesWaiting || fresh.size > 0) return nextSendAt + patience(objects)
  return dirty.size > 0 ? nextSendAt + tickMs(objects) : Infinity
}

// If we changed objects in the last tick too, changes of others wait a little longer for ours: a
// primary that simulates then sends all changes of a tick in one packet.
function patience(objects: Objects): Millis {
  return objects.isPaced && !objects.hasOwn ? (LATE - EARLY) * tickMs(objects) : 0
}

function tickMs({ gatherMs, subscribers }: Objects): Millis {
  return Math.max(gatherMs, GATHER_MS + subscribers.size / PEERS_PER_MS)
}
