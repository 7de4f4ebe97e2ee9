/** Dead letters: how many are kept, for how long, and how one is found. */

import { HoldfastError } from '../../../holdfast/src/machine.ts'
import type { DeadLetter, MailStore } from '../../../holdfast/src/ports.ts'
import { bury, type Draft } from './draft.ts'
import type { Later } from './later.ts'

/** Limits of dead letters. */
export interface DeadBounds {
  deadMax: number
  /** Null for no limit. */
  deadMs: number | null
}

/** Drops the oldest dead letters over the limit, so that they do not fill the disk. */
export function boundDead(
  draft: Draft,
  store: MailStore,
  { deadMax, deadMs }: DeadBounds,
  later: Later,
  date: number | null,
): void {
  const { changes, buried } = draft
  const died: { peer: string; n: number }[] = []
  for (const change of changes) if (change.kind === 'dead') died.push(change)
  if (died.length === 0) return
  if (deadMs !== null && date !== null) {
    for (const { peer, n } of died) later.add(date + deadMs, { kind: 'bury', peer, n })
  }
  const over = store.deadCount() + died.length - buried.size - deadMax
  if (over <= 0) return
  for (const { peer, n } of store.dead(0, over + buried.size).slice(0, over)) {
    dropDead(draft, store, peer, n)
  }
}

/** Drops a dead letter whose time is over, if nobody has taken it out before. */
export function dropDead(draft: Draft, store: MailStore, peer: string, n: number): void {
  if (draft.buried.has(`${peer} ${n}`) || !store.deadOne(peer, n)) return
  bury(draft, peer, n)
  draft.events.push({ kind: 'dropped', peer, n })
}

/** Finds a dead letter that this turn has not taken out. @throws HoldfastError `not-found` */
export function findDead({ buried }: Draft, store: MailStore, peer: string, n: number): DeadLetter {
  const found = buried.has(`${peer} ${n}`) ? null : store.deadOne(peer, n)
  if (found) return found
  throw new HoldfastError('not-found', `no letter ${n} of ${peer} was set aside`)
}
