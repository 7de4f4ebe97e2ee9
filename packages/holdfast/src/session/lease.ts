/**
 * The lease of a primary whose session may be recovered without it.
 *
 * When primary and backup fail together, a member may `recover` the session at the register once
 * the hub has had no YES_I_AM for RECOVER_MS. A primary that is only cut off must have stopped
 * publishing by then. It may publish
 *   - for LEASE_MS after it sent the last YES_I_AM that is known to have arrived, or
 *   - while every member that could recover has promised not to, for PROMISE_MS after the question
 *     was sent: so a healthy session outlives an outage of the hub.
 * Both count on the primary's clock from an instant before the other side began to count, so clocks
 * are never compared; their rates must only not differ by a third.
 */

import type { Millis, PeerId } from '../machine.ts'

/** A YES_I_AM that arrived is valid for this long. */
export const LEASE_MS: Millis = 10_000
/** A member does not recover for this long after its promise. */
export const PROMISE_MS: Millis = 5_000
/** After this long without the hub, promises are requested, every ASK_PROMISES_MS. */
export const UNEASY_MS: Millis = 4_000
export const ASK_PROMISES_MS: Millis = 1_000
/** Most YES_I_AM under way. */
const SENT_MAX = 16

export interface Lease {
  /** The session may be recovered; if not, only the register can name another primary. */
  counts: boolean
  /** Promises extend the lease by at most this beyond `until`. */
  most: Millis
  /** Counted from the last YES_I_AM that is known to have reached the hub. */
  until: Millis
  /** When each YES_I_AM was sent, by its nonce. */
  sent: Map<number, Millis>
  /** The hub has our list of members: nobody else can recover. */
  known: boolean
  /** Members that were removed, and when: the hub may not know of that yet. */
  removed: Map<PeerId, Millis>
  /** Until when each member has promised not to recover. */
  promises: Map<PeerId, Millis>
  askAt: Millis
}

/** A lease until that instant. @param most  the longest extension by promises */
export function create(counts: boolean, until: Millis, most: Millis = Infinity): Lease {
  return {
    ...{ counts, most },
    until,
    sent: new Map(),
    known: false,
    removed: new Map(),
    promises: new Map(),
    askAt: until - LEASE_MS + UNEASY_MS,
  }
}

/** Whether committed changes may be published now. @param others  all members but the primary */
export function holds(lease: Lease, now: Millis, others: Iterable<PeerId>): boolean {
  if (!lease.counts || now < lease.until) return true
  if (!lease.known || lease.removed.size > 0 || now >= lease.until + lease.most) return false
  for (const inc of others) {
    const until = lease.promises.get(inc)
    if (until === undefined || now >= until) return false
  }
  return true
}

export function noteYes(lease: Lease, now: Millis, nonce: number): void {
  lease.sent.delete(nonce)
  lease.sent.set(nonce, now)
  for (const oldest of lease.sent.keys()) {
    if (lease.sent.size <= SENT_MAX) return
    lease.sent.delete(oldest)
  }
}

/** The hub reports the last YES_I_AM that reached it; lists sent before it arrived too. */
export function reached(lease: Lease, nonce: number): void {
  const sentAt = lease.sent.get(nonce)
  if (sentAt === undefined) return
  renew(lease, sentAt)
  lease.known = true
  for (const [inc, at] of lease.removed) if (at < sentAt) lease.removed.delete(inc)
}

/** A message that we sent at that instant reached the hub. */
export function renew(lease: Lease, sentAt: Millis): void {
  if (sentAt + LEASE_MS <= lease.until) return
  lease.until = sentAt + LEASE_MS
  lease.askAt = sentAt + UNEASY_MS
}

/** A member promises, in answer to a question that was sent at that instant. */
export function promised(lease: Lease, now: Millis, from: PeerId, sentAt: Millis): void {
  if (sentAt > now) return
  const until = sentAt + PROMISE_MS
  if ((lease.promises.get(from) ?? 0) < until) lease.promises.set(from, until)
}

/** A member was removed; until the hub knows, it may still recover. */
export function removed(lease: Lease, now: Millis, inc: PeerId): void {
  lease.promises.delete(inc)
  lease.removed.set(inc, now)
}

export function asks(lease: Lease, now: Millis): boolean {
  if (!lease.counts || now < lease.askAt) return false
  lease.askAt = now + ASK_PROMISES_MS
  return true
}
