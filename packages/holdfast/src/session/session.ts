/**
 * The session of one process: membership, roles, failure detection, takeover (T1-T49).
 *
 * Inputs are messages of members and of the hub, and silence. Outputs are messages, requests to the
 * register, and events for the layer above. This file combines the other files of the layer.
 */

import { type Millis, type PeerId, rulesOf } from '../machine.ts'
import type { FromHub, FromHubOf } from '../hub-protocol/messages.ts'
import * as commit from '../replication/log.ts'
import { retry, releaseHeld, sendMembers, sendView } from './output.ts'
import * as client from './client.ts'
import * as roles from './roles.ts'
import * as persistence from './persistence.ts'
import * as lineage from './lineage.ts'
import * as membership from './membership.ts'
import type { PeerMessage } from './messages.ts'
import { COSTS, operate, settle } from './operations.ts'
import { follow, follower, sendAgain, takeSnapshot } from './replicate.ts'
import * as recovery from './recovery.ts'
import * as server from './server.ts'
import {
  is,
  type Lead,
  serves,
  type Session,
  type SessionOut,
  type SessionRules,
  type Turn,
} from './state.ts'
import type { PathKind } from '../paths/paths.ts'
import * as detector from './failure-detector.ts'
import * as durable from '../replication/durable.ts'
import { enforce, mayVote } from './moderation.ts'
import * as leases from './lease.ts'

/** A member is sent at most REFRESHES_MAX snapshots within this time. */
export const REFRESH_MS: Millis = 1_000
export const REFRESHES_MAX = 8

export { takeView } from './client.ts'
export { handOver } from './roles.ts'
export { end as endIfLast } from './server.ts'

/** A message of another member, or of ourselves, on the reliable stream. */
export function receive(turn: Turn, from: PeerId, message: PeerMessage): void {
  const { session, out } = turn
  switch (message.kind) {
    case 'view':
      return client.takeView(turn, from, message.view)
    case 'change':
      return client.takeChange(turn, from, message)
    case 'snapshot':
      return takeSnapshot(turn, from, message)
    case 'replicate':
    case 'confirm':
      return follow(turn, from, message)
    case 'acknowledge':
      return roles.onAcknowledge(turn, from, message)
    case 'operation':
      return operate(turn, from, message)
    case 'done':
      return from === session.client.view.primary ? settle(turn, message) : undefined
    case 'leave':
      return membership.remove(turn, from, 'left')
    case 'resync':
      return refresh(turn, from)
    case 'stepDown':
      return roles.onStepDown(turn, from, message)
    case 'news':
      return client.takeNews(turn, from, message)
    case 'standing':
      return client.takeStanding(turn, from, message)
    case 'askPromise':
      return client.promise(turn, from, message.at)
    case 'promise':
      return server.onPromise(turn, from, message.at)
    case 'inquire':
      return recovery.answer(turn, from, message)
    case 'witness':
      return recovery.onWitness(turn, from, message)
    case 'testimony':
      return recovery.onTestimony(turn, from, message)
    case 'askRoom':
      if (!is(session, 'leads') || !session.server.published.has(from)) return
      return out.emit({ ...message, from })
    case 'persisted':
      return lineage.onPersisted(session, from, message)
    case 'room':
    case 'recovered':
      return from === session.client.view.primary ? out.emit(message) : undefined
    default:
      message satisfies never
  }
}

// Sends everything to a member whose new link may have missed any message.
function refresh(turn: Turn, to: PeerId): void {
  const { session, now, out } = turn
  if (!is(session, 'leads') || !session.server.published.has(to)) return
  if (!mayRefresh(session.server.lead, now, to)) return
  sendView(session, to, out)
  out.emit({ kind: 'welcome', to: [to] })
}

// One byte requests the whole state, which an honest member needs once for each link.
function mayRefresh({ refreshed }: Lead, now: Millis, to: PeerId): boolean {
  let known = refreshed.get(to)
  if (!known || now - known.since >= REFRESH_MS) {
    known = { since: now, count: 0 }
    refreshed.set(to, known)
  }
  return ++known.count <= REFRESHES_MAX
}

export function receiveFromHub(turn: Turn, message: FromHub): void {
  const { session, out } = turn
  switch (message.kind) {
    case 'register':
      if (message.session !== session.id) return
      keepCertificate(session, message)
      roles.adopt(turn, message.register)
      if (message.ok) server.onChanged(session, message.request)
      else roles.onRefused(turn, message.request, message.register)
      return
    case 'attached':
      for (const [peer, seen] of session.detectors) seen.gone = !message.present.includes(peer)
      membership.forget(session, message.present, out)
      keepCertificate(session, message)
      return roles.adopt(turn, message.register)
    case 'present': {
      const seen = session.detectors.get(message.inc)
      if (seen) seen.gone = !message.here
      return membership.onPresent(turn, message.inc, message.here)
    }
    case 'areYouAlive':
      return server.answerYes(turn, message)
    case 'challenge':
      return roles.onChallenge(turn, message)
    case 'alive':
      return roles.onVeto(turn, message)
    case 'kept':
      persistence.onKept(turn, message)
      return releaseHeld(turn)
    default:
      // The other messages belong to the layer above.
      return
  }
}

/** Stores the hub's signature to the leader. */
export function keepCertificate(
  session: Session,
  { register, leader }: Pick<FromHubOf<'register'>, 'register' | 'leader'>,
): void {
  if (leader) session.leaderCertificate = { epoch: register.epoch, bytes: leader.grant }
}

/** The stream to the hub is attached again: asks for what we missed, and repeats open requests. */
export function onHubUp(turn: Turn): void {
  const { session, now, out } = turn
  session.hub = { up: true, since: now }
  if (is(session, 'asks')) session.server.attempt.againAt = now
  // The hub may have missed changes of the members.
  if (serves(session)) sendMembers(session, out)
  persistence.onAttached(session)
  session.client.askAt = now
  retry(turn)
}

/** The stream to the hub is gone: the silence of relayed peers proves nothing from now on. */
export function onHubDown(session: Session, out: SessionOut): void {
  session.hub.up = false
  membership.onDetached(session, out)
  persistence.onDetached(session)
}

export function markAlive(turn: Turn, peer: PeerId): void {
  const { session, now } = turn
  const seen = session.detectors.get(peer)
  if (!seen) return
  detector.markAlive(seen, now)
  const { server } = session
  if (server.role === 'taking' && peer === server.primary) roles.withdrawSuspicion(turn)
}

/** A link to a peer is open, directly or through the hub. Messages of an older link may be lost. */
export function onLinked(turn: Turn, peer: PeerId, path: PathKind): void {
  const { session, now, out } = turn
  const vouched = session.detectors.get(peer)?.vouched ?? false
  session.detectors.set(peer, { ...detector.create(now, path), vouched })
  const { view, register } = session.client
  const named = register.epoch > view.epoch && peer === register.primary
  if (peer === view.primary || named) {
    client.askForSnapshot(turn, peer)
    session.client.againAt = session.client.pending.length > 0 ? now : Infinity
  }
  if (serves(session) && peer === follower(session.server)) sendAgain(session.server, out)
  recovery.ask(session, peer, out)
}

/**
 * A link that began with a JOIN is open. The primary sends the newcomer everything at once, so the
 * newcomer need not ask.
 */
export function onEntered(turn: Turn, peer: PeerId, path: PathKind): void {
  const { session, now, out } = turn
  session.detectors.set(peer, detector.create(now, path))
  if (serves(session)) return out.emit({ kind: 'welcome', to: [peer] })
  client.awaitSnapshot(session, now)
  session.client.againAt = session.client.pending.length > 0 ? now : Infinity
}

/**
 * The paths of a peer changed.
 *
 * @param path  the worst kind by which we hear it
 * @param relayed  our packets go to it through the hub
 */
export function onRerouted(session: Session, peer: PeerId, path: PathKind, relayed: boolean): void {
  const seen = session.detectors.get(peer)
  if (seen) Object.assign(seen, { path, relayed })
}

/**
 * A peer's link was measured: its round trip, and its backlog of reliable bytes. A candidate whose
 * backlog shrinks gets its full time again.
 */
export function onMeasured(
  session: Session,
  now: Millis,
  peer: PeerId,
  rttMs: Millis,
  backlog: number,
): void {
  const seen = session.detectors.get(peer)
  if (!seen) return
  const { server } = session
  if (server.role === 'alone' && server.candidate === peer && backlog < seen.backlog) {
    server.candidateSince = now
  }
  Object.assign(seen, { rttMs, backlog })
}

/**
 * A peer closed its link because its process ends, or its direct path was refused: suspects it at
 * once (T32, T36, T39). A closed relay stream proves less: the peer may reconnect.
 */
export function onClosed(turn: Turn, peer: PeerId, why: 'left' | 'failed'): void {
  const { session } = turn
  if (why === 'left' && isIn(session, peer)) session.client.ended.add(peer)
  roles.suspect(turn, peer)
  if (serves(session)) membership.remove(turn, peer, why)
}

function isIn(session: Session, peer: PeerId): boolean {
  if (serves(session)) return session.server.durable.members.has(peer)
  return session.client.view.members.some(({ inc }) => inc === peer)
}

/** Our own loop stalled for `stalledMs`, and could hear nobody meanwhile. */
export function onStalled(turn: Turn, stalledMs: Millis): void {
  const { session, now } = turn
  for (const seen of session.detectors.values()) detector.forgive(seen, now, stalledMs)
  server.onStalled(turn, stalledMs)
}

export function wake(turn: Turn): void {
  const { session } = turn
  if (session.me === 0) return
  server.wake(turn)
  client.wake(turn)
}

export function deadline(session: Session): Millis {
  if (session.me === 0) return Infinity
  return Math.min(server.deadline(session), client.deadline(session), persistence.deadline(session))
}

/** The peers that our role needs links with: the primary and the backup (T12). */
export function wanted(session: Session): PeerId[] {
  const { view, register } = session.client
  const peers = new Set([view.primary, view.backup])
  if (serves(session)) peers.add(follower(session.server))
  const known = [...peers].filter((peer) => view.members.some((member) => member.inc === peer))
  // The registered primary may be newer than our view; the hub knows the path to it.
  const named = register.epoch > view.epoch ? register.primary : 0
  return [...new Set([...known, named])].filter((peer) => peer !== 0 && peer !== session.me)
}

/**
 * In a mesh, all other members of our view (B8). Session messages go only to the primary and the
 * backup, so the other links affect neither roles nor membership.
 */
export function meshed(session: Session): PeerId[] {
  if (session.topology !== 'mesh') return []
  const { members } = session.client.view
  return members.map(({ inc }) => inc).filter((inc) => inc !== session.me)
}

/** Leaves: the primary removes us, or hands over first. The last member ends the session. */
export function leave(turn: Turn): void {
  const { session, out } = turn
  session.leaving = true
  const { primary } = session.client.view
  if (primary !== session.me && primary !== 0) return out.send(primary, { kind: 'leave' })
  roles.handOver(turn)
}

/**
 * This process ends without waiting for an answer: writes to the hub what it lacks. The others
 * notice the end of our links. We do not leave, so that a reloaded page finds its state.
 *
 * @param aside  whether to send it beside the stream too, which may be closed or lose it
 * @returns whether the hub's disk and what is sent until `farewell` contain our whole log
 */
export function shutDown(turn: Turn, aside: boolean = false): boolean {
  const { session } = turn
  if (session.me === 0 || hasLeft(session)) return false
  session.leaving = true
  return persistence.writeAll(turn, aside)
}

/** After `shutDown`: tells the hub that we are gone for good. We must not serve after this. */
export function farewell(session: Session, out: SessionOut): void {
  if (session.me === 0 || hasLeft(session)) return
  const { server } = session
  // During a hand-over we may still lead.
  const hasLed = serves(session) || server.role === 'handing'
  const [epoch, index] = hasLed ? [server.epoch, commit.lengthOf(server.log)] : [0, 0]
  out.hub({ kind: 'gone', session: session.id, epoch, index })
}

/**
 * Whether leaving is complete: the others know, or the session ended. A process that exits before
 * that counts as crashed, and the room stays shut until it can no longer be playing.
 */
export function hasLeft(session: Session): boolean {
  if (serves(session)) return session.server.lead.ending?.done ?? false
  return !session.client.view.members.some(({ inc }) => inc === session.me)
}

export const RULES: SessionRules = rulesOf<SessionRules>({
  safeLength: (role, log) => (role === 'alone' ? commit.lengthOf(log) : log.acked),
  keptLength: persistence.limitOf,
  mayPublish: leases.holds,
  // A member that already asked the register cannot promise not to succeed.
  mayPromise: (role) => role !== 'recovering',
  mayAdd: (held, length) => held === length,
  mayHandOver: (lacking) => lacking === 0,
  isAnswered: (asked, request) => asked.request === request,
  // A follower that the register names, or is asked to name, could still take over.
  mayRemove: (role, follows) => role === 'alone' || !follows,
  enforce,
  mayVote,
  comesBackAs: membership.comesBackAs,
  mayReturn: membership.mayReturn,
  recalls: recovery.recalls,
  lacks: lineage.lacks,
  make: (own, delta) => durable.apply(own, delta),
  account: ({ player }) => player,
  cost: (what) => COSTS[what],
  seek: retry,
})
