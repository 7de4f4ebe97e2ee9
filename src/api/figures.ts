/** Figures of one's own connection, out of what the member knows. */

import type { PeerId } from '../machine.ts'
import type { Member } from '../member/state.ts'
import type { View } from '../session/messages.ts'
import { patience } from '../session/server.ts'
import type { SessionFigures } from './events.ts'

/** As they are now. @param member null once the session was left */
export function figuresOf(member: Member | null, view: View, inc: PeerId): SessionFigures {
  const own = view.primary === inc
  const peer = member?.peers.get(view.primary)
  const relayed = peer?.path.startsWith('relay:')
  return {
    rttMs: own ? 0 : (peer?.link?.rtt.smoothed ?? null),
    path: own || !peer?.link ? 'none' : relayed ? 'relay' : 'direct',
    epoch: view.epoch,
    role: member?.session.server.role ?? 'idle',
    returns: member?.counters.returns ?? 0,
    hub: member?.hub === 'attached',
    suspectMs: member ? patience(member.session) : null,
  }
}
