/**
 * Who serves: what moves the server object from role to role. Which ways there are, and what R
 * means here, stands in table.ts; how a role is handed over and a session recovered in
 * handover.ts and recovery.ts.
 */

import * as commit from '../replication/log.ts'
import { assert, type Millis, type PeerId } from '../machine.ts'
import type { Register } from '../directory/messages.ts'
import { attempt } from './attempts.ts'
import { proceed, stepDown } from './handover.ts'
import * as leases from './lease.ts'
import { gather } from './recovery.ts'
import type { PeerMessage } from './messages.ts'
import type { Gone, Member } from '../replication/layouts.ts'
import { become, hold, releaseHeld, tellHub, tellOne, tellView } from './output.ts'
import { follower, named, record, sendAgain, sendSnapshot } from './replicate.ts'
import {
  type Beginning,
  blank,
  createLead,
  type Effect,
  idleServer,
  is,
  type Lead,
  type ServerAs,
  serves,
  type Session,
  type SessionOut,
  watchAnew,
} from './state.ts'
import { sighted } from './trust.ts'

/** After a takeover those who wait are served first; then a backup is sought. */
export const SERVE_FIRST_MS: Millis = 20

/** The founder's role, after ADD_SERVER (T13). */
export function found(session: Session, now: Millis, out: SessionOut): void {
  session.client.published = { ...session.client.published, coming: [], waiting: false }
  const lease = leases.create(session.recovers, now + leases.LEASE_MS)
  const lead = createLead(now, lease)
  session.server = idleServer()
  become(session, now, 'founded', { ...nobodyBeside(lead, now), epoch: 1 }, out)
  out.emit({ kind: 'caught-up' })
}

// Alone, and nobody is being brought up to date.
function nobodyBeside(lead: Lead, now: Millis): Beginning<'alone'> {
  return { lead, candidate: 0, candidateSince: now }
}

/** A peer is suspected of having failed; what follows depends on the roles (T36, T39). */
export function suspect(session: Session, now: Millis, peer: PeerId, out: SessionOut): void {
  const { server } = session
  if (server.role === 'backedup' && peer === server.backup) dropBackup(session, now, out)
  else if (server.role === 'backup' && peer === server.primary) takeOver(session, now, server, out)
}

/** Asks one member to be the backup: its log must be as long as ours before it is registered. */
export function offer(session: Session, now: Millis, candidate: PeerId, out: SessionOut): void {
  const { server } = session
  if (server.role !== 'alone') return
  record(session, now, { kind: 'pointer', inc: candidate }, out)
  server.candidate = candidate
  server.candidateSince = now
  sendSnapshot(server, out)
}

/** The follower holds so many entries. An ack of another epoch says nothing of this one. */
export function acknowledged(
  session: Session,
  now: Millis,
  from: PeerId,
  message: PeerMessage & { kind: 'acknowledge' },
  out: SessionOut,
): void {
  if (!serves(session)) return
  const { server } = session
  if (message.epoch !== server.epoch || from !== follower(server) || from === 0) return
  if (server.role === 'alone') {
    const length = commit.lengthOf(server.log)
    if (session.rules.mayAdd(message.length, length)) addBackup(session, now, server, out)
    return
  }
  if (!commit.acknowledge(server.log, now, message.length)) return
  commit.trim(server.log, message.length)
  releaseHeld(session, now, out)
  proceed(session, now, out)
}

function addBackup(
  session: Session,
  now: Millis,
  { lead, candidate: backup, epoch, log }: ServerAs<'alone'>,
  out: SessionOut,
): void {
  commit.ackAll(log)
  const asked = attempt(now, epoch, { why: 'add', primary: session.me, backup })
  const own = { lead, backup, attempt: asked, removeAfterDrop: null }
  become(session, now, 'caughtUp', own, out)
  session.rules.seek(session, now, out)
}

/** Asks the register to do without the backup. @param why it shall be removed as a member, if so */
export function dropBackup(
  session: Session,
  now: Millis,
  out: SessionOut,
  why: Gone | null = null,
): void {
  const { server } = session
  if (server.role === 'adding' || server.role === 'dropping') server.removeAfterDrop ??= why
  if (server.role !== 'backedup') return
  const { lead, backup, epoch } = server
  const asked = attempt(now, epoch, { why: 'drop', primary: session.me, backup: 0 })
  become(session, now, 'fails', { lead, backup, attempt: asked, removeAfterDrop: why }, out)
  session.rules.seek(session, now, out)
}

function takeOver(
  session: Session,
  now: Millis,
  { primary, ackedAt, epoch }: ServerAs<'backup'>,
  out: SessionOut,
): void {
  const asked = attempt(now, epoch, { why: 'takeover', primary: session.me, backup: 0 })
  become(session, now, 'suspects', { primary, ackedAt, attempt: asked }, out)
  session.rules.seek(session, now, out)
}

/** The primary was heard again: takes the suspicion back if the register was not asked yet. */
export function heardPrimary(session: Session, now: Millis, out: SessionOut): void {
  const { server } = session
  if (server.role !== 'taking' || server.attempt.sent) return
  const { primary, ackedAt } = server
  become(session, now, 'heard', { primary, ackedAt }, out)
}

/** The hub told the register: an answer, or news. The newest epoch is the truth. */
export function adopt(session: Session, now: Millis, register: Register, out: SessionOut): void {
  sighted(session, now, register)
  const { server } = session
  if (server.role === 'idle' || register.epoch <= server.epoch) return
  if (register.primary === session.me) return confirmed(session, now, register, out)
  const handed = server.role === 'handing' && register.primary === server.backup
  if (handed && register.epoch === server.epoch + 1) return stepDown(session, now, register, out)
  if (register.backup !== session.me || !is(session, 'standsBy')) return depose(session, now, out)
  server.epoch = register.epoch
  if (server.role === 'sync' || server.role === 'taking') named(session, now, server, out)
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
  switch (server.role) {
    case 'recovering':
      return gather(session, now, server, register, out)
    case 'taking':
      server.epoch = register.epoch
      return lead(session, now, 'failed', out)
    // Handed over: also to one that has not heard yet that it is the backup, but holds it all.
    case 'backup':
    case 'sync':
      server.epoch = register.epoch
      return lead(session, now, null, out)
    case 'adding':
      if (register.backup === server.backup) added(session, now, server, register.epoch, out)
      return
    case 'dropping':
      if (register.backup === 0) dropped(session, now, server, register.epoch, out)
      return
    default:
      // Nobody else asks for us, and we have not.
      return
  }
}

function added(
  session: Session,
  now: Millis,
  { lead: own, backup, attempt: asked, removeAfterDrop }: ServerAs<'adding'>,
  epoch: number,
  out: SessionOut,
): void {
  leases.renew(own.lease, asked.sentAt)
  const beside = { lead: own, backup, slowSince: Infinity, handoverUntil: null }
  become(session, now, 'added', { ...beside, epoch }, out)
  watchAnew(session, now, backup)
  // The backup may have read the register before us: what we sent in the old epoch it ignored.
  if (serves(session)) sendAgain(session.server, out)
  tellView(session, out)
  if (removeAfterDrop) dropBackup(session, now, out, removeAfterDrop)
}

function dropped(
  session: Session,
  now: Millis,
  { lead: own, backup: inc, attempt: asked, removeAfterDrop: why }: ServerAs<'dropping'>,
  epoch: number,
  out: SessionOut,
): void {
  leases.renew(own.lease, asked.sentAt)
  session.server.log.unackedSince = Infinity
  become(session, now, 'dropped', { ...nobodyBeside(own, now), epoch }, out)
  tellView(session, out)
  if (!why || !session.server.durable.members.has(inc)) return
  record(session, now, { kind: 'remove', inc, why }, out)
  hold(session, now, { kind: 'went', inc, why }, out)
}

/**
 * Leads from now on. Everything in the log of a backup counts as committed and told. An old
 * primary that did not hand over is gone.
 *
 * @param why  why that is no member any more; null if it handed over
 */
export function lead(session: Session, now: Millis, why: Gone | null, out: SessionOut): void {
  assert(is(session, 'standsBy'), 'only who stands by leads')
  const { primary: before, ackedAt } = session.server
  const sentAt = session.server.role === 'taking' ? session.server.attempt.sentAt : now
  // Who was handed the role does not know when; it was after its last ack.
  const heardAt = why ? sentAt : ackedAt
  const lease = leases.create(session.recovers, heardAt + leases.LEASE_MS)
  const own = { ...createLead(now, lease), roundAt: now + SERVE_FIRST_MS }
  const log = commit.create<Effect>(commit.lengthOf(session.server.log))
  become(session, now, 'leads', { ...nobodyBeside(own, now), log }, out)
  const { server } = session
  if (why && server.durable.members.has(before)) {
    record(session, now, { kind: 'remove', inc: before, why }, out)
  }
  const former = formerOnes(server.durable.members)
  for (const inc of former) {
    record(session, now, { kind: 'remove', inc, why: 'returned' }, out)
  }
  server.publishedMv = server.durable.mv
  server.published = new Map(server.durable.members)
  tellView(session, out)
  for (const inc of former) tellOne(session, inc, out)
  tellHub(session, out)
  out.emit({ kind: 'welcome', to: [...server.published.keys()] })
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
  become(session, now, 'deposed', { ...blank(), incoming: null }, out)
  // Whoever took over has removed us by rule: there is nothing to wait for (T81).
  if (served) out.emit({ kind: 'removed', why: 'somebody else serves now' })
}
