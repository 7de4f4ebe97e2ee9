/** Session time is the primary's clock (L9): all others steer theirs by it. */

import * as clock from '../link/timing/clock.ts'
import * as link from '../link/link.ts'
import type { Millis, PeerId } from '../machine.ts'
import { shiftOf } from './peers.ts'
import type { Runtime } from './state.ts'

/** After this time a primary that does not know session time takes its best estimate. */
export const TIME_UNKNOWN_MS: Millis = 2_000

/** Steers the clock by the offset to the primary that its link has measured. */
export function steerClock(run: Runtime): void {
  const { member, now } = run
  const { set } = member.clock
  const { primary } = member.session.client.view
  const leads = primary === member.session.me
  const offset = leads ? asLeader(run) : ofLeader(run, primary)
  if (offset !== null) clock.steer(member.clock, now, offset)
  if (set === member.clock.set) return
  // From now on our links answer clock questions.
  for (const peer of member.peers.values()) {
    if (peer.link) link.setClockShift(peer.link, shiftOf(run))
  }
}

// One direction may take longer than the other: on a stream after a loss, or while the two ends use
// different paths. So the first offset must be one that cannot be far wrong.
function ofLeader({ member }: Runtime, primary: PeerId): Millis | null {
  const own = member.peers.get(primary)?.link
  const offset = own ? link.offset(own) : null
  if (offset === null || member.clock.set || link.isMeasured(own!)) return offset
  member.clock.rough = offset
  return null
}

// The primary must know the time. It takes the first offset from the oldest peer, else the estimate
// from its predecessor, else its own clock.
function asLeader(run: Runtime): Millis | null {
  const { clock: own, peers } = run.member
  if (own.set) return null
  const elder = peers.get(elderOf(run))
  if (elder) return link.offset(elder.link!)
  return isTimeOverdue(run) ? (own.rough ?? 0) : null
}

function isTimeOverdue({ member, now }: Runtime): boolean {
  const { client, server } = member.session
  return (
    client.view.members.length === 1 ||
    ('lead' in server && now - server.lead.since > TIME_UNKNOWN_MS)
  )
}

function elderOf({ member }: Runtime): PeerId {
  const known = [...member.peers.values()].filter(
    (peer) => peer.link && link.offset(peer.link) !== null,
  )
  return Math.min(...known.map(({ inc }) => inc), Infinity)
}
