/**
 * The session of one process: membership, roles, failure detection, takeover (T1-T49).
 *
 * Inputs are messages of other members, messages of the hub, and silence. Outputs are messages,
 * requests to the register, and events for the layer above. The rules are in the other files of
 * this layer; this one puts them together.
 */

import { type Millis, type PeerId, rulesOf } from '../machine.ts'
import type { FromHub } from '../hub-protocol/messages.ts'
import * as commit from '../replication/log.ts'
import { retry, releaseHeld, tellOne } from './output.ts'
import * as client from './client.ts'
import * as handover from './roles.ts'
import * as roles from './roles.ts'
import * as keeping from './keeping.ts'
import * as lineage from './lineage.ts'
import * as presence from './membership.ts'
import { remove, comesBackAs, mayReturn } from './membership.ts'
import type { PeerMessage } from './messages.ts'
import * as quotas from './operations.ts'
import { operate, settle } from './operations.ts'
import { follow, follower, sendAgain, takeSnapshot } from './replicate.ts'
import * as recovery from './recovery.ts'
import { recalls } from './recovery.ts'
import * as server from './server.ts'
import { is, type Lead, serves, type Session, type SessionOut, type SessionRules } from './state.ts'
import * as watch from './failure-detector.ts'
import * as durable from '../replication/durable.ts'
import { enforce, hasVoice } from './expelling.ts'
import * as leases from './lease.ts'

/** Within this time a member is sent a snapshot at most REFRESHES_MAX times. */
export const REFRESH_MS: Millis = 1_000
/** See REFRESH_MS. */
export const REFRESHES_MAX = 8

export { takeView } from './client.ts'
export { stir } from './keeping.ts'

/** A message of another member, or of ourselves, on the reliable stream. */
export function receive(
  session: Session,
  now: Millis,
  from: PeerId,
  message: PeerMessage,
  out: SessionOut,
): void {
  switch (message.kind) {
    case 'view':
      return client.takeView(session, now, from, message.view, out)
    case 'change':
      return client.takeChange(session, now, from, message, out)
    case 'snapshot':
      return takeSnapshot(session, now, from, message, out)
    case 'replicate':
    case 'confirm':
      return follow(session, now, from, message, out)
    case 'acknowledge':
      return roles.acknowledged(session, now, from, message, out)
    case 'operation':
      return operate(session, now, from, message, out)
    case 'done':
      return from === session.client.view.primary ? settle(session, message, out) : undefined
    case 'leave':
      return remove(session, now, from, 'left', out)
    case 'resync':
      return refresh(session, now, from, out)
    case 'stepDown':
      return roles.handed(session, now, from, message, out)
    case 'news':
      return client.takeNews(session, now, from, message, out)
    case 'standing':
      return client.takeStanding(session, from, message, out)
    default:
      return receiveSeldom(session, now, from, message, out)
  }
}

type OfRecovery = 'askPromise' | 'promise' | 'inquire' | 'witness' | 'testimony' | 'recovered'
type Seldom = OfRecovery | 'askRoom' | 'room' | 'persisted'

// Recoveries, and rooms as files.
function receiveSeldom(
  session: Session,
  now: Millis,
  from: PeerId,
  message: PeerMessage & { kind: Seldom },
  out: SessionOut,
): void {
  switch (message.kind) {
    case 'askPromise':
      return client.promise(session, now, from, message.at, out)
    case 'promise':
      return server.promised(session, now, from, message.at, out)
    case 'inquire':
      return recovery.answer(session, from, message, out)
    case 'witness':
      return recovery.witnessed(session, now, from, message, out)
    case 'testimony':
      return recovery.testified(session, now, from, message, out)
    case 'askRoom':
      if (!is(session, 'leads') || !session.server.published.has(from)) return
      return out.emit({ ...message, from })
    case 'persisted':
      return lineage.heard(session, from, message)
    case 'room':
    case 'recovered':
      return from === session.client.view.primary ? out.emit(message) : undefined
    default:
      message satisfies never
  }
}

// A member with a new link to us may have missed any message.
function refresh(session: Session, now: Millis, to: PeerId, out: SessionOut): void {
  if (!is(session, 'leads') || !session.server.published.has(to)) return
  if (!mayRefresh(session.server.lead, now, to)) return
  tellOne(session, to, out)
  out.emit({ kind: 'welcome', to: [to] })
}

// One byte asks for the whole state; an honest member needs that once for each link.
function mayRefresh({ refreshed }: Lead, now: Millis, to: PeerId): boolean {
  let known = refreshed.get(to)
  if (!known || now - known.since >= REFRESH_MS) {
    known = { since: now, count: 0 }
    refreshed.set(to, known)
  }
  return ++known.count <= REFRESHES_MAX
}

/** A message of the hub to this member. */
export function hubSaid(session: Session, now: Millis, message: FromHub, out: SessionOut): void {
  switch (message.kind) {
    case 'register':
      if (message.session !== session.id) return
      keepGrant(session, message)
      roles.adopt(session, now, message.register, out)
      if (message.ok) server.changed(session, message.request)
      else recovery.refused(session, now, message.request, out)
      return
    case 'attached':
      for (const [peer, seen] of session.watches) seen.gone = !message.present.includes(peer)
      presence.forget(session, message.present, out)
      keepGrant(session, message)
      return roles.adopt(session, now, message.register, out)
    case 'present': {
      const seen = session.watches.get(message.inc)
      if (seen) seen.gone = !message.here
      return presence.present(session, now, message.inc, message.here, out)
    }
    case 'areYouAlive':
      return server.yes(session, now, message, out)
    case 'challenge':
      return roles.challenged(session, message, out)
    case 'alive':
      return roles.vetoed(session, now, message, out)
    case 'kept':
      keeping.answered(session, message, out)
      return releaseHeld(session, now, out)
    default:
      // The other messages answer questions of the layer above.
      return
  }
}

/** The hub signed who leads. */
export function keepGrant(
  session: Session,
  { register, leader }: Pick<FromHub & { kind: 'register' }, 'register' | 'leader'>,
): void {
  if (leader) session.grant = { epoch: register.epoch, bytes: leader.grant }
}

/**
 * The stream to the hub is attached again: asks for what we missed, and repeats our open request.
 */
export function hubUp(session: Session, now: Millis, out: SessionOut): void {
  session.hub = { up: true, since: now }
  if (is(session, 'asks')) session.server.attempt.againAt = now
  if (serves(session)) server.tellMembersAgain(session, out)
  keeping.attached(session)
  session.client.askAt = now
  retry(session, now, out)
}

/** The stream to the hub is gone: the silence of relayed peers proves nothing from now on. */
export function hubDown(session: Session, out: SessionOut): void {
  session.hub.up = false
  presence.detached(session, out)
  keeping.detached(session)
}

/**
 * At the end of each call: what is to outlive us is written at the hub, and who leaves as the last
 * ends the session.
 */
export function flush(session: Session, now: Millis, out: SessionOut): void {
  server.end(session, now, out)
  keeping.flush(session, now, out)
}

/** A valid message came from a peer. */
export function heard(session: Session, now: Millis, peer: PeerId, out: SessionOut): void {
  const seen = session.watches.get(peer)
  if (!seen) return
  watch.heard(seen, now)
  const { server } = session
  if (server.role === 'taking' && peer === server.primary) roles.heardPrimary(session, now, out)
}

/** A link to a peer is open, directly or through the hub. Messages of an older link may be lost. */
export function linked(
  session: Session,
  now: Millis,
  peer: PeerId,
  relayed: boolean,
  out: SessionOut,
): void {
  const vouched = session.watches.get(peer)?.vouched ?? false
  session.watches.set(peer, { ...watch.create(now, relayed), vouched })
  const { view, register } = session.client
  const named = register.epoch > view.epoch && peer === register.primary
  if (peer === view.primary || named) {
    client.askForSnapshot(session, now, peer, out)
    session.client.againAt = session.client.pending.length > 0 ? now : Infinity
  }
  if (serves(session) && peer === follower(session.server)) sendAgain(session.server, out)
  recovery.ask(session, peer, out)
}

/**
 * A link to a peer is open that began with a JOIN. Whoever let the other in sends at once all that
 * it lacks, so the other need not ask.
 */
export function entered(
  session: Session,
  now: Millis,
  peer: PeerId,
  relayed: boolean,
  out: SessionOut,
): void {
  session.watches.set(peer, watch.create(now, relayed))
  if (serves(session)) return out.emit({ kind: 'welcome', to: [peer] })
  client.awaitSnapshot(session, now)
  session.client.againAt = session.client.pending.length > 0 ? now : Infinity
}

/** The path to a peer changed between direct and relayed. */
export function rerouted(session: Session, peer: PeerId, relayed: boolean): void {
  const seen = session.watches.get(peer)
  if (seen) seen.relayed = relayed
}

/**
 * The link of a peer was measured: its round trip, and the bytes of reliable messages that wait.
 * A candidate that takes in what it is sent has its time counted from then.
 */
export function measured(
  session: Session,
  now: Millis,
  peer: PeerId,
  rttMs: Millis,
  backlog: number,
): void {
  const seen = session.watches.get(peer)
  if (!seen) return
  const { server } = session
  if (server.role === 'alone' && server.candidate === peer && backlog < seen.backlog) {
    server.candidateSince = now
  }
  Object.assign(seen, { rttMs, backlog })
}

/**
 * A peer closed its link, for its process ends, or its direct path was refused: the peer is
 * suspected at once (T32, T36, T39). The end of a relay's stream proves less: the peer may be back
 * in a moment.
 */
export function closed(
  session: Session,
  now: Millis,
  peer: PeerId,
  why: 'left' | 'failed',
  out: SessionOut,
): void {
  if (why === 'left' && isIn(session, peer)) session.client.ended.add(peer)
  roles.suspect(session, now, peer, out)
  if (serves(session)) remove(session, now, peer, why, out)
}

// Whoever asked to leave is on its way out, and stays away.
function isIn(session: Session, peer: PeerId): boolean {
  if (serves(session)) return session.server.durable.members.has(peer)
  return session.client.view.members.some(({ inc }) => inc === peer)
}

/** Our own loop stood still for `stalledMs`: it could hear nobody meanwhile. */
export function stalled(session: Session, now: Millis, stalledMs: Millis, out: SessionOut): void {
  for (const seen of session.watches.values()) watch.forgive(seen, now, stalledMs)
  server.stalled(session, now, stalledMs, out)
}

/** Does what is due. */
export function wake(session: Session, now: Millis, out: SessionOut): void {
  if (session.me === 0) return
  server.wake(session, now, out)
  client.wake(session, now, out)
}

/** When `wake` is due next. */
export function deadline(session: Session): Millis {
  if (session.me === 0) return Infinity
  return Math.min(server.deadline(session), client.deadline(session), keeping.deadline(session))
}

/** The peers that we need a link with for our role: the primary and the backup (T12). */
export function wanted(session: Session): PeerId[] {
  const { view, register } = session.client
  const peers = new Set([view.primary, view.backup])
  if (serves(session)) peers.add(follower(session.server))
  const known = [...peers].filter((peer) => view.members.some((member) => member.inc === peer))
  // The primary that the register names may have joined since our view: the hub knows the path to
  // it.
  const named = register.epoch > view.epoch ? register.primary : 0
  return [...new Set([...known, named])].filter((peer) => peer !== 0 && peer !== session.me)
}

/**
 * In a mesh, all other members of our view (B8). Messages of the session travel only to the primary
 * and the backup, so the other links change no role and remove nobody.
 */
export function meshed(session: Session): PeerId[] {
  if (session.topology !== 'mesh') return []
  const { members } = session.client.view
  return members.map(({ inc }) => inc).filter((inc) => inc !== session.me)
}

/** As the primary: gives the role to the backup. @returns whether there is one to take it */
export function handOver(session: Session, now: Millis, out: SessionOut, atOnce: boolean): boolean {
  return handover.handOver(session, now, out, atOnce)
}

/**
 * Leaves: the primary removes us. A primary hands over first, and the last one ends the session.
 */
export function leave(session: Session, now: Millis, out: SessionOut): void {
  session.leaving = true
  const { primary } = session.client.view
  if (primary !== session.me && primary !== 0) return out.send(primary, { kind: 'leave' })
  handover.handOver(session, now, out)
}

/**
 * This process ends, and waits for no answer: the hub gets what it lacks. The others hear it by the
 * end of our links; of us they keep what a page wants that is loaded anew, so we do not leave.
 *
 * @param aside  whether it is said beside the stream too, which may be closed, or lose it
 * @returns whether what was said until `farewell`, and what the hub has on disk, is all of our log
 */
export function goes(
  session: Session,
  now: Millis,
  out: SessionOut,
  aside: boolean = false,
): boolean {
  if (session.me === 0 || isGone(session)) return false
  session.leaving = true
  return keeping.leave(session, now, out, aside)
}

/** Behind `goes`: the hub hears that we are gone for good. From here on we must serve no more. */
export function farewell(session: Session, out: SessionOut): void {
  if (session.me === 0 || isGone(session)) return
  const { server } = session
  // Who hands its role over led, and does not know whether it leads still.
  const hasLed = serves(session) || server.role === 'handing'
  const [epoch, index] = hasLed ? [server.epoch, commit.lengthOf(server.log)] : [0, 0]
  out.hub({ kind: 'gone', session: session.id, epoch, index })
}

/**
 * Whether who leaves may go: the others know, or it was the last. Whoever goes before that is taken
 * for a member that died, and the room is shut until it cannot play on any more.
 */
export function isGone(session: Session): boolean {
  if (serves(session)) return session.server.lead.ending?.done ?? false
  return !session.client.view.members.some(({ inc }) => inc === session.me)
}

/** The decisions of every real session; tests replace them (proof/twists.ts). */
export const RULES: SessionRules = rulesOf<SessionRules>({
  safeLength: (role, log) => (role === 'alone' ? commit.lengthOf(log) : log.acked),
  keptLength: keeping.limitOf,
  mayTell: leases.holds,
  // A member that has asked the register already cannot promise that it will not be granted.
  mayPromise: (role) => role !== 'recovering',
  mayAdd: (held, length) => held === length,
  mayHandOver: (lacking) => lacking === 0,
  // The register may name its backup, or is asked to: such a follower could still take over.
  mayRemove: (role, follows) => role === 'alone' || !follows,
  enforce,
  hasVoice,
  comesBackAs,
  mayReturn,
  recalls,
  lacks: lineage.lacks,
  make: (own, delta) => durable.apply(own, delta),
  account: ({ player }) => player,
  cost: (what) => quotas.COSTS[what],
  seek: retry,
})
