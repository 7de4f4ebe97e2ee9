/**
 * Links to the peers that a member needs.
 *
 * A member asks its primary and the backup for a link, and in a mesh every other member, at every
 * address that it can reach. A peer answers only members of its view; others wait, or are denied.
 */

import * as link from '../link/link.ts'
import type { Millis, PeerId } from '../machine.ts'
import * as paths from '../paths/paths.ts'
import * as seal from '../seal/seal.ts'
import type { Packet, SealEvent, SealSink, Points } from '../seal/state.ts'
import { follow, LOST_MS } from '../session/client.ts'
import { heartbeatOf, QUIET_MS, SPARE_MS } from '../session/failure-detector.ts'
import { suspectsPeer, watchedPeer } from '../session/server.ts'
import * as session from '../session/session.ts'
import type { Session } from '../session/state.ts'
import * as channels from './channels.ts'
import * as joinResponder from './join-responder.ts'
import * as dispatch from './dispatch.ts'
import * as joinClient from './join-client.ts'
import * as peers from './peers.ts'
import { CLOSE, type CurveAnswer, type Peer, type Runtime, type JobOf } from './state.ts'
import * as clock from '../link/timing/clock.ts'

/** A link that is not wanted is closed after this. */
export const IDLE_MS: Millis = 10_000
/** A member that waits for its peer to ask for the link asks after this. */
export const ASKED_MS: Millis = 1_000
/** A peer that refused a link is asked again after this. */
export const REFUSED_MS: Millis = 1_000

export function datagram(run: Runtime, from: string, bytes: Uint8Array): void {
  const { seal: own, counters } = run.member
  if (!own) return void counters.stray++
  const packet = seal.receive(own, run.now, from, bytes)
  if (packet) receivePacket(run, packet, from)
}

export function createSeals(run: Runtime): SealSink {
  return {
    datagram: run.ports.datagram,
    agree: (job, pairs) => {
      dispatch.compute(run, { kind: 'seal', of: run.member.seal!, job }, { kind: 'agree', pairs })
    },
    admit: (request) => {
      return request.join ? joinResponder.admit(run, request) : peers.admitMember(run, request)
    },
    event: (event) => onSealEvent(run, event),
  }
}

export function onAgreed(run: Runtime, job: JobOf<'seal'>, answer: CurveAnswer): void {
  if (job.of !== run.member.seal) return
  const shared = Array.isArray(answer) ? (answer as Points) : []
  seal.agreed(job.of, run.now, job.job, shared)
}

// A packet that the peer sealed for us.
function receivePacket(run: Runtime, { peer: key, bytes }: Packet, from: string): void {
  const { member } = run
  const peer = peers.find(run, key)
  if (!peer?.link) return void member.counters.stray++
  const { link: own } = peer
  const by = paths.find(peer.paths, from)?.id ?? -1
  const isTaken = link.receive(own, run.now, bytes, run.arrivals, by)
  const before = peer.inc === 0 ? takeJoinAnswer(run, peer) : 0
  if (peer.inc !== 0) dispatch.takeArrivals(run, peer.inc, before)
  if (!isTaken) return
  link.answer(own, run.now, dispatch.sinkOf(run, peer))
  if (peer.inc === 0) return dispatch.noteDeadline(run, peer)
  if (member.peers.get(peer.inc) !== peer) return
  peers.onPacket(run, peer, from)
  session.markAlive(run.turn, peer.inc)
  member.touched.add(peer.inc)
  if (own.closed === null) return
  peers.forget(run, peer)
  onClosed(run, peer.inc, own.closed)
}

function onClosed(run: Runtime, inc: PeerId, reason: number): void {
  if (reason === CLOSE.leaving) return session.onClosed(run.turn, inc, 'left')
  const { me, client: own } = run.member.session
  // Only the primary is sure of the members.
  if (inc !== own.view.primary || (reason !== CLOSE.removed && reason !== CLOSE.returned)) return
  // The primary's view without us may arrive later than this CLOSE, or never.
  const members = own.view.members.filter((one) => one.inc !== me)
  follow(run.turn, { ...own.view, members }, reason === CLOSE.returned ? 'returned' : null)
}

// From a peer without a number only the primary's answer to our JOIN counts. Returns how many
// arrivals that took.
function takeJoinAnswer(run: Runtime, peer: Peer): number {
  if (peer !== run.member.joinPeer) return 0
  const answer = joinClient.takeAnswer(run)
  if (answer) joinClient.onJoinAnswer(run, peer, answer.blob)
  return answer?.count ?? 0
}

function onSealEvent(run: Runtime, event: SealEvent): void {
  const peer = peers.find(run, event.peer)
  switch (event.kind) {
    case 'up':
      return onLinkUp(run, event)
    case 'down':
      return peer?.link && peer.inc !== 0 ? peers.forget(run, peer) : undefined
    case 'answered':
      return peer?.link && peer.inc !== 0 ? peers.onAnswered(run, peer, event.address) : undefined
    case 'refused':
      return peer && !peer.link ? onDenied(run, peer) : undefined
    case 'failed':
      return peer && !peer.link ? onFailed(run, peer) : undefined
    case 'version':
      run.member.counters.denied++
      run.member.otherSeal = event.version
  }
}

// A new link replaces the old one, if any.
function onLinkUp(run: Runtime, { peer: key, asked, address }: SealEvent & { kind: 'up' }): void {
  const { member } = run
  const caller = member.pendingJoins.get(key)
  if (caller && !asked) return joinResponder.onLinkUp(run, caller, address)
  if (member.joinPeer?.key === key) return peers.open(run, member.joinPeer, address)
  const inc = member.keys.get(key) ?? 0
  const known = member.peers.get(inc)
  if (known?.key === key && !known.link) {
    known.initiator = asked
    return open(run, known, address)
  }
  // The peer may have left the view since it asked.
  if (peers.keyOf(run, inc) !== key) return seal.hangUp(member.seal!, key)
  if (known) peers.unlink(run, known)
  open(run, peers.create(run, inc, asked), address)
}

function open(run: Runtime, peer: Peer, path: string): void {
  peers.open(run, peer, path)
  peers.notifyLinked(run, peer)
}

function onFailed(run: Runtime, peer: Peer): void {
  if (peer === run.member.joinPeer) return joinClient.findAgain(run)
  askAgain(run, peer, 0)
}

function onDenied(run: Runtime, peer: Peer): void {
  run.member.counters.denied++
  if (peer === run.member.joinPeer) return joinClient.findAgain(run)
  askAgain(run, peer, REFUSED_MS)
  const { view, register } = run.member.session.client
  // Only the primary is sure of the members; a backup that denies us may not know us yet.
  if (peer.inc !== view.primary && peer.inc !== register.primary) return
  run.out.emit({ kind: 'removed', why: 'no member any more' })
}

function askAgain(run: Runtime, peer: Peer, wait: Millis): void {
  peer.askAt = run.now + wait
  dispatch.noteDeadline(run, peer)
}

/** The hub is asked whether a peer lives: the two show it that they reach each other through it. */
export function beatByRelay(run: Runtime, inc: PeerId): void {
  const { member } = run
  if (!member.peers.has(inc)) reconcile(run)
  const peer = member.peers.get(inc)
  if (!peer) return
  if (!peer.link) {
    if (peer.askAt < Infinity) askAgain(run, peer, 0)
    return
  }
  peers.beatByRelay(run, peer)
}

/** Asks for missing links that the session wants, and closes those of members that left. */
export function reconcile(run: Runtime): void {
  const { member } = run
  member.reconcileDue = false
  joinResponder.retryWaiting(run)
  const needed = session.wanted(member.session)
  const meshed = session.meshed(member.session)
  for (const inc of needed) {
    if (!member.peers.has(inc)) peers.create(run, inc, true)
  }
  for (const inc of meshed) {
    if (!member.peers.has(inc)) peers.create(run, inc, true).askAt += askDelay(run, inc)
  }
  const wanted = new Set([...needed, ...meshed])
  const { view } = member.session.client
  for (const peer of [...member.peers.values()]) {
    const isHere =
      view.members.some((other) => other.inc === peer.inc) ||
      member.session.server.published.has(peer.inc)
    const isWanted = wanted.has(peer.inc)
    if (!isWanted && (!isHere || !peer.link)) dismiss(run, peer)
    else if (isWanted || !peer.initiator) peer.idleSince = Infinity
    else if (peer.idleSince === Infinity) peer.idleSince = run.now
    setHeartbeat(run, peer)
    if (peer.link) channels.want(run, peer.inc, peers.rowOf(run, peer.inc)?.addresses ?? [])
  }
  for (const inc of member.channels.pairs.keys()) {
    if (!peers.rowOf(run, inc)) channels.drop(run, inc)
  }
}

// Two members that ask each other at once may each drop the link that the other keeps. So in a mesh
// only one of a pair asks at once. The primary and the backup wait, because all others ask them. Of
// two others the older asks: the younger has it in its first view, and can answer.
function askDelay({ member }: Runtime, inc: PeerId): Millis {
  const { me, client } = member.session
  const { primary, backup } = client.view
  return me === primary || me === backup || me > inc ? ASKED_MS : 0
}

// Sends a removed member its removal once; if that is lost, the member is denied its next link.
function dismiss(run: Runtime, peer: Peer): void {
  const { me, client } = run.member.session
  const reason = run.member.replaced.delete(peer.inc) ? CLOSE.returned : CLOSE.removed
  if (peer.link) link.flush(peer.link, run.now, dispatch.sinkOf(run, peer))
  // The view without it may wait behind other messages, or be lost with the link.
  if (client.view.primary === me) close(run, peer, reason)
  else peers.forget(run, peer)
}

// Frequent only where a role depends on it. A peer that we suspect may watch us still.
function setHeartbeat(run: Runtime, peer: Peer): void {
  const { session: own } = run.member
  if (!peer.link || suspectsPeer(own)) return
  const keepalive = keepaliveOf(own, peer)
  if (peer.link.keepaliveMs === keepalive) return
  link.setKeepalive(peer.link, keepalive)
  dispatch.noteDeadline(run, peer)
}

function keepaliveOf(own: Session, { inc, paths: { chosen } }: Peer): Millis {
  if (watchedPeer(own) === inc) return heartbeatOf(chosen!.kind)
  const { view, register } = own.client
  if (own.topology === 'mesh') return QUIET_MS
  const leaders = [view.primary, register.primary]
  if (leaders.includes(inc) || leaders.includes(own.me)) return QUIET_MS
  // Only its answers show that a member is here whose stream the hub has lost.
  return own.client.absent.has(inc) ? QUIET_MS : SPARE_MS
}

export function wake(run: Runtime): void {
  const { member } = run
  if (member.seal && seal.deadline(member.seal) <= run.now) {
    seal.wake(member.seal, run.now)
  }
  channels.wake(run, (inc, address) => peers.onCandidate(run, inc, address, true))
  if (member.dueAt > run.now) return
  joinResponder.dropExpired(run)
  for (const peer of peers.all(run)) {
    if (!peer.link) {
      if (run.now >= peer.askAt) askForLink(run, peer)
      continue
    }
    peers.wakePaths(run, peer)
    if (link.deadline(peer.link) <= run.now)
      link.wake(peer.link, run.now, dispatch.sinkOf(run, peer))
    if (peer.reachability) peers.checkReachability(run, peer, peer.reachability)
  }
  member.dueAt = Infinity
  for (const peer of peers.all(run)) dispatch.noteDeadline(run, peer)
  for (const { until } of member.pendingJoins.values()) member.dueAt = Math.min(member.dueAt, until)
}

/** When `wake` is due, or somewhat earlier. */
export function deadline(run: Runtime): Millis {
  const { dueAt, seal: own, channels: those } = run.member
  return Math.min(dueAt, those.dueAt, own ? seal.deadline(own) : Infinity)
}

// A handshake repeats its messages until it fails.
function askForLink(run: Runtime, peer: Peer): void {
  peer.key ??= peers.keyOf(run, peer.inc)
  peer.askAt = peers.requestLink(run, peer) ? Infinity : run.now + REFUSED_MS
}

export function measure(run: Runtime, inc: PeerId): void {
  const own = run.member.peers.get(inc)?.link
  if (!own) return
  const { rtt } = link.current(own)
  session.onMeasured(run.member.session, run.now, inc, rtt.smoothed, own.outgoing.bytes)
}

export function sweep(run: Runtime): void {
  const { member, now } = run
  steerClock(run)
  for (const peer of [...member.peers.values()]) {
    if (!peer.link) continue
    if (link.isDown(peer.link, now) || isPrimarySilent(run, peer)) peers.forget(run, peer)
    else if (now - peer.idleSince > IDLE_MS) close(run, peer, CLOSE.idle)
    else peers.limitPaths(run, peer)
    measure(run, peer.inc)
    peer.link.clock.shift = peers.shiftOf(run)
  }
  reconcile(run)
}

// A silent primary may have forgotten the link. A new link helps; a primary that has removed us
// denies it.
function isPrimarySilent(run: Runtime, peer: Peer): boolean {
  const { session: own, hub } = run.member
  if (!peer.link || !peer.initiator || peer.inc !== own.client.view.primary) return false
  const byRelay = paths.isByRelay(peer.paths)
  if (byRelay && hub !== 'attached') return false
  const since = Math.max(peer.link.lastReceived, byRelay ? own.hub.since : 0)
  return run.now - since > LOST_MS
}

/** Queues a reliable message; without a link it is lost. @returns its number on the link, or 0 */
export function send(run: Runtime, to: PeerId, message: Uint8Array): number {
  const peer = run.member.peers.get(to)
  if (!peer?.link) return 0
  try {
    run.member.touched.add(to)
    return link.send(peer.link, run.now, message)
  } catch {
    // The backlog is full: a new link begins with the full state.
    peers.forget(run, peer)
    return 0
  }
}

export function close(run: Runtime, peer: Peer, reason: number): void {
  if (peer.link) link.close(peer.link, run.now, reason, dispatch.sinkOf(run, peer))
  peers.forget(run, peer)
}

// Session time is the primary's clock (L9): all others steer theirs by it.

/** After this time a primary that does not know session time takes its best estimate. */
export const TIME_UNKNOWN_MS: Millis = 2_000

export function steerClock(run: Runtime): void {
  const { member, now } = run
  const { set } = member.clock
  const { primary } = member.session.client.view
  const leads = primary === member.session.me
  const offset = leads ? asLeader(run) : ofLeader(run, primary)
  if (offset !== null) clock.steer(member.clock, now, offset)
  if (set === member.clock.set) return
  // From now on our links answer clock questions.
  for (const peer of member.peers.values()) {
    if (peer.link) peer.link.clock.shift = peers.shiftOf(run)
  }
}

// One direction may take longer than the other: on a stream after a loss, or while the two ends use
// different paths. So the first offset must be one that cannot be far wrong.
function ofLeader({ member }: Runtime, primary: PeerId): Millis | null {
  const own = member.peers.get(primary)?.link
  const offset = own ? link.offset(own) : null
  if (offset === null || member.clock.set || link.isMeasured(own!)) return offset
  member.clock.rough = offset
  return null
}

// The primary must know the time. It takes the first offset from the oldest peer, else the estimate
// from its predecessor, else its own clock.
function asLeader(run: Runtime): Millis | null {
  const { clock: own, peers } = run.member
  if (own.set) return null
  const elder = peers.get(elderOf(run))
  if (elder) return link.offset(elder.link!)
  return isTimeOverdue(run) ? (own.rough ?? 0) : null
}

function isTimeOverdue({ member, now }: Runtime): boolean {
  const { client, server } = member.session
  return (
    client.view.members.length === 1 ||
    ('lead' in server && now - server.lead.since > TIME_UNKNOWN_MS)
  )
}

function elderOf({ member }: Runtime): PeerId {
  const known = [...member.peers.values()].filter(
    (peer) => peer.link && link.offset(peer.link) !== null,
  )
  return Math.min(...known.map(({ inc }) => inc), Infinity)
}
