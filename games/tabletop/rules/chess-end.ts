/** How a game of chess ends, with what has to be remembered of its moves for that. */

import { isInCheck, type Move, moves, play, type Position, squareName } from './chess.ts'

/** So many moves of both together without a capture or a pawn's move are a draw. */
export const QUIET_MAX = 100
/** A position that stands for so many times is a draw. */
export const REPEATS_MAX = 3

/** Why a game is over. */
export type Ending = 'mate' | 'stalemate' | 'quiet' | 'material' | 'repeated'

/** Why a game is over; null while it goes on. @param repeats  how often it stood like this */
export function ended(position: Position, repeats: number): Ending | null {
  if (moves(position).length === 0) return isInCheck(position, position.turn) ? 'mate' : 'stalemate'
  if (!canMate(position)) return 'material'
  if (position.quiet >= QUIET_MAX) return 'quiet'
  return repeats >= REPEATS_MAX ? 'repeated' : null
}

// Nobody can mate with a knight or a bishop alone, nor with bishops all on one colour.
function canMate({ cells }: Position): boolean {
  const men = [...cells.matchAll(/[^.kK]/g)].map((found) => ({ man: found[0], at: found.index }))
  if (men.length <= 1) return !men.every(({ man }) => /[bn]/i.test(man))
  const colours = new Set(men.map(({ at }) => (at + Math.floor(at / 8)) % 2))
  return colours.size > 1 || men.some(({ man }) => !/b/i.test(man))
}

/** The moves since a position, as a row of the table: such as `g1f3 g8f6`. */
export function lineWith(line: string, { from, to }: Move): string {
  return `${line} ${squareName(from)}${squareName(to)}`.trim()
}

/** How often the last position of a line has stood in it. @param base  where the line begins */
export function repeatsOf(base: Position, line: string): number {
  const stood = new Map<string, number>()
  let now = base
  let last = note(stood, now)
  for (const [from, to] of readLine(line)) {
    now = play(now, { from, to, promotion: '' })
    last = note(stood, now)
  }
  return last
}

function note(stood: Map<string, number>, position: Position): number {
  const { cells, turn, castling } = position
  const key = `${cells} ${turn} ${castling} ${canPass(position) ? position.passed : ''}`
  const times = (stood.get(key) ?? 0) + 1
  stood.set(key, times)
  return times
}

// A passed square that no pawn can take on makes no other position.
function canPass(position: Position): boolean {
  const { cells, passed } = position
  if (passed < 0) return false
  return moves(position).some(({ from, to }) => to === passed && /p/i.test(cells[from]!))
}

function readLine(line: string): [from: number, to: number][] {
  return [...line.matchAll(/([a-h])([1-8])([a-h])([1-8])/g)].map(([, a, b, c, d]) => {
    return [square(a!, b!), square(c!, d!)]
  })
}

function square(column: string, row: string): number {
  return (8 - Number(row)) * 8 + 'abcdefgh'.indexOf(column)
}
