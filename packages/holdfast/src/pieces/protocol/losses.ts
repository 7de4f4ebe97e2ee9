/**
 * Reports holds of ours that end although we did not release them.
 *
 * Each published operation is examined separately, because the sum of several can hide a loss: a
 * player who took a piece from us by force may have released it since.
 */

import type { PartOut } from '../../kind/protocol/part.ts'
import type { PieceEvent, Pieces, Row } from './state.ts'

type Events = Pick<PartOut<PieceEvent>, 'emit'>

/** One operation made `row` of a piece; null if it removed the piece. */
export function onOperation(
  pieces: Pieces,
  before: Row | undefined,
  row: Row | null,
  out: Events,
): void {
  if (!before || !pieces.rules.isLoss(pieces, before, row)) return
  const { id } = before
  if (!row) return out.emit({ kind: 'piece-lost', id, by: 0, why: 'gone' })
  // We let go of the piece ourselves, or an action of ours took it.
  if (row.by === pieces.player) return
  out.emit({ kind: 'piece-lost', id, by: row.heldBy || row.by, why: 'taken' })
}

/**
 * The whole table came. It holds only the last state of each piece, so the player who is named is
 * the one who had the piece last.
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
  // We let go of the piece, whoever has it now; or an action of ours took it.
  if (lastReleased === player && !wasLost) return
  const by = heldBy || (wasLost ? 0 : lastReleased || row.by)
  if (by === player) return
  // The primary released the piece, for we were out of touch.
  out.emit({ kind: 'piece-lost', id, by, why: by === 0 ? 'away' : 'taken' })
}

/** We are another player by now, or in another session, and lose all our holds. */
export function loseAll(pieces: Pieces, player: number, why: 'away' | 'gone', out: Events): void {
  for (const { id, heldBy } of pieces.published.values()) {
    if (player !== 0 && heldBy === player) out.emit({ kind: 'piece-lost', id, by: 0, why })
  }
}
