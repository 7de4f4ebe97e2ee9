/**
 * A change of the register under way: asked until it is answered.
 *
 * The answer is the register itself: a request may be answered twice, late or never, and whoever
 * reads the register knows how it ended. Without the hub nobody guesses: it waits.
 */

import type { Millis, PeerId } from '../machine.ts'
import type { Why } from '../directory/messages.ts'
import { proofOf } from '../wire/digest.ts'
import { nextRequest, type Session, type SessionOut } from './state.ts'

/** A change of the register without an answer is asked again after this. */
export const ATTEMPT_MS: Millis = 250

/** Asks the register, at once if the hub is there. */
export function attempt(
  session: Session,
  now: Millis,
  change: { why: Why; primary: PeerId; backup: PeerId },
  out: SessionOut,
): void {
  const { server } = session
  const fresh = { sent: false, sentAt: Infinity, request: 0, againAt: now }
  server.attempt = { ...change, expect: server.epoch, ...fresh }
  retry(session, now, out)
}

/** Sends the change under way, again if it must be. */
export function retry(session: Session, now: Millis, out: SessionOut): void {
  const change = session.server.attempt
  if (!change || now < change.againAt) return
  change.againAt = now + ATTEMPT_MS
  if (!session.hub.up) return
  change.sent = true
  change.sentAt = Math.min(change.sentAt, now)
  change.request = nextRequest(session)
  out.hub({
    kind: 'change',
    request: change.request,
    session: session.id,
    inc: session.me,
    proof: proofOf(session.secret, 'register'),
    expect: change.expect,
    primary: change.primary,
    backup: change.backup,
    why: change.why,
  })
}
