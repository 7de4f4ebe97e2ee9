/**
 * Who owns what, as the primary decides it (B29, B30, B39, B43): it takes requests in their order,
 * grants to one, and the grantee tells everybody (B38). It adopts what the members who went have
 * left (B26), gives it back to those who return, and moves objects to who has fewest (B27).
 */

import type { Millis, PeerId } from '../machine.ts'
import { bury, isGranted, isOfBefore, refresh, stand, timed } from './accept.ts'
import { encodeAsk, encodeGrant, KIND, plain, type Said } from './messages.ts'
import {
  type Answer,
  type Grant,
  type Objects,
  OBJECTS_MAX,
  place,
  type Replica,
  REPLICAS_MAX,
  type Turn,
} from './state.ts'
import { after, compare, type Version } from './version.ts'

/** A grantee that is silent for so long does not keep the next one waiting. */
export const GRANT_MS: Millis = 2_000
/** So long a member's objects wait for its return (S-5). */
export const GRACE_MS: Millis = 60_000
/** Objects are balanced at most so often. */
export const BALANCE_MS: Millis = 1_000
/** The fullest owner has so much more than the emptiest when an object is moved. */
const UNEVEN = 1.25

/** Why a request is refused. */
export const REFUSED = { refused: 0, gone: 1 } as const

/** What a member asks for. */
export interface Asked {
  from: PeerId
  number: number
  key: number
  /** What it was in when they asked. */
  version: Version
  what: 'take' | 'give'
  to: PeerId
  /** Its state, as who gives it sends it. */
  entry: Said | null
}

/** As primary: a member asks for an object, or gives one away. */
export function decide(turn: Turn, asked: Asked): void {
  const { objects } = turn
  const replica = objects.replicas.get(asked.key)
  if (!replica || replica.dead) return refuse(turn, asked.from, asked.number, 'gone')
  if (asked.what === 'give') return handOn(turn, asked, replica)
  if (asked.to !== asked.from) return void objects.counters.ignored++
  // It asked twice: the grant is with it, or on the way.
  const grant = objects.grants.get(asked.key)?.at(-1)
  if (grant?.to === asked.from) return
  const isTheirs = replica.owner === asked.from && replica.former === 0
  const { take } = turn.types[replica.type]!
  const busy = isOpen(turn, grant) || objects.asked.has(asked.key)
  // Who asked before it heard of the newest owner hears now that somebody was quicker.
  const late = compare(asked.version, replica.version) < 0
  if (busy || isTheirs || late || take === 'fixed')
    return refuse(turn, asked.from, asked.number, 'refused')
  if (take === 'free') return give(turn, replica, asked.from)
  const { owner } = replica
  objects.asked.set(asked.key, { by: asked.from, request: asked.number, owner })
  ask(turn, replica, asked.from)
}

function handOn(turn: Turn, { from, number, to, entry }: Asked, replica: Replica): void {
  const { objects } = turn
  const known = objects.grants.get(replica.key)?.at(-1)
  if (known && known.to === to && known.giver?.inc === from) {
    known.giver.request = number
    return
  }
  const free = objects.here.has(to) && !isOpen(turn, objects.grants.get(replica.key)?.at(-1))
  if (replica.owner !== from || !free) return refuse(turn, from, number, 'refused')
  // What it gives is the newest there is (3.5: no write is lost).
  const newer = entry && compare(entry.version, replica.version) === 0 && entry.oseq > replica.oseq
  if (newer && entry.type === replica.type && !entry.dead) {
    refresh(turn, replica, entry.oseq, 0xffffffff, entry.fields)
    timed(turn, replica, entry.madeAt, null)
  }
  objects.asked.delete(replica.key)
  give(turn, replica, to, { inc: from, request: number })
}

function isOpen({ objects, now }: Turn, grant: Grant | undefined): boolean {
  return grant !== undefined && objects.here.has(grant.to) && now - grant.at < GRANT_MS
}

// Its owner's application decides.
function ask({ objects, out }: Turn, replica: Replica, by: PeerId): void {
  const { key, owner } = replica
  if (owner === objects.me) out.emit({ kind: 'object-asked', key, by })
  else objects.outbox.push({ to: owner, bytes: encodeAsk(KIND.ask, replica, by) })
}

/** As primary: an owner says no. */
export function declined(turn: Turn, from: PeerId, key: number): void {
  const { objects } = turn
  const asked = objects.asked.get(key)
  if (!asked || objects.replicas.get(key)?.owner !== from) return void objects.counters.ignored++
  objects.asked.delete(key)
  refuse(turn, asked.by, asked.request, 'refused')
}

function refuse(turn: Turn, to: PeerId, request: number, why: 'refused' | 'gone'): void {
  const { objects } = turn
  if (to !== objects.me) {
    objects.outbox.push({ to, bytes: plain(KIND.refuse, request, REFUSED[why]) })
    return
  }
  conclude(turn, request, why)
}

/** A request of ours has its answer. */
export function conclude({ objects, out }: Turn, request: number, answer: Answer): void {
  const { requests, replicas } = objects
  const asked = requests.get(request)
  if (!asked) return
  requests.delete(request)
  const replica = replicas.get(asked.key)
  if (replica?.giving) {
    const others = [...requests.values()]
    replica.giving = others.some(({ key, what }) => key === asked.key && what === 'give')
  }
  out.emit({ kind: 'object-answer', request, answer })
}

/** As primary: that member owns it from the next version on. */
export function give(turn: Turn, replica: Replica, to: PeerId, giver: Grant['giver'] = null): void {
  const { objects, now } = turn
  const version = next(objects, replica)
  if (objects.variant === 'host-sends-migrate') return command(turn, replica, version, to)
  if (to === objects.me) return own(turn, replica, version, 0)
  const grants = objects.grants.get(replica.key) ?? []
  objects.grants.set(replica.key, [...grants, { version, to, at: now, giver }])
  sendGrant(turn, replica, version, to)
}

function sendGrant({ objects, types }: Turn, replica: Replica, version: Version, to: PeerId): void {
  objects.outbox.push({ to, bytes: encodeGrant(types, version, replica) })
}

// The source's first form: the host itself tells everybody, the new owner too (B31).
function command(turn: Turn, replica: Replica, version: Version, to: PeerId): void {
  stand(turn, replica, { ...replica, version, owner: to })
}

// Of all grants that were made, also of those that nobody has heard of yet.
function next(objects: Objects, replica: Replica): Version {
  const granted = objects.grants.get(replica.key)?.at(-1)?.version
  const known = replica.version
  const newest = granted && compare(granted, known) > 0 ? granted : known
  return after(newest, objects.variant === 'no-epoch' ? 0 : objects.epoch)
}

function own(turn: Turn, replica: Replica, version: Version, former: number): void {
  const { objects } = turn
  objects.grants.delete(replica.key)
  stand(turn, replica, { ...replica, version, owner: objects.me, former })
}

/** As primary: a peer follows us; grants that were lost on the way go again. */
export function grantAgain(turn: Turn, peer: PeerId): void {
  const { objects } = turn
  for (const [key, grants] of objects.grants) {
    const replica = objects.replicas.get(key)
    const grant = grants.at(-1)
    if (grant?.to === peer && replica) sendGrant(turn, replica, grant.version, peer)
  }
}

/** As primary: who gave to somebody that went, or is silent, keeps the object for now. */
export function endGrants(turn: Turn): void {
  for (const grants of turn.objects.grants.values()) {
    for (const grant of grants) {
      const { giver } = grant
      if (!giver || isOpen(turn, grant)) continue
      grant.giver = null
      refuse(turn, giver.inc, giver.request, 'refused')
    }
  }
}

/** As primary: takes over what those who went have left, and gives back what is theirs. */
export function settleView(turn: Turn, left: boolean): void {
  const { objects } = turn
  for (const replica of [...objects.replicas.values()]) {
    if (objects.here.has(replica.owner)) continue
    adopt(turn, replica, left ? 0 : (objects.went.get(replica.owner) ?? 0))
  }
  giveBack(turn)
  endGrants(turn)
  endAsked(turn)
}

/** As primary: an owner that was asked went, or has it no more. */
export function endAsked(turn: Turn): void {
  const { objects } = turn
  for (const [key, { by, request, owner }] of objects.asked) {
    const replica = objects.replicas.get(key)
    const gone = !replica || replica.dead
    if (!gone && replica.owner === owner && objects.here.has(by)) continue
    objects.asked.delete(key)
    refuse(turn, by, request, gone ? 'gone' : 'refused')
  }
}

function adopt(turn: Turn, replica: Replica, player: number): void {
  const { objects, types } = turn
  if (replica.dead) {
    const { variant } = objects
    if (variant === 'no-tombstone-adoption' || variant === 'no-tombstone-duty') return
    bury(turn, replica, replica.version, objects.me)
    return
  }
  const former = replica.former || player
  const version = next(objects, replica)
  if (former === 0 && types[replica.type]!.onOwnerLeave === 'destroy') {
    return bury(turn, replica, version, objects.me)
  }
  const { oseq, version: before } = replica
  own(turn, replica, version, former)
  replica.adopted = { version: before, oseq }
}

/** As primary: who is here again gets its objects, also those that a primary before us adopted. */
export function giveBack(turn: Turn): void {
  const { objects } = turn
  const players = new Map([...objects.here].map(([inc, player]) => [player, inc]))
  for (const replica of objects.replicas.values()) {
    const inc = replica.former === 0 || replica.dead ? undefined : players.get(replica.former)
    if (inc === undefined || isOpen(turn, objects.grants.get(replica.key)?.at(-1))) continue
    give(turn, replica, inc)
  }
}

/** As primary: a member still holds what one who went has left. */
export function takeOrphan(turn: Turn, said: Said): void {
  const { objects } = turn
  const known = objects.replicas.get(said.key)
  const order = known ? compare(said.version, known.version) : 1
  const other = known !== undefined && known.type !== said.type
  if (other || objects.here.has(said.owner) || !isPlausible(turn, said, known)) {
    objects.counters.ignored++
  } else if (order > 0) {
    takeUnknown(turn, said, known)
  } else if (known && !known.dead && !said.dead) {
    takeNewer(turn, said, known)
  }
}

// What we granted ourselves we know.
function isPlausible({ objects, now }: Turn, said: Said, known: Replica | undefined): boolean {
  if (said.version.epoch > objects.epoch) return false
  if (!known || compare(said.version, known.version) <= 0) return true
  if (isGranted(objects, said.key, said.version, said.owner)) return true
  return isOfBefore(objects, now, said.version) || objects.variant === 'no-epoch'
}

function takeUnknown(turn: Turn, said: Said, known: Replica | undefined): void {
  const { objects } = turn
  const full = said.dead ? objects.replicas.size >= REPLICAS_MAX : objects.living >= OBJECTS_MAX
  if (!known && full) return
  const replica = known ?? place(objects, said.creator, said.count, said.type)
  if (said.dead) bury(turn, replica, said.version, objects.me)
  else stand(turn, replica, said)
  adopt(turn, replica, objects.went.get(said.owner) ?? 0)
  giveBack(turn)
}

// A survivor has a newer state than the one that we went on from, and nothing has changed since.
function takeNewer(turn: Turn, said: Said, known: Replica): void {
  const { adopted, oseq } = known
  if (!adopted || compare(adopted.version, said.version) !== 0 || oseq !== adopted.oseq) return
  if (said.oseq <= oseq || known.owner !== turn.objects.me || known.type !== said.type) return
  refresh(turn, known, said.oseq, 0xffffffff, said.fields)
  known.adopted = { version: adopted.version, oseq: said.oseq }
  turn.out.emit({ kind: 'object-changed', key: known.key, mask: 0xffffffff, ages: null })
}

/** As primary: who did not come back in time is not waited for any longer. */
export function endGrace(turn: Turn): void {
  const { objects, types, now } = turn
  for (const replica of [...objects.replicas.values()]) {
    if (replica.dead || replica.former === 0) continue
    if (now - replica.since < GRACE_MS) continue
    const version = next(objects, replica)
    if (types[replica.type]!.onOwnerLeave === 'keep') own(turn, replica, version, 0)
    else bury(turn, replica, version, objects.me)
  }
}

/** As primary: moves one object from the fullest owner to the emptiest, if that evens things. */
export function balance(turn: Turn): void {
  const { objects, types } = turn
  const counts = new Map([...objects.here.keys()].map((inc) => [inc, 0]))
  const movable = [...objects.replicas.values()].filter((replica) => {
    return !replica.dead && types[replica.type]!.balance && counts.has(replica.owner)
  })
  for (const { owner } of movable) counts.set(owner, counts.get(owner)! + 1)
  const ranked = [...counts].sort(([a, few], [b, many]) => few - many || a - b)
  const [emptiest, fullest] = [ranked[0], ranked.at(-1)]
  if (!emptiest || !fullest || fullest[1] <= Math.max(emptiest[1] + 1, emptiest[1] * UNEVEN)) return
  const moved = movable.find((replica) => {
    return replica.owner === fullest[0] && !isOpen(turn, objects.grants.get(replica.key)?.at(-1))
  })
  if (moved) give(turn, moved, emptiest[0])
}
