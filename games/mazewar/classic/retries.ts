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

/** What was sent to somebody wants an ack. What is too much is not sent again. */
export function want(
  peer: Peer,
  now: Millis,
  to: number,
  kind: Wanting,
  number: number,
  bytes: Uint8Array,
): void {
  const list = peer.waiting.get(to) ?? []
  if (list.length >= WAITING_MAX) return
  const at = now + TIMER_MS
  list.push({ kind, number, bytes, at, timer: TIMER_MS, resends: 0 })
  peer.waiting.set(to, list)
  peer.resendAt = Math.min(peer.resendAt, at)
}

/** An ack came. @returns whether anything waited for it */
export function acked(peer: Peer, from: number, kind: Wanting, number: number): boolean {
  const list = peer.waiting.get(from)
  const at = list?.findIndex((one) => one.kind === kind && one.number === number) ?? -1
  if (!list || at < 0) return false
  list.splice(at, 1)
  return true
}

/** Whether something of that kind waits for an ack of somebody. */
export function waits(peer: Peer, to: number, kind: Wanting): boolean {
  return peer.waiting.get(to)?.some((one) => one.kind === kind) ?? false
}

/** Sends again what is due. @returns those with whom the connection is broken */
export function resend(peer: Peer, now: Millis, out: Out): number[] {
  const broken: number[] = []
  if (now < peer.resendAt) return broken
  peer.resendAt = Infinity
  for (const [id, list] of peer.waiting) {
    const other = peer.others.get(id)
    const late = list.some((one) => one.at <= now && one.resends >= RESENDS_MAX)
    if (!other || late) {
      broken.push(id)
      continue
    }
    for (const one of list) {
      if (one.at <= now) again(peer, now, one, other.address, out)
      peer.resendAt = Math.min(peer.resendAt, one.at)
    }
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
