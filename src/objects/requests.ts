/**
 * Asking for objects, and getting them: what a member does that is not the primary.
 *
 *   A4  a GRANT counts from our primary alone, if its version is newer than ours: then we own the
 *       object, in the newer of our state and the one that the grant says, and tell everybody
 *
 * A request goes again to a new primary. It is settled by what becomes of the object: the grant,
 * a refusal, that somebody else has it, that it is gone; and after REQUEST_MS in any case.
 */

import type { Millis, PeerId } from '../machine.ts'
import { stand } from './accept.ts'
import { encodeRequest } from './messages.ts'
import {
  type Answer,
  leads,
  type Objects,
  place,
  type Replica,
  REPLICAS_MAX,
  type Request,
  type Said,
  type Turn,
  type What,
} from './state.ts'
import { compare, type Version } from './version.ts'

/** Nobody waits longer for what came of a request, also over the deaths of two servers. */
export const REQUEST_MS: Millis = 30_000

/**
 * Asks for an object, or gives it to somebody.
 *
 * @param answers  of a `yes`: the request of who asked for it
 * @returns the number of the request
 */
export function request(turn: Turn, replica: Replica, what: What, to: PeerId, answers = 0): number {
  const { objects, now } = turn
  const number = objects.nextRequest++
  const { key, version: from } = replica
  objects.requests.set(number, { key, what, to, from, answers, at: now })
  if (what !== 'take') replica.giving = true
  send(turn, number, objects.requests.get(number)!)
  return number
}

function send({ objects, types, now }: Turn, number: number, asked: Request): void {
  const { me, primary } = objects
  const { key, what, to, from: version, answers } = asked
  const replica = objects.replicas.get(key)
  if (!replica) return
  if (leads(objects)) {
    const ours = { from: me, number, key, version, what, to, answers, entry: null, at: now }
    objects.pending.push(ours)
    objects.pendingAt = now
    return
  }
  const bytes = encodeRequest(types, number, replica, asked)
  objects.outbox.push({ to: primary, bytes })
}

/** There is another primary, or a new link to it: what is not settled is asked for again. */
export function askAgain(turn: Turn): void {
  for (const [number, asked] of turn.objects.requests) send(turn, number, asked)
}

/** An object has another version, or is gone: what was asked about it may be settled. */
export function settle(turn: Turn, replica: Replica): void {
  const { objects } = turn
  const { dead, owner } = replica
  for (const [number, { key, from, to }] of [...objects.requests]) {
    if (key !== replica.key) continue
    if (!dead && compare(replica.version, from) <= 0) continue
    const answer = dead ? 'gone' : owner === to ? 'granted' : 'late'
    conclude(turn, number, answer, owner)
  }
}

/** A request of ours has its answer. @param by  whom it is about; 0 for nobody */
export function conclude(turn: Turn, number: number, answer: Answer, by: PeerId): void {
  const { objects, out } = turn
  const asked = objects.requests.get(number)
  if (!asked) return
  objects.requests.delete(number)
  const replica = objects.replicas.get(asked.key)
  if (replica?.giving) replica.giving = isGiven(objects, asked.key)
  // Who said yes to somebody hears of that by what becomes of the object.
  if (asked.what !== 'yes') out.emit({ kind: 'object-answer', request: number, answer, by })
}

function isGiven({ requests }: Objects, key: number): boolean {
  return [...requests.values()].some((other) => other.key === key && other.what !== 'take')
}

/** Of what was asked too long ago nobody will tell. */
export function endRequests(turn: Turn): void {
  const { objects, now } = turn
  for (const [number, { at }] of [...objects.requests]) {
    if (now - at >= REQUEST_MS) conclude(turn, number, 'no-answer', 0)
  }
}

/** The primary grants us an object (A4). */
export function takeGrant(turn: Turn, from: PeerId, version: Version, base: Said): void {
  const { objects } = turn
  const known = objects.replicas.get(base.key)
  const other = known !== undefined && known.type !== base.type
  if (other || from !== objects.primary || leads(objects) || base.dead) {
    objects.counters.ignored++
    return
  }
  if (known && compare(version, known.version) <= 0) {
    objects.counters.stale++
    return
  }
  if ((!known || known.dead) && objects.living >= REPLICAS_MAX) {
    objects.counters.ignored++
    return
  }
  const replica = known ?? place(objects, base.creator, base.count, base.type)
  // Of an object that we never saw: whose it was, who is to hear that.
  if (!known) replica.owner = base.owner
  const order =
    known && !known.dead ? compare(known.version, base.version) || known.oseq - base.oseq : -1
  const fresher = order >= 0 && known ? { ...known, madeAt: known.madeAt } : base
  stand(turn, replica, { ...fresher, version, owner: objects.me, former: 0 })
}
