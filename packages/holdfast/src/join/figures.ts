/** Figures of this member's connection. */

import type { PeerId } from '../machine.ts'
import type { View } from '../session/messages.ts'
import { standing } from '../session/persistence.ts'
import { patience } from '../session/server.ts'
import { serves, type Session } from '../session/state.ts'
import type { Safety, SessionFigures, Status } from './events.ts'
import type { MemberLoop } from '../runtime/member-loop.ts'

/** The current figures. @param memberLoop  null after the session was left */
export function figuresOf(memberLoop: MemberLoop | null, view: View, inc: PeerId): SessionFigures {
  const member = memberLoop?.member ?? null
  const own = view.primary === inc
  const peer = member?.peers.get(view.primary)
  const relayed = peer?.path.startsWith('relay:')
  return {
    rttMs: own ? 0 : (peer?.link?.rtt.smoothed ?? null),
    path: own || !peer?.link ? 'none' : relayed ? 'relay' : 'direct',
    epoch: view.epoch,
    role: member?.session.server.role ?? 'idle',
    returns: member?.counters.returns ?? 0,
    bytesPerSecond: memberLoop?.bytesPerSecond ?? { in: 0, out: 0 },
    hub: member?.hub === 'attached',
    threw: member?.counters.threw ?? 0,
    pushedBack: member?.session.pushedBack ?? 0,
    suspectMs: member ? patience(member.session) : null,
  }
}

/** How safe acknowledged changes are, as a member with this view knows. */
export function safetyOf(session: Session, view: View, status: Status): Safety {
  const { server } = session
  const isSeen = view.backup !== 0
  const waits = serves(session)
    ? !session.server.lead.leased || server.role === 'dropping'
    : isSeen && status !== 'live'
  if (waits) return 'waiting'
  const kept = isSeen ? null : standing(session)
  if (kept) return kept
  // Nothing counts as backed up before the view has a backup.
  if (!isSeen || (serves(session) && server.role !== 'backedup')) return 'alone'
  return 'lead' in server && server.lead.slow ? 'slow' : 'backed-up'
}
