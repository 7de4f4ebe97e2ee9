/**
 * Holds of ours that end though we did not let go, told as they end.
 *
 * It is looked at with each operation that is told, for what several of them did together does not
 * say it: who wrested a piece may have let go of it since, and an action of ours turned it over.
 */

import type { PartOut } from '../machine.ts'
import type { PieceEvent, Pieces, Row } from './state.ts'

type Events = Pick<PartOut<PieceEvent>, 'emit'>

/** One operation made of a piece what follows; null if it removed it. */
export function operated(
  pieces: Pieces,
  before: Row | undefined,
  row: Row | null,
  out: Events,
): void {
  if (!before || !pieces.rules.isLoss(pieces, before, row)) return
  const { id } = before
  if (!row) return out.emit({ kind: 'piece-lost', id, by: 0, why: 'gone' })
  // We let go of it, or an action of ours took it.
  if (row.by === pieces.player) return
  out.emit({ kind: 'piece-lost', id, by: row.heldBy || row.by, why: 'taken' })
}

/**
 * The whole table came. Of what was done meanwhile it has the last alone, so who is named is who
 * had the piece last.
 *
 * @param wasLost  a recovery lost what was done since, and our hold with it
 */
export function resumed(
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
  // We let go of it, whoever has it now; or an action of ours took it.
  if (lastReleased === player && !wasLost) return
  const by = heldBy || (wasLost ? 0 : lastReleased || row.by)
  if (by === player) return
  // The server let go of it, for we were out of touch.
  out.emit({ kind: 'piece-lost', id, by, why: by === 0 ? 'away' : 'taken' })
}

/** We are another player by now, or in another session, and hold nothing of what we held. */
export function forgotten(pieces: Pieces, player: number, why: 'away' | 'gone', out: Events): void {
  for (const { id, heldBy } of pieces.published.values()) {
    if (player !== 0 && heldBy === player) out.emit({ kind: 'piece-lost', id, by: 0, why })
  }
}
