/** The operations and types of pieces that other modules use, and the rules of real sessions. */

import { rulesOf } from '../../machine.ts'
import { byPrimary } from './decide.ts'
import { encodeOutcome } from './messages.ts'
import {
  copyRow,
  createState,
  predecessorOf,
  type Pieces,
  type PiecesRules,
  REFUSED_MAX,
} from './state.ts'

export { removePending, shown, update } from './pending.ts'
export { draft, type PieceDraft } from './drafts.ts'
export { above, below, between, byLevel } from './levels.ts'
export { decodeOutcome, encodeFree, setFields } from './messages.ts'
export { piecesPart, PIECES_CHANNEL } from './part.ts'
export * from './state.ts'

export const RULES: PiecesRules = rulesOf<PiecesRules>({
  tagOf: ({ processed }) => processed,
  predecessor: predecessorOf,
  lacks: (tag, gen) => tag < gen,
  isComplete: (from, { processed }, wasLost) => !!from && from.gen <= processed && !wasLost,
  mayRegrab: (row, player) => row.heldBy === 0 && row.lastReleased === player,
  conflict: (_loose, by) => encodeOutcome({ kind: 'conflict', by }),
  levelGen: (_zg, gen) => gen,
  refused: (row, player, gen) => {
    const refused = [...row.refused.filter(({ by }) => by !== player), { by: player, gen }]
    return refused.length > REFUSED_MAX ? byPrimary(row, gen, player) : { ...copyRow(row), refused }
  },
  isLoss: ({ player }, before, row) => {
    return player !== 0 && before.heldBy === player && row?.heldBy !== player
  },
  hides: (rules, row, player) => rules.hides(row, player),
})

/** Creates the state without pieces. @param seed  of random draws: unpredictable bytes */
export function create(seed: Uint8Array = new Uint8Array(0), rules: PiecesRules = RULES): Pieces {
  return createState(seed, rules)
}
