/**
 * The duty rule: who speaks for an object sees to it that everybody who may know it has been told
 * its newest version (B13, B14, B19, B38-B40). It replaces all special cases for newcomers,
 * new links and new primaries: then there is only more to tell.
 *
 * In a star the primary speaks for all objects towards everybody but their owners, and a member
 * for its own towards the primary. In a mesh each owner speaks for its own towards all. An update
 * goes to a peer only when it has the version that the update is of: `delivered` opens that gate,
 * which means that every message up to that one has come (B55), never that a packet was acked.
 */

import type { PeerId } from '../machine.ts'
import { type ByteWriter, finish } from '../wire/bytes.ts'
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
  GATE,
  leads,
  type Objects,
  type Replica,
  type Sight,
  type Turn,
  type Types,
} from './state.ts'
import { enqueue, spread } from './queue.ts'

/** Messages of entries that may be on their way to one peer. */
export const BATCHES_MAX = 32

/** A peer of whom nothing is known. */
export function createSight(): Sight {
  const size = 8
  return {
    linked: false,
    retoldIn: 0,
    follows: false,
    gate: new Uint8Array(size),
    acked: new Uint32Array(size),
    sent: new Uint32Array(size),
    seen: new Uint8Array(size),
    outdated: new Set(),
    owed: [],
    awaited: [],
    todo: [],
    queued: new Uint8Array(size),
    since: new Float64Array(size),
    carried: new Map(),
    behind: 0,
    filledAt: -Infinity,
    rankedAt: -Infinity,
    censusDue: false,
    cells: new Map(),
    eyes: new Map(),
  }
}

/** Makes room for a slot. */
export function reach(sight: Sight, slot: number): void {
  if (slot < sight.gate.length) return
  const size = Math.max(slot + 1, sight.gate.length * 2)
  sight.gate = widen(sight.gate, size)
  sight.acked = widen(sight.acked, size)
  sight.sent = widen(sight.sent, size)
  sight.seen = widen(sight.seen, size)
  sight.queued = widen(sight.queued, size)
  sight.since = widen(sight.since, size)
}

function widen<Row extends Uint8Array | Uint32Array | Float64Array>(row: Row, size: number): Row {
  const wide = new (row.constructor as new (length: number) => Row)(size)
  wide.set(row)
  return wide
}

/**
 * Nothing is known any more of what that peer has; what it may see stays.
 *
 * @param knew  it may still have what it was told: it hears of it again, or that it is hidden
 */
export function forgetAll(sight: Sight, knew = false): void {
  sight.follows = false
  for (let slot = 0; slot < sight.gate.length; slot++) {
    if (sight.gate[slot] !== GATE.none) sight.gate[slot] = knew ? GATE.told : GATE.none
  }
  sight.acked.fill(0)
  sight.sent.fill(0)
  sight.queued.fill(0)
  sight.owed.length = 0
  sight.todo.length = 0
  sight.awaited.length = 0
  sight.carried.clear()
}

/** Whether we speak for that object towards that peer. */
export function speaksFor(objects: Objects, replica: Replica, peer: PeerId): boolean {
  if (objects.mesh) return replica.owner === objects.me
  if (leads(objects)) return replica.owner !== peer
  return replica.owner === objects.me && peer === objects.primary
}

/** A new version of an object stands here: all to whom we speak for it are told. */
export function announce(turn: Turn, replica: Replica): void {
  const { objects } = turn
  const { slot } = replica
  replica.serial = objects.nextSerial++
  objects.serials[slot] = replica.serial
  for (const [peer, sight] of objects.sights) {
    if (slot < sight.gate.length) {
      sight.acked[slot] = 0
      sight.sent[slot] = 0
      sight.queued[slot] = 0
    }
    owe(turn, peer, sight, replica)
  }
}

/** Tells that peer all that is ours to tell. */
export function oweAll(turn: Turn, peer: PeerId, sight: Sight): void {
  const { replicas, rules } = turn.objects
  for (const replica of replicas.values()) {
    if (replica.dead && !rules.tombstone('tell')) continue
    owe(turn, peer, sight, replica)
  }
}

/** Sees to it that a peer is told how an object stands, if that is for us to tell. */
export function owe(turn: Turn, peer: PeerId, sight: Sight, replica: Replica): void {
  const { objects } = turn
  const { slot } = replica
  if (!mayTell(turn, peer, sight, replica)) {
    // Of those to whom we tell nothing, all but the primary in a star, nothing is kept.
    if (slot < sight.gate.length) sight.gate[slot] = GATE.none
    return
  }
  reach(sight, slot)
  const gate = sight.gate[slot]!
  const knows = gate !== GATE.none
  const hides = !replica.dead && !mayKnow(turn.types, objects, replica, peer, sight)
  // In a mesh it may have heard of the object from an owner before us.
  const heard = knows || sight.outdated.has(slot) || (objects.mesh && replica.version.count > 0)
  // Who told us an older version did not take that it is hidden: it was its own by then.
  const isOver = gate === GATE.hidden && !sight.outdated.has(slot)
  if (hides && (!heard || isOver)) return
  sight.outdated.delete(slot)
  const listed = gate === GATE.owed || gate === GATE.hiding
  sight.gate[slot] = hides ? GATE.hiding : GATE.owed
  if (!listed) sight.owed.push(slot)
  objects.owing.add(peer)
}

// In a star a member hears only its primary: what comes before it knows that is lost.
function mayTell({ objects }: Turn, peer: PeerId, sight: Sight, replica: Replica): boolean {
  if (!sight.linked || !objects.here.has(peer)) return false
  if (!objects.mesh && leads(objects) && !sight.follows) return false
  return objects.rules.speaksFor(objects, replica, peer)
}

function mayKnow(
  types: Types,
  objects: Objects,
  replica: Replica,
  peer: PeerId,
  sight: Sight,
): boolean {
  if (types[replica.type]!.sight === null || peer === objects.primary) return true
  return sight.seen[replica.slot] === 1
}

/** Sends what is owed, a few messages at a time to each peer; then what is asked of it. */
export function flush(turn: Turn): void {
  const { objects, out } = turn
  spread(objects, turn.now)
  for (const peer of objects.owing) tell(turn, peer)
  // Whoever decides knows by then what we knew.
  for (const { to, bytes } of objects.outbox.splice(0)) out.send(to, bytes)
  for (const peer of objects.owing) count(turn, peer)
}

function tell(turn: Turn, peer: PeerId): void {
  const sight = turn.objects.sights.get(peer)
  if (!sight) return
  while (sight.linked && sight.owed.length > 0 && sight.awaited.length < BATCHES_MAX) {
    if (!sendBatch(turn, peer, sight)) return
  }
}

// Who has been told all is asked what it has.
function count({ objects, out }: Turn, peer: PeerId): void {
  const sight = objects.sights.get(peer)
  if (sight && (sight.owed.length > 0 || (sight.censusDue && !sight.linked))) return
  objects.owing.delete(peer)
  if (!sight?.censusDue) return
  sight.censusDue = false
  out.send(peer, plain(KIND.census, objects.reign.from))
}

function sendBatch({ objects, types, out }: Turn, peer: PeerId, sight: Sight): boolean {
  const tell = begin(KIND.tell)
  const hidden = begin(KIND.hide)
  const told: number[] = []
  let taken = 0
  for (const slot of sight.owed) {
    const replica = at(objects, slot)
    if (replica && sight.gate[slot] === GATE.owed) {
      if (!fits(tell, types, replica, told.length)) break
      writeEntry(tell, types, replica)
      sight.gate[slot] = GATE.told
      told.push(slot, replica.serial, replica.oseq)
    } else if (replica && sight.gate[slot] === GATE.hiding) {
      if (hidden.length > BATCH_BYTES) break
      writeName(hidden, replica, replica.version)
      sight.gate[slot] = GATE.hidden
      unawait(sight, slot)
    }
    taken++
  }
  sight.owed.splice(0, taken)
  if (hidden.length > 1 && out.send(peer, finish(hidden)) === 0) sight.linked = false
  if (told.length === 0 || !sight.linked) return sight.linked
  const message = out.send(peer, finish(tell))
  if (message > 0) sight.awaited.push({ message, told })
  else sight.linked = false
  return sight.linked
}

// What was told before it was hidden opens no gate: it may come before the HIDE, and what is told
// after that has not come by then.
function unawait({ awaited }: Sight, slot: number): void {
  for (const { told } of awaited) {
    for (let i = 0; i < told.length; i += 3) if (told[i] === slot) told[i + 1] = 0
  }
}

function fits(writer: ByteWriter, types: Types, replica: Replica, told: number): boolean {
  if (told === 0) return true
  return writer.length + types[replica.type]!.schema.bytesMax + ENTRY_OVERHEAD <= BATCH_BYTES
}

/** All messages up to that one have come: their objects may be updated (L3, B14, B40). */
export function delivered(objects: Objects, now: number, peer: PeerId, upTo: number): void {
  const sight = objects.sights.get(peer)
  if (!sight) return
  while (sight.awaited.length > 0 && sight.awaited[0]!.message <= upTo) {
    open(objects, now, peer, sight, sight.awaited.shift()!.told)
  }
}

/** The objects that a message told are known to the peer from now on. */
export function open(
  objects: Objects,
  now: number,
  peer: PeerId,
  sight: Sight,
  told: readonly number[],
): void {
  for (let i = 0; i < told.length; i += 3) {
    const slot = told[i]!
    const replica = at(objects, slot)
    if (!replica || replica.serial !== told[i + 1] || sight.gate[slot] !== GATE.told) continue
    sight.gate[slot] = GATE.open
    sight.acked[slot] = Math.max(sight.acked[slot]!, told[i + 2]!)
    if (!replica.dead && replica.oseq > sight.acked[slot]!) {
      sight.since[slot] = now
      enqueue(objects, peer, sight, slot)
    }
  }
}
