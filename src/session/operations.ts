/**
 * Operations: what a member asks the primary to do, once.
 *
 * Each has a number, (player, seq), strictly rising. The primary performs only the next one,
 * and the number, the outcome and the changes are one entry of the log: after a takeover the
 * client sends again what has no outcome, and gets the stored outcome or the first one (T80).
 */

import * as commit from '../replication/log.ts'
import { HoldfastError, type Millis, type PeerId } from '../machine.ts'
import * as durable from '../replication/durable.ts'
import type { PeerMessage } from './messages.ts'
import { BODY_MAX, CHANGES_MAX, OUTCOMES_MAX } from '../replication/layouts.ts'
import { HELD_MAX, hold } from './output.ts'
import { record } from './replicate.ts'
import { type Performed, serves, takes, type Session, type SessionOut } from './state.ts'

/** Above so many bytes that the backup lacks, operations stay with their clients (C-5). */
export const BACKLOG_MAX: number = 4 * 1024 * 1024
/** Most bytes that one operation changes. */
export const CHANGES_BYTES_MAX: number = 40 * 1024
// The outcome where no part takes the operation: no part's own, and not the empty one.
const NOBODY = Uint8Array.of(0)
/** An operation without outcome is sent again after this. */
export const AGAIN_MS: Millis = 1_000

/** As a client: asks for an operation. @returns its number @throws HoldfastError `overloaded` */
export function submit(
  session: Session,
  now: Millis,
  part: number,
  body: Uint8Array,
  out: SessionOut,
): number {
  const { client } = session
  if (client.pending.length >= OUTCOMES_MAX) {
    throw new HoldfastError(
      'overloaded',
      `${OUTCOMES_MAX} operations wait for the primary already: await some of them first`,
    )
  }
  if (body.length > BODY_MAX) {
    throw new HoldfastError('bad-value', `an operation takes ${BODY_MAX} bytes: ${body.length}`)
  }
  const seq = client.nextSeq++
  client.pending.push({ seq, part, body, since: now })
  if (client.againAt === Infinity) client.againAt = now + AGAIN_MS
  if (client.view.primary !== 0) {
    out.send(client.view.primary, { kind: 'operation', seq, part, body })
  }
  return seq
}

/** As a client: sends all that has no outcome, oldest first. */
export function submitAgain(session: Session, now: Millis, out: SessionOut): void {
  const { client } = session
  client.againAt = client.pending.length === 0 ? Infinity : now + AGAIN_MS
  if (client.view.primary === 0) return
  for (const { seq, part, body } of client.pending) {
    out.send(client.view.primary, { kind: 'operation', seq, part, body })
  }
}

/** As a client: the primary told an outcome. One that was told before is ignored. */
export function settle(
  session: Session,
  message: PeerMessage & { kind: 'done' },
  out: SessionOut,
): void {
  const { client } = session
  // It would come before what it did is seen; asked for again, it comes after.
  if (client.published.waiting) return
  const at = client.pending.findIndex((pending) => pending.seq === message.seq)
  if (at < 0) return
  client.pending.splice(at, 1)
  if (client.pending.length === 0) client.againAt = Infinity
  out.emit({ kind: 'done', seq: message.seq, outcome: message.outcome })
}

// An entry of the log must fit one message of a link: a part that made a longer one did nothing.
function bounded(performed: Performed | null): Performed | null {
  const changes = performed?.changes ?? []
  const size = changes.reduce((sum, change) => sum + change.bytes.length, 0)
  const fits = size <= CHANGES_BYTES_MAX && changes.length <= CHANGES_MAX
  return fits && (performed?.outcome.length ?? 0) <= BODY_MAX ? performed : null
}

/**
 * As a client: takes the numbers of the player that we are now. Operations of somebody whom the
 * session has forgotten are of no use to it: their fate is not known, and that is told.
 */
export function renumber(session: Session, same: boolean, lastSeq: number, out: SessionOut): void {
  const { client } = session
  if (same) client.nextSeq = Math.max(client.nextSeq, lastSeq + 1)
  else {
    const seqs = client.pending.splice(0).map((pending) => pending.seq)
    client.nextSeq = lastSeq + 1
    client.againAt = Infinity
    if (seqs.length > 0) out.emit({ kind: 'unknown', seqs })
  }
}

/** As the primary: performs the next operation of a player, and only that. */
export function operate(
  session: Session,
  now: Millis,
  from: PeerId,
  message: PeerMessage & { kind: 'operation' },
  out: SessionOut,
): void {
  const { server } = session
  if (!takes(session) || server.log.held.length >= HELD_MAX) return
  const member = server.durable.members.get(from)
  const row = member && server.durable.players.get(member.player)
  if (!member || !row) return
  const { seq } = message
  if (seq <= row.lastSeq) {
    // One that was recovered has no outcome any more: the empty one says that it was done.
    const outcome = durable.outcomeOf(server.durable, member.player, seq) ?? new Uint8Array(0)
    hold(session, now, { kind: 'send', to: from, message: { kind: 'done', seq, outcome } }, out)
    return
  }
  if (seq !== row.lastSeq + 1 || server.log.bytes > BACKLOG_MAX) return
  const performed = bounded(out.parts.perform(message.part, message.body, member))
  const outcome = performed?.outcome ?? NOBODY
  const changes = performed?.changes ?? []
  record(session, now, { kind: 'operation', player: member.player, seq, outcome, changes }, out)
  // News first: who is answered has seen what it did.
  const { player } = member
  const index = commit.lengthOf(server.log)
  for (const { part, bytes } of performed?.news ?? []) {
    const news = { kind: 'news', index, player, seq, part, bytes } as const
    hold(session, now, { kind: 'broadcast', news }, out)
  }
  hold(session, now, { kind: 'send', to: from, message: { kind: 'done', seq, outcome } }, out)
}

/** As the primary: brings one member's state of a part up to date, behind all that was recorded. */
export function inform(
  session: Session,
  now: Millis,
  part: number,
  to: PeerId,
  bytes: Uint8Array,
  out: SessionOut,
): void {
  if (!serves(session)) return
  const player = session.server.durable.members.get(to)?.player ?? 0
  const shown = out.parts.show(part, bytes, player)
  const message = { kind: 'news', index: 0, player: 0, seq: 0, part, bytes: shown } as const
  hold(session, now, { kind: 'send', to, message }, out)
}

/** As the primary: how far in the log a member is that was brought up to date just now. */
export function stand(session: Session, now: Millis, to: PeerId, out: SessionOut): void {
  const { server } = session
  if (!serves(session)) return
  const seqs = [...server.durable.players.values()].map(({ player, lastSeq: seq }) => {
    return { player, seq }
  })
  const message = { kind: 'standing', index: commit.lengthOf(server.log), seqs } as const
  hold(session, now, { kind: 'send', to, message }, out)
}
