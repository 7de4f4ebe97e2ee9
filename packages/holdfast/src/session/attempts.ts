/**
 * An attempt: a change of the register under way, asked for until it is answered.
 *
 * The answer is the register itself: a request may be answered twice, late or never, but a member
 * that reads the register knows how it ended. While the hub cannot be reached, nobody guesses:
 * members wait.
 */

import type { Millis, PeerId } from '../machine.ts'
import type { Why } from '../hub-protocol/messages.ts'
import { proofOf } from '../wire/digest.ts'
import { type Attempt, is, nextRequest, type Session, type SessionOut } from './state.ts'

/** A change of the register without an answer is asked for again after this. */
export const ATTEMPT_MS: Millis = 250

/** An attempt to change the register from its state in epoch `expect`; nothing was sent yet. */
export function attempt(
  now: Millis,
  expect: number,
  change: { why: Why; primary: PeerId; backup: PeerId },
): Attempt {
  return { ...change, expect, sent: false, sentAt: Infinity, request: 0, againAt: now }
}

/** Sends the attempt, if the hub can be reached; again if that is due. */
export function retry(session: Session, now: Millis, out: SessionOut): void {
  if (!is(session, 'asks')) return
  const change = session.server.attempt
  if (now < change.againAt) return
  change.againAt = now + ATTEMPT_MS
  if (!session.hub.up) return
  change.sent = true
  change.sentAt = Math.min(change.sentAt, now)
  change.request = nextRequest(session)
  ask(session, change, out)
}

/** Asks the register for a change. */
export function ask(
  session: Session,
  change: Pick<Attempt, 'request' | 'expect' | 'primary' | 'backup' | 'why'>,
  out: SessionOut,
): void {
  const { request, expect, primary, backup, why } = change
  const by = { session: session.id, inc: session.me, proof: proofOf(session.secret, 'register') }
  out.hub({ kind: 'change', request, ...by, expect, primary, backup, why })
}
