/**
 * Peers: processes with which this member has or wants a link. A joining process has a link before
 * it has a number. Until then its peer belongs to a join (`joinPeer`, `pendingJoins`), and parts
 * and session do not know it.
 */

import * as clock from '../link/timing/clock.ts'
import * as link from '../link/link.ts'
import * as paths from '../paths/paths.ts'
import type { Millis, PeerId } from '../machine.ts'
import { isRelayed, relayed, isKnocking } from '../wire/relay.ts'
import { isDialled } from '../wire/stream-address.ts'
import { type PeerKey, pointOf, type Request, type Verdict } from '../seal/state.ts'
import { patience, suspectsPeer, watchedPeer } from '../session/server.ts'
import * as session from '../session/session.ts'
import * as dispatch from './dispatch.ts'
import { type Peer, type Runtime, drawKey, type ReachabilityCheck } from './state.ts'
import type { Member } from '../replication/layouts.ts'
import * as seal from '../seal/seal.ts'
import { admits } from '../session/membership.ts'

/** Creates the peer of a member that we want a link with, or that wants one with us. */
export function create(run: Runtime, inc: PeerId, initiator: boolean): Peer {
  const peer = blank(keyOf(run, inc), initiator)
  peer.askAt = run.now
  takeNumber(run, peer, inc)
  dispatch.noteDeadline(run, peer)
  return peer
}

export function blank(key: PeerKey | null, initiator: boolean): Peer {
  return {
    inc: 0,
    key,
    link: null,
    initiator,
    askAt: Infinity,
    paths: paths.create(),
    held: null,
    reachability: null,
    idleSince: Infinity,
  }
}

function takeNumber(run: Runtime, peer: Peer, inc: PeerId): void {
  const row = rowOf(run, inc)
  const direct = (row?.addresses ?? []).filter((address) => {
    return run.ports.reaches(address) && (!isDialled(address) || mayDial(peer, row!))
  })
  peer.inc = inc
  const channel = run.member.channels.pairs.get(inc)?.address ?? ''
  const addresses = [...direct, ...(channel === '' ? [] : [channel]), relayed(inc)]
  for (const address of addresses) paths.offer(peer.paths, run.now, address)
  run.member.peers.set(inc, peer)
}

// A stream to an address that a member names is a request to a stranger. So only who asks for a
// link opens one, as to the primary and the backup, and only to a process that is no page.
function mayDial({ initiator }: Peer, { kind }: Member): boolean {
  return initiator && kind === 'node'
}

export function open(run: Runtime, peer: Peer, address: string): void {
  peer.link = link.create(run.now)
  paths.begin(peer.paths, run.now, address)
  link.use(peer.link, run.now, peer.paths.chosen!.id, NaN)
  peer.link.clock.shift = shiftOf(run)
  dispatch.noteDeadline(run, peer)
}

/** Session time minus our own clock; NaN while we do not know it. */
export function shiftOf({ member, now }: Runtime): Millis {
  return member.clock.set ? clock.timeAt(member.clock, now) - now : NaN
}

export function notifyLinked(run: Runtime, peer: Peer): void {
  notifyParts(run, peer, false)
  session.onLinked(run.turn, peer.inc, peer.paths.heardBy)
}

function notifyParts({ member, now }: Runtime, { inc }: Peer, letIn: boolean): void {
  member.reconcileDue = true
  member.touched.add(inc)
  for (const { part, state } of member.mounts) part.linked?.(state, now, inc, letIn)
}

/** Gives a linked peer its number, once it was let in or has let us in. */
export function identify(run: Runtime, peer: Peer, inc: PeerId): void {
  bindKey(run, peer, inc)
  takeNumber(run, peer, inc)
  notifyParts(run, peer, true)
  session.onEntered(run.turn, inc, peer.paths.heardBy)
  dispatch.noteDeadline(run, peer)
}

/** Forgets a peer, and ends the keys of its link without a message to it. */
export function forget(run: Runtime, peer: Peer): void {
  hangUp(run, peer)
  unlink(run, peer)
}

/** Forgets a peer whose keys are gone, or belong to a newer link. */
export function unlink(run: Runtime, peer: Peer): void {
  const { member, now } = run
  if (member.peers.get(peer.inc) !== peer) return
  member.peers.delete(peer.inc)
  if (!peer.link) return
  for (const { part, state } of member.mounts) part.unlinked?.(state, now, peer.inc)
}

export function find({ member }: Runtime, key: PeerKey): Peer | null {
  const known = member.peers.get(member.keys.get(key) ?? 0)
  if (known) return known
  if (member.joinPeer?.key === key) return member.joinPeer
  return member.pendingJoins.get(key)?.peer ?? null
}

/** All peers, also those without a number. */
export function all({ member }: Runtime): Peer[] {
  const callers = [...member.pendingJoins.values()].map(({ peer }) => peer)
  const joinPeer = member.joinPeer ? [member.joinPeer] : []
  return [...member.peers.values(), ...callers, ...joinPeer]
}

// Link keys and the seal. Only the view assigns keys to members.

export function createSeal({ member, ports, now, seals: out }: Runtime, session: string): void {
  const { linkKey, entropy } = member
  if (member.sealed === session) return
  const { secret, point } = linkKey
  const seed = drawKey(entropy)
  const { ciphers } = ports
  member.keys.clear()
  member.seal = seal.create(now, { out, ciphers, session, secret, point: point!, seed })
  member.sealed = session
}

export function updateSeal({ member }: Runtime): void {
  const { me, client } = member.session
  seal.become(member.seal!, me, client.view.mv)
}

export function bindKey({ member }: Runtime, { key }: Peer, inc: PeerId): void {
  member.keys.set(key!, inc)
  seal.know(member.seal!, key!, inc)
}

/** A member's row in our view, or in the view that we publish as primary. */
export function rowOf({ member }: Runtime, inc: PeerId): Member | null {
  const { client, server } = member.session
  const shown = client.view.members.find((one) => one.inc === inc)
  return shown ?? server.published.get(inc) ?? null
}

/**
 * The link key of a member, or null. The hub is believed about a primary that is in no view, as by
 * a newcomer.
 */
export function keyOf(run: Runtime, inc: PeerId): PeerKey | null {
  const { named } = run.member
  const row = rowOf(run, inc)
  if (row) return seal.nameOf(row.link)
  return named?.inc === inc ? named.key : null
}

/** Asks a peer for a link, at all of its addresses. @returns false if that is impossible */
export function requestLink(run: Runtime, { inc, key, paths: { candidates } }: Peer): boolean {
  const { seal: own, keys } = run.member
  if (!own || !key) return false
  keys.set(key, inc)
  updateSeal(run)
  const addresses = candidates.map(({ address }) => address)
  seal.ask(own, run.now, { peer: key, to: inc, addresses })
  return true
}

export function admitMember({ member }: Runtime, { peer, from, mv }: Request): Verdict {
  const verdict = admits(member.session, from, pointOf(peer)!, mv)
  if (verdict === 'wait') return 'later'
  if (verdict === 'yes') {
    member.keys.set(peer, from)
    return null
  }
  member.counters.denied++
  return 'notMember'
}

export function hangUp({ member }: Runtime, { key }: Peer): void {
  if (member.seal && key) seal.hangUp(member.seal, key)
}

// Paths: `paths/` decides by which address packets go. The link is not affected: its numbers and
// acks are end to end.

/** By which address packets go to a peer; '' before its link is up. */
export function pathOf({ paths: { chosen } }: Peer): string {
  return chosen?.address ?? ''
}

/** A valid packet of the peer came from an address. */
export function onPacket(run: Runtime, peer: Peer, from: string): void {
  if (from === peer.reachability?.address) {
    peer.reachability = null
    run.member.counters.falseAlarms++
  }
  const before = peer.paths.heardBy
  paths.heard(peer.paths, run.now, from)
  if (peer.paths.heardBy !== before) tellPath(run, peer)
}

/** The peer answered our challenge from an address. */
export function onAnswered(run: Runtime, peer: Peer, address: string): void {
  paths.answered(peer.paths, run.now, address)
  dispatch.noteDeadline(run, peer)
}

function tellPath({ member }: Runtime, { inc, paths: own }: Peer): void {
  session.onRerouted(member.session, inc, own.heardBy, paths.isByRelay(own))
}

/** A carrier has an address of the peer, or (`gone`) has it no more. */
export function onCandidate(run: Runtime, inc: PeerId, address: string, gone: boolean): void {
  const peer = run.member.peers.get(inc)
  if (!peer) return
  if (gone) withdraw(run, peer, address)
  else paths.offer(peer.paths, run.now, address)
  dispatch.noteDeadline(run, peer)
}

function withdraw(run: Runtime, peer: Peer, address: string): void {
  paths.withdraw(peer.paths, run.now, address, sinkOf(run, peer))
  tellPath(run, peer)
}

/** Once attached to the hub, moves KNOCK paths to the member's relay address. */
export function leaveKnockPaths(run: Runtime): void {
  for (const peer of run.member.peers.values()) {
    if (!isKnocking(pathOf(peer))) continue
    withdraw(run, peer, pathOf(peer))
    dispatch.noteDeadline(run, peer)
  }
}

/** The hub was asked about a peer, or will be: heartbeats go by the relay too for a while. */
export function beatByRelay(run: Runtime, peer: Peer): void {
  paths.beatByRelay(peer.paths, run.now)
  tellPath(run, peer)
  dispatch.noteDeadline(run, peer)
}

/** Chooses paths, and sends the probes that are due. */
export function wakePaths(run: Runtime, peer: Peer): void {
  if (!peer.link || peer.paths.dueAt > run.now) return
  paths.wake(peer.paths, run.now, sinkOf(run, peer))
  tellPath(run, peer)
}

/** A path is left within half of the time after which a peer that we watch would be suspected. */
export function limitPaths(run: Runtime, peer: Peer): void {
  const { now, member } = run
  const { session: own } = member
  // Whom we suspect already should be reached as soon as ever.
  if (suspectsPeer(own)) return
  const { rtt } = link.current(peer.link!)
  const bound = watchedPeer(own) === peer.inc ? patience(own) : null
  const limit = bound === null ? paths.deadAfter(peer.link!.keepaliveMs) : bound / 2
  paths.setLimit(peer.paths, now, limit, rtt.smoothed + 4 * rtt.variation)
  dispatch.noteDeadline(run, peer)
}

const sinks = new WeakMap<Peer, paths.PathsSink>()

function sinkOf(run: Runtime, peer: Peer): paths.PathsSink {
  let sink = sinks.get(peer)
  if (!sink) {
    sink = {
      probe: (address) => {
        const { seal: own } = run.member
        if (own && peer.key) seal.probe(own, run.now, peer.key, address)
      },
      use: (path) => {
        if (!route(run, peer, path)) return false
        run.member.reconcileDue = true
        // The peer hears us by it at once, and we ask for the time.
        peer.link!.clock.askedAt = -Infinity
        link.probe(peer.link!, run.now, dispatch.sinkOf(run, peer))
        return true
      },
      beat: (path) => {
        const { chosen } = peer.paths
        // The way back must be proven, or packets would stay on this path.
        if (!route(run, peer, chosen!) || !route(run, peer, path)) return
        link.probe(peer.link!, run.now, dispatch.sinkOf(run, peer))
        route(run, peer, chosen!)
      },
    }
    sinks.set(peer, sink)
  }
  return sink
}

// Returns false if the seal does not know the address as proven.
function route({ member, now }: Runtime, peer: Peer, path: paths.Candidate): boolean {
  const { seal: own } = member
  if (!own || !peer.key || !seal.route(own, peer.key, path.address)) return false
  link.use(peer.link!, now, path.id, path.rtt)
  return true
}

/** The system reports that no socket listens at an address: probes the peers linked there. */
export function refused(run: Runtime, address: string): void {
  for (const peer of run.member.peers.values()) {
    if (pathOf(peer) !== address || isRelayed(address) || !peer.link || peer.reachability) continue
    const { rtt } = link.current(peer.link)
    peer.reachability = beginCheck(run.now, address, rtt.smoothed)
    dispatch.probe(run, peer)
  }
}

// The peer answered no probe: it is gone (T32, T39).
function onUnreachable(run: Runtime, peer: Peer, { address }: ReachabilityCheck): void {
  peer.reachability = null
  if (pathOf(peer) === address) {
    session.onClosed(run.turn, peer.inc, 'failed')
  }
}

export function checkReachability(run: Runtime, peer: Peer, check: ReachabilityCheck): void {
  const next = stepCheck(check, run.now)
  if (next === 'ask') dispatch.probe(run, peer)
  else if (next === 'believe') onUnreachable(run, peer, check)
}

// The system reports that no socket listens at a peer's address (ICMP port unreachable). A report
// comes within a round trip of a death, but any host on the path may forge it. So the peer is
// probed, and only silence after that counts (T32, T39).

/** Time that a live peer needs for its loop, besides round trips. */
export const CHECK_MS: Millis = 15
/** Longest check. */
export const CHECK_MAX_MS: Millis = 1_000
/** Interval between probes, for probes and acks may be lost. */
export const ASK_AGAIN_MS: Millis = 10
// For a probe, its repetition, and the ack.
const ROUND_TRIPS = 3

/** Begins a check. @param rtt  round trip to the peer; 0 while unknown */
export function beginCheck(now: Millis, address: string, rtt: Millis): ReachabilityCheck {
  const wait = Math.min(CHECK_MAX_MS, CHECK_MS + ROUND_TRIPS * rtt)
  return { address, askAt: now + ASK_AGAIN_MS, until: now + wait, last: false }
}

export function stepCheck(check: ReachabilityCheck, now: Millis): 'ask' | 'believe' | 'wait' {
  if (now >= check.until) {
    if (check.last) return 'believe'
    // Timers run before sockets are read: the answer may have arrived long ago.
    check.last = true
    return 'wait'
  }
  if (now < check.askAt) return 'wait'
  check.askAt = now + ASK_AGAIN_MS
  return 'ask'
}
