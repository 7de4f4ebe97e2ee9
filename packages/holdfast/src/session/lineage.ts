/**
 * The lineage of a session: for each member that led, since which epoch and from what it went on.
 * Whoever leads writes on behind all before it, and nobody else does while it leads. So what one
 * leader and the number of its entry name is in a copy of the room, or the copy lacks it.
 *
 * A member keeps the newest point that it knows to be on the disk of the hub. If that is not in the
 * lineage of who leads now, the room went back in time, or is another copy: somebody put an older
 * one there. By epoch and index alone nobody could tell, for whoever opens a room has a higher
 * epoch than all before. By digests of all entries one could tell no more than by the mark of a
 * leader, which it draws anew each time that it begins.
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

/** From what a leader goes on, where not from a log of its own. */
export interface From {
  readonly sheets: number
  readonly imported: boolean
}

/** We lead from now on, behind so many entries of the log. */
export function begin(session: Session, epoch: number, index: number, from?: From): void {
  const mark = proofOf(session.secret, `lineage ${epoch}`)
  const { sheets = 0, imported = false } = from ?? {}
  const start = { epoch, index, mark, sheets, imported }
  session.lineage = [...session.lineage, start].slice(-LINEAGE_MAX)
}

/** Whoever leads says what came before. */
export function follow(session: Session, lineage: readonly LeaderStart[], out: SessionOut): void {
  session.lineage = lineage
  const { point, rules } = session
  const loss = point?.session === session.id ? rules.lacks(lineage, point) : null
  if (!loss) return
  // It is said once: the room goes on without it.
  session.point = null
  out.emit({ kind: 'rolledBack', ...loss })
}

/** We were in another session than this one: what was stored there is not here. */
export function move(session: Session, out: SessionOut): void {
  const { point } = session
  if (!point || point.session === session.id) return
  session.point = null
  out.emit({ kind: 'rolledBack', entries: point.index, imported: false })
}

/** What that lineage lacks of a point; null if nothing, or if it does not go back so far. */
export function lacks(
  lineage: readonly LeaderStart[],
  { mark, epoch, index, sheets }: Pick<PersistedPoint, 'mark' | 'epoch' | 'index' | 'sheets'>,
): Loss | null {
  const at = lineage.findIndex((start) => sameBytes(start.mark, mark))
  const behind = at < 0 ? lineage.findIndex((start) => start.epoch >= epoch) : at + 1
  const next = lineage[behind] ?? null
  const imported = lineage.slice(Math.max(0, behind)).some((start) => start.imported)
  const entries = Math.max(0, index - (next ?? lineage.at(-1) ?? { index: 0 }).index)
  if (at >= 0) {
    const isWhole = !next || (entries === 0 && (next.sheets === 0 || next.sheets >= sheets))
    return isWhole ? null : { entries, imported }
  }
  // Older ones were forgotten.
  const isForgotten = lineage.length === LINEAGE_MAX && lineage[0]!.epoch > epoch
  return isForgotten ? null : { entries, imported }
}

/** The hub has on disk what was written last: if all others have it too, it is a point. */
export function notePersisted(session: Session, { asked }: Persistence): void {
  const { id, lineage, rules, server } = session
  const last = lineage.at(-1)
  const { role, log } = server
  if (!last || rules.safeLength(role, log as commit.Log<Effect>) < asked.index) return
  session.point = { session: id, mark: last.mark, epoch: last.epoch, ...asked }
}

/** As primary: tells the others what is on the disk of the hub, if that is news. */
export function announce(session: Session, persistence: Persistence, out: SessionOut): void {
  const { me, point, server } = session
  if (!point || point === persistence.announced) return
  persistence.announced = point
  const { epoch, index, sheets } = point
  const message = { kind: 'persisted', epoch, index, sheets } as const
  for (const inc of server.published.keys()) if (inc !== me) out.send(inc, message)
}

/** The primary has heard it of the hub. */
export function onPersisted(
  session: Session,
  from: PeerId,
  { epoch, index, sheets }: { epoch: number; index: number; sheets: number },
): void {
  const last = session.lineage.at(-1)
  if (from !== session.client.view.primary || last?.epoch !== epoch) return
  session.point = { session: session.id, mark: last.mark, epoch, index, sheets }
}
