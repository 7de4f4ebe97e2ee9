/**
 * Objects with one owner each: the newest state wins, and nobody waits.
 *
 * This is the first, small form: ownership is fixed, a state travels whole and unreliably. An
 * owner says its objects to the primary, the primary says them on to everybody else, and each
 * of them goes on saying an object to a peer until a packet that carried its newest state is
 * acked (B16-B18); when nothing changed nothing is sent. States carry the owner's own count
 * `oseq`, so that whatever comes late, twice or by way of another primary is ignored (B22).
 *
 * An owner's number is never used again. So an object whose owner is not in the view is either
 * yet to come (a larger number than any seen: the packet was faster than the news) and waits
 * unseen, or of one who went, and is ignored.
 *
 * A state of a type with motion says when it was made, in session time; a few of them also say
 * how old they were at each stage of the way, so that a viewer knows what the way costs (T73).
 */

import type { Millis, Part, PartOut, PartView, PeerId } from '../machine.ts'
import {
  type ByteReader,
  type ByteWriter,
  createReader,
  fail,
  readBytes,
  readU8,
  readVarint,
  writeBytes,
  writeU8,
  writeVarint,
} from '../wire/bytes.ts'
import { AGES_MAX, agesAt, readStamp, STAMP_BYTES_MAX, writeStamp } from './stamp.ts'

/** The channel of objects. */
export const OBJECTS_CHANNEL = 4
/** Most objects of one session. */
export const OBJECTS_MAX = 10_000
/** Largest state of one object, in bytes. */
export const STATE_MAX = 800
/** One update of an object in so many milliseconds says its ages. */
const MEASURE_EVERY_MS: Millis = 200
/** A sample that is further ahead of session time counts as made when it came. */
export const AHEAD_MAX_MS: Millis = 100
/** A destroyed object is remembered so long: nothing older is on its way any more. */
export const TOMBSTONE_MS: Millis = 60_000
// creator, count, type, oseq and length at their longest.
const RECORD_OVERHEAD = 24

/** One object as this member knows it. */
export interface Replica {
  /** `creator.count`, unique for ever. */
  id: string
  creator: PeerId
  count: number
  /** Its place in the game's list of types. */
  type: number
  /** Rises with each change by the owner. */
  oseq: number
  bytes: Uint8Array
  /** When this state was made, in session time; NaN if that is not known. */
  madeAt: Millis
  /** How old it was at the stages behind it; null if it is not measured. */
  ages: readonly Millis[] | null
  /** When the last state that is measured was made. Only of our own. */
  measuredAt: Millis
  dead: boolean
  diedAt: Millis
}

/** What one peer is known to have. */
interface Sight {
  acked: Map<string, number>
  /** Objects to be said, longest waiting first. */
  todo: Set<string>
  /** What a packet carried, until its verdict. */
  carried: Map<number, { id: string; oseq: number }[]>
}

/** All objects of a session at one member. */
export interface Objects {
  me: PeerId
  primary: PeerId
  /** Of each type, whether its states say when they were made. */
  timed: readonly boolean[]
  /** Session time minus our clock; NaN while it is not known. */
  offset: Millis
  replicas: Map<string, Replica>
  here: Set<PeerId>
  incMax: PeerId
  nextCount: number
  sights: Map<PeerId, Sight>
  /** What a member says who leads as soon as its view is here: that packet was faster. */
  early: Map<PeerId, Map<string, Replica>>
  dirty: Set<PeerId>
  counters: { malformed: number; stale: number; ignored: number; ahead: number }
}

/** What the objects tell the application. */
export type ObjectEvent =
  | { kind: 'object-came'; id: string }
  /** `ages`: at the four stages from its owner to us, if it was measured. */
  | { kind: 'object-changed'; id: string; ages: readonly Millis[] | null }
  | { kind: 'object-went'; id: string }

/** No objects yet. @param timed  of each type of the game, whether it has motion */
export function create(timed: readonly boolean[]): Objects {
  return {
    me: 0,
    primary: 0,
    timed,
    offset: NaN,
    replicas: new Map(),
    here: new Set(),
    incMax: 0,
    nextCount: 1,
    sights: new Map(),
    early: new Map(),
    dirty: new Set(),
    counters: { malformed: 0, stale: 0, ignored: 0, ahead: 0 },
  }
}

function reset(objects: Objects): void {
  const { timed, offset, counters } = objects
  Object.assign(objects, { ...create(timed), offset, counters })
}

/** A new object of ours. @param madeAt  session time, or NaN @returns its id */
export function spawn(
  objects: Objects,
  type: number,
  bytes: Uint8Array,
  madeAt: Millis = NaN,
): string {
  const count = objects.nextCount++
  const replica: Replica = {
    id: `${objects.me}.${count}`,
    creator: objects.me,
    count,
    type,
    oseq: 1,
    bytes,
    madeAt,
    ages: null,
    measuredAt: NaN,
    dead: false,
    diedAt: 0,
  }
  objects.replicas.set(replica.id, replica)
  announce(objects, replica)
  return replica.id
}

/**
 * The newest state of one of ours; the same bytes as before are no change (B17).
 *
 * @param madeAt  when it was made: session time, or NaN
 */
export function set(objects: Objects, id: string, bytes: Uint8Array, madeAt: Millis = NaN): void {
  const replica = objects.replicas.get(id)
  if (!replica || replica.creator !== objects.me || replica.dead) return
  if (sameBytes(replica.bytes, bytes)) return
  replica.bytes = bytes
  replica.madeAt = madeAt
  measure(objects, replica)
  replica.oseq++
  announce(objects, replica)
}

// The first update after a while is measured; a new object says nothing of the way.
function measure(objects: Objects, replica: Replica): void {
  replica.ages = null
  if (!objects.timed[replica.type] || Number.isNaN(replica.madeAt)) return
  if (replica.madeAt - replica.measuredAt < MEASURE_EVERY_MS) return
  replica.measuredAt = replica.madeAt
  // Between an owner and a primary in one process there is no way.
  replica.ages = leads(objects) ? [0, 0] : []
}

function leads(objects: Objects): boolean {
  return objects.me === objects.primary
}

/** Ends one of ours. */
export function destroy(objects: Objects, now: Millis, id: string): void {
  const replica = objects.replicas.get(id)
  if (!replica || replica.creator !== objects.me || replica.dead) return
  replica.dead = true
  replica.diedAt = now
  replica.bytes = new Uint8Array(0)
  replica.oseq++
  announce(objects, replica)
}

/** Whether it is to be seen: alive, and its owner is here. */
export function isSeen(objects: Objects, replica: Replica): boolean {
  return !replica.dead && objects.here.has(replica.creator)
}

// Says a change on: an owner to the primary, the primary to all but the owner.
function announce(objects: Objects, replica: Replica): void {
  if (!leads(objects)) {
    if (objects.primary !== 0) owe(objects, objects.primary, replica.id)
    return
  }
  for (const peer of objects.here) {
    if (peer !== objects.me && peer !== replica.creator) owe(objects, peer, replica.id)
  }
}

function owe(objects: Objects, peer: PeerId, id: string): void {
  sightOf(objects, peer).todo.add(id)
  objects.dirty.add(peer)
}

function sightOf(objects: Objects, peer: PeerId): Sight {
  let sight = objects.sights.get(peer)
  if (!sight) {
    sight = { acked: new Map(), todo: new Set(), carried: new Map() }
    objects.sights.set(peer, sight)
  }
  return sight
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, i) => byte === right[i])
}

function view(objects: Objects, now: Millis, seen: PartView, out: PartOut<ObjectEvent>): void {
  const before = objects.here
  const led = objects.primary
  objects.me = seen.me
  objects.primary = seen.primary
  objects.here = new Set(seen.members.map((member) => member.inc))
  objects.incMax = Math.max(objects.incMax, ...objects.here)
  for (const peer of objects.sights.keys()) {
    if (!objects.here.has(peer)) objects.sights.delete(peer)
  }
  for (const replica of objects.replicas.values()) {
    const came = isSeen(objects, replica) && !before.has(replica.creator)
    if (came && replica.creator !== seen.me) out.emit({ kind: 'object-came', id: replica.id })
    if (!isGone(objects, replica, now)) continue
    objects.replicas.delete(replica.id)
    if (!replica.dead) out.emit({ kind: 'object-went', id: replica.id })
  }
  if (led !== seen.primary) {
    oweAll(objects)
    takeEarly(objects, out)
  } else for (const peer of objects.here) if (!before.has(peer)) oweAllTo(objects, peer)
}

// The link has acked what we did not believe then, and nobody would say it again.
function takeEarly(objects: Objects, out: PartOut<ObjectEvent>): void {
  const said = objects.early.get(objects.primary)
  objects.early.clear()
  for (const replica of said?.values() ?? []) accept(objects, objects.primary, replica, out)
}

function keepEarly(objects: Objects, from: PeerId, said: Replica): void {
  const kept = objects.early.get(from) ?? new Map<string, Replica>()
  objects.early.set(from, kept)
  const known = kept.get(said.id)
  if (known ? known.oseq < said.oseq : kept.size < OBJECTS_MAX) kept.set(said.id, said)
}

function isGone(objects: Objects, replica: Replica, now: Millis): boolean {
  const ownerGone = !objects.here.has(replica.creator) && replica.creator <= objects.incMax
  return ownerGone || (replica.dead && now - replica.diedAt > TOMBSTONE_MS)
}

function oweAll(objects: Objects): void {
  for (const peer of objects.here) oweAllTo(objects, peer)
}

function oweAllTo(objects: Objects, peer: PeerId): void {
  if (peer === objects.me) return
  const leading = objects.me === objects.primary
  if (!leading && peer !== objects.primary) return
  for (const replica of objects.replicas.values()) {
    const mine = replica.creator === objects.me
    if (leading ? replica.creator !== peer : mine) owe(objects, peer, replica.id)
  }
}

function write(
  objects: Objects,
  now: Millis,
  to: PeerId,
  seq: number,
  writer: ByteWriter,
  budget: number,
): boolean {
  const sight = objects.sights.get(to)
  if (!sight || sight.todo.size === 0) return false
  const carried: { id: string; oseq: number }[] = []
  const start = writer.length
  for (const id of sight.todo) {
    const replica = objects.replicas.get(id)
    if (!replica) {
      sight.todo.delete(id)
      continue
    }
    const room = budget - (writer.length - start)
    const overhead = RECORD_OVERHEAD + (objects.timed[replica.type] ? STAMP_BYTES_MAX : 0)
    if (replica.bytes.length + overhead > room) break
    writeRecord(objects, now, writer, replica)
    sight.todo.delete(id)
    carried.push({ id, oseq: replica.oseq })
  }
  if (carried.length === 0) return false
  sight.carried.set(seq, [...(sight.carried.get(seq) ?? []), ...carried])
  return true
}

function writeRecord(objects: Objects, now: Millis, writer: ByteWriter, replica: Replica): void {
  writeVarint(writer, replica.creator)
  writeVarint(writer, replica.count)
  writeU8(writer, replica.type | (replica.dead ? 0x80 : 0))
  writeVarint(writer, replica.oseq)
  writeBytes(writer, replica.bytes, STATE_MAX)
  if (!objects.timed[replica.type]) return
  const ages = agesAt(replica, now + objects.offset, leads(objects) ? AGES_MAX : 1)
  writeStamp(writer, replica.madeAt, ages)
}

function read(
  objects: Objects,
  now: Millis,
  from: PeerId,
  bytes: Uint8Array,
  out: PartOut<ObjectEvent>,
): void {
  const reader = createReader(bytes)
  while (!reader.failed && reader.at < reader.end) {
    const replica = readRecord(objects, reader, now)
    if (reader.failed) {
      objects.counters.malformed++
      return
    }
    place(objects, now, replica)
    accept(objects, from, replica, out)
  }
}

function readRecord(objects: Objects, reader: ByteReader, now: Millis): Replica {
  const creator = readVarint(reader)
  const count = readVarint(reader)
  const typed = readU8(reader)
  const type = typed & 0x7f
  if (type >= objects.timed.length) fail(reader)
  const oseq = readVarint(reader)
  const bytes = readBytes(reader, STATE_MAX)
  const stamp = objects.timed[type] ? readStamp(reader) : null
  return {
    id: `${creator}.${count}`,
    creator,
    count,
    type,
    oseq,
    bytes,
    madeAt: stamp?.madeAt ?? NaN,
    ages: stamp?.ages ?? null,
    measuredAt: NaN,
    dead: typed >= 0x80,
    diedAt: now,
  }
}

// What comes from a clock that runs ahead must not be extrapolated by it.
function place(objects: Objects, now: Millis, said: Replica): void {
  const time = now + objects.offset
  if (said.madeAt > time + AHEAD_MAX_MS) {
    objects.counters.ahead++
    said.madeAt = time
  }
  said.ages = agesAt(said, time, leads(objects) ? 2 : AGES_MAX + 1)
}

function accept(objects: Objects, from: PeerId, said: Replica, out: PartOut<ObjectEvent>): void {
  const mayTell = from === said.creator || from === objects.primary
  const gone = !objects.here.has(said.creator) && said.creator <= objects.incMax
  // Also from somebody newer than our view: a link to it is there because the register names it.
  const isKnown = objects.here.has(from) || from > objects.incMax
  if (!mayTell && isKnown) keepEarly(objects, from, said)
  if (!mayTell || gone || said.creator === objects.me) {
    objects.counters.ignored++
    return
  }
  const known = objects.replicas.get(said.id)
  if (known && (known.oseq >= said.oseq || known.dead)) {
    objects.counters.stale++
    return
  }
  if (!known && objects.replicas.size >= OBJECTS_MAX) {
    objects.counters.ignored++
    return
  }
  objects.replicas.set(said.id, said)
  tell(objects, known, said, out)
  if (!leads(objects)) said.ages = null
  if (leads(objects)) announce(objects, said)
}

function tell(
  objects: Objects,
  known: Replica | undefined,
  said: Replica,
  out: PartOut<ObjectEvent>,
): void {
  if (!objects.here.has(said.creator)) return
  if (said.dead) {
    if (known) out.emit({ kind: 'object-went', id: said.id })
  } else if (!known) out.emit({ kind: 'object-came', id: said.id })
  else out.emit({ kind: 'object-changed', id: said.id, ages: allAges(objects, said) })
}

// A primary hands on to itself at once.
function allAges(objects: Objects, { ages }: Replica): readonly Millis[] | null {
  const [sent, received] = ages ?? []
  if (!leads(objects) || sent === undefined || received === undefined) return ages
  return [sent, received, received, received]
}

function acked(objects: Objects, peer: PeerId, seq: number): void {
  const sight = objects.sights.get(peer)
  const carried = sight?.carried.get(seq)
  if (!sight || !carried) return
  sight.carried.delete(seq)
  for (const { id, oseq } of carried) {
    if ((sight.acked.get(id) ?? 0) < oseq) sight.acked.set(id, oseq)
    if (objects.replicas.get(id)?.oseq === oseq) sight.todo.delete(id)
  }
}

function lost(objects: Objects, peer: PeerId, seq: number): void {
  const sight = objects.sights.get(peer)
  const carried = sight?.carried.get(seq)
  if (!sight || !carried) return
  sight.carried.delete(seq)
  for (const { id, oseq } of carried) {
    if ((sight.acked.get(id) ?? 0) >= oseq) continue
    sight.todo.add(id)
    objects.dirty.add(peer)
  }
}

function linked(objects: Objects, peer: PeerId): void {
  objects.sights.delete(peer)
  if (objects.here.has(peer)) oweAllTo(objects, peer)
}

function drain(objects: Objects): PeerId[] {
  const peers = [...objects.dirty]
  objects.dirty.clear()
  return peers
}

/** The objects as a part of a member. */
export const objectsPart: Part<Objects> = {
  channel: OBJECTS_CHANNEL,
  read: (state, now, from, bytes, out) => read(state, now, from, bytes, out),
  write,
  clock: (state, offset) => void (state.offset = offset),
  dirty: drain,
  reset,
  view,
  linked: (state, _now, peer) => linked(state, peer),
  acked,
  lost,
}
