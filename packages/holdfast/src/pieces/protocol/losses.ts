/**
 * Reports lost holds: ours that ended although we did not release them.
 *
 * Each published operation is checked separately, because the sum of several can hide a loss: a
 * player who took a piece from us by force may have released it since.
 */

import type { PartOut } from '../../kind/protocol/part.ts'
import type { PieceEvent, Pieces, Row } from './state.ts'

type Events = Pick<PartOut<PieceEvent>, 'emit'>

/** Checks one operation. @param row  the piece after it; null if it removed the piece */
export function onOperation(
  pieces: Pieces,
  before: Row | undefined,
  row: Row | null,
  out: Events,
): void {
  if (!before || !pieces.rules.isLoss(pieces, before, row)) return
  const { id } = before
  if (!row) return out.emit({ kind: 'piece-lost', id, by: 0, why: 'gone' })
  // We released the piece, or an action of ours took it.
  if (row.by === pieces.player) return
  out.emit({ kind: 'piece-lost', id, by: row.heldBy || row.by, why: 'taken' })
}

/**
 * Checks a piece of a whole table. A table has only the last state of each piece, so the event
 * names the player who had it last.
 *
 * @param wasLost  a recovery lost the piece's newer changes, and our hold with them
 */
export function onTable(
  pieces: Pieces,
  before: Row,
  row: Row | undefined,
  wasLost: boolean,
  out: Events,
): void {
  const { player } = pieces
  if (!pieces.rules.isLoss(pieces, before, row ?? null)) return
  const { id } = before
  if (!row) return out.emit({ kind: 'piece-lost', id, by: 0, why: 'gone' })
  const { heldBy, lastReleased } = row
  // We released the piece, even if another player has it now; or an action of ours took it.
  if (lastReleased === player && !wasLost) return
  const by = heldBy || (wasLost ? 0 : lastReleased || row.by)
  if (by === player) return
  // With `away` the primary released the piece while we were disconnected.
  out.emit({ kind: 'piece-lost', id, by, why: by === 0 ? 'away' : 'taken' })
}

/** Reports all our holds as lost: we are another player, or in another session. */
export function loseAll(pieces: Pieces, player: number, why: 'away' | 'gone', out: Events): void {
  for (const { id, heldBy } of pieces.published.values()) {
    if (player !== 0 && heldBy === player) out.emit({ kind: 'piece-lost', id, by: 0, why })
  }
}
