/**
 * The objects of members who left (B26): the primary adopts them, gives them back to players who
 * return, and ends or keeps them when they do not.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { bury, isGranted, renew, stand, turnAway } from './accept.ts'
import { give, nextVersion, openGrant, own } from './grants.ts'
import {
  isUnclaimed,
  type Objects,
  OBJECTS_MAX,
  place,
  type Replica,
  REPLICAS_MAX,
  type Said,
  type Turn,
} from './state.ts'
import { compare } from './stamp.ts'

/** After a primary has sent all: so long other members' objects may still come by way of it. */
export const COUNT_MS: Millis = 3_000

/** A member's objects wait so long for its return (S-5). */
export const GRACE_MS: Millis = 60_000
/**
 * Those that end with their owner wait so long where its process said that it ends: a page that is
 * loaded anew is back by then, and one that was closed is no ghost for longer than 3 s.
 */
export const ENDED_MS: Millis = 2_500

/** As primary: adopts the objects of members who left, and gives returned players theirs. */
export function settleView(turn: Turn, left: boolean): void {
  const { objects } = turn
  for (const replica of [...objects.replicas.values()]) {
    if (objects.here.has(replica.owner)) continue
    const player = objects.went.get(replica.owner) ?? 0
    if (isUnclaimed(replica)) objects.countedAt = Math.min(objects.countedAt, turn.now + COUNT_MS)
    else adopt(turn, replica, left && !objects.ended.has(player) ? 0 : player)
  }
  giveBack(turn)
}

/** As primary: by now each member has sent what it owns, and reported what nobody owns. */
export function adoptUnclaimed(turn: Turn): void {
  for (const replica of [...turn.objects.replicas.values()]) {
    if (isUnclaimed(replica)) adopt(turn, replica, 0)
  }
  giveBack(turn)
}

function adopt(turn: Turn, replica: Replica, player: number): void {
  const { objects, types } = turn
  if (replica.dead) {
    if (!objects.rules.tombstone('adopt')) return
    bury(turn, replica, replica.version, objects.me)
    return
  }
  const former = replica.former || player
  const version = nextVersion(objects, replica)
  if (former === 0 && types[replica.type]!.onOwnerLeave === 'destroy') {
    return bury(turn, replica, version, objects.me)
  }
  const { oseq, version: before } = replica
  own(turn, replica, version, former)
  replica.adopted = { version: before, oseq }
}

/** As primary: gives members who are back their objects, whoever adopted those. */
export function giveBack(turn: Turn): void {
  const { objects } = turn
  const players = playing(objects)
  for (const replica of objects.replicas.values()) {
    const inc = replica.former === 0 || replica.dead ? undefined : players.get(replica.former)
    if (inc === undefined || openGrant(turn, replica.key)) continue
    give(turn, replica, inc)
  }
}

// The members that may own something, by player.
function playing({ here, watching }: Objects): Map<number, PeerId> {
  const those = [...here].filter(([inc]) => !watching.has(inc))
  return new Map(those.map(([inc, player]) => [player, inc]))
}

/** As primary: a member reports an object (UNOWNED) whose owner left. */
export function takeOrphan(turn: Turn, from: PeerId, said: Said): void {
  const { objects } = turn
  const known = objects.replicas.get(said.key)
  const order = known ? compare(said.version, known.version) : 1
  const other = known !== undefined && known.type !== said.type
  if (known && !other && hidTaken(turn, said, known)) {
    // What the grantee did came to nobody: who owned it before has it, in a version of its own.
    if (objects.here.has(known.owner)) give(turn, known, known.owner)
    else adopt(turn, known, objects.went.get(known.owner) ?? 0)
  } else if (other || objects.here.has(said.owner) || !isPlausible(turn, said, known)) {
    objects.counters.ignored++
  } else if (order > 0 || (order === 0 && known && isUnclaimed(known))) {
    takeUnknown(turn, from, said, known)
  } else if (known && !known.dead && !said.dead) {
    takeNewer(turn, said, known)
  }
}

// In a mesh a grantee that left may have taken the object and hidden it from a member that may not
// see it: that member knows the version, but neither its owner nor its state (T76).
function hidTaken({ objects }: Turn, said: Said, known: Replica): boolean {
  if (!objects.mesh || said.owner !== 0 || said.dead || known.dead) return false
  return (objects.grants.get(said.key) ?? []).some(({ version, to }) => {
    return !objects.here.has(to) && compare(version, said.version) === 0
  })
}

// A version of our own epoch counts only if we granted it, for we know all our grants.
function isPlausible({ objects, now }: Turn, said: Said, known: Replica | undefined): boolean {
  if (said.version.epoch > objects.epoch) return false
  if (!known || compare(said.version, known.version) <= 0) return true
  if (isGranted(objects, said.key, said.version, said.owner)) return true
  return objects.rules.isOfBefore(objects, now, said.version)
}

function takeUnknown(turn: Turn, from: PeerId, said: Said, known: Replica | undefined): void {
  const { objects } = turn
  if (!known && said.dead && objects.replicas.size >= REPLICAS_MAX) return
  const isNew = !said.dead && (!known || known.dead)
  if (isNew && objects.living >= OBJECTS_MAX) return turnAway(turn, from, said, 'full')
  const replica = known ?? place(objects, said.creator, said.count, said.type)
  if (said.dead) bury(turn, replica, said.version, objects.me)
  else stand(turn, replica, said)
  adopt(turn, replica, objects.went.get(said.owner) ?? 0)
  giveBack(turn)
}

// A survivor has a newer state than the one that we adopted, and nothing has changed since.
function takeNewer(turn: Turn, said: Said, known: Replica): void {
  const { adopted, oseq } = known
  if (!adopted || compare(adopted.version, said.version) !== 0 || oseq !== adopted.oseq) return
  if (said.oseq <= oseq || known.owner !== turn.objects.me || known.type !== said.type) return
  known.adopted = { version: adopted.version, oseq: said.oseq }
  renew(turn, known, said)
}

/**
 * As primary: stops to wait for owners who did not come back in time.
 *
 * @returns when the next time is over; Infinity if nothing waits
 */
export function endGrace(turn: Turn): Millis {
  const { objects, types, now } = turn
  const back = playing(objects)
  let next = Infinity
  for (const replica of [...objects.replicas.values()]) {
    // Of whoever is back it is about to be.
    if (replica.dead || replica.former === 0 || back.has(replica.former)) continue
    const until = waitsUntil(turn, replica)
    if (now < until) {
      next = Math.min(next, until)
      continue
    }
    const version = nextVersion(objects, replica)
    if (types[replica.type]!.onOwnerLeave === 'keep') own(turn, replica, version, 0)
    else bury(turn, replica, version, objects.me)
  }
  return next
}

// What its type keeps stays anyway: whoever loads a page slowly has it again.
function waitsUntil({ objects, types }: Turn, { former, since, type }: Replica): Millis {
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
export function balance(turn: Turn): void {
  const { objects, types } = turn
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
    return replica.owner === fullest[0] && !openGrant(turn, replica.key)
  })
  if (moved) give(turn, moved, emptiest[0])
}
