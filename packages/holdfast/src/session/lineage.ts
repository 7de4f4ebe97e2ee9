/**
 * The lineage of a session: for each leader, its first epoch and the log that it continued. Only
 * the leader appends, so a leader and the index of an entry identify that entry.
 *
 * Each member remembers the newest point that it knows to be on the hub's disk. If the lineage
 * lacks that point, somebody restored an older copy of the room. Epochs and indexes alone could not
 * show this, because opening a room raises the epoch; the random mark of a leader shows as much as
 * digests of all entries would.
 */

import type { PeerId } from '../machine.ts'
import {
  LINEAGE_MAX,
  type Loss,
  type PersistedPoint,
  type LeaderStart,
} from '../replication/layouts.ts'
import type * as commit from '../replication/log.ts'
import { proofOf, sameBytes } from '../wire/digest.ts'
import type { Persistence } from './segments.ts'
import type { Effect, Session, SessionOut } from './state.ts'

/** The stored state that a leader continues. */
export interface From {
  readonly segments: number
  readonly imported: boolean
}

/** We begin to lead, after `index` entries of the log. */
export function begin(session: Session, epoch: number, index: number, from?: From): void {
  const mark = proofOf(session.secret, `lineage ${epoch}`)
  const { segments = 0, imported = false } = from ?? {}
  const start = { epoch, index, mark, segments, imported }
  session.lineage = [...session.lineage, start].slice(-LINEAGE_MAX)
}

/** Adopts the leader's lineage, and reports a rollback if it lacks our point. */
export function follow(session: Session, lineage: readonly LeaderStart[], out: SessionOut): void {
  session.lineage = lineage
  const { point, rules } = session
  const loss = point?.session === session.id ? rules.lacks(lineage, point) : null
  if (!loss) return
  // Report it once: the room continues without that state.
  session.point = null
  out.emit({ kind: 'rolledBack', ...loss })
}

/** Reports a rollback if our point is of another session. */
export function move(session: Session, out: SessionOut): void {
  const { point } = session
  if (!point || point.session === session.id) return
  session.point = null
  out.emit({ kind: 'rolledBack', entries: point.index, imported: false })
}

/** What a lineage lacks of a point; null for nothing, or if it does not reach back so far. */
export function lacks(
  lineage: readonly LeaderStart[],
  { mark, epoch, index, segments }: Pick<PersistedPoint, 'mark' | 'epoch' | 'index' | 'segments'>,
): Loss | null {
  const at = lineage.findIndex((start) => sameBytes(start.mark, mark))
  const behind = at < 0 ? lineage.findIndex((start) => start.epoch >= epoch) : at + 1
  const next = lineage[behind] ?? null
  const imported = lineage.slice(Math.max(0, behind)).some((start) => start.imported)
  const entries = Math.max(0, index - (next ?? lineage.at(-1) ?? { index: 0 }).index)
  if (at >= 0) {
    const isWhole = !next || (entries === 0 && (next.segments === 0 || next.segments >= segments))
    return isWhole ? null : { entries, imported }
  }
  // Older ones were forgotten.
  const isForgotten = lineage.length === LINEAGE_MAX && lineage[0]!.epoch > epoch
  return isForgotten ? null : { entries, imported }
}

/** The hub stored the last segment: it becomes our point, unless the backup lacks it. */
export function notePersisted(session: Session, { asked }: Persistence): void {
  const { id, lineage, rules, server } = session
  const last = lineage.at(-1)
  const { role, log } = server
  if (!last || rules.safeLength(role, log as commit.Log<Effect>) < asked.index) return
  session.point = { session: id, mark: last.mark, epoch: last.epoch, ...asked }
}

/** As primary: sends a new point to the other members. */
export function announce(session: Session, persistence: Persistence, out: SessionOut): void {
  const { me, point, server } = session
  if (!point || point === persistence.announced) return
  persistence.announced = point
  const { epoch, index, segments } = point
  const message = { kind: 'persisted', epoch, index, segments } as const
  for (const inc of server.published.keys()) if (inc !== me) out.send(inc, message)
}

/** The primary announces that the hub stored its log up to `index`. */
export function onPersisted(
  session: Session,
  from: PeerId,
  { epoch, index, segments }: { epoch: number; index: number; segments: number },
): void {
  const last = session.lineage.at(-1)
  if (from !== session.client.view.primary || last?.epoch !== epoch) return
  session.point = { session: session.id, mark: last.mark, epoch, index, segments }
}
