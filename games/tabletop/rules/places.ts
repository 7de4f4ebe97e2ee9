/** Where things lie on the table, and where what is put down comes to lie. */

import type { Vec2 } from 'holdfast'

/** The table, in units of its own; a card is 100 wide. */
export const TABLE: Vec2 = [1400, 860]
/** Width and height of a card. */
export const CARD: Vec2 = [100, 140]
/** The middle of the pick-up deck and of the discard pile. */
export const DECK: Vec2 = [965, 380]
/** See DECK. */
export const DISCARD: Vec2 = [1105, 380]
/** How near a pile a card must be put down to come to lie on it. */
export const PILE_REACH = 48
/** Width of a square of the board. */
export const SQUARE = 76
/** The upper left corner of the board's squares. */
export const BOARD: Vec2 = [62, 126]
/** Radius of a man. */
export const MAN = 31
/** Width of a die. */
export const DIE = 46
/** Width and height of a counter. */
export const COUNTER: Vec2 = [132, 46]
/** Radius of a token. */
export const TOKEN = 22
/** Where the dice lie at first. */
export const DICE: readonly Vec2[] = [
  [1150, 100],
  [1215, 100],
]

/** Where things lie that are taken out of the box, in the order of their choice. */
export const SPOTS: readonly Vec2[] = [175, 235, 570, 630, 690, 750].flatMap((y) =>
  Array.from({ length: 7 }, (_, column): Vec2 => [830 + column * 62, y]),
)

/** A part of the table to look at. */
export interface Region {
  readonly from: Vec2
  readonly to: Vec2
}

/** All of it; where things lie at first, for a window that stands upright; cards; board; piles. */
export const REGIONS: Readonly<
  Record<'free' | 'upright' | 'cards' | 'draughts' | 'eights', Region>
> = {
  free: { from: [-40, -40], to: [TABLE[0] + 40, TABLE[1] + 40] },
  upright: { from: [24, 40], to: [1276, 800] },
  cards: { from: [760, 120], to: [1380, 740] },
  draughts: { from: [20, 14], to: [712, 846] },
  eights: { from: [770, 190], to: [1300, 570] },
}

/** On the table, and nowhere else. */
export function clampPlace([x, y]: Vec2): Vec2 {
  return [Math.min(TABLE[0], Math.max(0, x)), Math.min(TABLE[1], Math.max(0, y))]
}

/** Whether a card put down here comes to lie on that pile. */
export function isNear([x, y]: Vec2, pile: Vec2): boolean {
  return Math.abs(x - pile[0]) <= PILE_REACH && Math.abs(y - pile[1]) <= PILE_REACH * 1.3
}

/** Whether something lies exactly there. */
export function isAt([x, y]: Vec2, place: Vec2): boolean {
  return Math.abs(x - place[0]) < 1 && Math.abs(y - place[1]) < 1
}

/** The middle of a dark square, 1 to 32 as draughts count them, from the upper left. */
export function squareAt(square: number): Vec2 {
  const row = Math.floor((square - 1) / 4)
  const column = ((square - 1) % 4) * 2 + (row % 2 === 0 ? 1 : 0)
  return [BOARD[0] + (column + 0.5) * SQUARE, BOARD[1] + (row + 0.5) * SQUARE]
}

/** The dark square under a place; 0 for none. */
export function squareUnder([x, y]: Vec2): number {
  const column = Math.floor((x - BOARD[0]) / SQUARE)
  const row = Math.floor((y - BOARD[1]) / SQUARE)
  if (column < 0 || column > 7 || row < 0 || row > 7 || (column + row) % 2 === 0) return 0
  return row * 4 + Math.floor(column / 2) + 1
}

/** The middle of a square of chess, 1 to 64 row by row from the upper left. */
export function chessAt(square: number): Vec2 {
  const [column, row] = [(square - 1) % 8, Math.floor((square - 1) / 8)]
  return [BOARD[0] + (column + 0.5) * SQUARE, BOARD[1] + (row + 0.5) * SQUARE]
}

/** The square of chess under a place; 0 for none. */
export function chessUnder([x, y]: Vec2): number {
  const column = Math.floor((x - BOARD[0]) / SQUARE)
  const row = Math.floor((y - BOARD[1]) / SQUARE)
  return column < 0 || column > 7 || row < 0 || row > 7 ? 0 : row * 8 + column + 1
}

/** Where the rules have a man. @param man.kind  0 for one of draughts */
export function homeOf({ kind, square }: { kind: number; square: number }): Vec2 {
  return kind === 0 ? squareAt(square) : chessAt(square)
}

/** Where the man lies that was captured as that one of a colour, from 0. */
export function capturedAt(white: boolean, count: number, apart = 51): Vec2 {
  const x = BOARD[0] + 24 + count * apart
  return [x, white ? BOARD[1] - 66 : BOARD[1] + 8 * SQUARE + 66]
}

/** Where a man comes to lie that is put down freely: in the middle of a square of the board. */
export function manAt(at: Vec2): Vec2 {
  const [x, y] = [(at[0] - BOARD[0]) / SQUARE, (at[1] - BOARD[1]) / SQUARE]
  if (x < 0 || y < 0 || x >= 8 || y >= 8) return clampPlace(at)
  return [BOARD[0] + (Math.floor(x) + 0.5) * SQUARE, BOARD[1] + (Math.floor(y) + 0.5) * SQUARE]
}
