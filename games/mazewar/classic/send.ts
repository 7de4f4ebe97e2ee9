/** Packets on their way out: to one, to all, and our own events. */

import { type RatState, stateAfter } from './rat-state.ts'
import { EVENT_BITS, following } from './numbers.ts'
import { type Absolute, type Action, encode, type Missile, type Packet } from './packets.ts'
import { want } from './retries.ts'
import { type Millis, type Other, type Out, type Peer, SLOT_MS, type Wanting } from './state.ts'

/** Sends a packet to one. @returns its bytes */
export function sendTo(peer: Peer, other: Other, packet: Packet, out: Out): Uint8Array {
  const bytes = count(peer, packet)
  out.unicast(other.address, bytes)
  return bytes
}

/** Sends a packet to all. @returns its bytes */
export function sendAll(peer: Peer, packet: Packet, out: Out): Uint8Array {
  const bytes = count(peer, packet)
  out.multicast(bytes)
  return bytes
}

function count(peer: Peer, packet: Packet): Uint8Array {
  const bytes = encode(packet)
  peer.counters.sent[packet.kind] += 1
  peer.counters.bytesSent += bytes.length
  return bytes
}

/** All others shall ack this. */
export function wantOfAll(
  peer: Peer,
  now: Millis,
  kind: Wanting,
  number: number,
  bytes: Uint8Array,
): void {
  for (const { id } of peer.others.values()) want(peer, now, id, kind, number, bytes)
}

/** Tells all what we do, and how we were before (M3, M47). It counts two slots later (M31). */
export function say(peer: Peer, now: Millis, action: Action, out: Out): void {
  const absolute = absoluteOf(peer)
  const after = absolute && stateAfter({ absolute, action })
  if (!after || !peer.self) return
  if (action.kind !== 'projection') after.nextMissile = peer.self.nextMissile
  peer.event = following(peer.event, EVENT_BITS)
  const { event, id: source } = peer
  const bytes = sendAll(peer, { kind: 'event', event, source, absolute, action }, out)
  wantOfAll(peer, now, 'event', event, bytes)
  peer.pending.push({ source, event, absolute, action, slot: Math.floor(now / SLOT_MS) })
  peer.self = after
  peer.announce = false
}

/** Tells how we are, by a turn to where we face. */
export function sayHow(peer: Peer, now: Millis, out: Out): void {
  if (!peer.self) return
  say(peer, now, { kind: 'movement', facing: peer.self.facing, step: 'none' }, out)
}

/** How we are with all that we did (M47); null before our birth. */
export function absoluteOf(peer: Peer): Absolute | null {
  return peer.self && absoluteBy(peer.self, [...flying(peer), ...shots(peer)])
}

/** How we were before the first act that is not worked in yet (M6); null before our birth. */
export function absoluteThen(peer: Peer): Absolute | null {
  const account = peer.rats.get(peer.id)
  const cell = peer.cells.get(peer.id)
  if (!account || cell === undefined) return null
  const first = peer.pending.find(({ source }) => source === peer.id)
  return first?.absolute ?? absoluteBy({ ...account, cell }, account.missiles.slice())
}

function absoluteBy(account: RatState, missiles: Missile[]): Absolute {
  const { score, cell, facing, cloaked } = account
  return { score, cell, facing, cloaked, missiles }
}

/** Our missiles in flight. */
function flying(peer: Peer): Missile[] {
  return peer.rats.get(peer.id)?.missiles ?? []
}

/** Our shots that are not worked in yet. */
function shots(peer: Peer): Missile[] {
  return peer.pending.flatMap(({ source, action }) =>
    source === peer.id && action.kind === 'projection' ? [action.missile] : [],
  )
}
