/**
 * Whom a member believes that it leads.
 *
 * A view or a snapshot is taken from our primary, from its backup, and from whom the register
 * names: the hub tells every change of it. Else any member could say that it leads from now on,
 * with a number for an epoch that nobody gets above, and take the others with it. A primary or
 * a backup that lies is beyond this: they are trusted with the state itself.
 */

import type { Millis, PeerId } from '../machine.ts'
import type { Register } from '../directory/messages.ts'
import type { Session } from './state.ts'

/** Named by the register and not heard of for so long, the new primary is asked for its view. */
export const RESYNC_MS: Millis = 200

/** Whether that peer may be our primary by all that we know. */
export function mayLead(session: Session, peer: PeerId): boolean {
  const { view, register } = session.client
  if (view.epoch === 0 || peer === session.me) return true
  if (peer === view.primary || peer === view.backup) return true
  return register.epoch >= view.epoch && peer === register.primary
}

/** The hub told who serves; its view may have come before, and was not believed then. */
export function sighted(session: Session, now: Millis, register: Register): void {
  const { client } = session
  if (register.epoch <= client.register.epoch) return
  client.register = register
  const ours = register.primary === session.me || register.primary === client.view.primary
  client.resyncAt = ours || register.epoch <= client.view.epoch ? Infinity : now + RESYNC_MS
}
