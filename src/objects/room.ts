/**
 * How many objects there may be, of a session and of one player. Who makes one looks first; but two
 * may make the last one at once, so the primary looks too, and tells who made what it has no room
 * for (FULL): then it has ended. An object lives with all, or with nobody (B23).
 */

import type { PeerId } from '../machine.ts'
import { encodeFull } from './messages.ts'
import { type Objects, OBJECTS_MAX, type Said, type Turn } from './state.ts'

/** Objects that one player makes, unless who founded the session says otherwise. */
export const QUOTA: number = OBJECTS_MAX / 4

/** Why there is no room: the session is full, or its maker has enough. */
export type Lack = 'full' | 'quota'

/** What `terms` of a session say of it: how many objects one player makes. */
export function quotaOf(terms: string): number {
  const [, said] = /(?:^|;)objects=([0-9]{1,6})(?:;|$)/.exec(terms) ?? []
  return said === undefined ? QUOTA : Number(said)
}

/** Living objects that a player made, in all its incarnations that we know of. */
export function madeBy({ made, here, went }: Objects, player: number): number {
  let sum = 0
  for (const [inc, count] of made) {
    if ((here.get(inc) ?? went.get(inc)) === player) sum += count
  }
  return sum
}

/** Why that member may make no more; null if it may. Hosts, and who is alone, have no quota. */
export function lackOf(objects: Objects, creator: PeerId): Lack | null {
  const { living, here, went, hosts, quota } = objects
  if (living >= OBJECTS_MAX) return 'full'
  const player = here.get(creator) ?? went.get(creator)
  if (player === undefined || hosts.has(creator)) return null
  const isAlone = new Set(here.values()).size <= 1
  return !isAlone && madeBy(objects, player) >= quota ? 'quota' : null
}

/** As primary: there is no room for what somebody told us. */
export function turnAway({ objects }: Turn, to: PeerId, said: Said, why: Lack): void {
  objects.counters.full++
  objects.outbox.push({ to, bytes: encodeFull(said, why) })
}
