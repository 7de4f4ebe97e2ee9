/**
 * Peers: processes with which this member has or wants a link. A joining process has a link before
 * it has a number. Until then its peer belongs to a join (`joinPeer`, `pendingJoins`), and parts
 * and session do not know it.
 */

import * as clock from '../link/timing/clock.ts'
import * as link from '../link/link.ts'
import type { Millis, PeerId } from '../machine.ts'
import { isRelayed, relayed } from '../wire/relay.ts'
import type { PeerKey } from '../seal/state.ts'
import * as session from '../session/session.ts'
import * as paths from './paths.ts'
import * as linkKeys from './link-keys.ts'
import * as dispatch from './dispatch.ts'
import type { Peer, Runtime } from './state.ts'

/** Default keepalive of a link (L8). */
export const KEEPALIVE_MS: Millis = 200

/** Creates the peer of a member that we want a link with, or that wants one with us. */
export function create(run: Runtime, inc: PeerId, initiator: boolean): Peer {
  const peer = blank(run, linkKeys.keyOf(run, inc), initiator)
  peer.askAt = run.now
  takeNumber(run, peer, inc)
  dispatch.noteDeadline(run, peer)
  return peer
}

/** A peer without a number. */
export function blank({ now }: Runtime, key: PeerKey | null, initiator: boolean): Peer {
  return {
    inc: 0,
    key,
    link: null,
    initiator,
    askAt: Infinity,
    paths: [],
    path: '',
    pathAt: now,
    probeAt: Infinity,
    relayUntil: -Infinity,
    held: null,
    reachability: null,
    idleSince: Infinity,
  }
}

function takeNumber(run: Runtime, peer: Peer, inc: PeerId): void {
  const addresses = linkKeys.rowOf(run, inc)?.addresses ?? []
  const direct = addresses.filter((address) => run.ports.reaches(address))
  peer.inc = inc
  peer.paths = [...direct, relayed(inc)]
  if (peer.path === '') peer.path = peer.paths[0]!
  peer.probeAt = run.now + (peer.link ? 0 : paths.PROBE_MS)
  run.member.peers.set(inc, peer)
}

/** Opens the link of a peer. */
export function open(run: Runtime, peer: Peer, path: string): void {
  peer.link = link.create(run.now, { keepaliveMs: KEEPALIVE_MS })
  peer.path = path
  peer.pathAt = run.now
  link.setClockShift(peer.link, shiftOf(run))
  dispatch.noteDeadline(run, peer)
}

/** Session time minus our own clock; NaN while we do not know it. */
export function shiftOf({ member, now }: Runtime): Millis {
  return member.clock.set ? clock.timeAt(member.clock, now) - now : NaN
}

/** Notifies parts and session of a new link. */
export function notifyLinked(run: Runtime, peer: Peer): void {
  notifyParts(run, peer)
  session.onLinked(run.turn, peer.inc, isRelayed(peer.path))
}

function notifyParts({ member, now }: Runtime, { inc }: Peer): void {
  member.reconcileDue = true
  member.touched.add(inc)
  for (const { part, state } of member.mounts) part.linked?.(state, now, inc)
}

/** Gives a linked peer its number, once it was let in or has let us in. */
export function identify(run: Runtime, peer: Peer, inc: PeerId): void {
  linkKeys.bindKey(run, peer, inc)
  takeNumber(run, peer, inc)
  notifyParts(run, peer)
  session.onEntered(run.turn, inc, isRelayed(peer.path))
  paths.tryOthers(run, peer)
}

/** Forgets a peer, and ends the keys of its link without a message to it. */
export function forget(run: Runtime, peer: Peer): void {
  linkKeys.hangUp(run, peer)
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

/** The peer of a link key, or null. */
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
