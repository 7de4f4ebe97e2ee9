/** Who else is there: met, asked, found to be gone, and all of them lost. */

import { following, HEARTBEAT_BITS } from './numbers.ts'
import type { Packet } from './packets.ts'
import { resend } from './retries.ts'
import { sendAll, sendTo, wantOfAll } from './send.ts'
import {
  ASK_AGAIN_MS,
  BIRTH_MS,
  draw,
  HEARTBEAT_MS,
  INQUIRIES,
  INQUIRY_MS,
  type Millis,
  type Other,
  OTHERS_MAX,
  type Out,
  PACKETS_PER_S,
  type Peer,
  random,
  refuse,
  RENAME_MS,
  STRANGERS_PER_S,
  UNANSWERED_MAX,
} from './state.ts'

// A name is said once in so many heartbeats.
const NAME_BEATS = 8

/** Takes somebody in who was not known; null if there is no room. */
export function meet(peer: Peer, now: Millis, id: number, address: string): Other | null {
  if (!draw(peer.strangers, now, STRANGERS_PER_S)) {
    refuse(peer, 'flooding')
    return null
  }
  if (peer.others.size >= OTHERS_MAX) {
    refuse(peer, 'full')
    return null
  }
  const other: Other = {
    id,
    address,
    last: null,
    renewed: false,
    unanswered: 0,
    answered: true,
    askedAt: -Infinity,
    asking: false,
    told: false,
    respondedAt: -Infinity,
    bucket: { tokens: PACKETS_PER_S, at: now },
    name: '',
  }
  peer.nameDue = true
  peer.others.set(id, other)
  return other
}

/** Asks one how it is: we have heard of it, and missed what it said (M53). */
export function ask(peer: Peer, now: Millis, other: Other, out: Out): void {
  other.asking = true
  if (now - other.askedAt < ASK_AGAIN_MS) return
  other.askedAt = now
  other.told = false
  sendTo(peer, other, { kind: 'inquiry', source: peer.id }, out)
}

/** Asks all, as who joins does (M5, M24). */
export function askAll(peer: Peer, now: Millis, out: Out): void {
  peer.inquiries -= 1
  peer.inquiryAt += INQUIRY_MS
  peer.askedAt = now
  sendAll(peer, { kind: 'inquiry', source: peer.id }, out)
}

/** Begins anew: nothing of what was is kept but numbers, which only count up. */
export function begin(peer: Peer, now: Millis): void {
  peer.phase = 'asking'
  peer.inquiries = INQUIRIES
  peer.inquiryAt = now
  peer.birthAt = now + BIRTH_MS
  peer.heartbeatAt = Infinity
  peer.self = null
  peer.struck = false
  peer.announce = false
  for (const map of [peer.rats, peer.cells, peer.others, peer.waiting]) map.clear()
  for (const list of [peer.hits, peer.pending, peer.lost]) list.length = 0
}

/** A heartbeat (M1): whoever left five of them without an ack is gone (M25). */
export function beat(peer: Peer, now: Millis, out: Out): void {
  for (const other of [...peer.others.values()]) {
    other.unanswered = other.answered ? 0 : other.unanswered + 1
    other.answered = false
    if (other.unanswered >= UNANSWERED_MAX) lose(peer, now, other.id, out)
  }
  if (isOut(peer, now, out)) return
  peer.heartbeatAt = Math.max(peer.heartbeatAt + HEARTBEAT_MS, now)
  peer.heartbeat = following(peer.heartbeat, HEARTBEAT_BITS)
  const { heartbeat, id: source } = peer
  const bytes = sendAll(peer, { kind: 'heartbeat', heartbeat, source }, out)
  if (peer.strict) wantOfAll(peer, now, 'heartbeat', heartbeat, bytes)
  else sayName(peer, out)
}

// Nobody acks a name: who missed it hears it again some beats later.
function sayName(peer: Peer, out: Out): void {
  if (peer.name === '' || (!peer.nameDue && peer.heartbeat % NAME_BEATS !== 0)) return
  peer.nameDue = false
  const name = [...new TextEncoder().encode(peer.name)]
  sendAll(peer, { kind: 'name', source: peer.id, name }, out)
}

/** Sends again what is due; whose connection is broken by that is gone (M28). */
export function repeat(peer: Peer, now: Millis, out: Out): void {
  for (const id of resend(peer, now, out)) {
    peer.counters.broken += 1
    lose(peer, now, id, out)
  }
  isOut(peer, now, out)
}

function lose(peer: Peer, now: Millis, id: number, out: Out): void {
  peer.waiting.delete(id)
  peer.pending = peer.pending.filter((one) => one.source !== id)
  peer.others.delete(id)
  peer.cells.delete(id)
  if (!peer.rats.delete(id)) return
  peer.lost.push(now)
  out.tell({ kind: 'gone', id })
}

/**
 * Whoever lost all others at once is out, discards what it had and joins anew (M37). Of two, none
 * can tell who was cut off; both stay, and are reconciled when they meet.
 */
function isOut(peer: Peer, now: Millis, out: Out): boolean {
  const since = now - (UNANSWERED_MAX + 1) * HEARTBEAT_MS
  peer.lost = peer.lost.filter((at) => at >= since)
  const alone = peer.others.size === 0 && peer.lost.length > 1
  if (alone) {
    begin(peer, now)
    out.tell({ kind: 'out' })
  }
  return alone
}

/**
 * Somebody else has our id: we choose another, and join with it (M58). Who plays keeps it before a
 * newcomer, who will hear of us.
 */
export function clash(peer: Peer, now: Millis, kind: Packet['kind'], out: Out): void {
  refuse(peer, 'clash')
  if (now - peer.renamedAt < RENAME_MS) return
  if (kind === 'inquiry' && peer.phase === 'playing') {
    peer.renamedAt = now
    peer.heartbeatAt = now
    return
  }
  peer.renamedAt = now
  if (!peer.strict) {
    peer.id = random(peer)
    begin(peer, now)
  }
  out.tell({ kind: 'clash', id: peer.id })
}
