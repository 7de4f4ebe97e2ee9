/**
 * The path of packets to a peer. Packets go where the last valid one came from. A silent path is
 * given up for the next, and a relayed path for a direct one as soon as that answers. The link is
 * not affected: its numbers and acks are end to end.
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
/** Packets stay on the relay for so long after the hub was asked about a peer. */
export const RELAY_KEPT_MS: Millis = 5_000

/** A valid packet of the peer came from an address. */
export function onPacket(run: Runtime, peer: Peer, from: string): void {
  if (from === peer.reachability?.address) {
    peer.reachability = null
    run.member.counters.falseAlarms++
  }
  if (from === peer.path) peer.pathAt = run.now
  else reroute(run, peer, from)
}

/** A peer has validated an address: sealing sends there, unless we have a better path. */
export function onMoved(run: Runtime, peer: Peer, address: string): void {
  if (!reroute(run, peer, address)) linkKeys.route(run, peer, peer.path)
}

// Only to an address that the peer has validated; sealing probes the others. Returns whether the
// path changed.
function reroute(run: Runtime, peer: Peer, path: string): boolean {
  // KNOCK paths are for processes that are not members yet.
  if (isKnocking(path)) return false
  // A direct path that has worked is better than a relayed one that is merely open.
  const stays = isRelayed(peer.path) ? run.now < peer.relayUntil : isRelayed(path)
  if (stays && run.now - peer.pathAt < PATH_DEAD_MS) return false
  if (!linkKeys.route(run, peer, path)) return false
  const isBetter = isRelayed(peer.path) && !isRelayed(path)
  peer.path = path
  peer.pathAt = run.now
  run.member.reconcileDue = true
  // Measurements through the hub do not apply; a probe at once begins new ones.
  if (isBetter && peer.link) {
    link.measureAnew(peer.link)
    dispatch.probe(run, peer)
  }
  session.onRerouted(run.member.session, peer.inc, isRelayed(path))
  return true
}

/** The system reports that no socket listens at an address: probes the peers linked there. */
export function refused(run: Runtime, address: string): void {
  for (const peer of run.member.peers.values()) {
    if (peer.path !== address || isRelayed(address) || !peer.link || peer.reachability) continue
    peer.reachability = reachability.begin(run.now, address, peer.link.rtt.smoothed || 0)
    dispatch.probe(run, peer)
  }
}

// The peer answered no probe: it is gone (T32, T39).
function onUnreachable(run: Runtime, peer: Peer, { address }: ReachabilityCheck): void {
  peer.reachability = null
  if (peer.path === address) {
    session.onClosed(run.turn, peer.inc, 'failed')
  }
}

/** Continues a running check. */
export function checkReachability(run: Runtime, peer: Peer, word: ReachabilityCheck): void {
  const next = reachability.look(word, run.now)
  if (next === 'ask') dispatch.probe(run, peer)
  else if (next === 'believe') onUnreachable(run, peer, word)
}

/** Tries other paths while the current one is silent or relayed. */
export function tryOthers(run: Runtime, peer: Peer): void {
  const { now } = run
  if (peer.paths.length < 2 || now < peer.probeAt) return
  const silent = peer.link !== null && now - peer.link.lastReceived > PATH_DEAD_MS
  if (!silent && (!isRelayed(peer.path) || now < peer.relayUntil)) return
  peer.probeAt = now + (silent ? PATH_DEAD_MS : PROBE_MS)
  const others = peer.paths.filter((path) => path !== peer.path)
  // A path on which the peer answers may become the path.
  for (const path of others) linkKeys.probe(run, peer, path)
  if (silent) return void others.some((path) => reroute(run, peer, path))
  for (const path of others) if (!isRelayed(path)) tryPath(run, peer, path)
}

// Sends one packet on a path that has worked before; its ack comes back on it if it still works.
function tryPath(run: Runtime, peer: Peer, path: string): void {
  if (!linkKeys.route(run, peer, path)) return
  link.probe(peer.link!, run.now, dispatch.sinkOf(run, peer))
  linkKeys.route(run, peer, peer.path)
  dispatch.noteDeadline(run, peer)
}

/** Once attached to the hub, moves KNOCK paths to the member's relay address. */
export function leaveKnockPaths(run: Runtime): void {
  for (const peer of run.member.peers.values()) {
    if (isKnocking(peer.path)) reroute(run, peer, relayed(peer.inc))
  }
}
