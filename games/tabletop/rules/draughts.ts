/**
 * English draughts. Black begins, at the top, on the squares 1 to 12; white is on 21 to 32.
 *
 * A move here is one step or one jump; who can jump on with the same man must, and the turn stays
 * until that is done. A man that reaches the last row becomes a king, and its move is over.
 */

/** Who plays. */
export type Side = 'b' | 'w'

/** Steps of kings without a capture or a man's move, of both together, after which it is a draw. */
export const QUIET_MAX = 80

/** How a game stands. */
export interface Position {
  /** Square by square from 1: `.` for nothing, `b` and `w` for men, `B` and `W` for kings. */
  readonly cells: string
  readonly turn: Side
  /** The square of the man that must jump on, or 0. */
  readonly mid: number
  /** Steps since the last capture or man's move. */
  readonly quiet: number
}

/** One step, or one jump. */
export interface Move {
  readonly from: number
  readonly to: number
  /** The square that is jumped over, or 0. */
  readonly over: number
}

/** What a move did. */
export interface Moved {
  readonly position: Position
  readonly over: number
  readonly crowned: boolean
}

/** How a game begins. */
export const START: Position = {
  cells: 'b'.repeat(12) + '.'.repeat(8) + 'w'.repeat(12),
  turn: 'b',
  mid: 0,
  quiet: 0,
}

const WHY: Readonly<Record<string, string>> = {
  none: 'There is no man on that square.',
  turn: 'It is not your turn.',
  mid: 'The man that jumped must jump on.',
  must: 'You can capture, so you must.',
  away: 'A man moves one square diagonally forward, a king also back.',
}

/** As a row of the table. */
export function encode({ cells, turn, mid, quiet }: Position): string {
  return `${cells} ${turn} ${mid} ${quiet}`
}

/** What `encode` made; null for anything else. */
export function decode(text: unknown): Position | null {
  if (typeof text !== 'string') return null
  const found = /^([.bBwW]{32}) ([bw]) (\d+) (\d+)$/.exec(text)
  if (!found) return null
  const [, cells, turn, mid, quiet] = found
  return { cells: cells!, turn: turn as Side, mid: Number(mid), quiet: Number(quiet) }
}

/** Whose man is on a square; null for nobody's. */
export function sideOf(position: Position, square: number): Side | null {
  const man = position.cells[square - 1]
  return man === undefined || man === '.' ? null : (man.toLowerCase() as Side)
}

/** The other one. */
export function other(side: Side): Side {
  return side === 'b' ? 'w' : 'b'
}

/** All moves of whose turn it is: captures alone, if there are any. */
export function moves(position: Position): Move[] {
  const { turn, mid } = position
  const own = squares().filter((square) => sideOf(position, square) === turn)
  const movers = mid === 0 ? own : [mid]
  const jumps = movers.flatMap((square) => jumpsFrom(position, square))
  return jumps.length > 0 || mid !== 0
    ? jumps
    : own.flatMap((square) => stepsFrom(position, square))
}

/** What a move does. @throws RangeError saying in a sentence why it is none */
export function play(position: Position, from: number, to: number): Moved {
  const { cells, turn } = position
  const all = moves(position)
  const move = all.find((each) => each.from === from && each.to === to)
  if (!move) throw new RangeError(WHY[faultOf(position, all, from)])
  const { over } = move
  const man = cells[from - 1]!
  const crowned = man === man.toLowerCase() && rowOf(to) === (turn === 'b' ? 7 : 0)
  const after = cells.split('')
  after[from - 1] = '.'
  if (over !== 0) after[over - 1] = '.'
  after[to - 1] = crowned ? man.toUpperCase() : man
  const isQuiet = over === 0 && man !== man.toLowerCase()
  const quiet = isQuiet ? position.quiet + 1 : 0
  const same = { cells: after.join(''), turn, mid: 0, quiet }
  const goesOn = over !== 0 && !crowned && jumpsFrom(same, to).length > 0
  const next = goesOn ? { ...same, mid: to } : { ...same, turn: other(turn) }
  return { position: next, over, crowned }
}

/** How it ended: who has no move loses; null while it goes on. */
export function ended(position: Position): Side | 'draw' | null {
  if (moves(position).length === 0) return other(position.turn)
  return position.quiet >= QUIET_MAX ? 'draw' : null
}

function faultOf(position: Position, all: readonly Move[], from: number): string {
  const side = sideOf(position, from)
  if (side === null) return 'none'
  if (side !== position.turn) return 'turn'
  if (position.mid !== 0) return 'mid'
  return all.some(({ over }) => over !== 0) ? 'must' : 'away'
}

function jumpsFrom(position: Position, from: number): Move[] {
  const enemy = other(position.turn)
  return ways(position, from).flatMap((way) => {
    const over = beyond(from, way, 1)
    const to = beyond(from, way, 2)
    const isJump = to !== 0 && sideOf(position, over) === enemy && sideOf(position, to) === null
    return isJump ? [{ from, to, over }] : []
  })
}

function stepsFrom(position: Position, from: number): Move[] {
  return ways(position, from).flatMap((way) => {
    const to = beyond(from, way, 1)
    return to !== 0 && sideOf(position, to) === null ? [{ from, to, over: 0 }] : []
  })
}

function ways({ cells }: Position, from: number): (readonly [number, number])[] {
  const man = cells[from - 1]
  const down =
    man !== 'w'
      ? ([
          [1, -1],
          [1, 1],
        ] as const)
      : []
  const up =
    man !== 'b'
      ? ([
          [-1, -1],
          [-1, 1],
        ] as const)
      : []
  return [...down, ...up]
}

function beyond(from: number, [down, right]: readonly [number, number], steps: number): number {
  const row = rowOf(from) + down * steps
  const column = columnOf(from) + right * steps
  if (row < 0 || row > 7 || column < 0 || column > 7) return 0
  return row * 4 + Math.floor(column / 2) + 1
}

function rowOf(square: number): number {
  return Math.floor((square - 1) / 4)
}

function columnOf(square: number): number {
  return ((square - 1) % 4) * 2 + (rowOf(square) % 2 === 0 ? 1 : 0)
}

function squares(): number[] {
  return Array.from({ length: 32 }, (_, index) => index + 1)
}
