/**
 * The role of the server object: everything that moves it from one role to another. table.ts has
 * the possible transitions, and what R means here; this file and recovery.ts have the hand-over
 * of a role and the recovery of a session.
 */

import * as commit from '../replication/log.ts'
import * as durable from '../replication/durable.ts'
import type { Durable } from '../replication/durable.ts'
import { assert, type Millis, type PeerId } from '../machine.ts'
import type { FromHub, Register } from '../hub-protocol/messages.ts'
import {
  attempt,
  become,
  hold,
  releaseHeld,
  tellHub,
  tellOne,
  tellView,
  grantFor,
  releaseAll,
} from './output.ts'
import { BOUND_MAX_MS } from './failure-detector.ts'
import * as keeping from './keeping.ts'
import * as leases from './lease.ts'
import * as lineage from './lineage.ts'
import { gather } from './recovery.ts'
import type { PeerMessage } from './messages.ts'
import type { Gone, Member, Start } from '../replication/layouts.ts'
import { follower, named, record, sendAgain, sendSnapshot } from './replicate.ts'
import {
  type Beginning,
  blank,
  type Effect,
  idleServer,
  is,
  type Lead,
  type ServerAs,
  serves,
  type Session,
  type SessionOut,
  watchAnew,
  watchVouched,
} from './state.ts'
import { sighted } from './trust.ts'

// Hand-over: the primary gives its role to the backup, without a pause.
//
// backedup   no new operation is taken until the backup holds the whole log
// handing    CAS(e, backup)
// R = (e+1, backup, nobody)    idle: the same member, and a client of the new primary
//
// The backup leads as soon as it reads R, or receives STEP_DOWN: by then it has the whole log.
// Operations that were sent to the old primary meanwhile are sent again by its clients, as after
// any change of primary.

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

/** After a takeover waiting members are served first; a backup is sought after this. */
export const SERVE_FIRST_MS: Millis = 20

/**
 * The founder takes its role, after ADD_SERVER (T13).
 *
 * @param from  what is kept of the session, which goes on; the founder enters as its next entry
 */
export function found(session: Session, now: Millis, out: SessionOut, from: Kept = ANEW): void {
  const { epoch, state, length } = from
  session.lineage = from.lineage
  lineage.begin(session, epoch, length, from)
  session.client.published = { ...session.client.published, coming: [], waiting: false }
  const lead = keeping.leads(session, now, now, [], { founds: true, free: length + 1 })
  session.server = idleServer()
  const own = state ?? durable.create()
  // What was recorded was published, to whoever was there.
  const published = { publishedMv: own.mv, conduct: { ...own.conduct } }
  const begun = { log: commit.create<Effect>(length), durable: own, epoch, ...published }
  become(session, now, 'founded', { ...nobodyBeside(lead, now), ...begun }, out)
  out.emit({ kind: 'caught-up' })
}

/** The session as its founder finds it. */
export interface Kept {
  epoch: number
  /** Null for a new one. */
  state: Durable | null
  /** Of the log. */
  length: number
  /** Of who led before. */
  lineage: readonly Start[]
  sheets: number
  /** Whoever runs the hub put it there. */
  imported: boolean
}

/** A new session. */
export const ANEW: Kept = {
  ...{ epoch: 1, state: null, length: 0 },
  ...{ lineage: [], sheets: 0, imported: false },
}

// The state of a primary that is alone, and has no candidate for backup.
function nobodyBeside(lead: Lead, now: Millis): Beginning<'alone'> {
  return { lead, candidate: 0, candidateSince: now }
}

/** A peer is suspected of having failed; the consequence depends on the roles (T36, T39). */
export function suspect(session: Session, now: Millis, peer: PeerId, out: SessionOut): void {
  const { server } = session
  if (server.role === 'backedup' && peer === server.backup) dropBackup(session, now, out)
  else if (server.role === 'backup' && peer === server.primary) takeOver(session, now, server, out)
}

/** Asks one member to be the backup: before it is registered its log must be as long as ours. */
export function offer(session: Session, now: Millis, candidate: PeerId, out: SessionOut): void {
  const { server } = session
  if (server.role !== 'alone') return
  record(session, now, { kind: 'pointer', inc: candidate }, out)
  server.candidate = candidate
  server.candidateSince = now
  sendSnapshot(server, out)
}

/** The follower holds so many entries. An ack of another epoch does not count in this one. */
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

/** Asks the register to drop the backup. @param why  set if it shall also be removed as a member */
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

/** The primary was heard again: withdraws the suspicion if the register was not asked yet. */
export function heardPrimary(session: Session, now: Millis, out: SessionOut): void {
  const { server } = session
  if (server.role !== 'taking' || server.attempt.sent) return
  const { primary, ackedAt } = server
  become(session, now, 'heard', { primary, ackedAt }, out)
}

/** The hub asks whether we lead in that epoch: our backup wants to take over. */
export function challenged(
  session: Session,
  { session: id, epoch, nonce }: FromHub & { kind: 'challenge' },
  out: SessionOut,
): void {
  if (id !== session.id || !is(session, 'leads') || epoch !== session.server.epoch) return
  out.hub({ kind: 'alive', session: id, epoch, nonce })
  const to = serves(session) ? follower(session.server) : 0
  if (to !== 0) out.emit({ kind: 'unheard', peer: to })
}

/** The hub answers a takeover: the primary lives. */
export function vetoed(
  session: Session,
  now: Millis,
  { session: id, request }: FromHub & { kind: 'alive' },
  out: SessionOut,
): void {
  const { server } = session
  if (id !== session.id || server.role !== 'taking') return
  const { primary, ackedAt, attempt: asked } = server
  if (request !== asked.request) {
    // The newest is under way, and may be granted: its answer is waited for.
    asked.againAt = now + BOUND_MAX_MS
    return
  }
  watchVouched(session, now, primary)
  become(session, now, 'vetoed', { primary, ackedAt }, out)
  out.emit({ kind: 'unheard', peer: primary })
}

/** The hub sent the register: as an answer, or because it changed. The newest epoch is valid. */
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

/** STEP_DOWN of our primary: the register names us, even if the hub's message is still to come. */
export function handed(
  session: Session,
  now: Millis,
  from: PeerId,
  { epoch, grant }: PeerMessage & { kind: 'stepDown' },
  out: SessionOut,
): void {
  const { server } = session
  if (server.role !== 'backup' || from !== server.primary || epoch !== server.epoch + 1) return
  if (grant) session.grant = { epoch, bytes: grant }
  adopt(session, now, { epoch, primary: session.me, backup: 0 }, out)
}

// The register names us as primary: our own request succeeded, or our primary's hand-over.
function confirmed(session: Session, now: Millis, register: Register, out: SessionOut): void {
  const { server } = session
  switch (server.role) {
    case 'recovering':
      return gather(session, now, server, register, out)
    case 'taking':
      server.epoch = register.epoch
      return lead(session, now, 'failed', out)
    // Handed over; also to a member in `sync`, which does not know yet that it is the backup, but
    // has the whole log.
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
      // No other member asks for us, and we have not asked.
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
  // The backup may have read the register before us, and ignored what we sent in the old epoch.
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
 * Leads from now on. Every entry in the log of a backup counts as committed and published. An old
 * primary that did not hand over is removed.
 *
 * @param why  why the old primary is removed; null if it handed over
 */
export function lead(session: Session, now: Millis, why: Gone | null, out: SessionOut): void {
  assert(is(session, 'standsBy'), 'only who stands by leads')
  const { primary: before, ackedAt } = session.server
  const sentAt = session.server.role === 'taking' ? session.server.attempt.sentAt : now
  // A member that was handed the role does not know when; it was after its last ack.
  const heardAt = why ? sentAt : ackedAt
  const { members } = session.server.durable
  const begun = keeping.leads(session, now, heardAt, members.values())
  const own = { ...begun, roundAt: now + SERVE_FIRST_MS }
  const log = commit.create<Effect>(commit.lengthOf(session.server.log))
  become(session, now, 'leads', { ...nobodyBeside(own, now), log }, out)
  const { server } = session
  lineage.begin(session, server.epoch, commit.lengthOf(log))
  if (why && server.durable.members.has(before)) {
    record(session, now, { kind: 'remove', inc: before, why }, out)
  }
  const former = formerOnes(server.durable.members)
  for (const inc of former) {
    record(session, now, { kind: 'remove', inc, why: 'returned' }, out)
  }
  server.publishedMv = server.durable.mv
  server.published = new Map(server.durable.members)
  server.conduct = { ...server.durable.conduct }
  tellView(session, out)
  for (const inc of former) tellOne(session, inc, out)
  tellHub(session, out)
  out.emit({ kind: 'welcome', to: [...server.published.keys()] })
}

// Of two members that are one player the newest stays.
function formerOnes(members: ReadonlyMap<PeerId, Member>): PeerId[] {
  const newest = new Map<number, PeerId>()
  for (const { inc, player } of members.values()) {
    newest.set(player, Math.max(inc, newest.get(player) ?? 0))
  }
  return [...members.values()]
    .filter(({ inc, player }) => inc !== newest.get(player))
    .map(({ inc }) => inc)
}

/** Another member serves: held effects were seen by nobody, and are dropped. */
export function depose(session: Session, now: Millis, out: SessionOut): void {
  if (session.server.role === 'idle') return
  const served = serves(session)
  become(session, now, 'deposed', { ...blank(), incoming: null }, out)
  // The new primary has removed us by rule, so there is nothing to wait for (T81).
  if (served) out.emit({ kind: 'removed', why: 'somebody else serves now' })
}
