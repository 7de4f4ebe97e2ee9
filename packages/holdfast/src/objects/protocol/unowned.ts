/**
 * The objects of members who left (B26): the primary adopts them, gives them back to players who
 * return, and ends or keeps them when they do not.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { markDestroyed, isGranted, replaceState, install, sendFull } from './accept.ts'
import { give, nextVersion, openGrant, takeOwnership } from './grants.ts'
import {
  isUnclaimed,
  type Objects,
  OBJECTS_MAX,
  place,
  type Replica,
  REPLICAS_MAX,
  type ObjectEntry,
  type Context,
} from './state.ts'
import { compare } from './stamp.ts'

/** After a primary has sent all: so long other members' objects may still come by way of it. */
export const SETTLE_MS: Millis = 3_000

/** A member's objects wait so long for its return (S-5). */
export const GRACE_MS: Millis = 60_000
/**
 * Those that end with their owner wait so long where its process entry that it ends: a page that is
 * loaded anew is back by then, and one that was closed is no ghost for longer than 3 s.
 */
export const ENDED_MS: Millis = 2_500

/** As primary: adopts the objects of members who left, and gives returned players theirs. */
export function settleOwners(context: Context, left: boolean): void {
  const { objects } = context
  for (const replica of [...objects.replicas.values()]) {
    if (objects.here.has(replica.owner)) continue
    const player = objects.departed.get(replica.owner) ?? 0
    if (isUnclaimed(replica)) objects.settleAt = Math.min(objects.settleAt, context.now + SETTLE_MS)
    else adopt(context, replica, left && !objects.ended.has(player) ? 0 : player)
  }
  giveBack(context)
}

/** As primary: by now each member has sent what it owns, and reported what nobody owns. */
export function adoptUnclaimed(context: Context): void {
  for (const replica of [...context.objects.replicas.values()]) {
    if (isUnclaimed(replica)) adopt(context, replica, 0)
  }
  giveBack(context)
}

function adopt(context: Context, replica: Replica, player: number): void {
  const { objects, types } = context
  if (replica.dead) {
    if (!objects.rules.tombstone('adopt')) return
    markDestroyed(context, replica, replica.version, objects.me)
    return
  }
  const former = replica.former || player
  const version = nextVersion(objects, replica)
  if (former === 0 && types[replica.type]!.onOwnerLeave === 'destroy') {
    return markDestroyed(context, replica, version, objects.me)
  }
  const { oseq, version: before } = replica
  takeOwnership(context, replica, version, former)
  replica.adopted = { version: before, oseq }
}

/** As primary: gives members who are back their objects, whoever adopted those. */
export function giveBack(context: Context): void {
  const { objects } = context
  const players = playing(objects)
  for (const replica of objects.replicas.values()) {
    const inc = replica.former === 0 || replica.dead ? undefined : players.get(replica.former)
    if (inc === undefined || openGrant(context, replica.key)) continue
    give(context, replica, inc)
  }
}

// The members that may own something, by player.
function playing({ here, watching }: Objects): Map<number, PeerId> {
  const those = [...here].filter(([inc]) => !watching.has(inc))
  return new Map(those.map(([inc, player]) => [player, inc]))
}

/** As primary: a member reports an object (UNOWNED) whose owner left. */
export function receiveUnowned(context: Context, from: PeerId, entry: ObjectEntry): void {
  const { objects } = context
  const known = objects.replicas.get(entry.key)
  const order = known ? compare(entry.version, known.version) : 1
  const other = known !== undefined && known.type !== entry.type
  if (known && !other && hidTaken(context, entry, known)) {
    // What the grantee did came to nobody: who owned it before has it, in a version of its own.
    if (objects.here.has(known.owner)) give(context, known, known.owner)
    else adopt(context, known, objects.departed.get(known.owner) ?? 0)
  } else if (other || objects.here.has(entry.owner) || !isPlausible(context, entry, known)) {
    objects.counters.ignored++
  } else if (order > 0 || (order === 0 && known && isUnclaimed(known))) {
    adoptUnknown(context, from, entry, known)
  } else if (known && !known.dead && !entry.dead) {
    adoptNewer(context, entry, known)
  }
}

// In a mesh a grantee that left may have taken the object and hidden it from a member that may not
// see it: that member knows the version, but neither its owner nor its state (T76).
function hidTaken({ objects }: Context, entry: ObjectEntry, known: Replica): boolean {
  if (!objects.mesh || entry.owner !== 0 || entry.dead || known.dead) return false
  return (objects.grants.get(entry.key) ?? []).some(({ version, to }) => {
    return !objects.here.has(to) && compare(version, entry.version) === 0
  })
}

// A version of our own epoch counts only if we granted it, for we know all our grants.
function isPlausible(
  { objects, now }: Context,
  entry: ObjectEntry,
  known: Replica | undefined,
): boolean {
  if (entry.version.epoch > objects.epoch) return false
  if (!known || compare(entry.version, known.version) <= 0) return true
  if (isGranted(objects, entry.key, entry.version, entry.owner)) return true
  return objects.rules.isFromEarlierTerm(objects, now, entry.version)
}

function adoptUnknown(
  context: Context,
  from: PeerId,
  entry: ObjectEntry,
  known: Replica | undefined,
): void {
  const { objects } = context
  if (!known && entry.dead && objects.replicas.size >= REPLICAS_MAX) return
  const isNew = !entry.dead && (!known || known.dead)
  if (isNew && objects.living >= OBJECTS_MAX) return sendFull(context, from, entry, 'full')
  const replica = known ?? place(objects, entry.creator, entry.count, entry.type)
  if (entry.dead) markDestroyed(context, replica, entry.version, objects.me)
  else install(context, replica, entry)
  adopt(context, replica, objects.departed.get(entry.owner) ?? 0)
  giveBack(context)
}

// A survivor has a newer state than the one that we adopted, and nothing has changed since.
function adoptNewer(context: Context, entry: ObjectEntry, known: Replica): void {
  const { adopted, oseq } = known
  if (!adopted || compare(adopted.version, entry.version) !== 0 || oseq !== adopted.oseq) return
  if (entry.oseq <= oseq || known.owner !== context.objects.me || known.type !== entry.type) return
  known.adopted = { version: adopted.version, oseq: entry.oseq }
  replaceState(context, known, entry)
}

/**
 * As primary: stops to wait for owners who did not come back in time.
 *
 * @returns when the next time is over; Infinity if nothing waits
 */
export function endGrace(context: Context): Millis {
  const { objects, types, now } = context
  const back = playing(objects)
  let next = Infinity
  for (const replica of [...objects.replicas.values()]) {
    // Players who are back are about to get theirs.
    if (replica.dead || replica.former === 0 || back.has(replica.former)) continue
    const until = waitsUntil(context, replica)
    if (now < until) {
      next = Math.min(next, until)
      continue
    }
    const version = nextVersion(objects, replica)
    if (types[replica.type]!.onOwnerLeave === 'keep') takeOwnership(context, replica, version, 0)
    else markDestroyed(context, replica, version, objects.me)
  }
  return next
}

// Objects that outlive their owner stay anyway, so a player whose page loads slowly gets them back.
function waitsUntil({ objects, types }: Context, { former, since, type }: Replica): Millis {
  const endedAt = objects.ended.get(former)
  const ends = types[type]!.onOwnerLeave === 'destroy'
  return ends && endedAt !== undefined ? endedAt + ENDED_MS : since + GRACE_MS
}

// The primary moves objects from members who own many to members who own few (B27).

/** Time between two passes of balancing. */
export const BALANCE_MS: Millis = 1_000
/** An object moves when the fullest owner has more than this many times what the emptiest has. */
const UNEVEN = 1.25

/** As primary: moves one object from the fullest owner to the emptiest, if that evens things. */
export function balance(context: Context): void {
  const { objects, types } = context
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
    return replica.owner === fullest[0] && !openGrant(context, replica.key)
  })
  if (moved) give(context, moved, emptiest[0])
}
