/** Whose turn it is in the game on the table, and where a man on the board may go now. */

import type { Session, Vec2 } from 'holdfast'
import * as chess from './rules/chess.ts'
import { moves } from './rules/draughts.ts'
import { chessOf, playerOf, positionOf, turnOf } from './rules/duel.ts'
import * as eights from './rules/eights.ts'
import { chessAt, chessUnder, squareAt, squareUnder } from './rules/places.ts'
import { isOn, roundOf } from './rules/round.ts'
import { endOf, gameOf, isDuel, seatsOf } from './rules/seats.ts'

/** Whether it is the turn of that player. */
export function isTurnOf(session: Session, player: number): boolean {
  if (endOf(session.table)) return false
  const game = gameOf(session.table)
  if (game === 'eights') {
    const round = roundOf(session.table)
    return round !== null && isOn(session.table) && eights.playerOf(round) === player
  }
  if (!isDuel(game) || seatsOf(session.table).includes(0)) return false
  return playerOf(session.table, turnOf(session.table)) === player
}

/** The squares to which the man on one may go. */
export function waysFrom(session: Session, square: number): number[] {
  if (gameOf(session.table) !== 'chess') {
    return moves(positionOf(session.table)).flatMap(({ from, to }) => (from === square ? [to] : []))
  }
  const all = chessMoves(session).filter(({ from }) => from === square - 1)
  return [...new Set(all.map(({ to }) => to + 1))]
}

// Asked for each man at each frame, and found once for a position.
let known: { text: string; moves: chess.Move[] } | null = null

function chessMoves(session: Session): chess.Move[] {
  const position = chessOf(session.table)
  const text = chess.encode(position)
  if (known?.text !== text) known = { text, moves: chess.moves(position) }
  return known.moves
}

/** Whether a pawn that goes there has to become something else. */
export function isPromoted(session: Session, square: number, to: number): boolean {
  if (gameOf(session.table) !== 'chess') return false
  return chessMoves(session).some((move) => {
    return move.from === square - 1 && move.to === to - 1 && move.promotion !== ''
  })
}

/** The square of the game's board under a place; 0 for none. */
export function squareBelow(session: Session, at: Vec2): number {
  return gameOf(session.table) === 'chess' ? chessUnder(at) : squareUnder(at)
}

/** The middle of a square of the game's board. */
export function middleOf(session: Session, square: number): Vec2 {
  return gameOf(session.table) === 'chess' ? chessAt(square) : squareAt(square)
}
