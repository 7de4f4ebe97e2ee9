/**
 * The maze: 32 by 16 cells with thin walls between them, so that all 512 places of the classic
 * wire are places to stand. It is our own. Turned by half a turn it is itself, so no corner is
 * better than another; it has no dead end, no closed cell, and no sight longer than ten cells.
 */

/** Up, down, left, right on the map: the two bits of the classic wire. */
export type Facing = 0 | 1 | 2 | 3

/** Cells from left to right. */
export const WIDTH = 32
/** Cells from top to bottom. */
export const HEIGHT = 16
/** How many cells there are. A place is y * WIDTH + x. */
export const CELLS = WIDTH * HEIGHT

/** All four ways. */
export const FACINGS: readonly Facing[] = [0, 1, 2, 3]

// A cell stands at every second column of every second line; what is drawn between is a wall.
const DRAWING = `
+-------------------+---------+-------------+-----------+-------+
|                   |         |             |           |       |
| +---+-+ +---+ +-+ | +---+ + | +-----+ + + | + + + +-+ + +---+ |
|     |   |     |   | |   | | |       | | | | | | |             |
| + + | + + +-+ + +-+ | + | | +-----+ | | + | | | | +-------+ + |
| | | | |           | | | | |       | | |   | | | |           | |
| + | | +---+ +---+ | | + | | + + + | | + + + + + | +-----+ + | |
|   | | |           | |   | | | | | | |   |       | |       | | |
+-+ | + | +-------+ | +-+ + | | + | | + +-+ +---+ | + +-+ +-+ | |
|   |   |         | |       | |   | |     |       |   |       | |
| +-+-+ +-----+ + | + + +---+ + + | + +-+ +-+---+-+-+ + +-----+ |
|               | |   | |       | |   |     |   |               |
| +-----------+ | + + | | +---+ | + + | +-+ + + | + +-----------+
|             | |   | | |       |   | |   |   | | |             |
| +-------+-+ | | +-+ | +---+ + + +-+ +-+ + +-+ | | + +-------+ |
| |       |   | |     |       |                 | | |         | |
| | +---+ + + | | +---+-------+---+-------+---+ | | + + +---+ | |
| |         | | |                 |       |     | |   |       | |
| +-------+ + | | +-+ + +-+ +-+ + + +---+ | +-+ | | +-+-------+ |
|             | | |   |   | |   |       | | |   | |             |
+-----------+ + | + + +-+ | + + | +---+ | | + + | +-----------+ |
|               |   |     |   | |       | |   | |               |
| +-----+ + +-+-+---+-+ +-+ + | + + +---+ + + | + +-----+ +-+-+ |
| |       |   |       |     | |   | |       | |         |   |   |
| | +-+ +-+ + | +---+ +-+ + | | + | | + +-+ | +-------+ | + | +-+
| | |       | |       |   | | | | | | |   | |           | | |   |
| | + +-----+ | + + + + + | | + + + | | + | | +---+ +---+ | | + |
| |           | | | |   | | |       | | | | |           | | | | |
| + +-------+ | | | | + | | +-----+ | | + | +-+ + +-+ + + | + + |
|             | | | | | | |       | | |   | |   |     |   |     |
| +---+ + +-+ + + + | + + +-----+ | + +---+ | +-+ +---+ +-+---+ |
|       |           |             |         |                   |
+-------+-----------+-------------+---------+-------------------+
`
  .trim()
  .split('\n')

const ASIDE: readonly number[] = [-WIDTH, WIDTH, -1, 1]
const LEFT: readonly Facing[] = [2, 3, 1, 0]

// Bit f of a cell: the way f is open.
const WAYS: Uint8Array = Uint8Array.from({ length: CELLS }, (_, at) => {
  const [column, line] = [2 * columnOf(at) + 1, 2 * lineOf(at) + 1]
  const sides = [
    DRAWING[line - 1]![column],
    DRAWING[line + 1]![column],
    DRAWING[line]![column - 1],
    DRAWING[line]![column + 1],
  ]
  return sides.reduce((ways, sign, facing) => ways | (sign === ' ' ? 1 << facing : 0), 0)
})

/** From the left, 0 to 31. */
export function columnOf(at: number): number {
  return at % WIDTH
}

/** From the top, 0 to 15. */
export function lineOf(at: number): number {
  return Math.floor(at / WIDTH)
}

/** Whether one can go from a cell that way. */
export function isOpen(at: number, facing: Facing): boolean {
  return ((WAYS[at]! >> facing) & 1) === 1
}

/** The cell behind the open side of a cell; null where a wall is. */
export function beyond(at: number, facing: Facing): number | null {
  return isOpen(at, facing) ? at + ASIDE[facing]! : null
}

/** Left of who looks there. */
export function leftOf(facing: Facing): Facing {
  return LEFT[facing]!
}

/** Right of who looks there. */
export function rightOf(facing: Facing): Facing {
  return back(LEFT[facing]!)
}

/** Behind who looks there. */
export function back(facing: Facing): Facing {
  return (facing ^ 1) as Facing
}

/** The way of the longest sight from a cell, the first of equals. */
export function widest(at: number): Facing {
  let best: Facing = 0
  for (const facing of FACINGS) if (sight(at, facing) > sight(at, best)) best = facing
  return best
}

/** How far one sees from a place to begin at, in cells: there is a way to go. */
const VIEW = 3
const VIEWS = Array.from({ length: CELLS }, (_, at) => at).filter((at) => {
  return sight(at, widest(at)) >= VIEW
})

/** A cell to begin at, and the way to look from there. @param chance  from 0 to below 1 */
export function beginning(chance: number): { at: number; facing: Facing } {
  const at = VIEWS[Math.floor(chance * VIEWS.length)]!
  return { at, facing: widest(at) }
}

/** How many cells one sees from a cell that way. */
export function sight(at: number, facing: Facing): number {
  let cells = 0
  for (let next = beyond(at, facing); next !== null; next = beyond(next, facing)) cells++
  return cells
}

/** A cell and a facing as people write them, such as `2,3`; null for what is none. */
export function readPlace(text: string): { at: number; facing: Facing } | null {
  const found = /^(\d{1,3}),([0-3])$/.exec(text)
  if (!found || Number(found[1]) >= CELLS) return null
  return { at: Number(found[1]), facing: Number(found[2]) as Facing }
}
