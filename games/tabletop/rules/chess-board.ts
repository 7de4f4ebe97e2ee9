/**
 * Chess on the table: a move of a man, what it captures, how the game ends.
 *
 *     chess        how it stands
 *     chess.base   how it stood after the last capture, pawn's move or castling right lost
 *     chess.line   the moves since
 */

import type { Actor, GameTable } from 'holdfast'
import * as chess from './chess.ts'
import { type Ending, ended, lineWith, QUIET_MAX, REPEATS_MAX, repeatsOf } from './chess-end.ts'
import { end, runClock } from './clock.ts'
import { checkGoing, checkTurn, chessOf, other, playerOf, SIDES } from './duel.ts'
import { KINDS, menOf, type TableMan } from './men.ts'
import { Man } from './pieces.ts'
import { capturedAt, chessAt } from './places.ts'
import { record } from './records.ts'
import { need } from './seats.ts'

const NAMES: Readonly<Record<string, string>> = {
  p: '',
  n: 'knight ',
  b: 'bishop ',
  r: 'rook ',
  q: 'queen ',
  k: 'king ',
}

/**
 * Moves a man.
 *
 * @param args.to  its square, from 1
 * @param args.promotion  what a pawn becomes on the last row: q, r, b or n
 */
export function moveChessman(
  table: GameTable,
  args: { man: string; to: number; promotion?: string },
  by: Actor,
): void {
  need(table, 'chess')
  checkGoing(table)
  const man = table.find(Man, args?.man)
  // Off the board it has no square.
  if (!man || man.state.aside || man.state.square === 0) {
    throw new RangeError(`There is no man ${args?.man} on this board.`)
  }
  checkTurn(table, man.state.white ? 'w' : 'b', by.player)
  const before = chessOf(table)
  const move = find(before, man.state.square - 1, args)
  const after = chess.play(before, move)
  const captured = carry(table, before, man, move)
  table.set('chess', chess.encode(after))
  table.set('last', `${move.from + 1} ${move.to + 1}`)
  table.delete('draw')
  const repeats = remember(table, before, after, move)
  record(table, by.player, wordsOf(before, after, move, captured))
  runClock(table, after.turn)
  const why = ended(after, repeats)
  if (why) conclude(table, why, before.turn)
}

function find(
  position: chess.Position,
  from: number,
  args: { to: number; promotion?: string },
): chess.Move {
  const to = Number(args.to) - 1
  const there = chess.moves(position).filter((move) => move.from === from && move.to === to)
  if (there.length === 0) throw new RangeError(whyNot(position, from, to))
  const found = there.find(({ promotion }) => promotion === (args.promotion ?? ''))
  if (found) return found
  throw new RangeError('Say what the pawn becomes: a queen, a rook, a bishop or a knight.')
}

function whyNot(position: chess.Position, from: number, to: number): string {
  const { cells, turn } = position
  const man = cells[from]!.toLowerCase()
  const name = man === 'p' ? 'pawn' : NAMES[man]!.trim()
  if (!(to >= 0 && to < 64)) return 'There is no such square.'
  if (chess.isInCheck(position, turn)) return `Your king is in check, and this does not help it.`
  return `The ${name} cannot go from ${chess.squareName(from)} to ${chess.squareName(to)}.`
}

// The men on the table follow. @returns whether one was captured
function carry(table: GameTable, before: chess.Position, man: TableMan, move: chess.Move): boolean {
  const captured = chess.capturedBy(before, move)
  const rook = chess.rookOf(before, move)
  if (captured >= 0) capture(table, captured + 1)
  if (rook) place(manOn(table, rook.from + 1), rook.to + 1)
  place(man, move.to + 1)
  if (move.promotion !== '') man.set({ kind: KINDS.indexOf(move.promotion) })
  man.raise()
  return captured >= 0
}

function place(man: TableMan | undefined, square: number): void {
  man?.hold(0)
  man?.set({ at: chessAt(square), square })
}

function manOn(table: GameTable, square: number): TableMan | undefined {
  return menOf(table).find(({ state }) => state.square === square)
}

function capture(table: GameTable, square: number): void {
  const man = manOn(table, square)
  if (!man) return
  const { white } = man.state
  const gone = menOf(table).filter(({ state }) => state.white === white && state.square === 0)
  man.hold(0)
  man.set({ at: capturedAt(white, gone.length, 38), square: 0 })
}

// @returns how often it stood like this
function remember(
  table: GameTable,
  before: chess.Position,
  after: chess.Position,
  move: chess.Move,
): number {
  if (after.quiet === 0 || after.castling !== before.castling) {
    table.set('chess.base', chess.encode(after))
    table.set('chess.line', '')
    return 1
  }
  const line = lineWith(String(table.get('chess.line') ?? ''), move)
  table.set('chess.line', line)
  return repeatsOf(chess.decode(table.get('chess.base')) ?? chess.START, line)
}

function wordsOf(
  before: chess.Position,
  after: chess.Position,
  move: chess.Move,
  captured: boolean,
): string {
  const man = before.cells[move.from]!.toLowerCase()
  const check = chess.isInCheck(after, after.turn) ? ', check' : ''
  if (chess.rookOf(before, move)) return `castled ${move.to % 8 === 6 ? 'short' : 'long'}${check}`
  const [from, to] = [chess.squareName(move.from), chess.squareName(move.to)]
  const crown = move.promotion === '' ? '' : ` and promoted to a ${NAMES[move.promotion]!.trim()}`
  return `moved ${NAMES[man]}${from}${captured ? '×' : '–'}${to}${crown}${check}`
}

function conclude(table: GameTable, why: Ending, mover: chess.Side): void {
  const [winner, loser] = [playerOf(table, mover), playerOf(table, other(mover))]
  if (why === 'mate') {
    return end(table, winner, `{${winner}} wins with ${SIDES[mover]}: {${loser}} is checkmate.`)
  }
  end(table, 0, DRAWS[why])
}

const DRAWS: Readonly<Record<Exclude<Ending, 'mate'>, string>> = {
  stalemate: 'A draw: stalemate.',
  material: 'A draw: nobody has enough men left to win.',
  quiet: `A draw: ${QUIET_MAX / 2} moves each without a capture or a pawn’s move.`,
  repeated: `A draw: the men stood like this ${REPEATS_MAX} times.`,
}
