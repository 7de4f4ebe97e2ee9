/**
 * The player's side: the published state, with the player's pending updates on top (O4-O9).
 *
 * If the primary publishes another update of a piece for which we have pending updates, they
 * conflict: ours are discarded, because their tags are older, and the player is notified at once
 * (O33). A pending regrab (`loose`) may still succeed, so it waits for its own outcome (O51).
 */

import type { PartOut } from '../../kind/protocol/part.ts'
import { applied } from './decide.ts'
import { setRowFields, encodeUpdate, type Entry, type TablePart } from './messages.ts'
import {
  closeRanges,
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

/** Makes an update, shown at once (O21). @returns the body of its operation */
export function update(
  pieces: Pieces,
  types: PieceTypes,
  row: Row,
  op: Op,
  regrab: boolean,
): Uint8Array {
  const seq = pieces.nextSeq
  pieces.nextSeq = (seq % (SEQ_MODULUS - 1)) + 1
  const pending = pieces.pending.get(row.id) ?? []
  pending.push({ seq, op, regrab })
  pieces.pending.set(row.id, pending)
  const tag = pieces.rules.tagOf(pieces)
  return encodeUpdate(types, row.type, { seq, id: row.id, tag, loose: regrab, op })
}

/** A piece as shown to the player; null if there is none. */
export function shown(pieces: Pieces, types: PieceTypes, id: number): Row | null {
  const row = pieces.published.get(id)
  const pending = pieces.pending.get(id)
  if (!row || !pending) return row ?? null
  let made = copyRow(row)
  for (const { op, regrab } of pending) {
    // A regrab that can no longer succeed is not shown (O52).
    if (regrab && made.heldBy !== 0 && made.heldBy !== pieces.player) continue
    made = applied(made, op, pieces.player)
    setRowFields(types[row.type]!, made, op.fields, op.mask)
  }
  return made
}

/** The primary published the changes of one operation (O25). */
export function receiveNews(pieces: Pieces, entries: readonly Entry[], out: Events): void {
  for (const entry of entries) {
    const { id, row } = entry
    const before = pieces.published.get(id)
    const isNew = row !== null && !before
    if (row) {
      pieces.processed = Math.max(pieces.processed, newestOf(row))
      closeRanges(pieces.lostRanges, newestOf(row))
      pieces.published.set(id, row)
    } else pieces.published.delete(id)
    reportLoss(pieces, before, row, out)
    // A refusal of another player's update changes nothing for us (O45).
    if (entry.why === 'inapplicable' && row?.refused.length && senderOf(row) !== pieces.player)
      continue
    reconcile(pieces, entry, out)
    out.emit({ kind: row ? (isNew ? 'piece-came' : 'piece-changed') : 'piece-went', id })
  }
}

// The player whose update an entry with this row answers.
function senderOf(row: Row): number {
  return row.refused.length === 0 ? row.by : row.refused.at(-1)!.by
}

function reconcile(pieces: Pieces, { id, row, why, seq, reason }: Entry, out: Events): void {
  const pending = pieces.pending.get(id)
  if (!pending) return
  const isMine = row !== null && senderOf(row) === pieces.player
  const at = isMine ? pending.findIndex((one) => one.seq === seq) : -1
  // Earlier updates are decided too, though their outcomes may not have come yet.
  pending.splice(0, at + 1)
  // Our own update was recorded unchanged, so later pending ones remain valid.
  if (why === 'recorded' && isMine) return setPending(pieces, id, pending)
  const discarded = pending.filter(({ regrab }) => !regrab)
  setPending(pieces, id, row ? pending.filter(({ regrab }) => regrab) : [])
  if (at >= 0 && why === 'inapplicable') {
    out.emit({ kind: 'piece-refused', id, reason, heldBy: row?.heldBy ?? 0 })
  }
  if (discarded.length > 0) out.emit({ kind: 'piece-conflict', id, by: row?.by ?? 0 })
}

function setPending(pieces: Pieces, id: number, pending: Pending[]): void {
  if (pending.length === 0) pieces.pending.delete(id)
  else pieces.pending.set(id, pending)
}

/** Removes an update of ours whose outcome came (O32, O56). */
export function removePending(pieces: Pieces, id: number, seq: number, out: Events): void {
  const pending = pieces.pending.get(id) ?? []
  const at = pending.findIndex((one) => one.seq === seq)
  if (at < 0) return
  // Earlier updates stay: this one may never have been sent, while they were.
  pending.splice(at, 1)
  setPending(pieces, id, pending)
  out.emit({ kind: 'piece-changed', id })
}

/** Receives a part of the table, after a new link or primary; the last part installs it. */
export function receiveTable(pieces: Pieces, part: TablePart, out: Events): void {
  if (part.first) pieces.incomingTable = new Map()
  for (const row of part.rows) pieces.incomingTable?.set(row.id, row)
  if ((pieces.incomingTable?.size ?? 0) > PIECES_MAX) pieces.incomingTable = null
  if (!part.last || !pieces.incomingTable) return
  const { published: before, incomingTable: now } = pieces
  pieces.incomingTable = null
  pieces.published = now
  for (const [id, row] of before) {
    const wasLost = isLost(row.gen, part.gen, part.lostRanges)
    reportLossInTable(pieces, row, now.get(id), wasLost, out)
  }
  for (const id of pieces.pending.keys()) resume(pieces, part, now.get(id), id, out)
  pieces.processed = part.gen
  pieces.lostRanges = [...part.lostRanges]
  for (const id of now.keys())
    out.emit({ kind: before.has(id) ? 'piece-changed' : 'piece-came', id })
  for (const id of before.keys()) if (!now.has(id)) out.emit({ kind: 'piece-went', id })
}

// Discards pending updates that conflict with missed ones; the others are resent (O57).
function resume(
  pieces: Pieces,
  { gen, lostRanges }: TablePart,
  row: Row | undefined,
  id: number,
  out: Events,
): void {
  const pending = pieces.pending.get(id)!
  const from = row && pieces.rules.predecessor(row, pieces.player)
  const wasLost = isLost(pieces.processed, gen, lostRanges)
  if (pieces.rules.isComplete(from, pieces, wasLost)) return
  setPending(pieces, id, row && !wasLost ? pending.filter(({ regrab }) => regrab) : [])
  if (pending.some(({ regrab }) => !regrab))
    out.emit({ kind: 'piece-conflict', id, by: from?.by ?? 0 })
}

// Lost holds: ours that ended although we did not release them. Each operation is checked alone, as
// several can hide a loss: a player who took a piece by force may have released it since.

type Events = Pick<PartOut<PieceEvent>, 'emit'>

/** Checks one operation. @param row  the piece after it; null if it removed the piece */
function reportLoss(pieces: Pieces, before: Row | undefined, row: Row | null, out: Events): void {
  if (!before || !pieces.rules.isLoss(pieces, before, row)) return
  const { id } = before
  if (!row) return out.emit({ kind: 'piece-lost', id, by: 0, why: 'gone' })
  // We released the piece, or an action of ours took it.
  if (row.by === pieces.player) return
  out.emit({ kind: 'piece-lost', id, by: row.heldBy || row.by, why: 'taken' })
}

/**
 * A table has only the last state of each piece, so the event names the player who had it last.
 * @param wasLost  a recovery lost the piece's newer changes, and our hold with them
 */
function reportLossInTable(
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
