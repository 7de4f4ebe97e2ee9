/** Session time is the clock of whoever leads (L9): all others steer theirs by it. */

import * as clock from '../link/clock.ts'
import * as link from '../link/link.ts'
import type { PeerId } from '../machine.ts'
import { isRelayed } from '../seal/addresses.ts'
import type { Peer, Runtime } from './state.ts'

/** Takes the offset of whoever leads, as its link has measured it. */
export function steerClock(run: Runtime): void {
  const { member, now } = run
  const { primary, members } = member.session.client.view
  const led = member.peers.get(primary === member.session.me ? elder(run) : primary)
  const offset = led?.link && mayTell(run, led) ? link.offset(led.link) : null
  if (offset !== null) clock.steer(member.clock, now, offset)
  else if (members.length === 1) member.clock.set = true
}

// On a stream one way may take longer than the other by as much as a loss costs there. So whoever
// can be reached directly, too, is waited for until it is, or was measured several times.
function mayTell({ member }: Runtime, { path, paths, link: own }: Peer): boolean {
  const isBest = !isRelayed(path) || paths.length === 1
  return member.clock.set || isBest || link.isMeasured(own!)
}

// Whoever leads before it heard what time it is takes it from the oldest.
function elder({ member }: Runtime): PeerId {
  if (member.clock.set) return 0
  const known = [...member.peers.values()].filter(
    (peer) => peer.link && link.offset(peer.link) !== null,
  )
  return Math.min(...known.map(({ inc }) => inc), Infinity)
}
