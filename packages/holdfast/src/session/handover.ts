/**
 * Hand-over: the primary gives its role to the backup, without a pause.
 *
 *     backedup   no new operation is taken until the backup holds the whole log
 *     handing    CAS(e, backup)
 *     R = (e+1, backup, nobody)    idle: the same member, and a client of the new primary
 *
 * The backup leads as soon as it reads R, or receives STEP_DOWN: by then it has the whole log.
 * Operations that were sent to the old primary meanwhile are sent again by its clients, as after
 * any change of primary.
 */

import * as commit from '../replication/log.ts'
import type { Millis } from '../machine.ts'
import type { Register } from '../hub-protocol/messages.ts'
import { become, grantFor, releaseAll } from './output.ts'
import { record } from './replicate.ts'
import { attempt } from './attempts.ts'
import { blank, type Session, type SessionOut } from './state.ts'

/** A backup that has not acked the whole log within this does not get the role. */
export const HANDOVER_MS: Millis = 1_000

/**
 * Begins to give the role away.
 *
 * @param atOnce  there is no time to wait for an answer, because a page freezes. The new primary
 *   may then have to wait for the hub's next message before it publishes what it commits.
 * @returns whether there is a backup to take it
 */
export function handOver(
  session: Session,
  now: Millis,
  out: SessionOut,
  atOnce: boolean = false,
): boolean {
  const { server } = session
  if (server.role !== 'backedup' || !session.hub.up) return false
  if (server.handoverUntil !== null) return true
  // The ack to this record shows when the backup last had a message of ours; its lease counts from
  // that.
  if (!atOnce) record(session, now, { kind: 'pointer', inc: server.durable.pointer }, out)
  server.handoverUntil = now + HANDOVER_MS
  proceed(session, now, out)
  return true
}

/** Goes on once the backup holds the whole log; gives up when that takes too long. */
export function proceed(session: Session, now: Millis, out: SessionOut): void {
  const { server } = session
  if (server.role !== 'backedup' || server.handoverUntil === null) return
  if (now >= server.handoverUntil) {
    server.handoverUntil = null
    return
  }
  if (!session.rules.mayHandOver(commit.lackingOf(server.log))) return
  const { lead, backup, epoch } = server
  const asked = attempt(now, epoch, { why: 'handover', primary: backup, backup: 0 })
  become(session, now, 'gives', { lead, backup, attempt: asked }, out)
  session.rules.seek(session, now, out)
}

/** The register names our backup as primary: we go on as its client. */
export function stepDown(session: Session, now: Millis, register: Register, out: SessionOut): void {
  releaseAll(session, now, out)
  session.client.handedAt = now
  const { epoch } = register
  out.send(register.primary, { kind: 'stepDown', epoch, grant: grantFor(session, epoch) })
  become(session, now, 'given', { ...blank(), incoming: null }, out)
}
