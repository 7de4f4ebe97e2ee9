/**
 * The objects as a part of a member: the messages to the rooms' verbs, views, links, what is due.
 */

import type { Millis, Part, PartOut, PeerId } from '../machine.ts'
import { type ByteReader, createReader, isDone, readU8, readVarint } from '../wire/bytes.ts'
import { LOOK_MS, takeSaid } from './accept.ts'
import { counted, followed } from './census.ts'
import { delivered, flush } from './duty.ts'
import { hideFurther, lookAgain } from './interest.ts'
import { KIND, readEntry, readName } from './messages.ts'
import {
  type Asked,
  balance,
  BALANCE_MS,
  conclude,
  decide,
  declined,
  endGrace,
  endAsked,
  endGrants,
  giveBack,
  REFUSED,
  takeOrphan,
} from './owning.ts'
import { drain, leavesAt } from './queue.ts'
import { reckon, reckonsAt } from './reckoning.ts'
import { settle, takeGrant } from './requests.ts'
import { forget, leads, type ObjectEvent, type Objects, type Turn, type Types } from './state.ts'
import { acked, lost, read, waits, write } from './updates.ts'
import { compare, readVersion } from './version.ts'
import { linked, reset, viewed } from './views.ts'

/** The channel of objects. */
export const OBJECTS_CHANNEL = 4
/** A destroyed object is remembered so long: nothing older is on its way any more (B49). */
export const TOMBSTONE_MS: Millis = 60_000

/** The part, for a game with these types. */
export function objectsPart(types: Types): Part<Objects> {
  const turn = (objects: Objects, now: Millis, out: PartOut): Turn => {
    return { objects, types, now, out: out as PartOut<ObjectEvent> }
  }
  return {
    channel: OBJECTS_CHANNEL,
    receive: (state, now, from, bytes, out) => receive(turn(state, now, out), from, bytes),
    read: (state, now, from, bytes, out) => read(turn(state, now, out), from, bytes),
    write: (state, now, to, seq, writer, budget) => {
      return write(state, types, now, to, seq, writer, budget)
    },
    waits,
    dirty: drain,
    flush: (state, now, out) => {
      const done = turn(state, now, out)
      reckon(done)
      flush(done)
    },
    wake: (state, now, out) => wake(turn(state, now, out)),
    deadline: (state) =>
      Math.min(state.lookAt, state.countedAt, state.balanceAt, leavesAt(state), reckonsAt(state)),
    clock: (state, offset) => void (state.offset = offset),
    reset: (state, out) => reset(turn(state, 0, out)),
    view: (state, now, view, out) => viewed(turn(state, now, out), view),
    linked: (state, now, peer) => linked(state, types, now, peer),
    acked,
    lost,
    delivered: (state, peer, upTo) => delivered(state, 0, peer, upTo),
  }
}

// Hostile: what is malformed is counted, and so is what is not for us.
function receive(turn: Turn, from: PeerId, bytes: Uint8Array): void {
  const { objects } = turn
  const reader = createReader(bytes)
  const kind = readU8(reader)
  if (objects.variant === 'deaf-to-strangers' && !objects.here.has(from)) return
  if (reader.failed || !(known(kind) && take(turn, from, kind, reader))) {
    objects.counters.malformed++
  }
}

function known(kind: number): boolean {
  return kind >= KIND.tell && kind <= KIND.refuse
}

// Returns whether it was well formed.
function take(turn: Turn, from: PeerId, kind: number, reader: ByteReader): boolean {
  const { objects } = turn
  switch (kind) {
    case KIND.tell:
    case KIND.orphans:
      return entries(turn, from, kind, reader)
    case KIND.hide:
      return hide(turn, from, reader)
    case KIND.follow:
      return epochOf(reader, (epoch) => followed(turn, from, epoch))
    case KIND.census:
      return epochOf(reader, (reign) => counted(turn, from, reign))
    case KIND.refuse: {
      const [number, why] = [readVarint(reader), readVarint(reader)]
      if (!isDone(reader) || why > REFUSED.gone) return false
      if (from === objects.primary) {
        conclude(turn, number, why === REFUSED.gone ? 'gone' : 'refused')
      }
      return true
    }
    default:
      return takeOwning(turn, from, kind, reader)
  }
}

// A message that says an epoch and nothing else.
function epochOf(reader: ByteReader, take: (epoch: number) => void): boolean {
  const epoch = readVarint(reader)
  if (!isDone(reader)) return false
  take(epoch)
  return true
}

function takeOwning(turn: Turn, from: PeerId, kind: number, reader: ByteReader): boolean {
  const { objects, types, out } = turn
  if (kind === KIND.grant) {
    const version = readVersion(reader)
    const base = readEntry(reader, types)
    if (!isDone(reader)) return false
    takeGrant(turn, from, version, base)
    settleKey(turn, base.key)
    return true
  }
  const number = kind === KIND.request ? readVarint(reader) : 0
  const { key, version } = readName(reader)
  if (kind === KIND.request) return requested(turn, { from, number, key, version }, reader)
  const by = readVarint(reader)
  if (!isDone(reader)) return false
  if (kind === KIND.decline) {
    if (leads(objects)) declined(turn, from, key)
    else objects.counters.ignored++
  } else if (from === objects.primary && objects.replicas.get(key)?.owner === objects.me) {
    out.emit({ kind: 'object-asked', key, by })
  } else objects.counters.ignored++
  return true
}

function requested(
  turn: Turn,
  head: Pick<Asked, 'from' | 'number' | 'key' | 'version'>,
  reader: ByteReader,
): boolean {
  const { objects, types } = turn
  const { key } = head
  const said = readU8(reader)
  const what = said === 1 ? 'give' : 'take'
  const to = readVarint(reader)
  const entry = what === 'give' ? readEntry(reader, types) : null
  if (!isDone(reader) || said > 1 || (entry && entry.key !== key)) return false
  if (leads(objects)) decide(turn, { ...head, what, to, entry })
  else objects.counters.ignored++
  // Our own, if it is to us that it was given.
  settleKey(turn, key)
  return true
}

function entries(turn: Turn, from: PeerId, kind: number, reader: ByteReader): boolean {
  const { objects, types } = turn
  while (!reader.failed && reader.at < reader.end) {
    const said = readEntry(reader, types)
    if (reader.failed) return false
    if (kind === KIND.tell) takeSaid(turn, from, said)
    else if (leads(objects)) takeOrphan(turn, said)
    else objects.counters.ignored++
    settleKey(turn, said.key)
  }
  return !reader.failed
}

function settleKey(turn: Turn, key: number): void {
  const replica = turn.objects.replicas.get(key)
  if (replica && turn.objects.requests.size > 0) settle(turn, replica)
}

// Whoever speaks for it does not let us see it any more; what we know of it stays, unseen.
function hide(turn: Turn, from: PeerId, reader: ByteReader): boolean {
  const { objects, out } = turn
  while (!reader.failed && reader.at < reader.end) {
    const { key, version } = readName(reader)
    if (reader.failed) return false
    const replica = objects.replicas.get(key)
    // In a mesh it may be of an owner that we have not heard of.
    const newer = replica !== undefined && compare(version, replica.version) > 0
    const speaks = from === objects.primary || from === replica?.owner || (newer && objects.mesh)
    const mine = replica?.owner === objects.me
    if (!replica || replica.dead || replica.hidden || !speaks || (mine && !newer)) {
      objects.counters.ignored++
      continue
    }
    // It was ours, and whose it is we may not know.
    if (mine) Object.assign(replica, { version, owner: 0, giving: false })
    if (mine) hideFurther(turn, replica, true)
    replica.hidden = true
    settleKey(turn, key)
    out.emit({ kind: 'object-went', key })
  }
  return !reader.failed
}

function wake(turn: Turn): void {
  const { objects, now } = turn
  if (now >= objects.balanceAt) {
    objects.balanceAt = now + BALANCE_MS
    balance(turn)
  }
  if (now >= objects.countedAt) {
    objects.countedAt = Infinity
    turn.out.emit({ kind: 'objects-settled' })
  }
  if (now < objects.lookAt) return
  objects.lookAt = now + LOOK_MS
  lookAgain(turn)
  if (leads(objects)) {
    giveBack(turn)
    endGrace(turn)
    endGrants(turn)
    endAsked(turn)
  }
  for (const replica of [...objects.replicas.values()]) {
    if (!replica.dead || now - replica.since < TOMBSTONE_MS) continue
    objects.grants.delete(replica.key)
    objects.asked.delete(replica.key)
    forget(objects, replica)
  }
}
