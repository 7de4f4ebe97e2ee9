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
  releaseHeld,
  sendMembers,
  sendView,
  broadcastView,
  certificateFor,
  releaseAll,
} from './output.ts'
import { BOUND_MAX_MS } from './failure-detector.ts'
import * as persistence from './persistence.ts'
import * as leases from './lease.ts'
import * as lineage from './lineage.ts'
import { gather } from './recovery.ts'
import type { PeerMessageOf } from './messages.ts'
import type { LeaveReason, Member, LeaderStart } from '../replication/layouts.ts'
import { dismiss, follower, onNamedBackup, record, sendAgain, sendSnapshot } from './replicate.ts'
import {
  type Beginning,
  blank,
  type Effect,
  idleServer,
  is,
  type Lead,
  type ServerAs,
  serves,
  restartDetector,
  restartVouched,
  type Turn,
} from './state.ts'
import { noteRegister } from './trust.ts'

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
export function handOver(turn: Turn, atOnce: boolean = false): boolean {
  const { session, now } = turn
  const { server } = session
  if (server.role !== 'backedup' || !session.hub.up) return false
  if (server.handoverUntil !== null) return true
  // The ack to this record shows when the backup last had a message of ours; its lease counts from
  // that.
  if (!atOnce) record(turn, { kind: 'pointer', inc: server.durable.pointer })
  server.handoverUntil = now + HANDOVER_MS
  proceed(turn)
  return true
}

/** Goes on once the backup holds the whole log; gives up when that takes too long. */
export function proceed(turn: Turn): void {
  const { session, now } = turn
  const { server } = session
  if (server.role !== 'backedup' || server.handoverUntil === null) return
  if (now >= server.handoverUntil) {
    server.handoverUntil = null
    return
  }
  if (!session.rules.mayHandOver(commit.unackedCount(server.log))) return
  const { lead, backup, epoch } = server
  const asked = attempt(now, epoch, { why: 'handover', primary: backup, backup: 0 })
  become(turn, 'gives', { lead, backup, attempt: asked })
  session.rules.seek(turn)
}

/** The register names our backup as primary: we go on as its client. */
export function stepDown(turn: Turn, register: Register): void {
  const { session, now, out } = turn
  releaseAll(turn)
  session.client.handedAt = now
  const { epoch } = register
  out.send(register.primary, { kind: 'stepDown', epoch, grant: certificateFor(session, epoch) })
  become(turn, 'given', { ...blank(), incoming: null })
}

/** After a takeover waiting members are served first; a backup is sought after this. */
export const SERVE_FIRST_MS: Millis = 20

/**
 * The founder takes its role, after ADD_SERVER (T13).
 *
 * @param from  what is kept of the session, which goes on; the founder enters as its next entry
 */
export function found(turn: Turn, from: FoundedFrom = ANEW): void {
  const { session, now, out } = turn
  const { epoch, state, length } = from
  session.lineage = from.lineage
  lineage.begin(session, epoch, length, from)
  session.client.published = { ...session.client.published, coming: [], waiting: false }
  const lead = persistence.beginLead(session, now, now, [], { founds: true, free: length + 1 })
  session.server = idleServer()
  const own = state ?? durable.create()
  // What was recorded was published, to whoever was there.
  const published = { publishedMv: own.mv, moderation: { ...own.moderation } }
  const begun = { log: commit.create<Effect>(length), durable: own, epoch, ...published }
  become(turn, 'founded', { ...nobodyBeside(lead, now), ...begun })
  out.emit({ kind: 'caught-up' })
}

/** The session as its founder finds it. */
export interface FoundedFrom {
  epoch: number
  /** Null for a new one. */
  state: Durable | null
  /** Of the log. */
  length: number
  /** Of who led before. */
  lineage: readonly LeaderStart[]
  sheets: number
  /** Whoever runs the hub put it there. */
  imported: boolean
}

/** A new session. */
export const ANEW: FoundedFrom = {
  ...{ epoch: 1, state: null, length: 0 },
  ...{ lineage: [], sheets: 0, imported: false },
}

// The state of a primary that is alone, and has no candidate for backup.
function nobodyBeside(lead: Lead, now: Millis): Beginning<'alone'> {
  return { lead, candidate: 0, candidateSince: now }
}

/** A peer is suspected of having failed; the consequence depends on the roles (T36, T39). */
export function suspect(turn: Turn, peer: PeerId): void {
  const { session } = turn
  const { server } = session
  if (server.role === 'backedup' && peer === server.backup) dropBackup(turn)
  else if (server.role === 'backup' && peer === server.primary) takeOver(turn, server)
}

/** Who did not keep up, or was not taken by the hub, is not asked to be the backup for so long. */
export const PASS_OVER_MS: Millis = 10_000

/** Asks one member to be the backup: before it is registered its log must be as long as ours. */
export function offer(turn: Turn, candidate: PeerId): void {
  const { session, now, out } = turn
  const { server } = session
  if (server.role !== 'alone') return
  record(turn, { kind: 'pointer', inc: candidate })
  server.candidate = candidate
  server.candidateSince = now
  sendSnapshot(server, out)
}

/** The follower holds so many entries. An ack of another epoch does not count in this one. */
export function onAcknowledge(
  turn: Turn,
  from: PeerId,
  message: PeerMessageOf<'acknowledge'>,
): void {
  const { session, now } = turn
  if (!serves(session)) return
  const { server } = session
  if (message.epoch !== server.epoch || from !== follower(server) || from === 0) return
  if (server.role === 'alone') {
    const length = commit.lengthOf(server.log)
    if (session.rules.mayAdd(message.length, length)) addBackup(turn, server)
    return
  }
  if (!commit.acknowledge(server.log, now, message.length)) return
  commit.trim(server.log, message.length)
  releaseHeld(turn)
  proceed(turn)
}

function addBackup(turn: Turn, { lead, candidate: backup, epoch, log }: ServerAs<'alone'>): void {
  const { session, now } = turn
  commit.ackAll(log)
  const asked = attempt(now, epoch, { why: 'add', primary: session.me, backup })
  const own = { lead, backup, attempt: asked, removeAfterDrop: null }
  become(turn, 'caughtUp', own)
  session.rules.seek(turn)
}

/** Asks the register to drop the backup. @param why  set if it shall also be removed as a member */
export function dropBackup(turn: Turn, why: LeaveReason | null = null): void {
  const { session, now } = turn
  const { server } = session
  if (server.role === 'adding' || server.role === 'dropping') server.removeAfterDrop ??= why
  if (server.role !== 'backedup') return
  const { lead, backup, epoch } = server
  const asked = attempt(now, epoch, { why: 'drop', primary: session.me, backup: 0 })
  become(turn, 'fails', { lead, backup, attempt: asked, removeAfterDrop: why })
  session.rules.seek(turn)
}

function takeOver(turn: Turn, { primary, ackedAt, epoch }: ServerAs<'backup'>): void {
  const { session, now } = turn
  const asked = attempt(now, epoch, { why: 'takeover', primary: session.me, backup: 0 })
  become(turn, 'suspects', { primary, ackedAt, attempt: asked })
  session.rules.seek(turn)
}

/** The primary was heard again: withdraws the suspicion if the register was not asked yet. */
export function withdrawSuspicion(turn: Turn): void {
  const { session } = turn
  const { server } = session
  if (server.role !== 'taking' || server.attempt.sent) return
  const { primary, ackedAt } = server
  become(turn, 'heard', { primary, ackedAt })
}

/** The hub asks whether we lead in that epoch: our backup wants to take over. */
export function onChallenge(
  turn: Turn,
  { session: id, epoch, nonce }: FromHub & { kind: 'challenge' },
): void {
  const { session, out } = turn
  if (id !== session.id || !is(session, 'leads') || epoch !== session.server.epoch) return
  out.hub({ kind: 'alive', session: id, epoch, nonce })
  const to = serves(session) ? follower(session.server) : 0
  if (to !== 0) out.emit({ kind: 'unheard', peer: to })
}

/** The hub answers a takeover: the primary lives. */
export function onVeto(turn: Turn, { session: id, request }: FromHub & { kind: 'alive' }): void {
  const { session, now, out } = turn
  const { server } = session
  if (id !== session.id || server.role !== 'taking') return
  const { primary, ackedAt, attempt: asked } = server
  if (request !== asked.request) {
    // The newest is under way, and may be granted: its answer is waited for.
    asked.againAt = now + BOUND_MAX_MS
    return
  }
  restartVouched(session, now, primary)
  become(turn, 'vetoed', { primary, ackedAt })
  out.emit({ kind: 'unheard', peer: primary })
}

/** The hub sent the register: as an answer, or because it changed. The newest epoch is valid. */
export function adopt(turn: Turn, register: Register): void {
  const { session, now } = turn
  noteRegister(session, now, register)
  const { server } = session
  if (server.role === 'idle' || register.epoch <= server.epoch) return
  if (register.primary === session.me) return onNamedPrimary(turn, register)
  const onStepDown = server.role === 'handing' && register.primary === server.backup
  if (onStepDown && register.epoch === server.epoch + 1) return stepDown(turn, register)
  if (register.backup !== session.me || !is(session, 'standsBy')) return depose(turn)
  server.epoch = register.epoch
  if (server.role === 'sync' || server.role === 'taking') onNamedBackup(turn, server)
}

/** STEP_DOWN of our primary: the register names us, even if the hub's message is still to come. */
export function onStepDown(
  turn: Turn,
  from: PeerId,
  { epoch, grant }: PeerMessageOf<'stepDown'>,
): void {
  const { session } = turn
  const { server } = session
  if (server.role !== 'backup' || from !== server.primary || epoch !== server.epoch + 1) return
  if (grant) session.leaderCertificate = { epoch, bytes: grant }
  adopt(turn, { epoch, primary: session.me, backup: 0 })
}

// The register names us as primary: our own request succeeded, or our primary's hand-over.
function onNamedPrimary(turn: Turn, register: Register): void {
  const { session } = turn
  const { server } = session
  switch (server.role) {
    case 'recovering':
      return gather(turn, server, register)
    case 'taking':
      server.epoch = register.epoch
      return lead(turn, 'failed')
    // Handed over; also to a member in `sync`, which does not know yet that it is the backup, but
    // has the whole log.
    case 'backup':
    case 'sync':
      server.epoch = register.epoch
      return lead(turn, null)
    case 'adding':
      if (register.backup === server.backup) onAdded(turn, server, register.epoch)
      return
    case 'dropping':
      if (register.backup === 0) onDropped(turn, server, register.epoch)
      return
    default:
      // No other member asks for us, and we have not asked.
      return
  }
}

function onAdded(
  turn: Turn,
  { lead: own, backup, attempt: asked, removeAfterDrop }: ServerAs<'adding'>,
  epoch: number,
): void {
  const { session, now, out } = turn
  leases.renew(own.lease, asked.sentAt)
  const beside = { lead: own, backup, slowSince: Infinity, handoverUntil: null }
  become(turn, 'added', { ...beside, epoch })
  restartDetector(session, now, backup)
  // The backup may have read the register before us, and ignored what we sent in the old epoch.
  if (serves(session)) sendAgain(session.server, out)
  broadcastView(session, out)
  if (removeAfterDrop) dropBackup(turn, removeAfterDrop)
}

/**
 * The register refused our newest request and is as we know it, so nothing that we asked for is
 * under way: whom it was about said goodbye. A refusal of an older request says nothing of the
 * newest.
 */
export function onRefused(turn: Turn, request: number, { epoch: known }: Register): void {
  const { session, now } = turn
  const { server } = session
  if (!is(session, 'asks') || !session.rules.isAnswered(session.server.attempt, request)) return
  if (known !== server.epoch) return
  if (server.role === 'adding') {
    const { lead: own, backup, removeAfterDrop: why } = server
    own.passedOver.set(backup, now + PASS_OVER_MS)
    server.log.unackedSince = Infinity
    become(turn, 'declined', nobodyBeside(own, now))
    if (why && session.server.durable.members.has(backup)) dismiss(turn, backup, why)
  } else if (server.role === 'handing') {
    const { lead: own, backup, epoch } = server
    const asked = attempt(now, epoch, { why: 'drop', primary: session.me, backup: 0 })
    become(turn, 'keeps', { lead: own, backup, attempt: asked, removeAfterDrop: null })
    session.rules.seek(turn)
  }
}

function onDropped(
  turn: Turn,
  { lead: own, backup: inc, attempt: asked, removeAfterDrop: why }: ServerAs<'dropping'>,
  epoch: number,
): void {
  const { session, now, out } = turn
  leases.renew(own.lease, asked.sentAt)
  session.server.log.unackedSince = Infinity
  become(turn, 'dropped', { ...nobodyBeside(own, now), epoch })
  broadcastView(session, out)
  if (!why || !session.server.durable.members.has(inc)) return
  dismiss(turn, inc, why)
}

/**
 * Leads from now on. Every entry in the log of a backup counts as committed and published. An old
 * primary that did not hand over is removed.
 *
 * @param why  why the old primary is removed; null if it handed over
 */
export function lead(turn: Turn, why: LeaveReason | null): void {
  const { session, now, out } = turn
  assert(is(session, 'standsBy'), 'only who stands by leads')
  const { primary: before, ackedAt } = session.server
  const sentAt = session.server.role === 'taking' ? session.server.attempt.sentAt : now
  // A member that was handed the role does not know when; it was after its last ack.
  const heardAt = why ? sentAt : ackedAt
  const { members } = session.server.durable
  const begun = persistence.beginLead(session, now, heardAt, members.values())
  const own = { ...begun, roundAt: now + SERVE_FIRST_MS }
  const log = commit.create<Effect>(commit.lengthOf(session.server.log))
  become(turn, 'leads', { ...nobodyBeside(own, now), log })
  const { server } = session
  lineage.begin(session, server.epoch, commit.lengthOf(log))
  if (why && server.durable.members.has(before)) {
    record(turn, { kind: 'remove', inc: before, why })
  }
  const former = olderIncarnations(server.durable.members)
  for (const inc of former) {
    record(turn, { kind: 'remove', inc, why: 'returned' })
  }
  server.publishedMv = server.durable.mv
  server.published = new Map(server.durable.members)
  server.moderation = { ...server.durable.moderation }
  broadcastView(session, out)
  for (const inc of former) sendView(session, inc, out)
  sendMembers(session, out)
  out.emit({ kind: 'welcome', to: [...server.published.keys()] })
}

// Of two members that are one player the newest stays.
function olderIncarnations(members: ReadonlyMap<PeerId, Member>): PeerId[] {
  const newest = new Map<number, PeerId>()
  for (const { inc, player } of members.values()) {
    newest.set(player, Math.max(inc, newest.get(player) ?? 0))
  }
  return [...members.values()]
    .filter(({ inc, player }) => inc !== newest.get(player))
    .map(({ inc }) => inc)
}

/** Another member serves: held effects were seen by nobody, and are dropped. */
export function depose(turn: Turn): void {
  const { session, out } = turn
  if (session.server.role === 'idle') return
  const served = serves(session)
  become(turn, 'deposed', { ...blank(), incoming: null })
  // The new primary has removed us by rule, so there is nothing to wait for (T81).
  if (served) out.emit({ kind: 'removed', why: 'somebody else serves now' })
}
