/**
 * Requests: how a member that is not the primary asks for objects and gets them.
 *
 *   A4  a GRANT counts only from our primary, and only if its version is newer than ours; then we
 *       own the object, keep the newer of our state and the grant's, and send everybody its entry
 *
 * A request is resent to a new primary. It is settled by a grant, a refusal, another owner, the
 * object's destruction, or a timeout of REQUEST_MS.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { install } from './accept.ts'
import { encodeRequest } from './messages.ts'
import {
  type Answer,
  leads,
  place,
  type Replica,
  REPLICAS_MAX,
  type Request,
  type ObjectEntry,
  type Context,
  type RequestKind,
} from './state.ts'
import { compare, type Version } from './stamp.ts'

/** Timeout of a request; it covers the crashes of two primaries. */
export const REQUEST_MS: Millis = 30_000

/** Asks for an object, or gives it. @param answers  see Request @returns the request's number */
export function request(
  context: Context,
  replica: Replica,
  what: RequestKind,
  to: PeerId,
  answers = 0,
): number {
  const { objects, now } = context
  const number = objects.nextRequest++
  const { key, version: from } = replica
  objects.requests.set(number, { key, what, to, from, answers, at: now })
  if (what !== 'take') replica.giving = true
  send(context, number, objects.requests.get(number)!)
  return number
}

function send({ objects, types, now }: Context, number: number, asked: Request): void {
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

/** After a new primary or a new link to it: resends unsettled requests. */
export function resendRequests(context: Context): void {
  for (const [number, asked] of context.objects.requests) send(context, number, asked)
}

/** An object has a new version or is destroyed: settles our requests about it. */
export function settle(context: Context, replica: Replica): void {
  const { objects } = context
  const { dead, owner } = replica
  for (const [number, { key, from, to }] of [...objects.requests]) {
    if (key !== replica.key) continue
    if (!dead && compare(replica.version, from) <= 0) continue
    const answer = dead ? 'gone' : owner === to ? 'granted' : 'late'
    conclude(context, number, answer, owner)
  }
}

/** Ends one of our requests. @param by  the member that the answer names; 0 for none */
export function conclude(context: Context, number: number, answer: Answer, by: PeerId): void {
  const { objects, out } = context
  const asked = objects.requests.get(number)
  if (!asked) return
  objects.requests.delete(number)
  const replica = objects.replicas.get(asked.key)
  if (replica?.giving) {
    const others = [...objects.requests.values()].filter(({ key }) => key === asked.key)
    replica.giving = others.some(({ what }) => what !== 'take')
  }
  // A `yes` emits no answer: the object's new owner shows the outcome.
  if (asked.what !== 'yes') out.emit({ kind: 'object-answer', request: number, answer, by })
}

export function endRequests(context: Context): void {
  const { objects, now } = context
  for (const [number, { at }] of [...objects.requests]) {
    if (now - at >= REQUEST_MS) conclude(context, number, 'no-answer', 0)
  }
}

/** The primary grants us an object (A4). */
export function receiveGrant(
  context: Context,
  from: PeerId,
  version: Version,
  base: ObjectEntry,
): void {
  const { objects } = context
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
  // The event of the new owner names the former one, also for an object that we never saw.
  if (!known) replica.owner = base.owner
  const order =
    known && !known.dead ? compare(known.version, base.version) || known.oseq - base.oseq : -1
  const fresher = order >= 0 && known ? { ...known, madeAt: known.madeAt } : base
  install(context, replica, { ...fresher, version, owner: objects.me, former: 0 })
}
