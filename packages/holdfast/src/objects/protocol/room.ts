/**
 * How many objects a session and one player may have. A member that creates an object checks first;
 * but two members may create the last one at once, so the primary checks too, and sends a creator
 * for whose object there is no room a FULL: then the object has ended. An object lives with all, or
 * with nobody (B23).
 */

import { type PeerId, termOf } from '../../machine.ts'
import { encodeFull } from './messages.ts'
import { type Objects, OBJECTS_MAX, type Said, type Turn } from './state.ts'

/** Objects that one player may make, unless the founder of the session set another number. */
export const QUOTA: number = OBJECTS_MAX / 4

/** Why there is no room: the session is full, or the player has made as many as it may. */
export type Lack = 'full' | 'quota'

/** How many objects one player may make, as in the `terms` of a session. */
export function quotaOf(terms: string): number {
  return termOf(terms, 'objects') ?? QUOTA
}

/** Living objects that a player made, in all incarnations that we know of. */
export function madeBy({ made, here, went }: Objects, player: number): number {
  let sum = 0
  for (const [inc, count] of made) {
    if ((here.get(inc) ?? went.get(inc)) === player) sum += count
  }
  return sum
}

/**
 * Why that member may make no more; null if it may. Hosts, which the hub admitted as such by a
 * ticket, and a player who is alone, have no quota.
 */
export function lackOf(objects: Objects, creator: PeerId): Lack | null {
  const { living, here, went, hosts, quota } = objects
  if (living >= OBJECTS_MAX) return 'full'
  const player = here.get(creator) ?? went.get(creator)
  if (player === undefined || hosts.has(creator)) return null
  const isAlone = new Set(here.values()).size <= 1
  return !isAlone && madeBy(objects, player) >= quota ? 'quota' : null
}

/** As primary: there is no room for an object that a peer sent us. */
export function turnAway({ objects }: Turn, to: PeerId, said: Said, why: Lack): void {
  objects.counters.full++
  objects.outbox.push({ to, bytes: encodeFull(said, why) })
}
