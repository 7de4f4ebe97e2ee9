/**
 * Asking for objects, and getting them: what a member does that is not the primary.
 *
 *   A4  a GRANT counts from our primary alone, if its version is newer than ours: then we own the
 *       object, in the newer of our state and the one that the grant says, and tell everybody
 *
 * A request goes again to a new primary. It is settled by what becomes of the object: the grant,
 * a refusal, that somebody else has it, that it is gone.
 */

import type { PeerId } from '../machine.ts'
import { stand } from './accept.ts'
import { encodeAsk, encodeRequest, KIND, type Said } from './messages.ts'
import { conclude, decide, declined } from './owning.ts'
import { leads, OBJECTS_MAX, place, type Replica, type Request, type Turn } from './state.ts'
import { compare, type Version } from './version.ts'

/** Asks for an object, or gives it to somebody. @returns the number of the request */
export function request(turn: Turn, replica: Replica, what: 'take' | 'give', to: PeerId): number {
  const { objects } = turn
  const number = objects.nextRequest++
  objects.requests.set(number, { key: replica.key, what, to, from: replica.version })
  if (what === 'give') replica.giving = true
  send(turn, number, objects.requests.get(number)!)
  return number
}

function send(turn: Turn, number: number, { key, what, to, from }: Request): void {
  const { objects, types } = turn
  const replica = objects.replicas.get(key)
  if (!replica) return
  if (leads(objects)) {
    decide(turn, { from: objects.me, number, key, version: from, what, to, entry: null })
    return settle(turn, replica)
  }
  const bytes = encodeRequest(types, number, replica, { what, to, from })
  objects.outbox.push({ to: objects.primary, bytes })
}

/** There is another primary, or a new link to it: what is not settled is asked for again. */
export function askAgain(turn: Turn): void {
  for (const [number, asked] of [...turn.objects.requests]) send(turn, number, asked)
}

/** An object has another version, or is gone: what was asked about it may be settled. */
export function settle(turn: Turn, replica: Replica): void {
  const { objects } = turn
  for (const [number, { key, from, to }] of [...objects.requests]) {
    if (key !== replica.key) continue
    if (!replica.dead && compare(replica.version, from) <= 0) continue
    const granted = replica.owner === to
    conclude(turn, number, replica.dead ? 'gone' : granted ? 'granted' : 'refused')
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
  if ((!known || known.dead) && objects.living >= OBJECTS_MAX) {
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

/** As the owner: lets who asked have it, or not. */
export function reply(turn: Turn, replica: Replica, by: PeerId, yes: boolean): void {
  const { objects } = turn
  if (yes) return void request(turn, replica, 'give', by)
  if (leads(objects)) return declined(turn, objects.me, replica.key)
  objects.outbox.push({ to: objects.primary, bytes: encodeAsk(KIND.decline, replica, by) })
}
