/** The men on the board: draughtsmen or chessmen, laid for a game or taken out at a free table. */

import type { Actor, GameTable, TablePiece } from 'holdfast'
import * as chess from './chess.ts'
import { Man } from './pieces.ts'
import { chessAt, squareAt } from './places.ts'
import { type Readable, record } from './records.ts'
import { gameOf, isDuel } from './seats.ts'

/** What the board is laid for. */
export type Board = 'draughts' | 'chess'
/** A man as an action has it. */
export type TableMan = TablePiece<typeof Man.schema.fields>

/** What a man is by the letter of chess; a draughtsman is 0. */
export const KINDS = '.pnbrqk'
/** What they are called, by their kinds. */
export const CHESSMEN = ['man', 'pawn', 'knight', 'bishop', 'rook', 'queen', 'king'] as const

/** All men. */
export function menOf(table: GameTable): TableMan[] {
  return table.all(Man).filter(({ state }) => !state.aside)
}

/** What the board on the table is laid for; null if there is none. */
export function boardOf(table: Readable): Board | null {
  const game = gameOf(table)
  if (isDuel(game)) return game
  const out = table.get('board')
  return out === 'chess' || out === 'draughts' ? out : null
}

/** Lays all men for the beginning of a game. @param law  the rules move them */
export function layMen(table: GameTable, board: Board, law: boolean): void {
  if (board === 'chess') return layChess(table, law)
  for (let square = 1; square <= 32; square++) {
    if (square > 12 && square <= 20) continue
    table.create(Man, { at: squareAt(square), white: square > 20, square, law })
  }
}

function layChess(table: GameTable, law: boolean): void {
  for (const [at, man] of chess.START.cells.split('').entries()) {
    if (man === '.') continue
    const kind = KINDS.indexOf(man.toLowerCase())
    const white = chess.sideOf(man) === 'w'
    table.create(Man, { at: chessAt(at + 1), kind, white, square: at + 1, law })
  }
}

/** Takes a board out onto the free table, with its men, or puts it away. */
export function board(table: GameTable, args: { out: Board | null }, by: Actor): void {
  if (gameOf(table) !== 'free') throw new RangeError('In this game the rules lay the board.')
  const out = args?.out ?? null
  if (out !== null && out !== 'draughts' && out !== 'chess') {
    throw new RangeError(`There are boards for draughts and chess, and not for "${String(out)}".`)
  }
  if (out === boardOf(table)) return
  for (const man of menOf(table)) man.remove()
  if (out === null) table.delete('board')
  else {
    layMen(table, out, false)
    table.set('board', out)
  }
  record(table, by.player, out ? `took out the board for ${out}` : 'put the board away')
}
