/**
 * Objects, each with one owner at a time (B1, B5, B25): operations, rules, a member's part.
 *
 * The newest state wins, and nobody waits. The owner creates, changes and destroys an object, and
 * may give it away; any member may ask for it, and the primary decides. Entries (fan-out.ts) and
 * updates (updates.ts) carry states; four rules accept them (accept.ts, requests.ts).
 * docs/protocols/objects.md shows why replicas converge.
 */

import { assert, type Millis, rulesOf, type PeerId } from '../../machine.ts'
import type { Quantised } from '../../wire/fields/schema.ts'
import {
  markDestroyed,
  isFromEarlierTerm,
  isAuthorized,
  install,
  correct,
  SWEEP_MS,
  receiveFrame,
  receiveFull,
  receiveEntry,
} from './accept.ts'
import { updateInterest, forwardHide, recheckRules } from './interest.ts'
import {
  sendState,
  defer,
  drain,
  sendDueAt,
  acked,
  lost,
  sendUnsent,
  unsentDueAt,
  waits,
  write,
} from './updates.ts'
import {
  createState,
  GATHER_MS,
  isMine,
  type Objects,
  type ObjectsRules,
  place,
  relays,
  type Replica,
  type Context,
  type Types,
  compare,
  FIRST,
  forget,
  leads,
  type ObjectEvent,
  REFUSALS,
  type Version,
  isUnclaimed,
} from './state.ts'
import { oweAll, sendsTo, announce, delivered, flush } from './fan-out.ts'
import {
  grant,
  decideAll,
  receiveDecline,
  receiveRequest,
  endAsks,
  endGrants,
  forgetAsks,
  receiveAsk,
  sendAnswers,
  conclude,
  endRequests,
  settle,
  receiveGrant,
} from './requests.ts'
import {
  follow,
  receiveResync,
  receiveTotal,
  receiveFollow,
  linked,
  reset,
  report,
  receiveView,
  takeNewcomers,
} from './views.ts'
import type { Part, PartOut } from '../../kind/protocol/part.ts'
import {
  type ByteReader,
  createReader,
  fail,
  isDone,
  readU8,
  readVarint,
} from '../../wire/bytes.ts'
import { KIND, readEntry, readLack, readName, readRequest, readVersion } from './messages.ts'
import {
  adoptUnclaimed,
  balance,
  BALANCE_MS,
  endGrace,
  giveBack,
  receiveUnowned,
} from './unowned.ts'
import type { Keeper } from './keeper.ts'

export type { Keeper } from './keeper.ts'
export { give, reply, request } from './requests.ts'
export * from './state.ts'

// A sink for `updateInterest` in `set`, which neither sends messages at once nor emits events.
const NOBODY = { send: () => 0, emit: () => {} }

/** Time between two updates of an object that carry ages. */
const MEASURE_EVERY_MS: Millis = 200
// With more objects than this, each is measured less often.
const MEASURED_OFTEN = 20

/** Creates one of our objects. @param madeAt  session time, or NaN */
export function spawn(
  ctx: Context,
  type: number,
  fields: Quantised,
  madeAt: Millis = NaN,
): Replica {
  const { objects } = ctx
  const replica = place(objects, objects.me, objects.nextCount++, type)
  const { me: owner, round: oseq } = objects
  install(ctx, replica, { type, version: FIRST, owner, former: 0, oseq, fields, madeAt })
  return replica
}

/**
 * One of our objects changed: its `fields` already have the new values.
 *
 * @param mask  the fields that changed; 0 sends nothing (B17)
 * @param madeAt  when the values were made: session time, or NaN
 * @param waits  the others extrapolate the same values, so sending may wait
 * @returns whether the change is sent now
 */
export function set(
  objects: Objects,
  types: Types,
  now: Millis,
  replica: Replica,
  mask: number,
  madeAt: Millis = NaN,
  waits = false,
): boolean {
  assert(isMine(objects, replica), 'who sets an object owns it')
  if (mask === 0) return false
  const rules = types[replica.type]!
  if (rules.kept) objects.kept.hasChanges = true
  replica.oseq++
  objects.hasOwn = true
  for (let field = 0; field < replica.changedAt.length; field++) {
    if ((mask & (1 << field)) !== 0) replica.changedAt[field] = replica.oseq
  }
  if (rules.timed) replica.madeAt = madeAt
  if (rules.timed) measure(objects, replica)
  if (rules.visibility || rules.eyes >= 0)
    updateInterest({ objects, types, now, out: NOBODY }, replica)
  if (waits && defer(objects, now, replica)) return false
  sendState(objects, now, replica)
  return true
}

// One update per MEASURE_EVERY_MS carries ages; the first of an object never does.
function measure(objects: Objects, replica: Replica): void {
  replica.ages = null
  if (Number.isNaN(replica.madeAt)) return
  const every = MEASURE_EVERY_MS * Math.max(1, objects.living / MEASURED_OFTEN)
  if (replica.madeAt - replica.measuredAt < every) return
  if (!Number.isNaN(replica.measuredAt)) replica.ages = relays(objects) ? [] : [0, 0]
  replica.measuredAt = replica.madeAt
}

/** Destroys one of our objects (B19). */
export function destroy(ctx: Context, replica: Replica): void {
  const { objects } = ctx
  assert(isMine(objects, replica), 'who destroys an object owns it')
  markDestroyed(ctx, replica, replica.version, objects.me)
}

export const RULES: ObjectsRules = rulesOf<ObjectsRules>({
  order: (entry, known) => compare(entry.version, known.version),
  isAuthorized,
  isFromEarlierTerm,
  creates: () => true,
  tombstone: () => true,
  isOld: (oseq, known) => oseq <= known,
  fits: (version, known) => compare(version, known) === 0,
  accepts: () => true,
  reports: () => true,
  sendsTo,
  grant,
  epochOf: ({ epoch }) => epoch,
  follow,
  oweAll,
  base: ({ acked }, index) => acked[index]!,
  shares: () => true,
  asksAgain: ({ owner }, follower) => owner === follower,
  declines: () => true,
  endsByGive: () => true,
  waitsForAll: () => true,
})

export function create(gatherMs: Millis = GATHER_MS, rules: ObjectsRules = RULES): Objects {
  return createState(gatherMs, rules)
}

export const OBJECTS_CHANNEL = 4
/** Lifetime of a tombstone: by then no older message of the object is in flight (B49). */
export const TOMBSTONE_MS: Millis = 60_000

/**
 * Creates the part for a game's types.
 *
 * @param keeper  persists objects beyond the members of a room; null if no type is kept
 */
export function objectsPart(types: Types, keeper: Keeper | null = null): Part<Objects> {
  const ctx = (objects: Objects, now: Millis, out: PartOut): Context => {
    return { objects, types, now, out: out as PartOut<ObjectEvent> }
  }
  const part: Part<Objects> = {
    channel: OBJECTS_CHANNEL,
    receive: (state, now, from, bytes, out) => receive(ctx(state, now, out), from, bytes),
    // A watching member must be able to follow the primary.
    acceptsFromWatcher: (bytes) => bytes[0] === KIND.follow,
    read: (state, now, from, bytes, out) => receiveFrame(ctx(state, now, out), from, bytes),
    write: (state, now, to, seq, writer, budget) => {
      return write(state, types, now, to, seq, writer, budget)
    },
    waits,
    dirty: drain,
    flush: (state, now, out) => {
      const done = ctx(state, now, out)
      takeNewcomers(done)
      sendUnsent(done)
      sendAnswers(done)
      decideAll(done)
      flush(done)
    },
    wake: (state, now, out) => wake(ctx(state, now, out)),
    deadline,
    clock: (state, offset) => void (state.offset = offset),
    reset: (state, out) => reset(ctx(state, 0, out)),
    view: (state, now, view, out) => {
      receiveView(ctx(state, now, out), view)
      keeper?.bringBack(ctx(state, now, out))
    },
    linked: (state, now, peer, letIn) => linked(state, types, now, peer, letIn),
    acked,
    lost,
    delivered,
  }
  if (!keeper) return part
  return {
    ...part,
    hasChanges: ({ kept }) => kept.hasChanges,
    whole: (state) => keeper.wholeOf(state, types),
    changes: (state) => keeper.changesOf(state, types),
    find: (state, all) => keeper.find(state, types, all),
    keptAs: 'kept',
    reread: (entry, bytes, behind) => keeper.reread(types, entry, bytes, behind),
  }
}

function deadline(state: Objects): Millis {
  const { sweepAt, settleAt, balanceAt, pendingAt } = state
  return Math.min(sweepAt, settleAt, balanceAt, pendingAt, sendDueAt(state), unsentDueAt(state))
}

// Input is hostile: malformed and unauthorized messages are counted.
function receive(ctx: Context, from: PeerId, bytes: Uint8Array): void {
  const { objects } = ctx
  if (!objects.rules.accepts(objects, from)) return
  const reader = createReader(bytes)
  const kind = readU8(reader)
  if (kind === KIND.tell || kind === KIND.unowned) receiveEntries(ctx, from, kind, reader)
  else if (kind === KIND.hide) receiveHides(ctx, from, reader)
  else receiveOne(ctx, from, kind, reader)
  if (!isDone(reader)) objects.counters.malformed++
}

// Messages that are one number.
const NUMBERS: Readonly<Record<number, (ctx: Context, from: PeerId, number: number) => void>> = {
  [KIND.follow]: receiveFollow,
  [KIND.resync]: receiveResync,
  [KIND.total]: receiveTotal,
}

// A message that is not a list of entries counts only as a whole.
function receiveOne(ctx: Context, from: PeerId, kind: number, reader: ByteReader): void {
  const { objects, types, now } = ctx
  const { primary, counters } = objects
  const inNumbers = NUMBERS[kind]
  if (inNumbers) {
    const number = readVarint(reader)
    if (isDone(reader)) inNumbers(ctx, from, number)
  } else if (kind === KIND.refuse) {
    const number = readVarint(reader)
    const why = REFUSALS[readVarint(reader)] ?? fail(reader)
    const by = readVarint(reader)
    if (isDone(reader) && why !== 0 && from === primary) conclude(ctx, number, why, by)
  } else if (kind === KIND.grant) {
    const version = readVersion(reader)
    const base = readEntry(reader, types)
    if (!isDone(reader)) return
    receiveGrant(ctx, from, version, base)
    settleKey(ctx, base.key)
  } else if (kind === KIND.request) {
    const asked = readRequest(reader, types)
    if (!isDone(reader)) return
    if (leads(objects)) receiveRequest(ctx, { ...asked, from, at: now })
    else counters.ignored++
  } else if (kind === KIND.full) {
    const { key, version } = readName(reader)
    const why = readLack(reader)
    if (!isDone(reader)) return
    receiveFull(ctx, from, key, version, why)
    settleKey(ctx, key)
  } else if (kind === KIND.ask || kind === KIND.decline) {
    const { key } = readName(reader)
    const asker = { by: readVarint(reader), request: readVarint(reader) }
    if (!isDone(reader)) return
    if (kind === KIND.decline && leads(objects)) receiveDecline(ctx, from, key, asker)
    else if (kind === KIND.ask && from === primary) receiveAsk(ctx, key, asker)
    else counters.ignored++
  } else fail(reader)
}

// Entries count up to the first malformed one.
function receiveEntries(ctx: Context, from: PeerId, kind: number, reader: ByteReader): void {
  const { objects, types } = ctx
  while (!reader.failed && reader.at < reader.end) {
    const entry = readEntry(reader, types)
    if (reader.failed) return
    if (kind === KIND.tell) receiveEntry(ctx, from, entry)
    else if (leads(objects)) receiveUnowned(ctx, from, entry)
    else objects.counters.ignored++
    settleKey(ctx, entry.key)
  }
}

// After a change of an object: settles our requests, and lets the primary decide waiting ones.
function settleKey(ctx: Context, key: number): void {
  const { replicas, requests, pending } = ctx.objects
  const replica = replicas.get(key)
  if (replica && requests.size > 0) settle(ctx, replica)
  if (pending.length > 0) ctx.objects.pendingAt = ctx.now
}

// HIDE: we may no longer see these objects. Their state stays here, hidden.
function receiveHides(ctx: Context, from: PeerId, reader: ByteReader): void {
  const { objects } = ctx
  while (!reader.failed && reader.at < reader.end) {
    const { key, version } = readName(reader)
    if (reader.failed) return
    const replica = objects.replicas.get(key)
    if (!replica || replica.dead || !receiveHide(ctx, from, replica, version)) {
      objects.counters.ignored++
    }
  }
}

// Returns whether the HIDE counts.
function receiveHide(ctx: Context, from: PeerId, replica: Replica, version: Version): boolean {
  const { objects, out } = ctx
  const order = compare(version, replica.version)
  // In a mesh the sender may be an owner that we do not know yet. But of our version only the owner
  // decides who may see it: a former owner's HIDE may be late.
  const speaks = objects.mesh ? from === replica.owner || order > 0 : from === objects.primary
  const mine = replica.owner === objects.me
  // The sender may still consider the object its own.
  if (mine && order < 0 && objects.mesh) correct(ctx, from, replica)
  if (!speaks || (mine && order <= 0)) return false
  if (replica.hidden && (order <= 0 || !objects.mesh)) return false
  // The object was ours, or a late grant of an older version may still come. We have no state of
  // the new version, and may not know its owner.
  if (mine || (objects.mesh && order > 0)) {
    Object.assign(replica, { version, owner: 0, giving: false, oseq: 0 })
  }
  if (replica.hidden) return true
  // Forwards the HIDE first: `announce` clears the record of the peers that we sent the object.
  if (mine) forwardHide(ctx, replica, true)
  if (mine) announce(ctx, replica)
  replica.hidden = true
  settleKey(ctx, replica.key)
  out.emit({ kind: 'object-went', key: replica.key })
  return true
}

function wake(ctx: Context): void {
  const { objects, now } = ctx
  if (now >= objects.balanceAt) {
    objects.balanceAt = now + BALANCE_MS
    balance(ctx)
  }
  if (now >= objects.settleAt) {
    objects.settleAt = Infinity
    // By now every owner has sent its objects to the primary. If an object that was ours and is
    // hidden from us has an owner, the primary knows it; if not, we owned it last, and report it.
    if (leads(objects)) adoptUnclaimed(ctx)
    else report(ctx, isUnclaimed)
    ctx.out.emit({ kind: 'objects-settled' })
  }
  if (now < objects.sweepAt) return
  objects.sweepAt = now + SWEEP_MS
  recheckRules(ctx)
  endRequests(ctx)
  forgetAsks(ctx)
  if (leads(objects)) {
    giveBack(ctx)
    objects.sweepAt = Math.min(objects.sweepAt, endGrace(ctx))
    endGrants(ctx)
    endAsks(ctx)
  }
  for (const replica of [...objects.replicas.values()]) {
    if (!replica.dead || now - replica.since < TOMBSTONE_MS) continue
    objects.grants.delete(replica.key)
    objects.openAsks.delete(replica.key)
    forget(objects, replica)
  }
}
