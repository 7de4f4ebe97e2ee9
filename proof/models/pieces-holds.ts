/** What a hand is told about its holds, against what was recorded. */

import type { PieceEvent, Row } from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import type { Hand, Recorded, Scene } from './pieces-state.ts'

type Lost = PieceEvent & { kind: 'piece-lost' }

/**
 * What is wrong with what a hand heard with one word; empty if nothing is.
 *
 * @param before  what it had been told
 */
export function amiss(
  { core }: Scene,
  { player, pieces }: Hand,
  before: ReadonlyMap<number, Row>,
  events: readonly PieceEvent[],
): string {
  const told = events.filter((event) => event.kind === 'piece-lost')
  for (const [piece, was] of before) {
    const now = pieces.published.get(piece)
    const said = told.filter(({ id }) => id === piece)
    const ended = was.heldBy === player && now?.heldBy !== player
    if (said.length > 1) return `${player} is told ${said.length} times that it lost ${piece}`
    if (!ended && said.length > 0) return `${player} is told that it lost ${piece}: it did not`
    const line = core.history.filter((each) => {
      return each.piece === piece && each.gen > was.gen && each.gen <= (now?.gen ?? Infinity)
    })
    const isKnown = core.history.some((each) => each.piece === piece && each.gen === was.gen)
    const fault = ended ? wrong(player, line, said[0], isKnown) : ''
    if (fault !== '') return `${fault} (piece ${piece})`
  }
  return ''
}

// @param isKnown  no recovery lost the hold
function wrong(
  player: number,
  line: readonly Recorded[],
  said: Lost | undefined,
  isKnown: boolean,
): string {
  const takers = line.filter(({ heldBy }) => heldBy !== player)
  const isOurs = isKnown && takers[0]?.actor === player
  // Of several the table has the last alone: theirs, if they were the last to let go.
  const last = takers.at(-1)
  const isLast = last?.actor === player && last.heldBy === 0
  if (!said) return isOurs || isLast ? '' : `${player} is not told that it lost its hold`
  if (isOurs && takers.every(({ actor }) => actor === player)) {
    return `${player} is told that it lost what it let go of`
  }
  const whom = takers.map(({ heldBy, actor }) => heldBy || actor)
  if (!isKnown) whom.push(0)
  if (!whom.includes(said.by)) return `${player} is told of ${said.by}, it was ${whom.join()}`
  return said.why === (said.by === 0 ? 'away' : 'taken') ? '' : `${player} is told ${said.why}`
}
