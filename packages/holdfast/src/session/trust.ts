/**
 * Which peers a member accepts as its primary.
 *
 * Views and snapshots are accepted from our primary and from the member that the register names;
 * the hub reports every change. Before its report arrives, a view is accepted with the hub's
 * signature to its leader (the leader certificate; `grant` on the wire). Otherwise any member could
 * claim to lead with an unbeatable epoch. A lying primary is not covered: it is trusted with the
 * state itself.
 */

import type { Millis, PeerId } from '../machine.ts'
import { EPOCH_MAX, type Register } from '../hub-protocol/messages.ts'
import type { View } from './messages.ts'
import type { Session } from './state.ts'

/** A registered primary that did not send its view within this is asked for it. */
export const RESYNC_MS: Millis = 200

/** Whether the peer may be our primary, as far as we know. */
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

/** Notes the register. The new primary's view may have arrived earlier, and was rejected. */
export function noteRegister(session: Session, now: Millis, register: Register): void {
  const { client } = session
  if (register.epoch <= client.register.epoch) return
  client.register = register
  const ours = register.primary === session.me || register.primary === client.view.primary
  client.resyncAt = ours || register.epoch <= client.view.epoch ? Infinity : now + RESYNC_MS
}
