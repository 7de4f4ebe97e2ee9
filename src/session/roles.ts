/**
 * Who serves: the transitions of the server object.
 *
 *     alone(e)     a candidate holds my whole log        adding:   CAS(e, me + candidate)
 *     adding       R = (e+1, me, candidate)              backedup(e+1)
 *     backedup     the backup is suspected               dropping: CAS(e, me)
 *     dropping     R = (e+1, me, nobody)                 alone(e+1), all that was held leaves
 *     backup       the primary is suspected              taking:   CAS(e, me)
 *     taking       R = (e+1, me, nobody)                 alone(e+1), TAKE_OVER to all
 *     backup       R = (e+1, me, nobody): handed over    alone(e+1), TAKE_OVER to all
 *     any          R names others                        idle
 *     handing, recovering, gathering                     see handover.ts and recovery.ts
 *
 * R is the register, and the register is the truth: a request may be answered twice, late or
 * never, and whoever reads R knows how it ended. From the moment the CAS that adds a backup
 * is sent until the register has answered the one that drops it, nothing is committed without
 * that backup: in between either may be believed to serve, and both hold what is committed.
 *
 * This is Vertical Paxos II with configurations of two and the directory as their master
 * (Lamport, Malkhi, Zhou, 2009): write to both, read from either, change through the master.
 */

import * as commit from '../replication/log.ts'
import type { Millis, PeerId } from '../machine.ts'
import type { Register } from '../directory/messages.ts'
import { proceed, stepDown } from './handover.ts'
import * as leases from './lease.ts'
import { gather } from './recovery.ts'
import type { Gone, Member, PeerMessage } from './messages.ts'
import { become, hold, releaseHeld, tellHub, tellOne, tellView } from './output.ts'
import { follower, record, sendAgain, sendSnapshot } from './replicate.ts'
import { idleServer, serves, type Session, type SessionOut, watchAnew } from './state.ts'
import { sighted } from './trust.ts'

/** After a takeover those who wait are served first; then a backup is sought. */
export const SERVE_FIRST_MS: Millis = 20

/** The founder's role, after ADD_SERVER (T13). */
export function found(session: Session, now: Millis, out: SessionOut): void {
  const lease = leases.create(session.recovers, now + leases.LEASE_MS)
  session.server = { ...idleServer(now), epoch: 1, servesSince: now, lease }
  session.client.told = { ...session.client.told, coming: [], waiting: false }
  become(session, now, 'alone', out)
}

/** A peer is suspected of having failed; what follows depends on the roles (T36, T39). */
export function suspect(session: Session, now: Millis, peer: PeerId, out: SessionOut): void {
  const { server } = session
  if (server.role === 'backedup' && peer === server.backup) dropBackup(session, now, out)
  else if (server.role === 'backup' && peer === server.primary) takeOver(session, now, out)
}

/** Asks one member to be the backup: its log must be as long as ours before it is registered. */
export function offer(session: Session, now: Millis, candidate: PeerId, out: SessionOut): void {
  const { server } = session
  if (server.role !== 'alone') return
  record(session, now, { kind: 'pointer', inc: candidate }, out)
  server.candidate = candidate
  server.candidateSince = now
  sendSnapshot(session, out)
}

/** The follower holds so many entries. An ack of another epoch says nothing of this one. */
export function acknowledged(
  session: Session,
  now: Millis,
  from: PeerId,
  message: PeerMessage & { kind: 'acknowledge' },
  out: SessionOut,
): void {
  const { server } = session
  if (message.epoch !== server.epoch || from !== follower(session) || from === 0) return
  if (!serves(session)) return
  if (server.role === 'alone') {
    const length = commit.lengthOf(server.log)
    if (session.rules.mayAdd(message.length, length)) addBackup(session, now, out)
    return
  }
  if (!commit.acknowledge(server.log, message.length)) return
  server.unackedSince = message.length === commit.lengthOf(server.log) ? Infinity : now
  commit.trim(server.log, message.length)
  releaseHeld(session, now, out)
  proceed(session, now, out)
}

function addBackup(session: Session, now: Millis, out: SessionOut): void {
  const { server } = session
  server.backup = server.candidate
  server.candidate = 0
  server.log.acked = commit.lengthOf(server.log)
  server.unackedSince = Infinity
  become(session, now, 'adding', out)
  session.rules.seek(session, now, { why: 'add', primary: session.me, backup: server.backup }, out)
}

/** Asks the register to do without the backup. @param why it shall be removed as a member, if so */
export function dropBackup(
  session: Session,
  now: Millis,
  out: SessionOut,
  why: Gone | null = null,
): void {
  const { server } = session
  server.removeAfterDrop ??= why
  server.handoverUntil = null
  if (server.role !== 'backedup') return
  become(session, now, 'dropping', out)
  session.rules.seek(session, now, { why: 'drop', primary: session.me, backup: 0 }, out)
}

function takeOver(session: Session, now: Millis, out: SessionOut): void {
  become(session, now, 'taking', out)
  session.rules.seek(session, now, { why: 'takeover', primary: session.me, backup: 0 }, out)
}

/** The primary was heard again: takes the suspicion back if the register was not asked yet. */
export function heardPrimary(session: Session, now: Millis, out: SessionOut): void {
  const { server } = session
  if (server.role !== 'taking' || server.attempt?.sent !== false) return
  server.attempt = null
  become(session, now, 'backup', out)
}

/** The hub told the register: an answer, or news. The newest epoch is the truth. */
export function adopt(session: Session, now: Millis, register: Register, out: SessionOut): void {
  sighted(session, now, register)
  const { server } = session
  if (server.role === 'idle' || register.epoch <= server.epoch) return
  if (register.primary === session.me) return confirmed(session, now, register, out)
  const { role } = server
  const handed = role === 'handing' && register.primary === server.backup
  if (handed && register.epoch === server.epoch + 1) return stepDown(session, now, register, out)
  const waits = role === 'sync' || role === 'backup' || role === 'taking'
  if (register.backup !== session.me || !waits) return depose(session, now, out)
  server.epoch = register.epoch
  server.attempt = null
  if (role === 'backup') return
  watchAnew(session, now, server.primary)
  become(session, now, 'backup', out)
}

/** STEP_DOWN of our primary: the register names us, whatever the hub's word is waiting for. */
export function handed(
  session: Session,
  now: Millis,
  from: PeerId,
  epoch: number,
  out: SessionOut,
): void {
  const { server } = session
  if (server.role !== 'backup' || from !== server.primary || epoch !== server.epoch + 1) return
  adopt(session, now, { epoch, primary: session.me, backup: 0 }, out)
}

// The register names me primary: what I asked for was done, or what my primary did for me.
function confirmed(session: Session, now: Millis, register: Register, out: SessionOut): void {
  const { server } = session
  const dropped = server.backup
  const { role, attempt: asked } = server
  if (role === 'recovering') return recover(session, now, register, out)
  if (asked) leases.renew(server.lease, asked.sentAt)
  server.epoch = register.epoch
  server.backup = register.backup
  if (role === 'taking') return lead(session, now, 'failed', out)
  // Handed over: also to one that has not heard yet that it is the backup, but holds it all.
  if (role === 'backup' || role === 'sync') return lead(session, now, null, out)
  server.attempt = null
  if (register.backup === 0) return aloneAgain(session, now, dropped, out)
  become(session, now, 'backedup', out)
  watchAnew(session, now, register.backup)
  // The backup may have read the register before us: what we sent in the old epoch it ignored.
  sendAgain(session, out)
  tellView(session, out)
  if (server.removeAfterDrop) dropBackup(session, now, out)
}

function aloneAgain(session: Session, now: Millis, dropped: PeerId, out: SessionOut): void {
  const { server } = session
  server.unackedSince = Infinity
  server.slowSince = Infinity
  become(session, now, 'alone', out)
  tellView(session, out)
  const why = server.removeAfterDrop
  server.removeAfterDrop = null
  if (!why || !server.durable.members.has(dropped)) return
  record(session, now, { kind: 'remove', inc: dropped, why }, out)
  hold(session, now, { kind: 'went', inc: dropped, why }, out)
}

function recover(session: Session, now: Millis, register: Register, out: SessionOut): void {
  const { server } = session
  server.lease = leases.create(true, (server.attempt?.sentAt ?? now) + leases.LEASE_MS)
  server.attempt = null
  gather(session, now, register, out)
}

/**
 * Leads from now on. Everything in the log of a backup counts as committed and told. An old
 * primary that did not hand over is gone.
 *
 * @param why  why that is no member any more; null if it handed over
 */
export function lead(session: Session, now: Millis, why: Gone | null, out: SessionOut): void {
  const { server } = session
  const before = server.primary
  // Who was handed the role does not know when; it was after its last ack.
  const heardAt = why ? (server.attempt?.sentAt ?? now) : server.ackedAt
  server.lease = leases.create(session.recovers, heardAt + leases.LEASE_MS)
  server.attempt = null
  server.primary = 0
  server.backup = 0
  server.log = commit.create(commit.lengthOf(server.log))
  server.roundAt = now + SERVE_FIRST_MS
  become(session, now, 'alone', out)
  server.servesSince = now
  if (why && server.durable.members.has(before)) {
    record(session, now, { kind: 'remove', inc: before, why }, out)
  }
  const former = formerOnes(server.durable.members)
  for (const inc of former) {
    record(session, now, { kind: 'remove', inc, why: 'returned' }, out)
  }
  server.toldMv = server.durable.mv
  server.told = new Map(server.durable.members)
  tellView(session, out)
  for (const inc of former) tellOne(session, inc, out)
  tellHub(session, out)
  out.emit({ kind: 'welcome', to: [...server.told.keys()] })
}

// Of two that are one player the newest stays.
function formerOnes(members: ReadonlyMap<PeerId, Member>): PeerId[] {
  const newest = new Map<number, PeerId>()
  for (const { inc, player } of members.values()) {
    newest.set(player, Math.max(inc, newest.get(player) ?? 0))
  }
  return [...members.values()]
    .filter(({ inc, player }) => inc !== newest.get(player))
    .map(({ inc }) => inc)
}

/** Somebody else serves: what was not released was seen by nobody, and goes. */
export function depose(session: Session, now: Millis, out: SessionOut): void {
  if (session.server.role === 'idle') return
  const served = serves(session)
  session.server = idleServer(now)
  out.emit({ kind: 'role', role: 'idle' })
  // Whoever took over has removed us by rule: there is nothing to wait for (T81).
  if (served) out.emit({ kind: 'removed', why: 'somebody else serves now' })
}
