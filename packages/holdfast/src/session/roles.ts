/**
 * Everything that moves the server object from one role to another. role-table.ts lists the
 * transitions and defines R; recovery.ts recovers a session.
 */

import * as commit from '../replication/log.ts'
import * as durable from '../replication/durable.ts'
import type { Durable } from '../replication/durable.ts'
import { assert, type Millis, type PeerId } from '../machine.ts'
import type { Register, FromHubOf } from '../hub-protocol/messages.ts'
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
  noteRegister,
} from './state.ts'

// Hand-over: the primary gives its role to the backup without a pause.
//
// backedup   accepts no operation until the backup holds the whole log
// handing    CAS(e, backup)
// R = (e+1, backup, nobody)    idle: the same member, and a client of the new primary
//
// The backup leads as soon as it reads R or receives STEP_DOWN: by then it has the whole log.
// Clients resend operations that the old primary did not accept, as after any change of primary.

/** A backup that has not acked the whole log within this does not get the role. */
export const HANDOVER_MS: Millis = 1_000

/**
 * Begins a hand-over.
 *
 * @param atOnce  do not wait for an ack, because the page freezes; the new primary may then have
 *   to wait for the hub's next message before it publishes
 * @returns whether there is a backup to take the role
 */
export function handOver(turn: Turn, atOnce: boolean = false): boolean {
  const { session, now } = turn
  const { server } = session
  if (server.role !== 'backedup' || !session.hub.up) return false
  if (server.handoverUntil !== null) return true
  // The new primary's lease counts from its ack of this record.
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

/** The register names our backup as primary: we continue as its client. */
export function stepDown(turn: Turn, register: Register): void {
  const { session, now, out } = turn
  releaseAll(turn)
  session.client.handedAt = now
  const { epoch } = register
  out.send(register.primary, { kind: 'stepDown', epoch, grant: certificateFor(session, epoch) })
  become(turn, 'given', { ...blank(), incoming: null })
}

/** After a takeover, members are served first; a backup is sought after this. */
export const SERVE_FIRST_MS: Millis = 20

/** The founder takes its role, after ADD_SERVER (T13). */
export function found(turn: Turn, from: FoundedFrom = ANEW): void {
  const { session, now, out } = turn
  const { epoch, state, length } = from
  session.lineage = from.lineage
  lineage.begin(session, epoch, length, from)
  session.client.published = { ...session.client.published, coming: [], waiting: false }
  const lead = persistence.beginLead(session, now, now, [], { founds: true, free: length + 1 })
  session.server = idleServer()
  const own = state ?? durable.create()
  // Recorded changes count as published.
  const published = { publishedMv: own.mv, moderation: { ...own.moderation } }
  const begun = { log: commit.create<Effect>(length), durable: own, epoch, ...published }
  become(turn, 'founded', { ...nobodyBeside(lead, now), ...begun })
  out.emit({ kind: 'caught-up' })
}

export interface FoundedFrom {
  epoch: number
  /** Null for a new one. */
  state: Durable | null
  length: number
  lineage: readonly LeaderStart[]
  segments: number
  /** The operator of the hub imported the room. */
  imported: boolean
}

export const ANEW: FoundedFrom = {
  ...{ epoch: 1, state: null, length: 0 },
  ...{ lineage: [], segments: 0, imported: false },
}

// The state of a primary without backup and candidate.
function nobodyBeside(lead: Lead, now: Millis): Beginning<'alone'> {
  return { lead, candidate: 0, candidateSince: now }
}

/** A peer is suspected: drops it as backup, or takes over from it as primary (T36, T39). */
export function suspect(turn: Turn, peer: PeerId): void {
  const { session } = turn
  const { server } = session
  if (server.role === 'backedup' && peer === server.backup) dropBackup(turn)
  else if (server.role === 'backup' && peer === server.primary) takeOver(turn, server)
}

/** A candidate that the hub refused as backup is not asked again for this long. */
const REFUSED_MS: Millis = 2_000

/** Asks a member to be the backup. It is registered once its log is as long as ours. */
export function offer(turn: Turn, candidate: PeerId): void {
  const { session, now, out } = turn
  const { server } = session
  if (server.role !== 'alone') return
  record(turn, { kind: 'pointer', inc: candidate })
  server.candidate = candidate
  server.candidateSince = now
  sendSnapshot(server, out)
}

/** The follower acks its length of the log. Acks of other epochs do not count. */
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

/** Asks the register to drop the backup. @param why  not null to also remove it as a member */
export function dropBackup(turn: Turn, why: LeaveReason | null = null): void {
  const { server } = turn.session
  if (server.role === 'adding' || server.role === 'dropping') server.removeAfterDrop ??= why
  if (server.role === 'backedup') startDrop(turn, 'fails', server, why)
}

function startDrop(
  turn: Turn,
  cause: 'fails' | 'keeps',
  { lead, backup, epoch }: ServerAs<'backedup' | 'handing'>,
  removeAfterDrop: LeaveReason | null,
): void {
  const { session, now } = turn
  const asked = attempt(now, epoch, { why: 'drop', primary: session.me, backup: 0 })
  become(turn, cause, { lead, backup, attempt: asked, removeAfterDrop })
  session.rules.seek(turn)
}

function takeOver(turn: Turn, { primary, ackedAt, epoch }: ServerAs<'backup'>): void {
  const { session, now } = turn
  const asked = attempt(now, epoch, { why: 'takeover', primary: session.me, backup: 0 })
  become(turn, 'suspects', { primary, ackedAt, attempt: asked })
  session.rules.seek(turn)
}

/** Withdraws the suspicion of the primary, which was heard, if the register was not asked yet. */
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
  { session: id, epoch, nonce }: FromHubOf<'challenge'>,
): void {
  const { session, out } = turn
  if (id !== session.id || !is(session, 'leads') || epoch !== session.server.epoch) return
  out.hub({ kind: 'alive', session: id, epoch, nonce })
  const to = serves(session) ? follower(session.server) : 0
  if (to !== 0) out.emit({ kind: 'unheard', peer: to })
}

/** The hub answers a takeover: the primary lives. */
export function onVeto(turn: Turn, { session: id, request }: FromHubOf<'alive'>): void {
  const { session, now, out } = turn
  const { server } = session
  if (id !== session.id || server.role !== 'taking') return
  const { primary, ackedAt, attempt: asked } = server
  if (request !== asked.request) {
    // The newest request is under way and may succeed.
    asked.againAt = now + BOUND_MAX_MS
    return
  }
  restartVouched(session, now, primary)
  become(turn, 'vetoed', { primary, ackedAt })
  out.emit({ kind: 'unheard', peer: primary })
}

/** Adopts a register that the hub sent as an answer or after a change. The newest epoch counts. */
export function adopt(turn: Turn, register: Register): void {
  const { session, now } = turn
  noteRegister(session, now, register)
  const { server } = session
  if (server.role === 'idle' || register.epoch <= server.epoch) return
  if (register.primary === session.me) return onNamedPrimary(turn, register)
  const isHandedOver = server.role === 'handing' && register.primary === server.backup
  if (isHandedOver && register.epoch === server.epoch + 1) return stepDown(turn, register)
  if (register.backup !== session.me || !is(session, 'standsBy')) return depose(turn)
  server.epoch = register.epoch
  if (server.role === 'sync' || server.role === 'taking') onNamedBackup(turn, server)
}

/** STEP_DOWN of our primary: the register names us, though the hub's message may be under way. */
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
    // A hand-over. A member in `sync` may not know yet that it is the backup, but has the log.
    case 'backup':
    case 'sync':
      server.epoch = register.epoch
      return lead(turn, null)
    case 'adding':
      if (register.backup === server.backup) onAdded(turn, server, register.epoch)
      return
    case 'dropping':
      if (register.backup !== 0) return
      leases.renew(server.lead.lease, server.attempt.sentAt)
      return goOnAlone(turn, 'dropped', server, register.epoch)
    default:
      // Nobody asked for this.
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
  // The backup may have read the register first, and ignored what we sent in the old epoch.
  if (serves(session)) sendAgain(session.server, out)
  broadcastView(session, out)
  if (removeAfterDrop) dropBackup(turn, removeAfterDrop)
}

/**
 * The register refused our newest request, so nothing of ours is under way. Unless the register
 * moved on, the member that we proposed said goodbye. Refusals of older requests are ignored.
 */
export function onRefused(turn: Turn, request: number, { epoch: known }: Register): void {
  const { session, now } = turn
  const { server } = session
  if (!is(session, 'asks') || !session.rules.isAnswered(session.server.attempt, request)) return
  if (server.role === 'recovering') return become(turn, 'refused', { ...blank(), incoming: null })
  if (known !== server.epoch) return
  if (server.role === 'adding') {
    server.lead.passedOver.set(server.backup, now + REFUSED_MS)
    goOnAlone(turn, 'declined', server, server.epoch)
  } else if (server.role === 'handing') {
    startDrop(turn, 'keeps', server, null)
  }
}

// Without a backup all held output leaves. The backup may be removed as a member only now.
function goOnAlone(
  turn: Turn,
  cause: 'declined' | 'dropped',
  { lead: own, backup, removeAfterDrop: why }: ServerAs<'adding' | 'dropping'>,
  epoch: number,
): void {
  const { session, now, out } = turn
  session.server.log.unackedSince = Infinity
  become(turn, cause, { ...nobodyBeside(own, now), epoch })
  broadcastView(session, out)
  if (why && session.server.durable.members.has(backup)) dismiss(turn, backup, why)
}

/**
 * Begins to lead: every entry in the log of a backup counts as committed and published. @param why
 * why to remove the old primary; null if it handed over
 */
export function lead(turn: Turn, why: LeaveReason | null): void {
  const { session, now, out } = turn
  assert(is(session, 'standsBy'), 'only who stands by leads')
  const { primary: before, ackedAt } = session.server
  const sentAt = session.server.role === 'taking' ? session.server.attempt.sentAt : now
  // After a hand-over we only know that it happened after our last ack.
  const heardAt = why ? sentAt : ackedAt
  const { members } = session.server.durable
  const begun = persistence.beginLead(session, now, heardAt, members.values())
  const own = { ...begun, sweepAt: now + SERVE_FIRST_MS }
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

// All but the newest member of each player.
function olderIncarnations(members: ReadonlyMap<PeerId, Member>): PeerId[] {
  const newest = new Map<number, PeerId>()
  for (const { inc, player } of members.values()) {
    newest.set(player, Math.max(inc, newest.get(player) ?? 0))
  }
  return [...members.values()]
    .filter(({ inc, player }) => inc !== newest.get(player))
    .map(({ inc }) => inc)
}

/** Another member serves: drops held effects, which nobody has seen. */
export function depose(turn: Turn): void {
  const { session, out } = turn
  if (session.server.role === 'idle') return
  const served = serves(session)
  become(turn, 'deposed', { ...blank(), incoming: null })
  // The new primary removes an old one that did not hand over, so we need not wait (T81).
  if (served) out.emit({ kind: 'removed', why: 'somebody else serves now' })
}
