/** Session time is the clock of whoever leads (L9): all others steer theirs by it. */

import * as clock from '../link/clock.ts'
import * as link from '../link/link.ts'
import type { PeerId } from '../machine.ts'
import type { Runtime } from './state.ts'

/** Takes the offset of whoever leads, as its link has measured it. */
export function steerClock(run: Runtime): void {
  const { member, now } = run
  const { primary, members } = member.session.client.view
  const led = member.peers.get(primary === member.session.me ? elder(run) : primary)?.link
  const offset = led ? link.offset(led) : null
  if (offset !== null) clock.steer(member.clock, now, offset)
  else if (members.length === 1) member.clock.set = true
}

// Whoever leads before it heard what time it is takes it from the oldest.
function elder({ member }: Runtime): PeerId {
  if (member.clock.set) return 0
  const known = [...member.peers.values()].filter(
    (peer) => peer.link && link.offset(peer.link) !== null,
  )
  return Math.min(...known.map(({ inc }) => inc), Infinity)
}
