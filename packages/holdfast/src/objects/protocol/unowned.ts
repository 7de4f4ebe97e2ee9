/**
 * The objects of departed members (B26): the primary adopts them, gives them back to players who
 * return, and destroys or keeps the others.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { markDestroyed, isGranted, replaceState, install, sendFull } from './accept.ts'
import { give, nextVersion, openGrant, takeOwnership } from './requests.ts'
import {
  isUnclaimed,
  type Objects,
  OBJECTS_MAX,
  place,
  type Replica,
  REPLICAS_MAX,
  type ObjectEntry,
  type Context,
  compare,
} from './state.ts'

/** How long after a RESYNC other members' objects may still come through the primary. */
export const SETTLE_MS: Millis = 3_000

/** How long the objects of a departed player wait for its return (S-5). */
export const GRACE_MS: Millis = 60_000
/**
 * The same for objects that end with their owner, if its process announced its end: a reloaded page
 * is back by then, and a closed page leaves no ghost for longer than 3 s.
 */
export const ENDED_MS: Millis = 2_500

/** As primary: adopts the objects of departed members, and gives returned players theirs. */
export function settleOwners(ctx: Context, left: boolean): void {
  const { objects } = ctx
  for (const replica of [...objects.replicas.values()]) {
    if (objects.here.has(replica.owner)) continue
    const player = objects.departed.get(replica.owner) ?? 0
    if (isUnclaimed(replica)) objects.settleAt = Math.min(objects.settleAt, ctx.now + SETTLE_MS)
    else adopt(ctx, replica, left && !objects.ended.has(player) ? 0 : player)
  }
  giveBack(ctx)
}

/** As primary: adopts unclaimed objects; by now every member has sent and reported its objects. */
export function adoptUnclaimed(ctx: Context): void {
  for (const replica of [...ctx.objects.replicas.values()]) {
    if (isUnclaimed(replica)) adopt(ctx, replica, 0)
  }
  giveBack(ctx)
}

function adopt(ctx: Context, replica: Replica, player: number): void {
  const { objects, types } = ctx
  if (replica.dead) {
    if (!objects.rules.tombstone('adopt')) return
    markDestroyed(ctx, replica, replica.version, objects.me)
    return
  }
  const former = replica.former || player
  const version = nextVersion(objects, replica)
  if (former === 0 && types[replica.type]!.onOwnerLeave === 'destroy') {
    return markDestroyed(ctx, replica, version, objects.me)
  }
  const { oseq, version: before } = replica
  takeOwnership(ctx, replica, version, former)
  replica.adopted = { version: before, oseq }
}

/** As primary: gives returned players their objects, whichever member adopted them. */
export function giveBack(ctx: Context): void {
  const { objects } = ctx
  const players = playing(objects)
  for (const replica of objects.replicas.values()) {
    const inc = replica.former === 0 || replica.dead ? undefined : players.get(replica.former)
    if (inc === undefined || openGrant(ctx, replica.key)) continue
    give(ctx, replica, inc)
  }
}

// The members that may own objects, by player.
function playing({ here, watching }: Objects): Map<number, PeerId> {
  const those = [...here].filter(([inc]) => !watching.has(inc))
  return new Map(those.map(([inc, player]) => [player, inc]))
}

/** UNOWNED, as primary: a member reports an object whose owner left. */
export function receiveUnowned(ctx: Context, from: PeerId, entry: ObjectEntry): void {
  const { objects } = ctx
  const known = objects.replicas.get(entry.key)
  const order = known ? compare(entry.version, known.version) : 1
  const other = known !== undefined && known.type !== entry.type
  if (known && !other && hidTaken(ctx, entry, known)) {
    // No member has the grantee's state: the former owner gets the object, in a new version.
    if (objects.here.has(known.owner)) give(ctx, known, known.owner)
    else adopt(ctx, known, objects.departed.get(known.owner) ?? 0)
  } else if (other || objects.here.has(entry.owner) || !isPlausible(ctx, entry, known)) {
    objects.counters.ignored++
  } else if (order > 0 || (order === 0 && known && isUnclaimed(known))) {
    adoptUnknown(ctx, from, entry, known)
  } else if (known && !known.dead && !entry.dead) {
    adoptNewer(ctx, entry, known)
  }
}

// In a mesh a departed grantee may have taken the object and hidden it from the reporting member,
// which then knows the version, but neither its owner nor its state (T76).
function hidTaken({ objects }: Context, entry: ObjectEntry, known: Replica): boolean {
  if (!objects.mesh || entry.owner !== 0 || entry.dead || known.dead) return false
  return (objects.grants.get(entry.key) ?? []).some(({ version, to }) => {
    return !objects.here.has(to) && compare(version, entry.version) === 0
  })
}

// We know all our grants, so a version of our own epoch counts only if we granted it.
function isPlausible({ objects, now }: Context, entry: ObjectEntry, known?: Replica): boolean {
  if (entry.version.epoch > objects.epoch) return false
  if (!known || compare(entry.version, known.version) <= 0) return true
  if (isGranted(objects, entry.key, entry.version, entry.owner)) return true
  return objects.rules.isFromEarlierTerm(objects, now, entry.version)
}

function adoptUnknown(ctx: Context, from: PeerId, entry: ObjectEntry, known?: Replica): void {
  const { objects } = ctx
  if (!known && entry.dead && objects.replicas.size >= REPLICAS_MAX) return
  const isNew = !entry.dead && (!known || known.dead)
  if (isNew && objects.living >= OBJECTS_MAX) return sendFull(ctx, from, entry, 'full')
  const replica = known ?? place(objects, entry.creator, entry.count, entry.type)
  if (entry.dead) markDestroyed(ctx, replica, entry.version, objects.me)
  else install(ctx, replica, entry)
  adopt(ctx, replica, objects.departed.get(entry.owner) ?? 0)
  giveBack(ctx)
}

// Takes a survivor's newer state, if the object has not changed since we adopted it.
function adoptNewer(ctx: Context, entry: ObjectEntry, known: Replica): void {
  const { adopted, oseq } = known
  if (!adopted || compare(adopted.version, entry.version) !== 0 || oseq !== adopted.oseq) return
  if (entry.oseq <= oseq || known.owner !== ctx.objects.me || known.type !== entry.type) return
  known.adopted = { version: adopted.version, oseq: entry.oseq }
  replaceState(ctx, known, entry)
}

/**
 * As primary: destroys or keeps the objects of owners that did not return in time.
 *
 * @returns when the next grace period ends; Infinity for none
 */
export function endGrace(ctx: Context): Millis {
  const { objects, types, now } = ctx
  const back = playing(objects)
  let next = Infinity
  for (const replica of [...objects.replicas.values()]) {
    // Returned players are about to get theirs.
    if (replica.dead || replica.former === 0 || back.has(replica.former)) continue
    const until = waitsUntil(ctx, replica)
    if (now < until) {
      next = Math.min(next, until)
      continue
    }
    const version = nextVersion(objects, replica)
    if (types[replica.type]!.onOwnerLeave === 'keep') takeOwnership(ctx, replica, version, 0)
    else markDestroyed(ctx, replica, version, objects.me)
  }
  return next
}

// Objects that outlive their owner get the long grace period, also for a page that reloads slowly.
function waitsUntil({ objects, types }: Context, { former, since, type }: Replica): Millis {
  const endedAt = objects.ended.get(former)
  const ends = types[type]!.onOwnerLeave === 'destroy'
  return ends && endedAt !== undefined ? endedAt + ENDED_MS : since + GRACE_MS
}

// The primary moves objects from members who own many to members who own few (B27).

/** Time between two passes of balancing. */
export const BALANCE_MS: Millis = 1_000
/** An object moves if the fullest owner has more than this many times the emptiest's objects. */
const UNEVEN = 1.25

/** As primary: moves one object from the fullest owner to the emptiest, if they are uneven. */
export function balance(ctx: Context): void {
  const { objects, types } = ctx
  const players = [...objects.here.keys()].filter((inc) => !objects.watching.has(inc))
  const counts = new Map(players.map((inc) => [inc, 0]))
  const movable = [...objects.replicas.values()].filter((replica) => {
    return !replica.dead && types[replica.type]!.balance && counts.has(replica.owner)
  })
  for (const { owner } of movable) counts.set(owner, counts.get(owner)! + 1)
  const ranked = [...counts].sort(([a, few], [b, many]) => few - many || a - b)
  const [emptiest, fullest] = [ranked[0], ranked.at(-1)]
  if (!emptiest || !fullest || fullest[1] <= Math.max(emptiest[1] + 1, emptiest[1] * UNEVEN)) return
  const moved = movable.find((replica) => {
    return replica.owner === fullest[0] && !openGrant(ctx, replica.key)
  })
  if (moved) give(ctx, moved, emptiest[0])
}
