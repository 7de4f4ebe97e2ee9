/**
 * Grants, as the primary makes them (B29, B39, B43): one member owns an object from the next
 * version on, and sends everybody its entry (B38). The primary keeps a grant until that entry
 * arrives, which may be late.
 */

import type { Millis, PeerId } from '../../machine.ts'
import { stand } from './accept.ts'
import { KIND, plain, withEntry } from './messages.ts'
import { conclude, settle } from './requests.ts'
import {
  type Asked,
  type Grant,
  type Objects,
  type Refusal,
  REFUSALS,
  type Replica,
  type Turn,
} from './state.ts'
import { after, compare, type Version } from './stamp.ts'

/** A grantee that is silent for so long does not keep the next request waiting. */
export const GRANT_MS: Millis = 2_000

/** The grant that its grantee has not confirmed, and may still confirm; null for none. */
export function openGrant({ objects, now }: Turn, key: number): Grant | null {
  const grant = objects.grants.get(key)?.at(-1)
  if (!grant || !objects.here.has(grant.to) || now - grant.at >= GRANT_MS) return null
  return grant
}

/** Refuses a request. @param by  who has the object, or was first; 0 for nobody */
export function refuse(
  turn: Turn,
  { from, number }: Pick<Asked, 'from' | 'number'>,
  why: Refusal,
  by: PeerId = 0,
): void {
  const { objects } = turn
  if (from === objects.me) return conclude(turn, number, why, by)
  if (why !== 'overloaded') turn.out.charge?.(from, 'refusal')
  const bytes = plain(KIND.refuse, number, REFUSALS.indexOf(why), by)
  objects.outbox.push({ to: from, bytes })
}

/** As primary: makes that member the owner from the next version on. */
export function give(turn: Turn, replica: Replica, to: PeerId, giver: Grant['giver'] = null): void {
  const { objects } = turn
  objects.rules.grant(turn, replica, nextVersion(objects, replica), to, giver)
}

/** As primary: makes that member the owner in that version, and tells it so. */
export function grant(
  turn: Turn,
  replica: Replica,
  version: Version,
  to: PeerId,
  giver: Grant['giver'],
): void {
  const { objects, now } = turn
  if (to === objects.me) return own(turn, replica, version, 0)
  const grants = objects.grants.get(replica.key) ?? []
  objects.grants.set(replica.key, [...grants, { version, to, at: now, giver }])
  sendGrant(turn, replica, version, to)
}

function sendGrant({ objects, types }: Turn, replica: Replica, version: Version, to: PeerId): void {
  const { epoch, count } = version
  objects.outbox.push({ to, bytes: withEntry(KIND.grant, types, replica, epoch, count) })
}

/** The version of the next grant: newer than all that were granted, confirmed or not. */
export function nextVersion(objects: Objects, replica: Replica): Version {
  const granted = objects.grants.get(replica.key)?.at(-1)?.version
  const known = replica.version
  const newest = granted && compare(granted, known) > 0 ? granted : known
  return after(newest, objects.rules.epochOf(objects))
}

/** Makes us the owner in that version. @param former  the player who owned it; 0 for nobody */
export function own(turn: Turn, replica: Replica, version: Version, former: number): void {
  const { objects } = turn
  objects.grants.delete(replica.key)
  stand(turn, replica, { ...replica, version, owner: objects.me, former })
  // Our own request for the object has its answer by that.
  if (objects.requests.size > 0) settle(turn, replica)
}

/** As primary: a peer follows us; grants that were lost on their way to it are sent again. */
export function grantAgain(turn: Turn, peer: PeerId): void {
  const { objects } = turn
  for (const [key, grants] of objects.grants) {
    const replica = objects.replicas.get(key)
    const grant = grants.at(-1)
    if (grant?.to === peer && replica) sendGrant(turn, replica, grant.version, peer)
  }
}

/** As primary: a giver whose grantee left, or is silent, keeps the object for now and learns so. */
export function endGrants(turn: Turn): void {
  for (const [key, grants] of turn.objects.grants) {
    const open = openGrant(turn, key)
    for (const grant of grants) {
      const { giver, to } = grant
      if (!giver || grant === open) continue
      grant.giver = null
      refuse(turn, { from: giver.inc, number: giver.request }, 'away', to)
    }
  }
}
