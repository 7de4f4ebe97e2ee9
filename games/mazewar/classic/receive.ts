/**
 * Packets that came in. They are hostile: what is not for us, not from where its source is, or
 * more than one may send is refused and counted.
 */

import { type RatState, stateAfter, resolve, update } from './rat-state.ts'
import { distance, EVENT_BITS, HEARTBEAT_BITS, isNewer } from './numbers.ts'
import { ask, clash, meet } from './others.ts'
import { shownName } from '../names.ts'
import { decode, type Packet } from './packets.ts'
import { acked, want, waits } from './retries.ts'
import { absoluteThen, sendTo } from './send.ts'
import {
  ANSWER_MS,
  draw,
  HEARTBEATS_BACK,
  INQUIRY_MS,
  type Millis,
  type Other,
  type Out,
  PACKETS_PER_S,
  type Peer,
  PENDING_MAX,
  refuse,
  SLOT_DELAY,
  SLOT_MS,
} from './state.ts'

type Kind<Name extends Packet['kind']> = Packet & { kind: Name }

/** Takes a datagram. @param from an address to answer to */
export function receivePacket(
  peer: Peer,
  now: Millis,
  from: string,
  bytes: Uint8Array,
  out: Out,
): void {
  const packet = decode(bytes, peer.id)
  if (!packet) return refuse(peer, 'malformed')
  if (packet.source === peer.id) return clash(peer, now, packet.kind, out)
  if ('destination' in packet && packet.destination !== peer.id) return refuse(peer, 'astray')
  const other = sender(peer, now, from, packet)
  if (!other) return
  peer.counters.received[packet.kind] += 1
  take(peer, now, other, packet, out)
}

/** Who sent it, if it may; strangers introduce themselves by what needs no question before. */
function sender(peer: Peer, now: Millis, from: string, packet: Packet): Other | null {
  const { kind, source } = packet
  const other = peer.others.get(source)
  if (other) {
    if (other.address !== from) refuse(peer, 'moved')
    else if (!draw(other.bucket, now, PACKETS_PER_S)) refuse(peer, 'flooding')
    else return other
    return null
  }
  const asked = kind === 'response' && now - peer.askedAt <= ANSWER_MS
  if (kind === 'heartbeat' || kind === 'event' || kind === 'inquiry' || asked) {
    const met = meet(peer, now, source, from)
    // All were asked, and whoever answers is one of them.
    if (met && asked) Object.assign(met, { askedAt: now, asking: true })
    // They may have missed us as we missed them; whoever asks is answered anyway.
    if (kind !== 'inquiry' && peer.phase === 'playing') peer.announce = true
    return met
  }
  refuse(peer, 'unasked')
  return null
}

function take(peer: Peer, now: Millis, other: Other, packet: Packet, out: Out): void {
  switch (packet.kind) {
    case 'heartbeat':
      return heartbeat(peer, now, other, packet, out)
    case 'heartbeat-ack': {
      const back = distance(packet.heartbeat, peer.heartbeat, HEARTBEAT_BITS)
      if (back >= HEARTBEATS_BACK) return refuse(peer, 'unasked')
      acked(peer, other.id, 'heartbeat', packet.heartbeat)
      other.answered = true
      return
    }
    case 'event':
      return event(peer, now, other, packet, out)
    case 'event-ack':
      // A second ack of one event is nothing bad, and says nothing.
      if (acked(peer, other.id, 'event', packet.event)) other.answered = true
      return
    case 'inquiry':
      return inquiry(peer, now, other, out)
    case 'response':
      return response(peer, now, other, packet, out)
    case 'response-ack':
      if (acked(peer, other.id, 'response', 0)) other.answered = true
      return
    case 'name':
      other.name = shownName(new TextDecoder().decode(Uint8Array.from(packet.name)))
      return
    default:
      packet satisfies never
  }
}

function heartbeat(
  peer: Peer,
  now: Millis,
  other: Other,
  { heartbeat: number }: Kind<'heartbeat'>,
  out: Out,
): void {
  const ends = { source: peer.id, destination: other.id }
  sendTo(peer, other, { kind: 'heartbeat-ack', heartbeat: number, ...ends }, out)
  // Whoever beats plays: we missed how it is, or its answer.
  const known = peer.rats.has(other.id) || peer.pending.some(({ source }) => source === other.id)
  if (!known || other.asking) ask(peer, now, other, out)
}

function event(peer: Peer, now: Millis, other: Other, packet: Kind<'event'>, out: Out): void {
  const { event: number, absolute, action } = packet
  if (!stateAfter({ absolute, action })) return refuse(peer, 'impossible')
  const waiting = peer.pending.filter(({ source }) => source === other.id)
  const twice = waiting.some((one) => one.event === number)
  if (!twice && waiting.length >= PENDING_MAX) return refuse(peer, 'flooding')
  const ends = { source: peer.id, destination: other.id }
  sendTo(peer, other, { kind: 'event-ack', event: number, ...ends }, out)
  const birth = other.renewed && action.kind === 'born' && !twice
  if (birth) {
    other.renewed = false
    if (!waiting.some((one) => isNewer(one.event, number, EVENT_BITS))) other.last = null
  } else if (other.last === null && waiting.length === 0 && !peer.rats.has(other.id)) {
    // The first that we hear of it may be an old one, sent again: newer ones were acked before.
    ask(peer, now, other, out)
  }
  if (twice || other.last === number) {
    peer.counters.doubled += 1
  } else if (other.last !== null && !isNewer(number, other.last, EVENT_BITS)) {
    peer.counters.late += 1
  } else {
    other.told = true
    const slot = Math.floor(now / SLOT_MS)
    peer.pending.push({ source: other.id, event: number, absolute, action, slot })
  }
}

// Answered when we play, and once for the inquiries that are repeated (M53).
function inquiry(peer: Peer, now: Millis, other: Other, out: Out): void {
  other.renewed = true
  const absolute = absoluteThen(peer)
  if (!absolute || waits(peer, other.id, 'response')) return
  if (now - other.respondedAt < INQUIRY_MS / 2) return
  other.respondedAt = now
  const { heartbeat: number, id: source } = peer
  const uncommitted = peer.pending
    .filter((one) => one.source === peer.id)
    .map((one) => ({ event: one.event, action: one.action }))
  const ends = { source, destination: other.id }
  const answer = { kind: 'response', heartbeat: number, ...ends, absolute, uncommitted } as const
  want(peer, now, other.id, 'response', 0, sendTo(peer, other, answer, out))
  // Without a number in the answer, an older event that is still under way would count as newer.
  if (uncommitted.length === 0) peer.announce = true
}

function response(peer: Peer, now: Millis, other: Other, packet: Kind<'response'>, out: Out): void {
  const askedAt = Math.max(other.askedAt, peer.askedAt)
  if (now - askedAt > ANSWER_MS) return refuse(peer, 'unasked')
  const account = accountIn(packet, peer.slot)
  if (!account) return refuse(peer, 'impossible')
  sendTo(peer, other, { kind: 'response-ack', source: peer.id, destination: other.id }, out)
  if (!other.asking) return
  other.asking = false
  const newest = packet.uncommitted.at(-1)?.event ?? null
  if (isOlder(peer, other, newest)) return
  const fresh = !peer.rats.has(other.id)
  peer.rats.set(other.id, account)
  peer.pending = peer.pending.filter((one) => one.source !== other.id)
  other.last = newest ?? other.last
  peer.cells = resolve(peer.rats)
  if (fresh) out.tell({ kind: 'came', id: other.id })
}

/** Whether an event has told us what is newer than an answer. */
function isOlder(peer: Peer, other: Other, newest: number | null): boolean {
  // Who answers without a number tells how it is by an event besides: that one has its place.
  if (newest === null) return other.told || peer.rats.has(other.id)
  if (other.last !== null && isNewer(other.last, newest, EVENT_BITS)) return true
  return peer.pending.some(
    ({ source, event: number }) => source === other.id && isNewer(number, newest, EVENT_BITS),
  )
}

/** The account that a response makes: its state, and its actions in order (M6, M20). */
function accountIn(packet: Kind<'response'>, slot: number): RatState | null {
  const { absolute, uncommitted } = packet
  const still = { kind: 'movement', facing: absolute.facing, step: 'none' } as const
  let account = update(undefined, { absolute, action: still }, 0, slot)
  for (const { action } of uncommitted) {
    if (!account) return null
    const { score, cell, facing, cloaked, missiles } = account
    const before = { score, cell, facing, cloaked, missiles: missiles.slice() }
    account = update(account, { absolute: before, action }, SLOT_DELAY, slot)
  }
  return account
}
