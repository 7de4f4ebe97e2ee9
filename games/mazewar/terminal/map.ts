/** The maze from above, in a terminal: walls of dots, and an arrow for who is not cloaked. */

import { FACINGS, HEIGHT, isOpen, WIDTH } from '../rules/maze.ts'
import { blend, colourOf, GROUND, LINE } from '../view/colours.ts'
import type { Body, Scene } from '../view/scene.ts'
import { createDots, line, show } from './dots.ts'
import { pack } from './view.ts'
import { type Area, type TerminalBuffer, put } from './buffer.ts'

const ARROWS = '▲▶▼◀'

/** How many columns and lines it takes. @param pitch  dots from wall to wall, 2 or more */
export function sizeOf(pitch: number): { columns: number; lines: number } {
  return {
    columns: Math.ceil((WIDTH * pitch + 1) / 2),
    lines: Math.ceil((HEIGHT * pitch + 1) / 4),
  }
}

/** Draws it. @param me  whose eyes the view has */
export function paintMap(
  buffer: TerminalBuffer,
  { left, top }: Area,
  pitch: number,
  scene: Scene,
  me: number,
): void {
  const dots = createDots({ left, top, ...sizeOf(pitch) })
  for (let at = 0; at < WIDTH * HEIGHT; at++) {
    const [x, y] = [(at % WIDTH) * pitch, Math.floor(at / WIDTH) * pitch]
    for (const side of FACINGS) {
      if (isOpen(at, side)) continue
      const far = side === 1 || side === 3
      if (side < 2) line(dots, [x, y + (far ? pitch : 0)], [x + pitch, y + (far ? pitch : 0)], 0.6)
      else line(dots, [x + (far ? pitch : 0), y], [x + (far ? pitch : 0), y + pitch], 0.6)
    }
  }
  show(dots, buffer, (light) => pack(blend(GROUND, LINE, light)))
  const order = scene.mapped.toSorted((one, other) => rank(one, me) - rank(other, me))
  for (const body of order) paintOne(buffer, left, top, pitch, body, body.rat === me)
}

// Ourselves last, above all others.
function rank({ kind, rat }: Body, me: number): number {
  return kind === 'missile' ? 0 : rat === me ? 2 : 1
}

function paintOne(
  buffer: TerminalBuffer,
  left: number,
  top: number,
  pitch: number,
  body: Body,
  mine: boolean,
): void {
  const x = left + Math.floor((body.x * pitch) / 2)
  const y = top + Math.floor((body.y * pitch) / 4)
  const quarter = ((Math.round(body.angle / (Math.PI / 2)) % 4) + 4) % 4
  const sign = body.kind === 'missile' ? '•' : ARROWS[quarter]!
  const white = mine && body.kind === 'rat'
  put(buffer, x, y, sign, pack(white ? [255, 255, 255] : colourOf(body.rat)))
}
