/**
 * Changes that actions make to pieces on the primary: several at once, and unpredictable ones
 * (deal, shuffle, capture). All changes of an action are one entry of the log.
 */

import { badValue, HoldfastError } from '../../machine.ts'
import type { Draft, Effects } from '../../kind/protocol/part.ts'
import type { Quantised } from '../../wire/fields/schema.ts'
import { encodeEffects, encodeDraws } from './changes.ts'
import { byPrimary } from './decide.ts'
import { initialFields, setRowFields, type Entry } from './messages.ts'
import {
  copyRow,
  nextGen,
  NOBODY,
  PIECE_ID_MAX,
  type Pieces,
  PIECES_MAX,
  type PieceTypes,
  type Row,
} from './state.ts'
import { digest } from '../../wire/digest.ts'

// Random draws of the primary. Each is the digest of a seed, the epoch and a count of draws, so
// earlier draws do not reveal the next. After a takeover the new primary continues with the same
// seed and count. After a recovery the count may be old, so the epoch is part of the digest.

/** A draw by its number: an integer in [0, sides), all equally likely. */
export function draw(seed: Uint8Array, epoch: number, number: number, sides: number): number {
  const bytes = new Uint8Array(seed.length + 12)
  const view = new DataView(bytes.buffer)
  bytes.set(seed)
  // Rejects values above the last multiple of `sides`, which would make low numbers likelier.
  const limit = 2 ** 32 - (2 ** 32 % sides)
  for (let attempt = 0; ; attempt++) {
    view.setUint32(seed.length, epoch)
    view.setUint32(seed.length + 4, number)
    view.setUint32(seed.length + 8, attempt)
    const found = new DataView(digest(bytes).buffer).getUint32(0)
    if (found < limit) return found % sides
  }
}

/** Most bytes of published changes of one action. */
const NEWS_MAX: number = 40 * 1024

/** The pieces as an action sees and changes them. */
export interface PieceDraft {
  /** All pieces, with the changes made so far. */
  rows(): Row[]
  get(id: number): Row | null
  /** @throws HoldfastError `bad-value` if there are too many */
  create(type: number, mask: number, fields: Quantised, z: string): Row
  change(id: number, mask: number, fields: Quantised): void
  hold(id: number, player: number): void
  level(id: number, z: string): void
  remove(id: number): void
  /** A fair, unpredictable integer in [0, sides). @throws HoldfastError `bad-value` */
  draw(sides: number): number
}

// The changes made so far; a removed piece has null for its row.
interface Made {
  readonly pieces: Pieces
  readonly types: PieceTypes
  readonly rows: Map<number, Row | null>
  readonly raised: Set<number>
  nextId: number
  draws: number
}

export function draft(
  pieces: Pieces,
  types: PieceTypes,
  part: number,
  player: number,
): Draft & { api: PieceDraft } {
  const { nextId, draws } = pieces.committed
  const made: Made = { pieces, types, rows: new Map(), raised: new Set(), nextId, draws }
  const api: PieceDraft = {
    rows: () => rowsOf(made),
    get: (id) => get(made, id),
    create: (type, mask, fields, z) => createRow(made, type, mask, fields, z),
    change: (id, mask, fields) => {
      const row = open(made, id)
      setRowFields(types[row.type]!, row, fields, mask)
    },
    hold: (id, by) => void Object.assign(open(made, id), { heldBy: by, lastReleased: 0 }),
    level: (id, z) => {
      open(made, id).z = z
      made.raised.add(id)
    },
    remove: (id) => {
      open(made, id)
      made.rows.set(id, null)
    },
    draw: (sides) => drawNumber(made, sides),
  }
  return {
    api,
    done: () => ({ part, ...effectsIn(made, player) }),
    spent: () => {
      if (made.draws === draws) return null
      return { part, changes: [encodeDraws(made.draws)], news: null }
    },
  }
}

function rowsOf({ pieces, rows }: Made): Row[] {
  const kept = [...pieces.committed.rows.values()].filter(({ id }) => !rows.has(id))
  return [...kept, ...[...rows.values()].filter((row) => row !== null)]
}

function get({ pieces, rows }: Made, id: number): Row | null {
  const row = rows.get(id)
  return row === undefined ? (pieces.committed.rows.get(id) ?? null) : row
}

// Returns a writable copy of the row.
function open(made: Made, id: number): Row {
  const row = get(made, id)
  if (!row) throw badValue(`there is no piece ${id}`)
  if (made.rows.has(id)) return row
  const copy = copyRow(row)
  made.rows.set(id, copy)
  return copy
}

function createRow(made: Made, type: number, mask: number, fields: Quantised, z: string): Row {
  const rules = made.types[type]!
  const count = rowsOf(made).length
  if (count >= PIECES_MAX) {
    throw new HoldfastError('full', `a session has ${PIECES_MAX} pieces at most: ${count}`)
  }
  if (made.nextId > PIECE_ID_MAX) {
    throw new HoldfastError('full', 'a session has run out of numbers for pieces')
  }
  const id = made.nextId++
  const none = {
    hidden: 0,
    gen: 0,
    by: 0,
    lastClient: 0,
    genBefore: 0,
    byBefore: 0,
    zg: 0,
    refused: NOBODY,
  }
  const row = { id, type, fields: initialFields(rules), z, heldBy: 0, lastReleased: 0, ...none }
  setRowFields(rules, row, fields, mask)
  made.rows.set(id, row)
  made.raised.add(id)
  return row
}

function drawNumber(made: Made, sides: number): number {
  if (!Number.isInteger(sides) || sides < 1 || sides > 2 ** 31) {
    throw badValue(`a draw is out of 1 to ${2 ** 31}: ${sides}`)
  }
  return draw(made.pieces.committed.seed, made.pieces.epoch, made.draws++, sides)
}

function effectsIn({ pieces, types, rows, raised, draws }: Made, player: number): Effects {
  const { committed, epoch } = pieces
  let gen = nextGen(committed, epoch)
  const entries: Entry[] = []
  for (const [id, made] of rows) {
    if (!made && !committed.rows.has(id)) continue
    const row = made && byPrimary(made, gen, player)
    if (row && raised.has(id)) row.zg = gen
    entries.push({ id, row, why: 'table', seq: 0, reason: '', gen })
    gen++
  }
  const { changes, news } = encodeEffects(types, entries)
  if (news && news.length > NEWS_MAX) {
    throw badValue(`an action changes ${NEWS_MAX} bytes of pieces: ${news.length}`)
  }
  return { changes: draws === committed.draws ? changes : [encodeDraws(draws), ...changes], news }
}
