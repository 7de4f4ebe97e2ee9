/**
 * Dead reckoning: what moves as the others think need not be said (B17).
 *
 * The others move an object on by what was said of it last. Its owner knows how, and as long as
 * that is near enough to where the object is, a change stays unsaid. It is said at the latest after
 * UNSAID_MS; so the others end with the exact state, and are never without news for so long that
 * they would stop to reckon. What is due goes with what is said anyway, for a packet of its own
 * would cost everybody one more; alone it goes when nothing else came for COMPANY_MS.
 */

import type { Millis } from '../machine.ts'
import { changed } from './queue.ts'
import type { Objects, Replica, Turn } from './state.ts'

/** A change is due after this: sooner than a viewer stops to extrapolate. */
export const UNSAID_MS: Millis = 2_000
/** What is due waits so long for something else that is said. */
export const COMPANY_MS: Millis = 100

/** What is ours is said as it is now. */
export function say(objects: Objects, now: Millis, replica: Replica): void {
  objects.unsaid.delete(replica.key)
  replica.saidAt = now
  changed(objects, replica)
}

/** Says what was left unsaid for long enough. */
export function reckon({ objects, now }: Turn): void {
  if (now < (objects.fresh.size > 0 ? objects.unsaidAt : reckonsAt(objects))) return
  objects.unsaidAt = Infinity
  for (const key of objects.unsaid) {
    const replica = objects.replicas.get(key)
    if (replica && now - replica.saidAt < UNSAID_MS) {
      objects.unsaidAt = Math.min(objects.unsaidAt, replica.saidAt + UNSAID_MS)
      continue
    }
    objects.unsaid.delete(key)
    if (replica && !replica.dead && replica.owner === objects.me) say(objects, now, replica)
  }
}

/** When what is unsaid is said even if nothing else is; Infinity if nothing is unsaid. */
export function reckonsAt({ unsaidAt }: Objects): Millis {
  return unsaidAt + COMPANY_MS
}

/** A change stays unsaid for now, if something was said lately. @returns whether it does */
export function wait(objects: Objects, now: Millis, replica: Replica): boolean {
  const due = replica.saidAt + UNSAID_MS
  if (now >= due) return false
  objects.unsaid.add(replica.key)
  objects.unsaidAt = Math.min(objects.unsaidAt, due)
  return true
}
