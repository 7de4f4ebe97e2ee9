/** The decisions of objects as real sessions use them; tests replace them by injected bugs. */

import { type Millis, rulesOf } from '../../machine.ts'
import { isOfBefore, maySay } from './accept.ts'
import { oweAll, speaksFor } from './fan-out.ts'
import { grant } from './owning.ts'
import { createState, GATHER_MS, type Objects, type ObjectsRules } from './state.ts'
import { compare } from './stamp.ts'
import { follow } from './views.ts'

/** The rules of every real session. */
export const RULES: ObjectsRules = rulesOf<ObjectsRules>({
  order: (said, known) => compare(said.version, known.version),
  maySay,
  isOfBefore,
  creates: () => true,
  tombstone: () => true,
  isOld: (oseq, known) => oseq <= known,
  fits: (said, known) => compare(said, known) === 0,
  hears: () => true,
  reports: () => true,
  speaksFor,
  grant,
  epochOf: ({ epoch }) => epoch,
  follow,
  oweAll,
  base: ({ acked }, slot) => acked[slot]!,
  shares: () => true,
  asksAgain: ({ owner }, follower) => owner === follower,
  declines: () => true,
  endsByGive: () => true,
  waitsForAll: () => true,
})

/**
 * Creates the state without objects. @param gatherMs  between two send ticks; GATHER_MS if not
 * given
 */
export function create(gatherMs: Millis = GATHER_MS, rules: ObjectsRules = RULES): Objects {
  return createState(gatherMs, rules)
}
