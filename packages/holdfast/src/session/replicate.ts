/**
 * Replication from primary to backup: the primary records changes, the backup takes a snapshot and
 * entries. Both apply a change by the same `make`.
 */

import * as commit from '../replication/log.ts'
import { assert, INC_MAX, MEMBERS_MAX, type PeerId } from '../machine.ts'
import { decode, encode } from '../wire/layout.ts'
import { EPOCH_MAX } from '../hub-protocol/messages.ts'
import * as durable from '../replication/durable.ts'
import { SNAPSHOT_PIECE_MAX, SNAPSHOT_PIECES_MAX, type PeerMessageOf } from './messages.ts'
import {
  type Delta,
  deltaLayout,
  type LeaveReason,
  PLAYERS_KEPT_MAX,
  COUNTER_MAX,
} from '../replication/layouts.ts'
import * as persistence from './persistence.ts'
import { become, hold } from './output.ts'
import * as chunks from '../wire/chunks.ts'
import {
  blank,
  type Effect,
  is,
  type ServerAs,
  serves,
  type Session,
  type SessionOut,
  restartDetector,
  type Turn,
  mayBePrimary,
} from './state.ts'
import type { RoleThat } from './role-table.ts'

type Serving = ServerAs<RoleThat<'serves'>>

/** Makes a durable change as the primary: appends it, applies it, and sends it to the backup. */
export function record(turn: Turn, delta: Delta): void {
  const { session, now, out } = turn
  assert(serves(session), 'only a serving primary records')
  const { server } = session
  const bytes = encode(deltaLayout, delta)
  session.steps++
  const index = commit.append(server.log, now, bytes)
  const acts = delta.kind === 'operation'
  make(session, delta, out)
  session.steps--
  persistence.noteEntry(server.lead, now, bytes, { length: index + 1, acts })
  const to = follower(server)
  if (to !== 0) out.send(to, { kind: 'replicate', epoch: server.epoch, index, delta: bytes })
  else settle(server)
}

/** As the primary: removes a member, and publishes that once it is safe. */
export function dismiss(turn: Turn, inc: PeerId, why: LeaveReason): void {
  record(turn, { kind: 'remove', inc, why })
  hold(turn, { kind: 'went', inc, why })
}

// Without a follower, no entry needs an ack.
function settle({ log }: Serving): void {
  commit.ackAll(log)
  commit.trim(log, log.acked)
}

/** The member that receives the log: the candidate, the backup, or nobody (0). */
export function follower(server: Serving): PeerId {
  return server.role === 'alone' ? server.candidate : server.backup
}

/** BECOME_BACKUP: sends a candidate a snapshot; later entries follow. */
export function sendSnapshot(server: ServerAs<'alone'>, out: SessionOut): void {
  settle(server)
  const bytes = durable.snapshot(server.durable, out.parts.collect())
  const length = commit.lengthOf(server.log)
  for (const piece of chunks.cut(bytes, SNAPSHOT_PIECE_MAX)) {
    out.send(server.candidate, { kind: 'snapshot', epoch: server.epoch, length, ...piece })
  }
}

/** Resends what the old link to the follower may have lost. */
export function sendAgain(server: Serving, out: SessionOut): void {
  if (server.role === 'alone') {
    if (server.candidate !== 0) sendSnapshot(server, out)
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

/** A chunk of a snapshot from a primary that wants us as its backup (T16, T38). */
export function takeSnapshot(turn: Turn, from: PeerId, message: PeerMessageOf<'snapshot'>): void {
  const { session, now, out } = turn
  if (!is(session, 'free')) return
  const { server } = session
  const newer = server.role === 'idle' || message.epoch >= server.epoch
  if (!newer || from === session.me || !mayBePrimary(session, from)) return
  const { epoch, length } = message
  if (epoch > EPOCH_MAX || length > COUNTER_MAX || message.of > SNAPSHOT_PIECES_MAX) return
  const { incoming } = server
  const same = incoming?.from === from && incoming.epoch === epoch && incoming.length === length
  const taken = chunks.take(same ? incoming.pieces : null, message)
  server.incoming = taken && { from, epoch, length, pieces: taken }
  const bytes = taken && chunks.whole(taken)
  if (!bytes) return
  server.incoming = null
  const restored = durable.restore(bytes)
  if (!restored) return
  session.steps++
  // If a part rejects its copy we send no ack: as the next primary we would lose its state.
  const isWhole = out.parts.restore(restored.parts)
  session.steps--
  if (!isWhole) {
    if (server.role === 'sync') become(turn, 'unrestored', { ...blank(), incoming: null })
    return
  }
  const log = commit.create<Effect>(length)
  const kept = { ...blank(), epoch, durable: restored.durable, log }
  restartDetector(session, now, from)
  const own = { primary: from, ackedAt: now, incoming: null }
  become(turn, 'restored', { ...kept, ...own })
  out.send(from, { kind: 'acknowledge', epoch, length })
}

/** Takes an entry of the primary's log, or its message that the register names us. */
export function follow(
  turn: Turn,
  from: PeerId,
  message: PeerMessageOf<'replicate' | 'confirm'>,
): void {
  const { session, now, out } = turn
  if (!is(session, 'follows') || from !== session.server.primary) return
  const { server } = session
  const { log } = server
  if (message.epoch < server.epoch || message.epoch > EPOCH_MAX) return
  // While we ask to take over, only the register can announce a later epoch.
  if (server.role === 'taking' && message.epoch !== server.epoch) return
  if (message.epoch > server.epoch || message.kind === 'confirm') {
    // The primary serves in a later epoch than it offered: the register names us.
    server.epoch = message.epoch
    if (server.role === 'sync') onNamedBackup(turn, server)
  }
  if (message.kind === 'replicate' && message.index === commit.lengthOf(log)) {
    const delta = decode(deltaLayout, message.delta)
    if (!delta || isTooMany(server.durable, delta)) return
    session.steps++
    commit.advance(log)
    make(session, delta, out)
    session.steps--
  }
  const length = commit.lengthOf(log)
  session.server.ackedAt = now
  out.send(from, { kind: 'acknowledge', epoch: message.epoch, length })
}

// An entry beyond these limits, which no correct primary records, would break our own snapshots.
function isTooMany({ members, players }: durable.Durable, delta: Delta): boolean {
  if (delta.kind !== 'add') return false
  const { inc, player } = delta.member
  const hasRow = members.has(inc) || members.size < MEMBERS_MAX
  return (
    !hasRow ||
    Math.max(inc, player) > INC_MAX ||
    (!players.has(player) && players.size >= PLAYERS_KEPT_MAX)
  )
}

export function onNamedBackup(turn: Turn, { primary, ackedAt }: ServerAs<'sync' | 'taking'>): void {
  const { session, now } = turn
  restartDetector(session, now, primary)
  become(turn, 'named', { primary, ackedAt })
}

function make(session: Session, delta: Delta, out: SessionOut): void {
  session.rules.make(session.server.durable, delta, serves(session))
  if (delta.kind !== 'operation') return
  for (const change of delta.changes) out.parts.change(change)
}
