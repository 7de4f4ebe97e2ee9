/**
 * Which way packets go to a peer. They go where the last valid packet came from; a silent path is
 * given up for the next, and one through the hub is left for a direct one as soon as that answers.
 * The link itself notices nothing: its numbers and acks are end to end.
 */

import * as link from '../link/link.ts'
import type { Millis } from '../machine.ts'
import { isKnocking, isRelayed, relayed } from '../wire/relay.ts'
import * as session from '../session/session.ts'
import * as reachability from './reachability.ts'
import type { ReachabilityCheck } from './reachability.ts'
import * as linkKeys from './link-keys.ts'
import * as dispatch from './dispatch.ts'
import type { Peer, Runtime } from './state.ts'

/** A path that is silent for so long is given up for the next (L8). */
export const PATH_DEAD_MS: Millis = 1_000
/** How often a direct path is tried while packets go through the hub. */
export const PROBE_MS: Millis = 2_000
/** So long packets go through the hub after it was asked about a peer. */
export const RELAY_KEPT_MS: Millis = 5_000

/** A packet came from there. */
export function onPacket(run: Runtime, peer: Peer, from: string): void {
  if (from === peer.reachability?.address) {
    peer.reachability = null
    run.member.counters.falseAlarms++
  }
  if (from === peer.path) peer.pathAt = run.now
  else reroute(run, peer, from)
}

/** A peer has shown that it is there: sealing sends there, unless we have a better path. */
export function onMoved(run: Runtime, peer: Peer, address: string): void {
  if (!reroute(run, peer, address)) linkKeys.route(run, peer, peer.path)
}

// Only to where the peer has shown that it is: sealing asks there by itself. Returns whether it is.
function reroute(run: Runtime, peer: Peer, path: string): boolean {
  // That way is good for who is no member yet.
  if (isKnocking(path)) return false
  // A direct path that has worked is better than a relayed one that is merely open.
  const stays = isRelayed(peer.path) ? run.now < peer.relayUntil : isRelayed(path)
  if (stays && run.now - peer.pathAt < PATH_DEAD_MS) return false
  if (!linkKeys.route(run, peer, path)) return false
  const isBetter = isRelayed(peer.path) && !isRelayed(path)
  peer.path = path
  peer.pathAt = run.now
  run.member.reconcileDue = true
  // What was measured through the hub is of no use, and what answers at once is measured best.
  if (isBetter && peer.link) {
    link.measureAnew(peer.link)
    dispatch.probe(run, peer)
  }
  session.onRerouted(run.member.session, peer.inc, isRelayed(path))
  return true
}

/** The system reports that nobody listens at an address: peers linked to us there are asked. */
export function refused(run: Runtime, address: string): void {
  for (const peer of run.member.peers.values()) {
    if (peer.path !== address || isRelayed(address) || !peer.link || peer.reachability) continue
    peer.reachability = reachability.begin(run.now, address, peer.link.rtt.smoothed || 0)
    dispatch.probe(run, peer)
  }
}

// A peer that does not answer either is gone: the path is closed (T32, T39).
function onUnreachable(run: Runtime, peer: Peer, { address }: ReachabilityCheck): void {
  peer.reachability = null
  if (peer.path === address) {
    session.onClosed(run.turn, peer.inc, 'failed')
  }
}

/** Whether to believe by now that nobody listens there. */
export function checkReachability(run: Runtime, peer: Peer, word: ReachabilityCheck): void {
  const next = reachability.look(word, run.now)
  if (next === 'ask') dispatch.probe(run, peer)
  else if (next === 'believe') onUnreachable(run, peer, word)
}

/** Looks for a better path than one that is silent, or goes through the hub. */
export function tryOthers(run: Runtime, peer: Peer): void {
  const { now } = run
  if (peer.paths.length < 2 || now < peer.probeAt) return
  const silent = peer.link !== null && now - peer.link.lastReceived > PATH_DEAD_MS
  if (!silent && (!isRelayed(peer.path) || now < peer.relayUntil)) return
  peer.probeAt = now + (silent ? PATH_DEAD_MS : PROBE_MS)
  const others = peer.paths.filter((path) => path !== peer.path)
  // Where the peer answers, that may become the path.
  for (const path of others) linkKeys.probe(run, peer, path)
  if (silent) return void others.some((path) => reroute(run, peer, path))
  for (const path of others) if (!isRelayed(path)) tryPath(run, peer, path)
}

// One packet takes a path that has worked before; its answer comes back that way if it does now.
function tryPath(run: Runtime, peer: Peer, path: string): void {
  if (!linkKeys.route(run, peer, path)) return
  link.probe(peer.link!, run.now, dispatch.sinkOf(run, peer))
  linkKeys.route(run, peer, peer.path)
  dispatch.noteDeadline(run, peer)
}

/** We are attached to the hub: what went the way of who is no member yet goes as a member's. */
export function leaveKnockPaths(run: Runtime): void {
  for (const peer of run.member.peers.values()) {
    if (isKnocking(peer.path)) reroute(run, peer, relayed(peer.inc))
  }
}
