/**
 * The objects as a part of a member: passes messages, views and links on, and does what is due.
 */

import type { Millis, PeerId } from '../../machine.ts'
import type { Part, PartOut } from '../../kind/protocol/part.ts'
import {
  type ByteReader,
  createReader,
  fail,
  isDone,
  readU8,
  readVarint,
} from '../../wire/bytes.ts'
import { correct, LOOK_MS, takeFull, takeSaid } from './accept.ts'
import { counted, expected, followed, linked, reset, tellHidden, viewed } from './views.ts'
import { announce, delivered, flush } from './fan-out.ts'
import { hideFurther, lookAgain } from './interest.ts'
import { KIND, readEntry, readLack, readName, readRequest } from './messages.ts'
import { adoptUnclaimed, balance, BALANCE_MS, endGrace, giveBack, takeOrphan } from './orphans.ts'
import {
  decideAll,
  declined,
  demand,
  endAsks,
  endGrants,
  forgetAsks,
  hearAsk,
  sayAnswers,
} from './grants.ts'
import type { Keeper } from './keeper.ts'
import { drain, leavesAt } from './frames.ts'
import { acked, lost, read, reckon, reckonsAt, waits, write } from './updates.ts'
import { conclude, endRequests, settle, takeGrant } from './requests.ts'
import {
  forget,
  leads,
  type ObjectEvent,
  type Objects,
  REFUSALS,
  type Replica,
  type Turn,
  type Types,
} from './state.ts'
import { compare, readVersion, type Version } from './stamp.ts'

/** The channel of objects. */
export const OBJECTS_CHANNEL = 4
/** A destroyed object is remembered so long: by then no older message of it is on its way (B49). */
export const TOMBSTONE_MS: Millis = 60_000

/**
 * Creates the part, for a game with these types.
 *
 * @param keeper  what keeps objects beyond the members of a room; null if no type is kept
 */
export function objectsPart(types: Types, keeper: Keeper | null = null): Part<Objects> {
  const turn = (objects: Objects, now: Millis, out: PartOut): Turn => {
    return { objects, types, now, out: out as PartOut<ObjectEvent> }
  }
  const part: Part<Objects> = {
    channel: OBJECTS_CHANNEL,
    receive: (state, now, from, bytes, out) => receive(turn(state, now, out), from, bytes),
    // To be sent what there is, and what comes.
    hearsWatcher: (bytes) => bytes[0] === KIND.follow,
    read: (state, now, from, bytes, out) => read(turn(state, now, out), from, bytes),
    write: (state, now, to, seq, writer, budget) => {
      return write(state, types, now, to, seq, writer, budget)
    },
    waits,
    dirty: drain,
    flush: (state, now, out) => {
      const done = turn(state, now, out)
      reckon(done)
      sayAnswers(done)
      decideAll(done)
      flush(done)
    },
    wake: (state, now, out) => wake(turn(state, now, out)),
    deadline,
    clock: (state, offset) => void (state.offset = offset),
    reset: (state, out) => reset(turn(state, 0, out)),
    view: (state, now, view, out) => {
      viewed(turn(state, now, out), view)
      keeper?.bringBack(turn(state, now, out))
    },
    linked: (state, now, peer) => linked(state, types, now, peer),
    acked,
    lost,
    delivered,
  }
  if (!keeper) return part
  return {
    ...part,
    stirred: ({ kept }) => kept.stirred,
    whole: (state) => keeper.wholeOf(state, types),
    changes: (state) => keeper.changesOf(state, types),
    find: (state, all) => keeper.find(state, types, all),
    keptAs: 'kept',
    reread: (said, bytes, behind) => keeper.reread(types, said, bytes, behind),
  }
}

function deadline(state: Objects): Millis {
  const { lookAt, countedAt, balanceAt, pendingAt } = state
  return Math.min(lookAt, countedAt, balanceAt, pendingAt, leavesAt(state), reckonsAt(state))
}

// Input is hostile: messages that are malformed, or not meant for us, are counted.
function receive(turn: Turn, from: PeerId, bytes: Uint8Array): void {
  const { objects } = turn
  if (!objects.rules.hears(objects, from)) return
  const reader = createReader(bytes)
  const kind = readU8(reader)
  if (kind === KIND.tell || kind === KIND.unowned) entries(turn, from, kind, reader)
  else if (kind === KIND.hide) hide(turn, from, reader)
  else take(turn, from, kind, reader)
  if (!isDone(reader)) objects.counters.malformed++
}

// Messages of one number and nothing else.
const NUMBERS: Readonly<Record<number, (turn: Turn, from: PeerId, number: number) => void>> = {
  [KIND.follow]: followed,
  [KIND.resync]: counted,
  [KIND.total]: expected,
}

// A message of one thing counts only as a whole.
function take(turn: Turn, from: PeerId, kind: number, reader: ByteReader): void {
  const { objects, types, now } = turn
  const { primary, counters } = objects
  const inNumbers = NUMBERS[kind]
  if (inNumbers) {
    const number = readVarint(reader)
    if (isDone(reader)) inNumbers(turn, from, number)
  } else if (kind === KIND.refuse) {
    const number = readVarint(reader)
    const why = REFUSALS[readVarint(reader)] ?? fail(reader)
    const by = readVarint(reader)
    if (isDone(reader) && why !== 0 && from === primary) conclude(turn, number, why, by)
  } else if (kind === KIND.grant) {
    const version = readVersion(reader)
    const base = readEntry(reader, types)
    if (!isDone(reader)) return
    takeGrant(turn, from, version, base)
    settleKey(turn, base.key)
  } else if (kind === KIND.request) {
    const asked = readRequest(reader, types)
    if (!isDone(reader)) return
    if (leads(objects)) demand(turn, { ...asked, from, at: now })
    else counters.ignored++
  } else if (kind === KIND.full) {
    const { key, version } = readName(reader)
    const why = readLack(reader)
    if (!isDone(reader)) return
    takeFull(turn, from, key, version, why)
    settleKey(turn, key)
  } else if (kind === KIND.ask || kind === KIND.decline) {
    const { key } = readName(reader)
    const asker = { by: readVarint(reader), request: readVarint(reader) }
    if (!isDone(reader)) return
    if (kind === KIND.decline && leads(objects)) declined(turn, from, key, asker)
    else if (kind === KIND.ask && from === primary) hearAsk(turn, key, asker)
    else counters.ignored++
  } else fail(reader)
}

// Entries count up to the first that is malformed.
function entries(turn: Turn, from: PeerId, kind: number, reader: ByteReader): void {
  const { objects, types } = turn
  while (!reader.failed && reader.at < reader.end) {
    const said = readEntry(reader, types)
    if (reader.failed) return
    if (kind === KIND.tell) takeSaid(turn, from, said)
    else if (leads(objects)) takeOrphan(turn, from, said)
    else objects.counters.ignored++
    settleKey(turn, said.key)
  }
}

// An object changed its version or state: our requests may be settled, waiting ones decided.
function settleKey(turn: Turn, key: number): void {
  const { replicas, requests, pending } = turn.objects
  const replica = replicas.get(key)
  if (replica && requests.size > 0) settle(turn, replica)
  if (pending.length > 0) turn.objects.pendingAt = turn.now
}

// The object's speaker does not let us see it any more; what we know of it stays, unseen.
function hide(turn: Turn, from: PeerId, reader: ByteReader): void {
  const { objects } = turn
  while (!reader.failed && reader.at < reader.end) {
    const { key, version } = readName(reader)
    if (reader.failed) return
    const replica = objects.replicas.get(key)
    if (!replica || replica.dead || !takeHide(turn, from, replica, version)) {
      objects.counters.ignored++
    }
  }
}

// Returns whether the HIDE counts.
function takeHide(turn: Turn, from: PeerId, replica: Replica, version: Version): boolean {
  const { objects, out } = turn
  const order = compare(version, replica.version)
  // In a mesh the sender may be an owner that we do not know of. But in the version that we know,
  // only its owner decides who may see it; a former owner may be late with its HIDE.
  const speaks = objects.mesh ? from === replica.owner || order > 0 : from === objects.primary
  const mine = replica.owner === objects.me
  // The sender may still take the object for its own.
  if (mine && order < 0 && objects.mesh) correct(turn, from, replica)
  if (!speaks || (mine && order <= 0)) return false
  if (replica.hidden && (order <= 0 || !objects.mesh)) return false
  // The object was ours, or a late grant of an older version may still come. We may not know its
  // new owner, and have no state of the new version.
  if (mine || (objects.mesh && order > 0)) {
    Object.assign(replica, { version, owner: 0, giving: false, oseq: 0 })
  }
  if (replica.hidden) return true
  // First a HIDE goes to those whom we sent the object: after `announce` nothing of that is kept.
  if (mine) hideFurther(turn, replica, true)
  if (mine) announce(turn, replica)
  replica.hidden = true
  settleKey(turn, replica.key)
  out.emit({ kind: 'object-went', key: replica.key })
  return true
}

function wake(turn: Turn): void {
  const { objects, now } = turn
  if (now >= objects.balanceAt) {
    objects.balanceAt = now + BALANCE_MS
    balance(turn)
  }
  if (now >= objects.countedAt) {
    objects.countedAt = Infinity
    if (leads(objects)) adoptUnclaimed(turn)
    else tellHidden(turn)
    turn.out.emit({ kind: 'objects-settled' })
  }
  if (now < objects.lookAt) return
  objects.lookAt = now + LOOK_MS
  lookAgain(turn)
  endRequests(turn)
  forgetAsks(turn)
  if (leads(objects)) {
    giveBack(turn)
    objects.lookAt = Math.min(objects.lookAt, endGrace(turn))
    endGrants(turn)
    endAsks(turn)
  }
  for (const replica of [...objects.replicas.values()]) {
    if (!replica.dead || now - replica.since < TOMBSTONE_MS) continue
    objects.grants.delete(replica.key)
    objects.asked.delete(replica.key)
    forget(objects, replica)
  }
}
