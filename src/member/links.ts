/**
 * Links to the peers that a member needs, and the paths that they take.
 *
 * A member asks its primary and the backup for a link, and in a mesh everybody, on every address
 * that it can reach; the peer that is asked answers only members of its view (others wait, or are
 * denied). Packets go where the last valid packet came from; a silent path is given up for the
 * next, and a path through the hub is left for a direct one as soon as that answers. The link
 * itself notices nothing: its numbers and acks are end to end.
 *
 * The hub names the sender of a relayed datagram, and that must be the member that the datagram
 * claims to be from: members see one another's proofs and numbers of links, and none may use them
 * in another's name.
 */

import * as clock from '../link/clock.ts'
import {
  connectionOf,
  ENVELOPE_BYTES,
  type Handshake,
  handshakeLayout,
  LINK_VERSION,
  wrap,
} from '../link/handshake.ts'
import { ACK_SOON_AFTER } from '../link/limits.ts'
import * as link from '../link/link.ts'
import type { LinkSink } from '../link/link.ts'
import type { Millis, PeerId } from '../machine.ts'
import { DATAGRAM_MAX } from '../ports.ts'
import { admits } from '../session/membership.ts'
import { LOST_MS } from '../session/client.ts'
import { watched } from '../session/server.ts'
import * as session from '../session/session.ts'
import { proofOf } from '../wire/digest.ts'
import { decode, encode } from '../wire/layout.ts'
import { takeArrivals } from './dispatch.ts'
import * as doubt from './doubt.ts'
import type { Doubt } from './doubt.ts'
import { steerClock } from './steering.ts'
import { drawNumber, isForged, isRelay, type Peer, type Runtime } from './state.ts'

/** Between primary and backup on a direct path: a fifth of the detector's shortest bound. */
export const HEARTBEAT_MS: Millis = 10
/** Elsewhere (L8). */
export const KEEPALIVE_MS: Millis = 200
/** In a star, with a backup that does not lead yet. */
export const RESERVE_MS: Millis = 400
/** A path that is silent for so long is given up for the next (L8). */
export const PATH_DEAD_MS: Millis = 1_000
/** How often a direct path is tried while packets go through the hub. */
export const PROBE_MS: Millis = 2_000
/** A link that nobody wants is closed after this. */
export const IDLE_MS: Millis = 10_000
/** A member that waits to be asked for a link asks itself if it is not asked within this. */
export const ASKED_MS: Millis = 1_000
/** A peer that was heard within this needs no new link; if it does, it asks again. */
const STALE_HELLO_MS: Millis = 400
/** First and longest wait for an answer to HELLO. */
export const HELLO_MS: readonly [Millis, Millis] = [100, 1_000]

/** So long packets go through the hub after it was asked about a peer. */
export const RELAY_KEPT_MS: Millis = 5_000

/** Why a link is closed: its process leaves, or nobody needs it. */
export const CLOSE = { leaving: 1, idle: 2 } as const

const envelope = new Uint8Array(DATAGRAM_MAX)

/** A datagram came from an address. */
export function datagram(run: Runtime, from: string, bytes: Uint8Array): void {
  const { member } = run
  const connection = connectionOf(bytes)
  if (connection === 0) {
    const message = bytes.length > ENVELOPE_BYTES && decode(handshakeLayout, bytes.subarray(4))
    if (message) return handshake(run, from, message)
    member.counters.malformed++
    return
  }
  const peer = member.peers.get(member.connections.get(connection) ?? -1)
  if (!peer?.link) {
    member.counters.stray++
    return
  }
  if (isForged(from, peer.inc)) return void member.counters.forged++
  const { link: own } = peer
  const isTaken = link.receive(own, run.now, bytes.subarray(ENVELOPE_BYTES), run.arrivals)
  takeArrivals(run, peer.inc)
  if (!isTaken) return
  link.answer(own, run.now, sinkOf(run, peer))
  if (member.peers.get(peer.inc) !== peer) return
  if (from === peer.doubt?.address) reassured(run, peer)
  if (from === peer.path) peer.pathAt = run.now
  else reroute(run, peer, from)
  session.heard(member.session, run.now, peer.inc, run.out)
  member.touched.add(peer.inc)
  if (own.closed !== null) closedByPeer(run, peer, own.closed)
}

function reroute(run: Runtime, peer: Peer, path: string): void {
  // A direct path that has worked is better than a relayed one that is merely open.
  const stays = isRelay(peer.path) ? run.now < peer.relayUntil : isRelay(path)
  if (stays && run.now - peer.pathAt < PATH_DEAD_MS) return
  peer.path = path
  peer.pathAt = run.now
  run.member.untended = true
  session.rerouted(run.member.session, peer.inc, isRelay(path))
}

/** Primary and backup could not hear each other: packets go through the hub for a while. */
export function tryRelay(run: Runtime, inc: PeerId): void {
  const { member, now } = run
  if (!member.peers.has(inc)) tend(run)
  const peer = member.peers.get(inc)
  if (!peer) return
  if (!peer.link) {
    peer.tries = Math.max(1, peer.tries) // From the second time on HELLO takes all paths.
    peer.helloAt = now
    return note(run, peer)
  }
  peer.path = `relay:${inc}`
  peer.pathAt = now
  peer.relayUntil = now + RELAY_KEPT_MS
  member.untended = true
  session.rerouted(member.session, inc, true)
  ask(run, peer)
}

function closedByPeer(run: Runtime, peer: Peer, reason: number): void {
  forget(run, peer)
  if (reason !== CLOSE.leaving) return
  session.closed(run.member.session, run.now, peer.inc, 'left', run.out)
}

/** The system reports that nobody listens at an address: peers linked to us there are asked. */
export function refused(run: Runtime, address: string): void {
  for (const peer of run.member.peers.values()) {
    if (peer.path !== address || isRelay(address) || !peer.link || peer.doubt) continue
    peer.doubt = doubt.begin(run.now, address, peer.link.rtt.smoothed || 0)
    ask(run, peer)
  }
}

// Two packets that ask for an ack get it at once (L6).
function ask(run: Runtime, peer: Peer): void {
  for (let n = 0; n < ACK_SOON_AFTER; n++) link.knock(peer.link!, run.now, sinkOf(run, peer))
  note(run, peer)
}

function reassured(run: Runtime, peer: Peer): void {
  peer.doubt = null
  run.member.counters.doubted++
}

// A peer that does not answer either is gone: the path is closed (T32, T39).
function doubted(run: Runtime, peer: Peer, { address }: Doubt): void {
  peer.doubt = null
  if (peer.path === address) {
    session.closed(run.member.session, run.now, peer.inc, 'failed', run.out)
  }
}

function handshake(run: Runtime, from: string, message: Handshake): void {
  if (message.kind === 'hello') return answerHello(run, from, message)
  for (const peer of run.member.peers.values()) {
    if (peer.link !== null || peer.nonce !== message.nonce) continue
    if (isForged(from, peer.inc)) return void run.member.counters.forged++
    if (message.kind === 'accept') return open(run, peer, message.connection, from)
    run.member.counters.denied++
    const { view, register } = run.member.session.client
    const leads = peer.inc === view.primary || peer.inc === register.primary
    // Only the primary knows for sure who is in; a backup that denies us may not know us yet.
    if (leads && message.why !== 'version') {
      run.out.emit({ kind: 'removed', why: 'no member any more' })
    }
    return
  }
}

function answerHello(run: Runtime, from: string, hello: Handshake & { kind: 'hello' }): void {
  const { member } = run
  const { session: own } = member
  const { nonce } = hello
  if (hello.session !== own.id || hello.to !== own.me) return void member.counters.stray++
  if (isForged(from, hello.inc)) return void member.counters.forged++
  if (hello.version !== LINK_VERSION) return deny(run, from, nonce, 'version')
  const verdict = admits(own, hello.inc, hello.proof, hello.mv)
  if (verdict === 'wait') return
  if (verdict === 'no') return deny(run, from, nonce, 'notMember')
  const known = member.peers.get(hello.inc)
  if (known?.link && known.nonce === nonce) return accept(run, known, from)
  // A HELLO that was long on its way must not replace the link that a later one opened.
  if (known?.link && run.now - known.link.lastHeard < STALE_HELLO_MS) return
  // Both ask at once: the one with the smaller number gets its way.
  if (known && !known.link && known.initiator && own.me < hello.inc) return
  if (known) forget(run, known)
  const peer = createPeer(run, hello.inc, false)
  peer.nonce = nonce
  open(run, peer, freshConnection(run), from)
  accept(run, peer, from)
}

function freshConnection(run: Runtime): number {
  let connection = drawNumber(run.member.entropy)
  while (run.member.connections.has(connection)) connection = drawNumber(run.member.entropy)
  return connection
}

function accept(run: Runtime, peer: Peer, to: string): void {
  const { nonce, connection } = peer
  say(run, to, { kind: 'accept', nonce, connection })
}

function deny(run: Runtime, to: string, nonce: number, why: 'version' | 'notMember'): void {
  run.member.counters.denied++
  say(run, to, { kind: 'deny', nonce, why })
}

function say(run: Runtime, to: string, message: Handshake): void {
  const bytes = encode(handshakeLayout, message)
  const wrapped = new Uint8Array(ENVELOPE_BYTES + bytes.length)
  wrapped.set(bytes, ENVELOPE_BYTES)
  run.ports.datagram(to, wrapped)
}

function open(run: Runtime, peer: Peer, connection: number, path: string): void {
  const { member } = run
  if (member.connections.has(connection)) return
  peer.link = link.create(run.now, { keepaliveMs: KEEPALIVE_MS })
  peer.connection = connection
  peer.path = path
  peer.pathAt = run.now
  member.untended = true
  member.touched.add(peer.inc)
  member.connections.set(connection, peer.inc)
  link.setClockShift(peer.link, clock.timeAt(member.clock, run.now) - run.now)
  for (const { part, state } of member.slots) part.linked?.(state, run.now, peer.inc)
  session.linked(member.session, run.now, peer.inc, isRelay(path), run.out)
}

function createPeer(run: Runtime, inc: PeerId, initiator: boolean): Peer {
  const { view } = run.member.session.client
  const known = view.members.find((member) => member.inc === inc)
  const told = run.member.session.server.published.get(inc)
  const addresses = known?.addresses ?? told?.addresses ?? []
  const direct = addresses.filter((address) => run.ports.reaches(address))
  const peer: Peer = {
    inc,
    link: null,
    connection: 0,
    initiator,
    nonce: drawNumber(run.member.entropy),
    helloAt: run.now,
    tries: 0,
    paths: [...direct, `relay:${inc}`],
    path: direct[0] ?? `relay:${inc}`,
    pathAt: run.now,
    probeAt: run.now + PROBE_MS,
    relayUntil: -Infinity,
    doubt: null,
    idleSince: Infinity,
  }
  run.member.peers.set(inc, peer)
  note(run, peer)
  return peer
}

/** Forgets a peer's link without a message to the peer. */
export function forget(run: Runtime, peer: Peer): void {
  const { member, now } = run
  if (member.peers.get(peer.inc) === peer) member.peers.delete(peer.inc)
  if (!member.connections.delete(peer.connection)) return
  for (const { part, state } of member.slots) part.unlinked?.(state, now, peer.inc)
}

/** Asks for the links that the session wants and lacks, and closes those of members who left. */
export function tend(run: Runtime): void {
  const { member } = run
  member.untended = false
  const needed = session.wanted(member.session)
  const meshed = session.meshed(member.session)
  for (const inc of needed) {
    if (!member.peers.has(inc)) createPeer(run, inc, true)
  }
  for (const inc of meshed) {
    if (!member.peers.has(inc)) createPeer(run, inc, true).helloAt += waitsFor(run, inc)
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
    beat(run, peer)
  }
}

// Two members that ask each other at once may each drop the link that the other keeps. So in a mesh
// only one of them asks at once: the primary and the backup wait, because all others need them and
// ask; of two others the older asks, because the younger has it in its view from the start and can
// answer.
function waitsFor({ member }: Runtime, inc: PeerId): Millis {
  const { me, client } = member.session
  const { primary, backup } = client.view
  return me === primary || me === backup || me > inc ? ASKED_MS : 0
}

// A removed member is sent its removal: once now, and again on its next HELLO if that is lost.
function dismiss(run: Runtime, peer: Peer): void {
  if (peer.link) link.flush(peer.link, run.now, sinkOf(run, peer))
  forget(run, peer)
}

// Heartbeats are frequent only where a role depends on them and the path is direct.
function beat(run: Runtime, peer: Peer): void {
  if (!peer.link) return
  const { session: own } = run.member
  const quick = watched(own) === peer.inc && !isRelay(peer.path)
  const { primary } = own.client.view
  const serves = own.topology === 'mesh' || primary === own.me || primary === peer.inc
  const keepalive = quick ? HEARTBEAT_MS : serves ? KEEPALIVE_MS : RESERVE_MS
  if (peer.link.keepaliveMs === keepalive) return
  link.setKeepalive(peer.link, keepalive)
  note(run, peer)
}

/** Does what is due on all links. */
export function wake(run: Runtime): void {
  const { member } = run
  if (member.dueAt > run.now) return
  for (const peer of [...member.peers.values()]) {
    if (!peer.link) {
      if (run.now >= peer.helloAt) hello(run, peer)
      continue
    }
    if (link.deadline(peer.link) <= run.now) link.wake(peer.link, run.now, sinkOf(run, peer))
    if (peer.doubt) lookInto(run, peer, peer.doubt)
  }
  member.dueAt = Infinity
  for (const peer of member.peers.values()) note(run, peer)
}

function lookInto(run: Runtime, peer: Peer, word: Doubt): void {
  const next = doubt.look(word, run.now)
  if (next === 'ask') ask(run, peer)
  else if (next === 'believe') doubted(run, peer, word)
}

/** When `wake` is due, or somewhat earlier: then it only looks. */
export function deadline(run: Runtime): Millis {
  return run.member.dueAt
}

// One call touches few of many links, so only those are looked at. Links that are now due later
// than before are found by the next wake.
function note(run: Runtime, peer: Peer): void {
  const due = peer.link
    ? Math.min(link.deadline(peer.link), peer.doubt ? doubt.deadline(peer.doubt) : Infinity)
    : peer.helloAt
  if (due < run.member.dueAt) run.member.dueAt = due
}

// Asks on the best path first, then on all: the first path that answers is taken.
function hello(run: Runtime, peer: Peer): void {
  const { session: own } = run.member
  const [first, longest] = HELLO_MS
  peer.helloAt = run.now + Math.min(longest, first * 2 ** peer.tries)
  const paths = peer.tries++ === 0 ? peer.paths.slice(0, 1) : peer.paths
  for (const path of paths) {
    say(run, path, {
      kind: 'hello',
      version: LINK_VERSION,
      session: own.id,
      inc: own.me,
      to: peer.inc,
      proof: proofOf(own.secret, 'link'),
      mv: own.client.view.mv,
      nonce: peer.nonce,
    })
  }
}

/** Looks over all links, a few times a second: dead paths, dead links, idle links, the clock. */
export function round(run: Runtime): void {
  const { member, now } = run
  steerClock(run)
  for (const peer of [...member.peers.values()]) {
    if (!peer.link) continue
    if (link.isDown(peer.link, now) || isDeaf(run, peer)) forget(run, peer)
    else if (now - peer.idleSince > IDLE_MS) close(run, peer, CLOSE.idle)
    else tryPaths(run, peer)
    session.measured(member.session, peer.inc, peer.link.rtt.smoothed || 0)
    link.setClockShift(peer.link, clock.timeAt(member.clock, now) - now)
  }
  tend(run)
}

// A primary that is silent for so long may have forgotten the link: a new link helps, and a primary
// that has forgotten us altogether denies it.
function isDeaf(run: Runtime, peer: Peer): boolean {
  const { session: own, hub } = run.member
  if (!peer.link || !peer.initiator || peer.inc !== own.client.view.primary) return false
  if (isRelay(peer.path) && hub !== 'attached') return false
  const since = Math.max(peer.link.lastHeard, isRelay(peer.path) ? own.hub.since : 0)
  return run.now - since > LOST_MS
}

function tryPaths(run: Runtime, peer: Peer): void {
  const { now } = run
  if (peer.paths.length < 2 || now < peer.probeAt) return
  const silent = peer.link !== null && now - peer.link.lastHeard > PATH_DEAD_MS
  if (!silent && (!isRelay(peer.path) || now < peer.relayUntil)) return
  peer.probeAt = now + (silent ? PATH_DEAD_MS : PROBE_MS)
  // One packet takes the other path; if an answer comes back that way, that becomes the path.
  const at = peer.paths.indexOf(peer.path)
  const other = peer.paths[(at + 1) % peer.paths.length]!
  if (silent) return reroute(run, peer, other)
  const kept = peer.path
  peer.path = other
  link.knock(peer.link!, now, sinkOf(run, peer))
  note(run, peer)
  peer.path = kept
}

/** Sends what was written since the last flush. */
export function flush(run: Runtime): void {
  const { member } = run
  for (const inc of member.touched) {
    const peer = member.peers.get(inc)
    if (!peer?.link) continue
    link.flush(peer.link, run.now, sinkOf(run, peer))
    note(run, peer)
  }
  member.touched.clear()
}

/** There is newest state for a peer: it leaves with the next packet that may. */
export function poke(run: Runtime, to: PeerId): void {
  const peer = run.member.peers.get(to)
  if (!peer?.link) return
  link.poke(peer.link, run.now)
  run.member.touched.add(to)
}

/**
 * Queues a reliable message. Without an open link it is lost, and a new link makes up for it.
 *
 * @returns its number on the link; 0 if nothing was queued
 */
export function send(run: Runtime, to: PeerId, message: Uint8Array): number {
  const peer = run.member.peers.get(to)
  if (!peer?.link) return 0
  try {
    run.member.touched.add(to)
    return link.send(peer.link, run.now, message)
  } catch {
    // The peer is too far behind to take reliable messages: a new link begins with all that it
    // lacks.
    forget(run, peer)
    return 0
  }
}

/** Closes one link, and tells the peer why. */
export function close(run: Runtime, peer: Peer, reason: number): void {
  if (peer.link) link.close(peer.link, run.now, reason, sinkOf(run, peer))
  forget(run, peer)
}

const sinks = new WeakMap<Peer, LinkSink>()

function sinkOf(run: Runtime, peer: Peer): LinkSink {
  let sink = sinks.get(peer)
  if (!sink) {
    sink = createSink(run, peer)
    sinks.set(peer, sink)
  }
  return sink
}

function createSink(run: Runtime, peer: Peer): LinkSink {
  const { slots } = run.member
  const { inc } = peer
  return {
    packet: (bytes) => run.ports.datagram(peer.path, wrap(envelope, peer.connection, bytes)),
    write: (sequence, writer, budget) => {
      for (const { part, state } of slots) {
        if (part.write?.(state, run.now, inc, sequence, writer, budget)) return part.channel
      }
      const more = slots.some(({ part, state }) => part.waits?.(state, run.now, inc) ?? false)
      return more ? -1 : link.NOTHING_WAITS
    },
    lost: (sequence) => {
      for (const { part, state } of slots) part.lost?.(state, inc, sequence)
    },
  }
}
