/**
 * What lay on the table before it was cleared lies aside for a minute, so that anybody may take the
 * clearing back. Nobody sees or moves what lies aside, and nobody learns anything from it.
 *
 *     old.until     until when, in session time
 *     old.timer     the timer that puts it away for good
 *     old.by        who cleared the table
 *     old.runs      whose time ran
 *     old.row.KEY   rows of the game
 */

import type { Actor, GameTable } from 'holdfast'
import { runClock, stopClock } from './clock.ts'
import { letGo } from './kept.ts'
import { Card, Die, Man, Token } from './pieces.ts'
import { numberOf, type Readable, record } from './records.ts'
import { endSearch } from './search.ts'
import { clearRows, gameOf } from './seats.ts'

/** So long a clearing can be taken back, in milliseconds. */
export const UNDO_MS = 60_000
/** The action that runs then. */
export const SWEEP = 'sweep'

/** Beginnings of the rows that a game consists of. */
const ROWS = [
  ...[
    'game',
    'board',
    'draughts',
    'chess',
    'eights',
    'seat.',
    'score.',
    'draw',
    'end',
    'first',
    'last',
  ],
  ...['clock', 'name.', 'jokers'],
]

type Pieces = ReturnType<GameTable['all']>

function piecesOf(table: GameTable): Pieces {
  return [Card, Man, Die, Token].flatMap(
    (type) => table.all(type as typeof Die) as unknown as Pieces,
  )
}

function isAside({ state }: Pieces[number]): boolean {
  return (state as { aside?: boolean }).aside === true
}

/** Clears the table: all there is lies aside from now on. */
export function clear(table: GameTable, by: number): void {
  putAway(table)
  endSearch(table)
  const runs = table.get('clock.runs')
  stopClock(table)
  const rows = ROWS.flatMap((beginning) => table.keys(beginning))
  if (gameOf(table) !== null) {
    for (const key of rows) table.set(`old.row.${key}`, table.get(key)!)
    if (runs !== undefined) table.set('old.runs', runs)
    table.set('old.by', by)
    table.set('old.until', Math.ceil(table.now + UNDO_MS))
    table.set('old.timer', table.later(UNDO_MS, SWEEP))
  }
  for (const piece of piecesOf(table)) {
    piece.hold(0)
    piece.set({ aside: true })
  }
  letGo(table)
  clearRows(table, ...ROWS)
}

/** What lies aside is put away for good. Run by the table's own timer. */
export function sweep(table: GameTable, _nothing: unknown, by: Actor): void {
  if (by.player !== 0) throw new RangeError('The table says when that is over.')
  putAway(table)
}

function putAway(table: GameTable): void {
  table.cancel(numberOf(table.get('old.timer')))
  for (const piece of piecesOf(table)) if (isAside(piece)) piece.remove()
  clearRows(table, 'old.')
}

/** Takes the last clearing back: all lies as it lay. */
export function takeBack(table: GameTable, _nothing: unknown, by: Actor): void {
  if (table.get('old.until') === undefined) {
    throw new RangeError('That can be taken back for a minute only.')
  }
  stopClock(table)
  letGo(table)
  clearRows(table, ...ROWS)
  for (const piece of piecesOf(table)) {
    if (isAside(piece)) piece.set({ aside: false })
    else piece.remove()
  }
  const beginning = 'old.row.'
  for (const key of table.keys(beginning)) {
    table.set(key.slice(beginning.length), table.get(key)!)
  }
  for (const key of table.keys('name.')) table.keep(Number(key.slice('name.'.length)))
  const runs = table.get('old.runs')
  if (typeof runs === 'string') runClock(table, runs)
  table.cancel(numberOf(table.get('old.timer')))
  clearRows(table, 'old.')
  record(table, by.player, 'took the clearing back')
}

/** Who cleared the table, while that can be taken back; null if it cannot. */
export function clearedBy(table: Readable, now: number): number | null {
  const until = table.get('old.until')
  return typeof until === 'number' && now < until ? numberOf(table.get('old.by')) : null
}
