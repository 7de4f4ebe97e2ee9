/**
 * Which peers a member accepts as its primary.
 *
 * A view or a snapshot is accepted from our primary, and from the member that the register names:
 * the hub reports every change of the register. Where its report has not come, a view is accepted
 * that has the hub's signature to who leads (a grant). Otherwise any member could claim to lead,
 * with an epoch that nobody can exceed, and take the others with it. This does not protect against
 * a primary that lies: it is trusted with the state itself.
 */

import type { Millis, PeerId } from '../machine.ts'
import { EPOCH_MAX, type Register } from '../hub-protocol/messages.ts'
import type { View } from './messages.ts'
import type { Session } from './state.ts'

/** A primary that the register names and that was not heard for so long is asked for its view. */
export const RESYNC_MS: Millis = 200

/** Whether that peer may be our primary by all that we know. */
export function mayLead(session: Session, peer: PeerId): boolean {
  const { view, register } = session.client
  if (view.epoch === 0 || peer === session.me || peer === view.primary) return true
  return register.epoch >= view.epoch && peer === register.primary
}

/** Whether a view counts only with the hub's signature, which must be checked first. */
export function needsCertificate(session: Session, from: PeerId, view: View): boolean {
  const isNews = view.primary === from && view.epoch > session.client.view.epoch
  return isNews && view.epoch <= EPOCH_MAX && view.grant !== null && !mayLead(session, from)
}

/**
 * The hub sent the register; the new primary's view may have come before, and was rejected then.
 */
export function noteRegister(session: Session, now: Millis, register: Register): void {
  const { client } = session
  if (register.epoch <= client.register.epoch) return
  client.register = register
  const ours = register.primary === session.me || register.primary === client.view.primary
  client.resyncAt = ours || register.epoch <= client.view.epoch ? Infinity : now + RESYNC_MS
}
