/**
 * The member as a client of its session: the published view, and the primary that it follows.
 *
 * A view is accepted only from the primary that it names, if that may lead (`mayBePrimary`), and
 * only forwards: with a larger epoch, or the same epoch and no older version. A member that is not
 * in the view rejoins with a new incarnation, as the same player (T34).
 */

import { MEMBERS_MAX, type Millis, type PeerId } from '../machine.ts'
import { EPOCH_MAX } from '../hub-protocol/messages.ts'
import type { View, PeerMessageOf } from './messages.ts'
import {
  type LeaveReason,
  type Member,
  PLAYERS_KEPT_MAX,
  COUNTER_MAX,
} from '../replication/layouts.ts'
import { PROMISE_MS } from './lease.ts'
import * as lineage from './lineage.ts'
import { submitAgain } from './operations.ts'
import * as membership from './membership.ts'
import { isLeft, seek } from './recovery.ts'
import {
  serves,
  type Session,
  type SessionOut,
  type Turn,
  restartDetector,
  mayBePrimary,
} from './state.ts'

// No snapshot needs more messages: the largest table takes some 1,400.
const COMING_MAX = 2_048

/** After this long without the primary the application is notified (S-4). */
export const LOST_MS: Millis = 3_000
/** The same if the hub has no stream of either primary or backup. */
export const LEFT_MS: Millis = 1_000
/** After this long without primary and backup at the hub, the session is given up. */
export const GIVE_UP_MS: Millis = 30_000
/** A member that left is remembered for this long, so that it may return (S-5). */
export const FORMER_MS: Millis = 60_000
/** A snapshot that did not arrive is requested again after this. */
export const ASK_SNAPSHOT_AGAIN_MS: Millis = 3_000
/** How often the hub is asked for the register while we lack a primary. */
export const ASK_MS: Millis = 1_000

/** A larger epoch is TAKE_OVER (T41, T42). @param granted  the hub signed that its sender leads */
export function takeView(turn: Turn, from: PeerId, view: View, granted: boolean = false): void {
  const { session } = turn
  const { view: known } = session.client
  const newer = view.epoch > known.epoch || (view.epoch === known.epoch && view.mv >= known.mv)
  if (view.primary !== from || !newer) return
  if (view.epoch > EPOCH_MAX || view.mv > COUNTER_MAX) return
  if (!granted && !mayBePrimary(session, from)) return
  // A recovering primary may have older moderation state, and is about to ask for ours.
  const { cv, banned, votes } = known
  follow(turn, view.cv < cv ? { ...view, cv, banned, votes } : view, null)
}

/** One member joined or left. If an earlier change is missing, asks for the full view. */
export function takeChange(turn: Turn, from: PeerId, change: PeerMessageOf<'change'>): void {
  const { session, out } = turn
  const { view } = session.client
  if (from !== view.primary || change.epoch < view.epoch) return
  if (change.epoch !== view.epoch || change.mv !== view.mv + 1) {
    if (change.epoch > view.epoch || change.mv > view.mv) out.send(from, { kind: 'resync' })
    return
  }
  const members = view.members.filter((member) => member.inc !== change.remove)
  if (change.add) members.push(change.add)
  if (members.length > MEMBERS_MAX) return
  follow(turn, { ...view, mv: change.mv, members }, change.why)
}

/** Adopts a view: the primary's, the one that came with JOINED, or the founder's own. */
export function follow(turn: Turn, view: View, why: LeaveReason | null): void {
  const { session, now, out } = turn
  const { client } = session
  const before = client.view
  client.view = view
  if (view.epoch >= client.register.epoch) client.resyncAt = Infinity
  if (!view.members.some((member) => member.inc === session.me)) {
    return out.emit({ kind: 'removed', why: why ?? 'the primary does not know us any more' })
  }
  forgetOthers(session, out)
  rememberFormer(turn, before.members)
  if (view.primary !== before.primary) {
    restartDetector(session, now, view.primary)
    client.handedAt = -Infinity
    // A new primary sends a snapshot. Updates that arrive before it could leave a gap.
    if (before.primary !== 0) awaitSnapshot(session, now)
    if (session.leaving) out.send(view.primary, { kind: 'leave' })
    submitAgain(turn)
  }
  out.emit({ kind: 'view', view, before: before.epoch === 0 ? null : before, why })
  // Our own view's lineage may be older than ours: it was sent before we began to lead.
  const isOwn = view.primary === session.me
  lineage.follow(session, isOwn ? session.lineage : view.lineage, out)
}

// Former members keep their players in case we must recover the session.
function rememberFormer(turn: Turn, before: readonly Member[]): void {
  const { session, now, out } = turn
  const { view, former, ended } = session.client
  for (const { inc, player, key } of before) {
    former.set(player, { key, since: now, ended: ended.has(inc) })
  }
  for (const { player } of view.members) former.delete(player)
  const here = new Set(view.members.map(({ inc }) => inc))
  for (const inc of ended) if (!here.has(inc)) ended.delete(inc)
  for (const [player, { since }] of former) {
    const isOver = now - since > FORMER_MS && !out.parts.keeps(player)
    if (isOver || former.size > PLAYERS_KEPT_MAX) former.delete(player)
  }
}

function forgetOthers(session: Session, out: SessionOut): void {
  const { absent, view } = session.client
  const isOut = (peer: PeerId): boolean => !view.members.some(({ inc }) => inc === peer)
  for (const peer of session.detectors.keys()) if (isOut(peer)) session.detectors.delete(peer)
  membership.forget(session, [...absent.keys()].filter(isOut), out)
}

/** Players whose processes ended and did not return, and since when they are out of our view. */
export function endedPlayers({ client: { former } }: Session): Map<number, Millis> {
  const ended = [...former].filter(([, row]) => row.ended)
  return new Map(ended.map(([player, { since }]) => [player, since]))
}

/**
 * Takes the update of one operation, or (index 0) a part of a snapshot, which is applied when
 * STANDING names its index. On a new link updates are dropped until then: they may leave a gap.
 */
export function takeNews(turn: Turn, from: PeerId, message: PeerMessageOf<'news'>): void {
  const { session, now, out } = turn
  const { view, published } = session.client
  if (from !== view.primary) return
  const { index, player, seq, part, bytes } = message
  if (index === 0) {
    if (published.coming.length < COMING_MAX) published.coming.push({ part, bytes })
    // More is under way. If asked again, the primary would start over.
    if (published.waiting) published.askAt = Math.max(published.askAt, now + ASK_SNAPSHOT_AGAIN_MS)
    return
  }
  if (published.waiting || Math.max(index, player, seq) > COUNTER_MAX) return
  published.index = Math.max(published.index, index)
  published.seqs.set(player, Math.max(published.seqs.get(player) ?? 0, seq))
  if (published.seqs.size > PLAYERS_KEPT_MAX) forgetOne(session)
  out.parts.news(part, from, bytes)
}

// In a long session more players act than are remembered: drops the first absent one.
function forgetOne({ client: { view, published } }: Session): void {
  const here = new Set(view.members.map(({ player }) => player))
  const gone = [...published.seqs.keys()].find((player) => !here.has(player))
  published.seqs.delete(gone ?? 0)
}

export function takeStanding(
  turn: Turn,
  from: PeerId,
  { index, seqs }: PeerMessageOf<'standing'>,
): void {
  const { session, out } = turn
  const { client } = session
  if (from !== client.view.primary || index > COUNTER_MAX) return
  for (const { part, bytes } of client.published.coming) out.parts.news(part, from, bytes)
  const counted = seqs.filter(({ seq }) => seq <= COUNTER_MAX)
  const upTo = new Map(counted.map(({ player, seq }) => [player, seq]))
  client.published = { index, seqs: upTo, coming: [], waiting: false, askAt: Infinity }
  out.emit({ kind: 'caught-up' })
}

/** Promises the primary not to recover the session for a while, if we may. */
export function promise(turn: Turn, from: PeerId, at: number): void {
  const { session, now, out } = turn
  const { client, server } = session
  const may = session.rules.mayPromise(server.role)
  // If the register names another primary we must not promise, even if that is us.
  const outdated = client.register.epoch > client.view.epoch
  if (from !== client.view.primary || !may || outdated) return
  client.promisedUntil = now + PROMISE_MS
  out.send(from, { kind: 'promise', at })
}

/** Does what is due: retries requests, and detects that the primary is lost or back. */
export function wake(turn: Turn): void {
  const { session, now, out } = turn
  const { client } = session
  membership.wake(turn)
  if (now >= client.againAt) submitAgain(turn)
  if (now >= client.resyncAt) {
    client.resyncAt = now + ASK_MS
    out.send(client.register.primary, { kind: 'resync' })
  }
  if (now >= client.published.askAt) askForSnapshot(turn, client.view.primary)
  const lost = isLost(session, now)
  if (lost !== client.lost) {
    client.lost = lost
    client.lostAt = now
    out.emit({ kind: 'lost', lost })
  }
  if (lost) seek(turn)
  if (!lost || !session.hub.up || now < client.askAt) return
  client.askAt = now + ASK_MS
  out.hub({ kind: 'get', request: 0, session: session.id })
  if (isAbandoned(session, now)) out.emit({ kind: 'abandoned' })
}

/** Asks for the view and all parts, because the link to the primary is new. */
export function askForSnapshot(turn: Turn, from: PeerId): void {
  const { session, now, out } = turn
  awaitSnapshot(session, now)
  out.send(from, { kind: 'resync' })
}

/** Waits for the snapshot that the primary sends unasked; asks for it after a while. */
export function awaitSnapshot({ client: { published } }: Session, now: Millis): void {
  published.coming = []
  published.waiting = true
  published.askAt = now + ASK_SNAPSHOT_AGAIN_MS
}

// Primary and backup have been gone from the hub for too long to come back (T30).
function isAbandoned(session: Session, now: Millis): boolean {
  const { client, hub } = session
  if (now - Math.max(client.lostAt, hub.since) < GIVE_UP_MS) return false
  return client.register.primary !== session.me && isLeft(session, true)
}

function isLost(session: Session, now: Millis): boolean {
  const { primary } = session.client.view
  if (primary === 0) return false
  // We were deposed, and have not heard from the new primary yet.
  if (primary === session.me) return !serves(session) && now >= handedUntil(session)
  const seen = session.detectors.get(primary)
  if (!seen) return false
  if (seen.relayed && !session.hub.up) return true
  return now >= seen.since + (isLeft(session) ? LEFT_MS : LOST_MS)
}

// Until when we wait for a message of the member that took our role over.
function handedUntil(session: Session): Millis {
  return session.server.role === 'handing' ? Infinity : session.client.handedAt + LOST_MS
}

export function deadline(session: Session): Millis {
  const { client } = session
  const { primary } = client.view
  const askAgainAt = Math.min(client.againAt, client.resyncAt, client.published.askAt)
  const ownAt = Math.min(askAgainAt, membership.deadline(session))
  if (primary === session.me) {
    const lostAt = client.lost || serves(session) ? Infinity : handedUntil(session)
    return Math.min(ownAt, Math.max(lostAt, 0))
  }
  if (primary === 0) return ownAt
  const seen = session.detectors.get(primary)
  const patience = isLeft(session) ? LEFT_MS : LOST_MS
  const lostAt = client.lost || !seen ? Infinity : seen.since + patience
  const askAt = client.lost && session.hub.up ? client.askAt : Infinity
  return Math.min(ownAt, lostAt, askAt)
}
