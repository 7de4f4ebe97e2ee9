/**
 * The log on its way from primary to backup: the changes that the primary records, the
 * snapshot and the entries that the other side takes. Both make a change by the same `make`.
 */

import * as commit from '../replication/log.ts'
import { assert, type Millis, type PeerId } from '../machine.ts'
import { decode, encode } from '../wire/layout.ts'
import { EPOCH_MAX } from '../directory/register.ts'
import * as durable from './durable.ts'
import {
  type Delta,
  deltaLayout,
  type PeerMessage,
  SNAPSHOT_PIECE_MAX,
  SNAPSHOT_PIECES_MAX,
} from './messages.ts'
import { become } from './output.ts'
import * as slices from './slices.ts'
import { idleServer, serves, type Session, type SessionOut, watchAnew } from './state.ts'
import { mayLead } from './trust.ts'

/** Makes a durable change as the primary: in the log, in the state, on its way to the backup. */
export function record(session: Session, now: Millis, delta: Delta, out: SessionOut): void {
  assert(serves(session), 'only a serving primary records')
  const { server } = session
  const bytes = encode(deltaLayout, delta)
  if (server.log.acked === commit.lengthOf(server.log)) server.unackedSince = now
  const index = commit.append(server.log, bytes)
  make(session, delta, out)
  const to = follower(session)
  if (to !== 0) out.send(to, { kind: 'replicate', epoch: server.epoch, index, delta: bytes })
  else settle(session)
}

// Nobody follows: no entry is owed to anyone.
function settle(session: Session): void {
  const { server } = session
  server.log.acked = commit.lengthOf(server.log)
  server.unackedSince = Infinity
  commit.trim(server.log, server.log.acked)
}

/** Who gets the log: the candidate, the backup, or nobody (0). */
export function follower(session: Session): PeerId {
  const { server } = session
  return server.role === 'alone' ? server.candidate : server.backup
}

/** BECOME_BACKUP: sends a candidate all there is; what follows goes to it too. */
export function sendSnapshot(session: Session, out: SessionOut): void {
  settle(session)
  const { server } = session
  const bytes = durable.snapshot(server.durable, out.parts.collect())
  const length = commit.lengthOf(server.log)
  for (const piece of slices.cut(bytes, SNAPSHOT_PIECE_MAX)) {
    out.send(server.candidate, { kind: 'snapshot', epoch: server.epoch, length, ...piece })
  }
}

/** The link to the follower is new: what was under way on the old one is lost. */
export function sendAgain(session: Session, out: SessionOut): void {
  const { server } = session
  if (server.role === 'alone') {
    if (server.candidate !== 0) sendSnapshot(session, out)
    return
  }
  if (server.role === 'backedup') {
    out.send(server.backup, { kind: 'confirm', epoch: server.epoch })
  }
  for (let index = server.log.acked; index < commit.lengthOf(server.log); index++) {
    const delta = commit.entryAt(server.log, index)
    assert(delta, 'entries that are not acked are kept')
    out.send(server.backup, { kind: 'replicate', epoch: server.epoch, index, delta })
  }
}

/** A piece of a snapshot from a primary that wants us for its backup (T16, T38). */
export function takeSnapshot(
  session: Session,
  now: Millis,
  from: PeerId,
  message: PeerMessage & { kind: 'snapshot' },
  out: SessionOut,
): void {
  const { server } = session
  const free = server.role === 'idle' || server.role === 'sync'
  const newer = server.role === 'idle' || message.epoch >= server.epoch
  if (!free || !newer || from === session.me || !mayLead(session, from)) return
  const { epoch, length } = message
  if (epoch > EPOCH_MAX || message.of > SNAPSHOT_PIECES_MAX) return
  const { incoming } = server
  const same = incoming?.from === from && incoming.epoch === epoch && incoming.length === length
  const taken = slices.take(same ? incoming.pieces : null, message)
  server.incoming = taken && { from, epoch, length, pieces: taken }
  const bytes = taken && slices.whole(taken)
  if (bytes) finishSnapshot(session, now, bytes, out)
}

function finishSnapshot(session: Session, now: Millis, bytes: Uint8Array, out: SessionOut): void {
  const { incoming } = session.server
  assert(incoming, 'a snapshot is finished once')
  const restored = durable.restore(bytes)
  session.server.incoming = null
  if (!restored) return
  const { from, epoch, length } = incoming
  session.server = {
    ...idleServer(now),
    epoch,
    durable: restored.durable,
    log: commit.create(length),
    primary: from,
    ackedAt: now,
  }
  out.parts.restore(restored.parts)
  watchAnew(session, now, from)
  become(session, now, 'sync', out)
  out.send(from, { kind: 'acknowledge', epoch, length })
}

/** An entry of the primary's log, or its word that the register names us. */
export function follow(
  session: Session,
  now: Millis,
  from: PeerId,
  message: PeerMessage & { kind: 'replicate' | 'confirm' },
  out: SessionOut,
): void {
  const { server } = session
  if ((server.role !== 'sync' && server.role !== 'backup') || from !== server.primary) return
  if (message.epoch < server.epoch || message.epoch > EPOCH_MAX) return
  if (message.epoch > server.epoch || message.kind === 'confirm') {
    // The primary serves in a later epoch than it offered in: the register names us.
    server.epoch = message.epoch
    if (server.role === 'sync') {
      watchAnew(session, now, from)
      become(session, now, 'backup', out)
    }
  }
  if (message.kind === 'replicate' && message.index === commit.lengthOf(server.log)) {
    const delta = decode(deltaLayout, message.delta)
    if (!delta) return
    server.log.base++
    server.log.acked = server.log.base
    make(session, delta, out)
  }
  const length = commit.lengthOf(server.log)
  server.ackedAt = now
  out.send(from, { kind: 'acknowledge', epoch: message.epoch, length })
}

function make(session: Session, delta: Delta, out: SessionOut): void {
  session.rules.make(session.server.durable, delta, serves(session))
  if (delta.kind !== 'operation') return
  for (const change of delta.changes) out.parts.change(change)
}
