/**
 * Packets that want an ack: each goes out again by a timer of its own (M26-M29), after 100 ms, and
 * then after twice the time as before, up to 1.6 s. Five times in vain, and the connection is
 * broken.
 */

import {
  type Millis,
  type Out,
  type Peer,
  type Waiting,
  type Wanting,
  WAITING_MAX,
} from './state.ts'

/** The first time to wait for an ack (M50). */
export const TIMER_MS: Millis = 100
/** The longest (M50). */
export const TIMER_MAX_MS: Millis = 1_600
/** How often a packet is sent again (M28). */
export const RESENDS_MAX = 5

/** What was sent to somebody wants an ack. @returns false if too much does already */
export function want(
  peer: Peer,
  now: Millis,
  to: number,
  kind: Wanting,
  number: number,
  bytes: Uint8Array,
): boolean {
  if (peer.waiting.filter((one) => one.to === to).length >= WAITING_MAX) return false
  peer.waiting.push({
    ...{ to, kind, number, bytes },
    ...{ at: now + TIMER_MS, timer: TIMER_MS, resends: 0 },
  })
  return true
}

/** An ack came. @returns whether anything waited for it */
export function acked(peer: Peer, from: number, kind: Wanting, number: number): boolean {
  const at = peer.waiting.findIndex(
    (one) => one.to === from && one.kind === kind && one.number === number,
  )
  if (at < 0) return false
  peer.waiting.splice(at, 1)
  return true
}

/** Whether something of that kind waits for an ack of somebody. */
export function waits(peer: Peer, to: number, kind: Wanting): boolean {
  return peer.waiting.some((one) => one.to === to && one.kind === kind)
}

/** Sends again what is due. @returns those with whom the connection is broken */
export function resend(peer: Peer, now: Millis, out: Out): Set<number> {
  const broken = new Set<number>()
  for (const one of peer.waiting) {
    if (one.at > now || broken.has(one.to)) continue
    const other = peer.others.get(one.to)
    if (!other || one.resends >= RESENDS_MAX) broken.add(one.to)
    else again(peer, now, one, other.address, out)
  }
  return broken
}

function again(peer: Peer, now: Millis, one: Waiting, address: string, out: Out): void {
  one.resends += 1
  one.timer = Math.min(2 * one.timer, TIMER_MAX_MS)
  one.at = now + one.timer
  peer.counters.resent += 1
  peer.counters.bytesSent += one.bytes.length
  out.unicast(address, one.bytes)
}
