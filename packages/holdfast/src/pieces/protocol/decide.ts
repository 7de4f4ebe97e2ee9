/**
 * The primary's side: decides updates (O22-O24, O40-O50, O54-O56).
 *
 * This changes no state: the effects of an update are an entry of the log, applied when the backup
 * has it. The sender of each update gets exactly one outcome.
 */

import type { PeerId } from '../../machine.ts'
import type { Effected } from '../../kind/protocol/part.ts'
import { differing, type Quantised } from '../../wire/fields/schema.ts'
import { encodeEffects } from './changes.ts'
import {
  setRowFields,
  encodeOutcome,
  ENTRIES_MAX,
  type Entry,
  readBody,
  readOp,
  type Update,
} from './messages.ts'
import { byLevel, isLevel, LEVEL_LONG, respaceLevels } from './levels.ts'
import {
  copyRow,
  GONE,
  HELD,
  isLost,
  nextGen,
  NOBODY,
  type Op,
  type Outcome,
  type Pieces,
  type PieceRules,
  type PieceTypes,
  type Row,
} from './state.ts'

// Most bytes of a row without its fields.
const ROW_BYTES = 128
// Most bytes of rows in one entry of the log.
const ROWS_BYTES: number = 32 * 1024
// Marks changes that answer no player's update.
const BY_PRIMARY = { why: 'table', seq: 0 } as const

/** Decides an update, or releases the pieces held by departed players. */
export function perform(
  pieces: Pieces,
  types: PieceTypes,
  body: Uint8Array,
  by: PeerId,
  player: number,
): Effected {
  const sent = readBody(body)
  if (!sent) return invalid('an update that is malformed')
  if ('free' in sent)
    return by === pieces.me ? free(pieces, types, sent.free) : invalid('not yours')
  const row = pieces.committed.rows.get(sent.id)
  // A recovery may have lost the piece's creation, so it counts as removed.
  const { nextId, gen, lostRanges } = pieces.committed
  const wasHere = sent.id < nextId || isLost(sent.tag, gen, lostRanges)
  if (!row && wasHere) return answer(refusal(GONE))
  if (!row) return invalid(`there is no piece ${sent.id}`)
  const op = readOp(types, row.type, sent)
  const fault = op ? faultOf(op, sent.loose) : 'fields that are malformed'
  if (!op || fault !== '') return invalid(fault)
  const update = { pieces, types, row, op, sent, player }
  return isStale(update) ? decideStale(update) : decideFresh(update)
}

interface Received {
  pieces: Pieces
  types: PieceTypes
  row: Row
  op: Op
  sent: Update
  player: number
}

// Why an update is invalid in any state (O42, O43); '' if it is valid.
function faultOf({ hold, mask, z }: Op, loose: boolean): string {
  if (loose && (hold !== 'grab' || mask !== 0)) return 'only a grab alone may be loose'
  if (hold === 'keep' && mask === 0 && z === null) return 'an update of nothing'
  if (z !== null && !isLevel(z)) return `${z} is no level`
  return ''
}

// Whether the sender lacked another player's update (O22-O24), or its tag was lost (O58).
function isStale({ pieces, row, sent, player }: Received): boolean {
  const { committed, rules } = pieces
  if (rules.lacks(sent.tag, rules.predecessor(row, player).gen)) return true
  return isLost(sent.tag, committed.gen, committed.lostRanges)
}

function decideStale(update: Received): Effected {
  const { pieces, row, sent, player } = update
  // The last player who released a piece may regrab it if nobody else has touched it (O47-O50).
  if (sent.loose && pieces.rules.mayRegrab(row, player)) {
    const next = applied(row, update.op, player)
    const rules = update.types[row.type]!
    const decision = rules.decide?.(next, update.op, row, player)
    if (decision?.ok === false) return inapplicable(update, decision.reason)
    if (decision) settle(rules, next, decision.fields)
    return recordByPrimary(update, next, 'loose')
  }
  const by = row.heldBy === 0 ? pieces.rules.predecessor(row, player).by : row.heldBy
  return { outcome: pieces.rules.conflict(sent.loose, by), refused: true, changes: [], news: null }
}

function decideFresh(update: Received): Effected {
  const { types, row, op, player } = update
  const rules = types[row.type]!
  const reason = refusalOf(update)
  if (reason !== '') return inapplicable(update, reason)
  const next = applied(row, op, player)
  setRowFields(rules, next, op.fields, op.mask)
  let others = 0
  if (rules.decide !== null) {
    const predicted = next.fields.slice()
    const decision = rules.decide(next, op, row, player)
    if (!decision.ok) return inapplicable(update, decision.reason)
    settle(rules, next, decision.fields)
    others = differing(rules.schema, predicted, next.fields)
  }
  // An update that reveals fields counts as adjusted: its sender could not predict them.
  const shows = rules.secret === 0 ? 0 : rules.hides(row, player) & ~rules.hides(next, player)
  return others === 0 && shows === 0
    ? record(update, next)
    : recordByPrimary(update, next, 'clamped')
}

// Fields that a rule sets are known from now on, even if a recovery had lost them.
function settle({ schema }: PieceRules, row: Row, fields: Quantised): void {
  row.hidden = (row.hidden & ~differing(schema, row.fields, fields)) >>> 0
  row.fields = fields
}

// Why an update cannot be applied in the current state (O40, O54); '' if it can.
function refusalOf({ types, row, op, player }: Received): string {
  const rules = types[row.type]!
  const others = row.heldBy !== 0 && row.heldBy !== player
  if (op.hold === 'release' && row.heldBy !== player) return 'you do not hold it'
  if (op.hold !== 'wrest' && others) return HELD
  if (op.hold === 'keep' && rules.mustHold && row.heldBy !== player) return 'you do not hold it'
  if ((op.mask & rules.secret) === 0) return ''
  if ((op.mask & (rules.hides(row, player) | row.hidden)) === 0) return ''
  return 'you may not see what you want to change'
}

/** A copy of the piece with an update's holder and level applied, but not its fields. */
export function applied(row: Row, { hold, z }: Op, player: number): Row {
  const next = copyRow(row)
  if (hold === 'grab') next.heldBy = player
  if (hold === 'wrest') Object.assign(next, { heldBy: player, lastReleased: 0 })
  if (hold === 'release') Object.assign(next, { heldBy: 0, lastReleased: player })
  if (z !== null) next.z = z
  return next
}

// Records an update unchanged, as its sender predicted it.
function record(update: Received, next: Row): Effected {
  const { pieces, types, row, op, sent, player } = update
  const gen = nextGen(pieces.committed, pieces.epoch)
  if (row.lastClient !== player) {
    next.lastClient = player
    next.genBefore = row.gen
    next.byBefore = row.by
  }
  next.gen = gen
  next.by = player
  next.refused = NOBODY
  if (op.z !== null) next.zg = pieces.rules.levelGen(next.zg, gen)
  if (op.z !== null && next.z.length > LEVEL_LONG) return respace(update, next)
  const entry: Entry = { id: next.id, row: next, why: 'recorded', seq: sent.seq, reason: '' }
  return effected(types, [entry], { kind: 'recorded', gen })
}

// Shortens a level that is too long, and its neighbours' (O38).
function respace({ pieces, types, sent, player }: Received, crowded: Row): Effected {
  const rows = [...pieces.committed.rows.values()].map((row) =>
    row.id === crowded.id ? crowded : row,
  )
  const levels = respaceLevels(rows, crowded, mostAtOnce(types))
  let gen = nextGen(pieces.committed, pieces.epoch)
  const moved = rows.filter(({ id }) => levels.has(id)).toSorted(byLevel)
  const entries = moved.map((row): Entry => {
    const next = { ...byPrimary(row, gen++, player), z: levels.get(row.id)! }
    next.zg = next.gen
    const mine = row.id === crowded.id
    const answer = mine ? ({ why: 'clamped', seq: sent.seq } as const) : BY_PRIMARY
    return { id: row.id, row: next, reason: '', ...answer }
  })
  return effected(types, entries, { kind: 'clamped', gen: gen - 1 })
}

/** A row as updated by the primary: no player could predict it. */
export function byPrimary(row: Row, gen: number, by: number): Row {
  const next = copyRow(row)
  next.gen = gen
  next.by = by
  next.lastClient = 0
  next.genBefore = 0
  next.byBefore = 0
  next.refused = NOBODY
  return next
}

function recordByPrimary(update: Received, made: Row, why: 'clamped' | 'loose'): Effected {
  const { pieces, types, op, sent, player } = update
  const gen = nextGen(pieces.committed, pieces.epoch)
  const row = byPrimary(made, gen, player)
  if (op.z !== null) row.zg = gen
  if (op.z !== null && row.z.length > LEVEL_LONG) return respace(update, row)
  const entry: Entry = { id: row.id, row, why, seq: sent.seq, reason: '' }
  return effected(types, [entry], { kind: why === 'loose' ? 'recorded' : why, gen })
}

// Records an update of the primary before the sender's, which makes the latter stale (O40). It
// leaves the piece unchanged and makes no other player's update stale (O45).
function inapplicable({ pieces, types, row, sent, player }: Received, reason: string): Effected {
  const gen = nextGen(pieces.committed, pieces.epoch)
  const next = pieces.rules.refused(row, player, gen)
  const entry: Entry = { id: row.id, row: next, why: 'inapplicable', seq: sent.seq, reason }
  const outcome: Outcome = reason === HELD ? { kind: 'held', by: row.heldBy } : refusal(reason)
  return { ...effected(types, [entry], outcome), refused: true }
}

// Releases the pieces held by departed players. Those beyond one operation's limit wait.
function free(
  { committed, epoch }: Pieces,
  types: PieceTypes,
  players: readonly number[],
): Effected {
  let gen = nextGen(committed, epoch)
  const held = [...committed.rows.values()].filter(({ heldBy }) => players.includes(heldBy))
  const entries = held.slice(0, mostAtOnce(types)).map((row): Entry => {
    const next = { ...byPrimary(row, gen++, 0), heldBy: 0, lastReleased: 0 }
    return { id: row.id, row: next, reason: '', ...BY_PRIMARY }
  })
  const kind = entries.length === held.length ? 'recorded' : 'clamped'
  return effected(types, entries, { kind, gen: Math.max(committed.gen, gen - 1) })
}

// Most pieces that one operation may change, at their largest size.
function mostAtOnce(types: PieceTypes): number {
  const longest = types.reduce((most, { schema }) => Math.max(most, schema.bytesMax), 0)
  return Math.min(ENTRIES_MAX, Math.floor(ROWS_BYTES / (longest + ROW_BYTES)))
}

function effected(types: PieceTypes, entries: Entry[], outcome: Outcome): Effected {
  const { changes, news } = encodeEffects(types, entries)
  return { outcome: encodeOutcome(outcome), changes, news }
}

function refusal(reason: string): Outcome {
  return { kind: 'refused', reason }
}

function answer(outcome: Outcome): Effected {
  return { outcome: encodeOutcome(outcome), refused: true, changes: [], news: null }
}

function invalid(reason: string): Effected {
  return answer({ kind: 'bogus', reason })
}
