/**
 * Quotas: how much a player may ask of the primary a second, so that nobody crowds out the others.
 *
 * The primary has a token bucket for each player. An operation takes one token, and three more if
 * it is refused: whoever sends nonsense slows nobody but itself. An operation that finds no token
 * waits here, behind those of its member that wait already, and is done when tokens are back; the
 * others have tokens of their own. What the parts decide beside operations (requests for objects,
 * calls and messages that the primary passes on) takes its tokens from the same bucket.
 *
 * A player has one bucket, however often and in however many processes it comes. What the primary
 * asks of itself is not charged: timers run so, and a process that serves can harm those it serves
 * anyway.
 *
 * Neither tokens nor waiting operations are durable. The next primary begins with full buckets, and
 * gets from the clients what waited here, as all that has no outcome.
 */

import * as buckets from '../bucket.ts'
import type { Rate } from '../bucket.ts'
import { type Millis, type PeerId, termOf } from '../machine.ts'
import type { Charge } from '../kind/protocol/part.ts'
import { OUTCOMES_MAX } from '../replication/layouts.ts'
import { type Asked, type Lead, serves, type Session } from './state.ts'

/** Operations of one player a second, unless the founder of the session set another number. */
export const OPERATIONS_PER_SECOND = 500
/** The most that a founder may set. */
export const OPERATIONS_PER_SECOND_MAX = 10_000
/** What is charged. */
export const COSTS: Readonly<Record<Charge, number>> = { operation: 1, again: 1, refusal: 3 }
/** Those that wait are looked at so often. */
export const LOOK_MS: Millis = 10
/** Most bytes of one member's operations that wait; what is beyond stays with the client. */
export const WAITING_BYTES_MAX: number = 256 * 1024

/** How fast the operations of one player may come, as in the `terms` of a session. */
export function rateOf(terms: string): Rate {
  const perSecond = termOf(terms, 'operations') ?? OPERATIONS_PER_SECOND
  return { max: 2 * perSecond, perSecond }
}

/**
 * As primary: charges the player of a member.
 *
 * @returns false if there are too few tokens, and nothing was charged
 */
export function charge(session: Session, now: Millis, from: PeerId, what: Charge): boolean {
  if (!serves(session) || from === session.me) return true
  const member = session.server.durable.members.get(from)
  const cost = session.rules.cost(what)
  if (!member || cost === 0) return true
  const { allowances } = session.server.lead
  const account = session.rules.account(member)
  const rate = rateOf(session.terms)
  const bucket = allowances.get(account) ?? buckets.create(now, rate)
  allowances.set(account, bucket)
  if (what === 'refusal') buckets.owe(bucket, rate, now, cost)
  else if (!buckets.take(bucket, rate, now, cost)) {
    if (what === 'operation') session.pushedBack++
    return false
  }
  return true
}

/** An operation waits for tokens. What there is no room for stays with its client. */
export function wait(lead: Lead, now: Millis, from: PeerId, asked: Asked): void {
  const queue = lead.waiting.get(from) ?? []
  const bytes = queue.reduce((sum, { body }) => sum + body.length, asked.body.length)
  if (queue.length >= OUTCOMES_MAX || bytes > WAITING_BYTES_MAX) return
  queue.push({ ...asked, body: asked.body.slice() })
  lead.waiting.set(from, queue)
  lead.waitingAt = Math.min(lead.waitingAt, now + LOOK_MS)
}
