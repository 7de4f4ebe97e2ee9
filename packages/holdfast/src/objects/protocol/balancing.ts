/** The primary moves objects from members who own many to members who own few (B27). */

import type { Millis } from '../../machine.ts'
import { give, openGrant } from './owning.ts'
import type { Turn } from './state.ts'

/** Time between two passes of balancing. */
export const BALANCE_MS: Millis = 1_000
/**
 * An object is moved when the fullest owner has more than this many times what the emptiest has.
 */
const UNEVEN = 1.25

/** As primary: moves one object from the fullest owner to the emptiest, if that evens things. */
export function balance(turn: Turn): void {
  const { objects, types } = turn
  const players = [...objects.here.keys()].filter((inc) => !objects.watching.has(inc))
  const counts = new Map(players.map((inc) => [inc, 0]))
  const movable = [...objects.replicas.values()].filter((replica) => {
    return !replica.dead && types[replica.type]!.balance && counts.has(replica.owner)
  })
  for (const { owner } of movable) counts.set(owner, counts.get(owner)! + 1)
  const ranked = [...counts].sort(([a, few], [b, many]) => few - many || a - b)
  const [emptiest, fullest] = [ranked[0], ranked.at(-1)]
  if (!emptiest || !fullest || fullest[1] <= Math.max(emptiest[1] + 1, emptiest[1] * UNEVEN)) return
  const moved = movable.find((replica) => {
    return replica.owner === fullest[0] && !openGrant(turn, replica.key)
  })
  if (moved) give(turn, moved, emptiest[0])
}
