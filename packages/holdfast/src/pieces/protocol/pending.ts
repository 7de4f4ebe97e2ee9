/**
 * A player's side: the published state, and on top of it the player's pending updates (O4-O9).
 *
 * When the primary publishes another update of a piece for which we have pending updates, that is a
 * conflict: ours are void, for their tags are older, and the player is notified at once (O33). But
 * a pending regrab (`loose`) may still be granted, so it stays until its own outcome comes (O51).
 */

import type { PartOut } from '../../kind/protocol/part.ts'
import { applied } from './decide.ts'
import { take, encodeUpdate, type Entry, type TablePart } from './messages.ts'
import * as losses from './losses.ts'
import {
  close,
  copyRow,
  isLost,
  newestOf,
  type Op,
  type Pending,
  type PieceEvent,
  type Pieces,
  PIECES_MAX,
  type PieceTypes,
  type Row,
  SEQ_MODULUS,
} from './state.ts'

type Events = Pick<PartOut<PieceEvent>, 'emit'>

/** Makes an update, shown at once (O21). @returns the body of the operation for the primary */
export function update(
  pieces: Pieces,
  types: PieceTypes,
  row: Row,
  op: Op,
  loose: boolean,
): Uint8Array {
  const seq = pieces.nextSeq
  pieces.nextSeq = (seq % (SEQ_MODULUS - 1)) + 1
  const branch = pieces.pending.get(row.id) ?? []
  branch.push({ seq, op, loose })
  pieces.pending.set(row.id, branch)
  const tag = pieces.rules.tagOf(pieces)
  return encodeUpdate(types, row.type, { seq, id: row.id, tag, loose, op })
}

/** A piece as it is shown; null if there is none. */
export function shown(pieces: Pieces, types: PieceTypes, id: number): Row | null {
  const row = pieces.published.get(id)
  const branch = pieces.pending.get(id)
  if (!row || !branch) return row ?? null
  let made = copyRow(row)
  for (const { op, loose } of branch) {
    // A regrab that can no longer succeed is not shown (O52).
    if (loose && made.heldBy !== 0 && made.heldBy !== pieces.player) continue
    made = applied(made, op, pieces.player)
    take(types[row.type]!, made, op.fields, op.mask)
  }
  return made
}

/** The primary published the changes of one operation (O25). */
export function receive(pieces: Pieces, entries: readonly Entry[], out: Events): void {
  for (const entry of entries) {
    const { id, row } = entry
    const before = pieces.published.get(id)
    const isNew = row !== null && !before
    if (row) {
      pieces.processed = Math.max(pieces.processed, newestOf(row))
      close(pieces.forks, newestOf(row))
      pieces.published.set(id, row)
    } else pieces.published.delete(id)
    losses.operated(pieces, before, row, out)
    // The piece is unchanged: a refusal of another player's update does not concern us (O45).
    if (entry.why === 'inapplicable' && row?.refused.length && sender(row) !== pieces.player)
      continue
    reconcile(pieces, entry, out)
    out.emit({ kind: row ? (isNew ? 'piece-came' : 'piece-changed') : 'piece-went', id })
  }
}

// The player whose update an entry with this row answers.
function sender(row: Row): number {
  return row.refused.length === 0 ? row.by : row.refused.at(-1)!.by
}

function reconcile(pieces: Pieces, { id, row, why, seq, reason }: Entry, out: Events): void {
  const branch = pieces.pending.get(id)
  if (!branch) return
  const isMine = row !== null && sender(row) === pieces.player
  const at = isMine ? branch.findIndex((pending) => pending.seq === seq) : -1
  // Updates before this one were decided before it, though their outcomes may not have come yet.
  branch.splice(0, at + 1)
  // Our own update, as we made it: the pending ones after it remain valid.
  if (why === 'recorded' && isMine) return keep(pieces, id, branch)
  const doomed = branch.filter(({ loose }) => !loose)
  keep(pieces, id, row ? branch.filter(({ loose }) => loose) : [])
  if (at >= 0 && why === 'inapplicable') {
    out.emit({ kind: 'piece-refused', id, reason, heldBy: row?.heldBy ?? 0 })
  }
  if (doomed.length > 0) out.emit({ kind: 'piece-conflict', id, by: row?.by ?? 0 })
}

function keep(pieces: Pieces, id: number, branch: Pending[]): void {
  if (branch.length === 0) pieces.pending.delete(id)
  else pieces.pending.set(id, branch)
}

/** An update of ours has its outcome, and is no longer pending (O32, O56). */
export function settled(pieces: Pieces, id: number, seq: number, out: Events): void {
  const branch = pieces.pending.get(id) ?? []
  const at = branch.findIndex((pending) => pending.seq === seq)
  if (at < 0) return
  // Only this one is removed: it may never have been sent, while the ones before it were.
  branch.splice(at, 1)
  keep(pieces, id, branch)
  out.emit({ kind: 'piece-changed', id })
}

/** A part of the whole table came, for the link or the primary is new. The last makes it valid. */
export function takeTable(pieces: Pieces, part: TablePart, out: Events): void {
  if (part.first) pieces.coming = new Map()
  for (const row of part.rows) pieces.coming?.set(row.id, row)
  if ((pieces.coming?.size ?? 0) > PIECES_MAX) pieces.coming = null
  if (!part.last || !pieces.coming) return
  const { published: before, coming: now } = pieces
  pieces.coming = null
  pieces.published = now
  for (const [id, row] of before) {
    const wasLost = isLost(row.gen, part.gen, part.forks)
    losses.resumed(pieces, row, now.get(id), wasLost, out)
  }
  for (const id of pieces.pending.keys()) resume(pieces, part, now.get(id), id, out)
  pieces.processed = part.gen
  pieces.forks = [...part.forks]
  for (const id of now.keys())
    out.emit({ kind: before.has(id) ? 'piece-changed' : 'piece-came', id })
  for (const id of before.keys()) if (!now.has(id)) out.emit({ kind: 'piece-went', id })
}

// Updates that we missed decide which pending ones are void; others are sent again (O57).
function resume(
  pieces: Pieces,
  { gen, forks }: TablePart,
  row: Row | undefined,
  id: number,
  out: Events,
): void {
  const branch = pieces.pending.get(id)!
  const from = row && pieces.rules.before(row, pieces.player)
  const wasLost = isLost(pieces.processed, gen, forks)
  if (pieces.rules.isWhole(from, pieces, wasLost)) return
  keep(pieces, id, row && !wasLost ? branch.filter(({ loose }) => loose) : [])
  if (branch.some(({ loose }) => !loose))
    out.emit({ kind: 'piece-conflict', id, by: from?.by ?? 0 })
}
