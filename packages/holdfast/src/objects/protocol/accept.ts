/**
 * The rules by which a member accepts entries and updates of objects. They are the whole protocol:
 *
 *   A1  an entry of a living object counts if its version is newer than ours; any version of an
 *       unknown object is, so a MIGRATE creates it, and an old CREATE changes nothing (B41-B48)
 *   A2  a tombstone counts if its version is ours or newer
 *   A3  an update counts if its version is ours and its oseq is newer (B21, B22, B50)
 *
 * A4, on grants, is in requests.ts. An entry of a living object in our version counts as an update
 * of all fields: a new primary sends such entries, and may be behind the old one or ahead of it.
 *
 * In a star the primary may send entries of every object, and a member may send the primary entries
 * of objects that it owns or was granted. In a mesh each owner sends entries of its objects.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { unwrap } from '../../wire/sequence.ts'
import { announce, owe } from './fan-out.ts'
import { forwardHide, updateInterest } from './interest.ts'
import { KIND, nameOf, plain, withEntry, agesAt, AGES_MAX } from './messages.ts'
import { markChanged, readUpdates, type Update } from './updates.ts'
import {
  compare,
  type Version,
  isSeen,
  type Lack,
  LACKS,
  lackOf,
  leads,
  type Objects,
  OSEQ_WIRE_MAX,
  place,
  type Replica,
  REPLICAS_MAX,
  type ObjectEntry,
  countLiving,
  type Context,
} from './state.ts'

/** A sample further ahead of session time than this counts as made on arrival. */
export const AHEAD_MAX_MS: Millis = 100

export function receiveEntry(ctx: Context, from: PeerId, entry: ObjectEntry): void {
  const { objects } = ctx
  const known = objects.replicas.get(entry.key)
  // The type of an object never changes.
  const other = known !== undefined && known.type !== entry.type
  if (other || !objects.rules.isAuthorized(ctx, from, entry, known)) {
    objects.counters.ignored++
    if (objects.mesh && entry.version.epoch > objects.epoch) objects.early.add(from)
    return
  }
  if (leads(objects)) confirm(objects, entry)
  if (known) known.receivedUnder = objects.followCount
  const order = known ? objects.rules.order(entry, known) : 1
  if (entry.dead) receiveTombstone(ctx, entry, known, order)
  else if (order > 0) receiveVersion(ctx, from, entry, known)
  else if (order === 0 && isNewer(entry, known!)) receiveState(ctx, entry, known!)
  else {
    objects.counters.stale++
    correct(ctx, from, known!)
  }
}

/**
 * Sends our version to a sender of an older one. In a star only the primary does so, and sends a
 * HIDE if the sender may no longer see the object. In a mesh the sender may have ignored our HIDE
 * because it still considered the object its own.
 */
export function correct(ctx: Context, from: PeerId, known: Replica): void {
  const { objects, types } = ctx
  const subscriber = objects.subscribers.get(from)
  const ours = objects.mesh
    ? known.owner === objects.me && types[known.type]!.visibility !== null
    : leads(objects)
  if (!subscriber || !ours || known.dead) return
  subscriber.outdated.add(known.index)
  owe(ctx, subscriber, known)
}

function isNewer(entry: ObjectEntry, known: Replica): boolean {
  if (known.dead) return false
  return known.hidden ? entry.oseq >= known.oseq : entry.oseq > known.oseq
}

// The grantee's entry confirms its grant and all older ones, so the next grant may be made.
function confirm(objects: Objects, entry: ObjectEntry): void {
  const grants = objects.grants.get(entry.key)
  if (!grants) return
  const open = grants.filter(({ version }) => compare(version, entry.version) > 0)
  if (open.length > 0) objects.grants.set(entry.key, open)
  else objects.grants.delete(entry.key)
}

/** Whether we granted that version to that member, and it has not confirmed the grant yet. */
export function isGranted(objects: Objects, key: number, version: Version, to: PeerId): boolean {
  const grants = objects.grants.get(key) ?? []
  return grants.some((grant) => grant.to === to && compare(grant.version, version) === 0)
}

/** Whether a peer may send an entry, judged by the entry's version (B48). */
export function isAuthorized(
  { objects, now }: Context,
  from: PeerId,
  entry: ObjectEntry,
  known?: Replica,
): boolean {
  const ahead = entry.version.epoch - objects.epoch
  if (objects.departed.has(from) || ahead > (leads(objects) ? 0 : EPOCHS_AHEAD)) return false
  if (!objects.mesh && !leads(objects)) return from === objects.primary && !isOurs(objects, entry)
  if (entry.owner !== from) return false
  if (entry.version.epoch === 0 && entry.version.count === 0) {
    // The primary sends the tombstone of an object that was destroyed when its creator left.
    return entry.creator === from || (entry.dead && !objects.here.has(entry.creator))
  }
  if (!leads(objects)) return true
  const order = known ? compare(entry.version, known.version) : 1
  if (order < 0) return true
  // We may know the version, but not the owner, of an object hidden before we led (T76).
  if (order === 0 && known!.owner !== 0) return known!.owner === from
  if (isGranted(objects, entry.key, entry.version, from)) return true
  return objects.rules.isFromEarlierTerm(objects, now, entry.version)
}

/** Whether an earlier primary may have granted that version unknown to us. Only for a while. */
export function isFromEarlierTerm({ term }: Objects, now: Millis, version: Version): boolean {
  return version.epoch > 0 && version.epoch < term.from && now - term.at < EARLIER_TERM_MS
}

// By then every grantee of an earlier primary has sent its entry, or its link is down.
const EARLIER_TERM_MS: Millis = 12_000

// Only we may send entries of our own objects.
function isOurs({ me, replicas }: Objects, entry: ObjectEntry): boolean {
  const known = replicas.get(entry.key)
  return entry.owner === me && (!known || compare(entry.version, known.version) >= 0)
}

// In a mesh a grantee may know of a new primary before we do.
const EPOCHS_AHEAD = 1_000

function receiveTombstone(
  ctx: Context,
  entry: ObjectEntry,
  known: Replica | undefined,
  order: number,
): void {
  const { objects } = ctx
  if (order < 0 || (known?.dead && order === 0 && known.owner === entry.owner))
    return void objects.counters.stale++
  if (!known && objects.replicas.size >= REPLICAS_MAX) return void objects.counters.ignored++
  const replica = known ?? place(objects, entry.creator, entry.count, entry.type)
  markDestroyed(ctx, replica, entry.version, entry.owner)
}

/** Marks the object as destroyed in that version; `author` sends everybody the tombstone. */
export function markDestroyed(
  ctx: Context,
  replica: Replica,
  version: Version,
  author: PeerId,
): void {
  const { objects, now, out } = ctx
  const seen = isSeen(replica)
  const before = replica.owner
  if (!replica.dead) countLiving(objects, replica, -1)
  const mine = !replica.dead && before === objects.me && author !== objects.me
  if (ctx.types[replica.type]!.kept) objects.kept.hasChanges = true
  Object.assign(replica, { version, owner: author, dead: true, hidden: false, former: 0 })
  Object.assign(replica, { written: null, sentAt: now })
  Object.assign(replica, { adopted: null, giving: false, since: now, ages: null })
  updateInterest(ctx, replica, before)
  announce(ctx, replica)
  if (!objects.rules.tombstone('keep')) objects.replicas.delete(replica.key)
  objects.sweepAt = Math.min(objects.sweepAt, now + SWEEP_MS)
  if (mine) out.emit({ kind: 'object-owner', key: replica.key, before, lost: null })
  if (seen) out.emit({ kind: 'object-went', key: replica.key })
}

/** The primary has no room for an object that we sent it, so we destroy the object too. */
export function receiveFull(
  ctx: Context,
  from: PeerId,
  key: number,
  version: Version,
  why: Lack,
): void {
  const { objects, out } = ctx
  const { me, mesh, primary } = objects
  const replica = objects.replicas.get(key)
  const counts = from === primary && !leads(objects) && replica && !replica.dead
  if (!counts || compare(replica.version, version) !== 0) return void objects.counters.ignored++
  const mine = replica.owner === me
  if (mine) out.emit({ kind: 'object-refused', key, why })
  // In a mesh other members have the object from us, and need our tombstone.
  markDestroyed(ctx, replica, version, mesh && mine ? me : primary)
}

/** How often expired tombstones, grants and requests are removed. */
export const SWEEP_MS: Millis = 1_000

function receiveVersion(ctx: Context, from: PeerId, entry: ObjectEntry, known?: Replica): void {
  const { objects } = ctx
  if (known) reportNewer(ctx, from, entry, known)
  if (!objects.rules.creates(entry) && (!known || known.dead)) return
  const isNew = !known || known.dead
  const lack = isNew && leads(objects) ? lackOf(objects, entry.creator) : null
  if (lack) return sendFull(ctx, from, entry, lack)
  if (isNew && objects.living >= REPLICAS_MAX) return void objects.counters.ignored++
  const replica = known ?? place(objects, entry.creator, entry.count, entry.type)
  install(ctx, replica, entry)
}

/** As primary: rejects an object that a peer sent us, for lack of room. */
export function sendFull({ objects }: Context, to: PeerId, entry: ObjectEntry, why: Lack): void {
  objects.counters.full++
  objects.outbox.push({ to, bytes: plain(KIND.full, ...nameOf(entry), LACKS.indexOf(why)) })
}

// Reports our state if the owner left and the primary adopted the object in an older state.
function reportNewer(
  { objects, types }: Context,
  from: PeerId,
  entry: ObjectEntry,
  known: Replica,
): void {
  const orphan = isSeen(known) && !objects.here.has(known.owner)
  if (!orphan || from !== objects.primary || entry.owner !== from) return
  if (known.oseq <= entry.oseq) return
  objects.outbox.push({ to: from, bytes: withEntry(KIND.unowned, types, known) })
}

export type NewVersion = Pick<
  ObjectEntry,
  'type' | 'version' | 'owner' | 'former' | 'oseq' | 'fields' | 'madeAt'
>

/** Installs a new version of an object: its state, its owner, and all that follows from them. */
export function install(ctx: Context, replica: Replica, entry: NewVersion): void {
  const { objects, now, out } = ctx
  const seen = isSeen(replica)
  const { owner: before, former: awaited } = replica
  const mine = !replica.dead && before === objects.me
  const lost = mine && entry.owner !== objects.me ? replica.fields : null
  if (replica.dead) countLiving(objects, replica, 1)
  const { type, version, owner, former, oseq, fields } = entry
  Object.assign(replica, { type, version, owner, former, oseq, fields: [...fields] })
  Object.assign(replica, { dead: false, hidden: false, written: null, sentAt: now })
  Object.assign(replica, { adopted: null, giving: false, ages: null, since: now })
  if (ctx.types[type]!.kept) objects.kept.hasChanges = true
  replica.receivedUnder = objects.followCount
  replica.changedAt = ctx.types[type]!.schema.columns.map(() => oseq)
  setMadeAt(ctx, replica, entry.madeAt, null)
  updateInterest(ctx, replica, before)
  if (lost) forwardHide(ctx, replica)
  announce(ctx, replica)
  const { key } = replica
  if (!seen) return out.emit({ kind: 'object-came', key })
  out.emit({ kind: 'object-changed', key, mask: ALL, ages: null })
  // The same owner may now keep the object for another player.
  if (before !== owner || awaited !== former) {
    out.emit({ kind: 'object-owner', key, before, lost })
  }
}

// A whole state may change every field.
const ALL = 0xffffffff

// Takes a newer state of our version.
function receiveState(ctx: Context, entry: ObjectEntry, replica: Replica): void {
  const { hidden, owner: before } = replica
  Object.assign(replica, { hidden: false, owner: entry.owner, former: entry.former })
  advance(ctx, replica, { ...entry, mask: ALL, ages: null }, before, hidden)
}

/** Takes a newer state of our version that came with a request or report. */
export function replaceState(ctx: Context, replica: Replica, entry: ObjectEntry): void {
  advance(ctx, replica, { ...entry, mask: ALL, ages: null })
}

/** Receives a frame of updates. */
export function receiveFrame(ctx: Context, from: PeerId, bytes: Uint8Array): void {
  const { objects, types } = ctx
  const isWhole = readUpdates(types, bytes, (update) => receiveUpdate(ctx, from, update))
  if (!isWhole) objects.counters.malformed++
}

function receiveUpdate(ctx: Context, from: PeerId, update: Update): void {
  const { objects } = ctx
  const replica = objects.replicas.get(update.key)
  if (!replica || replica.dead || replica.hidden || replica.type !== update.type)
    return void objects.counters.stale++
  if (from !== (objects.mesh || leads(objects) ? replica.owner : objects.primary))
    return void objects.counters.ignored++
  const fits = objects.rules.fits(update.version, replica.version)
  const oseq = unwrap(update.low, replica.oseq)
  const far = oseq > OSEQ_WIRE_MAX
  const old = far || objects.rules.isOld(oseq, replica.oseq)
  if (!fits || old || replica.owner === objects.me) return void objects.counters.stale++
  const { mask, fields, madeAt, ages } = update
  advance(ctx, replica, { oseq, mask, fields, madeAt, ages })
  if (!forwards(objects)) replica.ages = null
}

type Newer = Pick<Replica, 'oseq' | 'fields' | 'madeAt' | 'ages'> & { mask: number }

// Takes the fields of a newer state, and marks those that changed. @param came  it was hidden
function advance(
  ctx: Context,
  replica: Replica,
  { oseq, mask, fields: from, madeAt, ages }: Newer,
  before: PeerId = replica.owner,
  came = false,
): void {
  const { objects, types, out } = ctx
  const { key, fields, changedAt } = replica
  const { schema, kept } = types[replica.type]!
  for (let i = 0; i < schema.columns.length; i++) {
    if ((mask & (1 << i)) === 0) continue
    const { at, field } = schema.columns[i]!
    for (let place = at; place < at + field.size; place++) {
      if (fields[place] === from[place]) continue
      fields[place] = from[place]!
      changedAt[i] = oseq
    }
  }
  replica.oseq = oseq
  replica.written = null
  if (kept) objects.kept.hasChanges = true
  markChanged(objects, replica)
  setMadeAt(ctx, replica, madeAt, ages)
  updateInterest(ctx, replica, before)
  if (came) out.emit({ kind: 'object-came', key })
  else out.emit({ kind: 'object-changed', key, mask, ages: allAges(objects, replica) })
}

// Records when a state was made: now, if the owner's clock runs too far ahead.
function setMadeAt(ctx: Context, replica: Replica, sampledAt: Millis, ages: Replica['ages']): void {
  const { objects, types, now } = ctx
  if (!types[replica.type]!.timed) return
  const time = now + objects.offset
  const isAhead = sampledAt > time + AHEAD_MAX_MS
  if (isAhead) objects.counters.ahead++
  const madeAt = isAhead ? time : sampledAt
  replica.madeAt = madeAt
  replica.ages = agesAt({ madeAt, ages }, time, forwards(objects) ? 2 : AGES_MAX + 1)
}

// Whether we are the primary of a star, which forwards updates to all others.
function forwards(objects: Objects): boolean {
  return !objects.mesh && leads(objects)
}

// The primary of a star forwards an update to itself at once, so the last three ages are equal.
function allAges(objects: Objects, { ages }: Replica): readonly Millis[] | null {
  const [sent, received] = ages ?? []
  if (!forwards(objects) || sent === undefined || received === undefined) return ages
  return [sent, received, received, received]
}
