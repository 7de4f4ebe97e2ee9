/**
 * Chess: how a game stands, which moves there are, how it ends.
 *
 * Squares count from 0 at a8, row by row as white reads the board, to 63 at h1. A man is a letter:
 * `p n b r q k`, in capitals if it is white. A position is written in Forsyth-Edwards Notation.
 */

/** Who plays. */
export type Side = 'b' | 'w'

/** How a game stands. */
export interface Position {
  /** Square by square; `.` for nothing. */
  readonly cells: string
  readonly turn: Side
  /** Which castlings are still possible: of `KQkq`. */
  readonly castling: string
  /** The square that a pawn passed with its double step just now; -1 for none. */
  readonly passed: number
  /** Moves of both together since the last capture or pawn's move. */
  readonly quiet: number
  /** Counts from 1, and up with black's move. */
  readonly number: number
}

/** What a pawn may become. */
export const PROMOTIONS = ['q', 'r', 'b', 'n'] as const
/** See PROMOTIONS. */
export type Promotion = (typeof PROMOTIONS)[number]

/** One move. */
export interface Move {
  readonly from: number
  readonly to: number
  /** What a pawn becomes that reaches the last row; else empty. */
  readonly promotion: Promotion | ''
}

/** Steps across and down. */
type Way = readonly [across: number, down: number]

const STRAIGHT: readonly Way[] = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
]
const SLANT: readonly Way[] = [
  [1, 1],
  [1, -1],
  [-1, 1],
  [-1, -1],
]
const ALL = [...STRAIGHT, ...SLANT]
const JUMPS: readonly Way[] = [
  [1, 2],
  [2, 1],
  [-1, 2],
  [-2, 1],
  [1, -2],
  [2, -1],
  [-1, -2],
  [-2, -1],
]
/** How each man goes, but for pawns; and whether on and on. */
const WAYS: Readonly<Record<string, { readonly ways: readonly Way[]; readonly far: boolean }>> = {
  n: { ways: JUMPS, far: false },
  b: { ways: SLANT, far: true },
  r: { ways: STRAIGHT, far: true },
  q: { ways: ALL, far: true },
  k: { ways: ALL, far: false },
}
/** A castling: where the king goes from and to, and the rook. */
const CASTLINGS = [
  { right: 'K', from: 60, to: 62, rook: 63, beside: 61 },
  { right: 'Q', from: 60, to: 58, rook: 56, beside: 59 },
  { right: 'k', from: 4, to: 6, rook: 7, beside: 5 },
  { right: 'q', from: 4, to: 2, rook: 0, beside: 3 },
] as const
/** Castlings that are over when something leaves or reaches a square. */
const LOST: Readonly<Record<number, string>> = {
  0: 'q',
  4: 'kq',
  7: 'k',
  56: 'Q',
  60: 'KQ',
  63: 'K',
}

/** How a game begins. */
export const START: Position = {
  cells: `rnbqkbnr${'p'.repeat(8)}${'.'.repeat(32)}${'P'.repeat(8)}RNBQKBNR`,
  turn: 'w',
  castling: 'KQkq',
  passed: -1,
  quiet: 0,
  number: 1,
}

/** The other one. */
export function other(side: Side): Side {
  return side === 'b' ? 'w' : 'b'
}

/** Whose man that letter is; null for none. */
export function sideOf(man: string | undefined): Side | null {
  if (man === undefined || man === '.') return null
  return man === man.toUpperCase() ? 'w' : 'b'
}

/** Such as `e4`. */
export function squareName(square: number): string {
  return `${'abcdefgh'[square % 8]}${8 - Math.floor(square / 8)}`
}

/** The square so many steps away; -1 beyond the board. */
function step(square: number, [across, down]: Way): number {
  const column = (square % 8) + across
  const row = Math.floor(square / 8) + down
  return column < 0 || column > 7 || row < 0 || row > 7 ? -1 : row * 8 + column
}

/** All moves of whose turn it is. */
export function moves(position: Position): Move[] {
  const { cells, turn } = position
  const found: Move[] = []
  for (let from = 0; from < 64; from++) {
    if (sideOf(cells[from]) !== turn) continue
    if (cells[from]!.toLowerCase() === 'p') addPawn(position, from, found)
    else addMan(cells, from, found)
  }
  addCastlings(position, found)
  return found.filter((move) => !isInCheck(play(position, move), turn))
}

function addMan(cells: string, from: number, found: Move[]): void {
  const side = sideOf(cells[from])
  const { ways, far } = WAYS[cells[from]!.toLowerCase()]!
  for (const way of ways) {
    for (let to = step(from, way); to >= 0; to = step(to, way)) {
      const there = sideOf(cells[to])
      if (there !== side) found.push({ from, to, promotion: '' })
      if (there !== null || !far) break
    }
  }
}

function addPawn({ cells, turn, passed }: Position, from: number, found: Move[]): void {
  const down = turn === 'w' ? -1 : 1
  const add = (to: number): void => {
    const isLast = to < 8 || to >= 56
    for (const promotion of isLast ? PROMOTIONS : ['' as const]) found.push({ from, to, promotion })
  }
  const one = step(from, [0, down])
  if (one >= 0 && cells[one] === '.') {
    add(one)
    const two = step(one, [0, down])
    const isHome = Math.floor(from / 8) === (turn === 'w' ? 6 : 1)
    if (isHome && cells[two] === '.') add(two)
  }
  for (const across of [-1, 1]) {
    const to = step(from, [across, down])
    if (to >= 0 && (sideOf(cells[to]) === other(turn) || to === passed)) add(to)
  }
}

// The king leaves no check, passes none, and nothing stands between.
function addCastlings(position: Position, found: Move[]): void {
  const { cells, turn, castling } = position
  for (const { right, from, to, rook, beside } of CASTLINGS) {
    if (!castling.includes(right) || sideOf(right) !== turn) continue
    const [low, high] = [Math.min(from, rook), Math.max(from, rook)]
    if (!/^\.*$/.test(cells.slice(low + 1, high))) continue
    const rival = other(turn)
    if (isAttacked(cells, from, rival) || isAttacked(cells, beside, rival)) continue
    found.push({ from, to, promotion: '' })
  }
}

/** Whether a side could capture on that square. */
export function isAttacked(cells: string, square: number, by: Side): boolean {
  const is = (at: number, letters: string): boolean => {
    return at >= 0 && sideOf(cells[at]) === by && letters.includes(cells[at]!.toLowerCase())
  }
  const down = by === 'w' ? 1 : -1
  if ([-1, 1].some((across) => is(step(square, [across, down]), 'p'))) return true
  if (JUMPS.some((way) => is(step(square, way), 'n'))) return true
  if (ALL.some((way) => is(step(square, way), 'k'))) return true
  const sees = (way: Way, letters: string): boolean => {
    let at = step(square, way)
    while (at >= 0 && cells[at] === '.') at = step(at, way)
    return is(at, letters)
  }
  return STRAIGHT.some((way) => sees(way, 'rq')) || SLANT.some((way) => sees(way, 'bq'))
}

/** Whether a side's king is attacked. */
export function isInCheck({ cells }: Position, side: Side): boolean {
  return isAttacked(cells, cells.indexOf(side === 'w' ? 'K' : 'k'), other(side))
}

/** The square of the man that a move captures; -1 for none. */
export function capturedBy({ cells, turn, passed }: Position, { from, to }: Move): number {
  if (cells[to] !== '.') return to
  const isPassing = to === passed && cells[from]!.toLowerCase() === 'p'
  return isPassing ? step(to, [0, turn === 'w' ? 1 : -1]) : -1
}

/** The rook that goes along with a castling king. */
export function rookOf(
  position: Position,
  { from, to }: Move,
): { from: number; to: number } | null {
  if (position.cells[from]!.toLowerCase() !== 'k') return null
  const found = CASTLINGS.find((each) => each.from === from && each.to === to)
  return found ? { from: found.rook, to: found.beside } : null
}

/** The position after a move, which is one of `moves`. */
export function play(position: Position, move: Move): Position {
  const { turn, castling, quiet, number } = position
  const { from, to, promotion } = move
  const cells = position.cells.split('')
  const man = cells[from]!
  const captured = capturedBy(position, move)
  const rook = rookOf(position, move)
  if (captured >= 0) cells[captured] = '.'
  cells[from] = '.'
  cells[to] = promotion === '' ? man : turn === 'w' ? promotion.toUpperCase() : promotion
  if (rook) {
    cells[rook.to] = cells[rook.from]!
    cells[rook.from] = '.'
  }
  const isPawn = man.toLowerCase() === 'p'
  const lost = (LOST[from] ?? '') + (LOST[to] ?? '')
  return {
    cells: cells.join(''),
    turn: other(turn),
    castling: castling.replaceAll(/./g, (right) => (lost.includes(right) ? '' : right)),
    passed: isPawn && Math.abs(to - from) === 16 ? (from + to) / 2 : -1,
    quiet: isPawn || captured >= 0 ? 0 : quiet + 1,
    number: number + (turn === 'b' ? 1 : 0),
  }
}

/** In Forsyth-Edwards Notation. */
export function encode({ cells, turn, castling, passed, quiet, number }: Position): string {
  const rows = Array.from({ length: 8 }, (_, row) => cells.slice(row * 8, row * 8 + 8))
  const board = rows.map((row) => row.replaceAll(/\.+/g, (gap) => String(gap.length))).join('/')
  const square = passed < 0 ? '-' : squareName(passed)
  return `${board} ${turn} ${castling || '-'} ${square} ${quiet} ${number}`
}

/** What `encode` made; null for anything else, such as a board without its two kings. */
export function decode(text: unknown): Position | null {
  if (typeof text !== 'string' || text.length > 100) return null
  const found = /^([pnbrqkPNBRQK1-8/]+) ([bw]) (-|K?Q?k?q?) (-|[a-h][36]) (\d+) (\d+)$/.exec(text)
  if (!found) return null
  const [, board, turn, castling, square, quiet, number] = found
  const rows = board!.split('/').map((row) => {
    return row.replaceAll(/\d/g, (gap) => '.'.repeat(Number(gap)))
  })
  const cells = rows.join('')
  const isBoard = rows.length === 8 && rows.every((row) => row.length === 8)
  if (!isBoard || cells.split('K').length !== 2 || cells.split('k').length !== 2) return null
  return {
    cells,
    turn: turn as Side,
    castling: castling === '-' ? '' : castling!,
    passed: square === '-' ? -1 : (8 - Number(square![1])) * 8 + 'abcdefgh'.indexOf(square![0]!),
    quiet: Number(quiet),
    number: Number(number),
  }
}
