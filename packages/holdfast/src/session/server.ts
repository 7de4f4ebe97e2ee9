/** The timed work of the server object: it suspects and removes members, and seeks a backup. */

import { isHost, MEMBERS_MAX, type Millis, type PeerId } from '../machine.ts'
import { ask, ATTEMPT_MS, retry, mayPublish, playersOf, releaseHeld } from './output.ts'
import * as roles from './roles.ts'
import * as persistence from './persistence.ts'
import * as leases from './lease.ts'
import { announce } from './lineage.ts'
import { remove } from './membership.ts'
import { type Member, PLAYERS_KEPT_MAX } from '../replication/layouts.ts'
import { performWaiting } from './operations.ts'
import * as recovery from './recovery.ts'
import { record } from './replicate.ts'
import {
  mayContinue,
  is,
  leadOf,
  mayServe,
  nextRequest,
  type ServerAs,
  serves,
  type Session,
  type SessionOut,
  type Turn,
} from './state.ts'
import type { RoleThat } from './role-table.ts'
import * as detector from './failure-detector.ts'

/** A member that is silent for this long is no candidate for backup (S-3). */
export const LAGGING_MS: Millis = 1_000
/** The same, while we serve so newly that it may not have sent anything to us since. */
const FORMER_MS: Millis = 2.5 * detector.SPARE_MS
/** A member that is silent for this long is removed (T31). */
export const REMOVE_MS: Millis = 10_000
/** A member without a stream to the hub is removed after this silence. */
export const REMOVE_GONE_MS: Millis = 2_500
/** A candidate that does not catch up within this is passed over for a while (T37). */
export const CANDIDATE_MS: Millis = 2_000
/** A candidate that was silent, or a backup that was slow, is passed over for this long. */
const PASS_OVER_MS: Millis = 10_000
/** A player without a member may return within this (S-5). */
export const GRACE_MS: Millis = 60_000
/** A member with a larger send backlog is not asked to be backup yet. */
export const BACKLOG_SMALL: number = 64 * 1024
/** A backup whose acks are later than this for SLOW_FOR_MS is slow (C-5). */
export const SLOW_MS: Millis = 250
export const SLOW_FOR_MS: Millis = 2_000
/** A loop that repeatedly stalls for this long serves badly. */
export const STALL_BAD_MS: Millis = 250
/** The role is handed over once the loop has repeatedly stalled over this time. */
export const STALLS_MS: Millis = 2_000
/** A new primary does not hand its role over because of stalls within this. */
export const KEEP_ROLE_MS: Millis = 30_000
/** Interval of the checks of members and of their links. */
export const SWEEP_MS: Millis = 250

type Serving = Session & { server: ServerAs<RoleThat<'serves'>> }

export function wake(turn: Turn): void {
  const { session, now, out } = turn
  retry(turn)
  roles.proceed(turn)
  checkPeer(turn)
  if (session.server.role === 'sync') askRegister(turn)
  recovery.wake(turn)
  if (!serves(session)) return
  performWaiting(turn)
  const { lead } = session.server
  if (now < lead.sweepAt) return
  lead.sweepAt = now + SWEEP_MS
  checkLease(turn)
  if (seeOff(turn)) return
  removeSilent(turn)
  forgetAbsent(session, now, out)
  announce(session, lead.persistence, out)
  const { server } = session
  if (server.role === 'alone') seekBackup(turn, server)
  if (server.role === 'backedup') replaceSlow(turn, server)
}

/** Hands our role over if we must leave. @returns whether a hand-over is under way */
export function seeOff(turn: Turn): boolean {
  const { session } = turn
  const { leaving, rules } = session
  if ((leaving || leadOf(session).yields) && roles.handOver(turn)) return true
  rules.enforce(turn)
  return false
}

export function deadline(session: Session): Millis {
  const { server } = session
  let due = is(session, 'asks') && session.hub.up ? session.server.attempt.againAt : Infinity
  const seen = watched(session)
  if (seen) due = Math.min(due, detector.deadline(seen, session.hub))
  if (serves(session)) {
    const { sweepAt, waitingAt } = session.server.lead
    due = Math.min(due, sweepAt, waitingAt)
  }
  if (server.role === 'gathering') due = Math.min(due, server.until)
  if (server.role === 'backedup') due = Math.min(due, server.handoverUntil ?? Infinity)
  if (server.role === 'sync' && session.hub.up) due = Math.min(due, session.client.askAt)
  return due
}

/** The peer whose silence would change our role: the primary or the backup; 0 for nobody. */
export function watchedPeer(session: Session): PeerId {
  const { server } = session
  if (server.role === 'backup') return server.primary
  return server.role === 'backedup' ? server.backup : 0
}

/** Whether the register is asked to replace the peer that was watched until now. */
export function suspectsPeer({ server }: Session): boolean {
  return server.role === 'taking' || server.role === 'dropping'
}

/** How long the watched peer may be silent before it is suspected, in ms; null for nobody. */
export function patience(session: Session): Millis | null {
  const seen = watched(session)
  return seen ? detector.bound(seen) : null
}

// A hostile view may name a member 0, so nobody's detector is not that of 0.
function watched(session: Session): detector.FailureDetector | undefined {
  const peer = watchedPeer(session)
  return peer === 0 ? undefined : session.detectors.get(peer)
}

function checkPeer(turn: Turn): void {
  const { session, now } = turn
  const seen = watched(session)
  if (seen && detector.suspects(seen, session.hub, now)) roles.suspect(turn, watchedPeer(session))
}

// A candidate reads the register to learn whether it was named.
function askRegister(turn: Turn): void {
  const { session, now, out } = turn
  if (!session.hub.up || now < session.client.askAt) return
  session.client.askAt = now + LAGGING_MS
  out.hub({ kind: 'get', request: nextRequest(session), session: session.id })
}

function removeSilent(turn: Turn): void {
  const { session, now } = turn
  for (const inc of session.server.durable.members.keys()) {
    if (inc === session.me) continue
    if (session.client.ended.has(inc)) {
      // It announced its end to us while another member served.
      remove(turn, inc, 'left')
      continue
    }
    const seen = session.detectors.get(inc)
    if (!seen) {
      // The member has not linked yet: its time runs from now.
      session.detectors.set(inc, detector.create(now, 'relay'))
      continue
    }
    const silent = detector.silence(seen, session.hub, now)
    const limit = seen.gone && seen.relayed ? REMOVE_GONE_MS : REMOVE_MS
    if (silent > limit) remove(turn, inc, 'timeout')
  }
}

function forgetAbsent(session: Serving, now: Millis, out: SessionOut): void {
  const { durable, lead } = session.server
  const { absent, allowances } = lead
  const here = new Set([...durable.members.values()].map((member) => member.player))
  for (const player of durable.players.keys()) {
    if (here.has(player)) absent.delete(player)
    else if (!absent.has(player) || out.parts.keeps(player)) absent.set(player, now)
  }
  // The map is in the order of leaving.
  for (const [player, since] of absent) {
    if (now - since <= graceOf(session)) continue
    absent.delete(player)
    allowances.delete(player)
    if (durable.players.has(player)) record({ session, now, out }, { kind: 'forget', player })
  }
}

// Players of a stored room are forgotten only if there are too many.
function graceOf({ server }: Serving): Millis {
  const isFull = server.durable.players.size > PLAYERS_KEPT_MAX - MEMBERS_MAX
  return server.lead.persistence.on && !isFull ? Infinity : GRACE_MS
}

/**
 * T37: cycles through the members in order, from the last one that was asked, skipping ourselves
 * and members that are silent, out of the hub's reach or did not answer lately. Hosts are asked
 * before other members, and Node processes before browsers.
 */
function seekBackup(turn: Turn, server: ServerAs<'alone'>): void {
  const { session, now } = turn
  const { passedOver } = server.lead
  if (server.candidate !== 0) {
    if (now - server.candidateSince < CANDIDATE_MS) return
    const silent = server.candidate
    passedOver.set(silent, now + PASS_OVER_MS)
    server.candidate = 0
    // If there is nobody else, the same member is asked again soon.
    if (nextCandidate(session, now) === 0) passedOver.set(silent, now + CANDIDATE_MS)
  }
  const next = nextCandidate(session, now)
  if (next !== 0 && session.hub.up) roles.offer(turn, next)
}

/** The next candidate for backup, or 0. */
export function nextCandidate(session: Session, now: Millis): PeerId {
  if (!serves(session)) return 0
  const { server } = session
  const able = [...server.published.values()].filter((member) => isAble(session, now, member))
  const best = Math.max(...able.map(rankOf))
  const incs = able.filter((member) => rankOf(member) === best).map((member) => member.inc)
  incs.sort((left, right) => left - right)
  return incs.find((inc) => inc > server.durable.pointer) ?? incs[0] ?? 0
}

// The kind that a process claims only orders members that may serve anyway.
function rankOf({ rights, kind }: Member): number {
  return (isHost(rights) ? 2 : 0) + (kind === 'node' ? 1 : 0)
}

function isAble(session: Serving, now: Millis, member: Member): boolean {
  const { server } = session
  const seen = session.detectors.get(member.inc)
  if (!seen || member.inc === session.me || (seen.gone && seen.relayed)) return false
  if (server.role !== 'alone' && member.inc === server.backup) return false
  if (!server.durable.members.has(member.inc)) return false
  if (!mayServe(member, session.hosts)) return false
  if ((server.lead.passedOver.get(member.inc) ?? 0) > now) return false
  // A snapshot would wait behind the backlog, and both together may exceed the link's queue.
  if (seen.backlog > BACKLOG_SMALL) return false
  const silent = detector.silence(seen, session.hub, now)
  return silent < (isNew(session, now) ? FORMER_MS : LAGGING_MS) && seen.samples > 0
}

// Members sent a packet every SPARE_MS until we served, and may not have answered since.
function isNew({ server }: Serving, now: Millis): boolean {
  return now - server.lead.since < LAGGING_MS
}

// C-5: a slow backup is replaced through the register. Commits never skip it.
function replaceSlow(turn: Turn, server: ServerAs<'backedup'>): void {
  const { session, now, out } = turn
  const { lead } = server
  const rttMs = session.detectors.get(server.backup)?.rttMs ?? 0
  const late = now - server.log.unackedSince > Math.max(SLOW_MS, 4 * rttMs)
  if (!late) server.slowSince = Infinity
  else if (server.slowSince === Infinity) server.slowSince = now
  const slow = now - server.slowSince >= SLOW_FOR_MS
  if (slow !== lead.slow) {
    lead.slow = slow
    out.emit({ kind: 'slow', slow })
  }
  if (!slow || nextCandidate(session, now) === 0) return
  lead.passedOver.set(server.backup, now + PASS_OVER_MS)
  roles.dropBackup(turn)
}

/**
 * Our own loop stalled. If that repeats, the role moves to the backup, unless the backup is slow:
 * a throttled tab or an overloaded machine would slow everybody.
 */
export function onStalled(turn: Turn, ms: Millis): void {
  const { session, now } = turn
  const { stalls } = session
  if (ms < STALL_BAD_MS) return
  if (now - stalls.last > STALLS_MS) stalls.since = now
  stalls.last = now
  const bad = now - stalls.since >= STALLS_MS
  if (!bad || !serves(session)) return
  const { slow, since } = session.server.lead
  if (!slow && now - since >= KEEP_ROLE_MS) roles.handOver(turn)
}

/** Answers ARE_YOU_ALIVE of the hub with YES_I_AM (T24). */
export function answerYes(turn: Turn, { nonce, heard }: { nonce: number; heard: number }): void {
  const { session, now, out } = turn
  if (!is(session, 'leads')) return
  const { lease } = session.server.lead
  leases.reached(lease, heard)
  leases.noteYes(lease, now, nonce)
  releaseHeld(turn)
  const { epoch } = session.server
  out.hub({ kind: 'yes', session: session.id, epoch, nonce, players: playersOf(session) })
}

export function onPromise(turn: Turn, from: PeerId, at: number): void {
  const { session, now } = turn
  if (!serves(session) || !session.server.published.has(from)) return
  leases.promised(session.server.lead.lease, now, from, at)
  releaseHeld(turn)
}

/** Asks for promises while the hub is silent, and reports a lease that was lost or regained. */
export function checkLease(turn: Turn): void {
  const { session, now, out } = turn
  if (!serves(session)) return
  const { server } = session
  const { lead } = server
  if (leases.asks(lead.lease, now)) {
    const message = { kind: 'askPromise', at: Math.floor(now) } as const
    for (const inc of server.published.keys()) if (inc !== session.me) out.send(inc, message)
  }
  const leased = mayPublish(session, now)
  if (leased === lead.leased) return
  lead.leased = leased
  out.emit({ kind: 'leased', leased })
}

/**
 * A leaving primary ends the session at the register if no other member could continue it, as
 * guests and watchers cannot. Everything acknowledged is written to the hub first.
 */
export function end(turn: Turn): void {
  const { session, now } = turn
  const { server } = session
  if (!session.leaving || server.role !== 'alone') return
  const { lead } = server
  if (lead.ending && (lead.ending.done || now < lead.ending.againAt)) return
  const others = [...server.published.values()].filter(({ inc }) => inc !== session.me)
  if (others.some(mayContinue)) return
  if (!lead.ending) persistence.writeAll(turn)
  // Retries keep their number: the hub may answer the first after the second was sent.
  const request = lead.ending?.request ?? nextRequest(session)
  lead.ending = { request, againAt: now + ATTEMPT_MS, done: false }
  ask(turn, { request, expect: server.epoch, primary: session.me, backup: 0, why: 'end' })
}

/** The hub made a requested change; ours may have been the end of the session. */
export function onChanged(session: Session, request: number): void {
  if (!serves(session)) return
  const { ending } = session.server.lead
  if (ending?.request === request) ending.done = true
}
