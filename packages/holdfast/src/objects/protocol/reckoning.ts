/**
 * Dead reckoning: a change that the others extrapolate correctly need not be sent (B17).
 *
 * The others extrapolate an object from the last state that was sent. The owner computes the same,
 * and as long as that is near enough to where the object is, a change stays unsent. It is sent at
 * the latest after UNSAID_MS; so the others end with the exact state, and never wait so long for an
 * update that they would stop to extrapolate. A change that is due leaves together with other
 * changes, for a packet of its own would cost everybody one more; it leaves alone when nothing else
 * changed for COMPANY_MS.
 */

import type { Millis } from '../../machine.ts'
import { changed } from './queue.ts'
import type { Objects, Replica, Turn } from './state.ts'

/** A change is due after this: sooner than a viewer stops to extrapolate. */
export const UNSAID_MS: Millis = 2_000
/** A due change waits so long for another one to leave with. */
export const COMPANY_MS: Millis = 100

/** Sends an object of ours in its current state. */
export function say(objects: Objects, now: Millis, replica: Replica): void {
  objects.unsaid.delete(replica.key)
  replica.saidAt = now
  changed(objects, replica)
}

/** Sends changes that were left unsent for long enough. */
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

/** When unsent changes are sent even if nothing else is; Infinity if there are none. */
export function reckonsAt({ unsaidAt }: Objects): Millis {
  return unsaidAt + COMPANY_MS
}

/** Leaves a change unsent for now, if a state was sent lately. @returns whether it does */
export function wait(objects: Objects, now: Millis, replica: Replica): boolean {
  const due = replica.saidAt + UNSAID_MS
  if (now >= due) return false
  objects.unsaid.add(replica.key)
  objects.unsaidAt = Math.min(objects.unsaidAt, due)
  return true
}
