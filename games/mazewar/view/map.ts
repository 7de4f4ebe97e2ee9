/** The maze from above, on a canvas: walls, who is not cloaked, what flies, and who one is. */

import { FACINGS, HEIGHT, isOpen, WIDTH } from '../rules/maze.ts'
import { colourOf, css, LINE } from './colours.ts'
import type { Body, Scene } from './scene.ts'

/** Between the edge of the canvas and the maze, in pixels. */
const MARGIN = 3

let walls: Path2D | null = null

/** Draws it as large as fits. @param me  whose eyes the view has */
export function paintMap(
  pen: CanvasRenderingContext2D,
  width: number,
  height: number,
  scene: Scene,
  me: number,
): void {
  const unit = Math.min((width - 2 * MARGIN) / WIDTH, (height - 2 * MARGIN) / HEIGHT)
  pen.save()
  pen.clearRect(0, 0, width, height)
  pen.translate((width - unit * WIDTH) / 2, (height - unit * HEIGHT) / 2)
  pen.scale(unit, unit)
  paintCone(pen, scene)
  pen.lineWidth = 1.1 / unit
  pen.strokeStyle = css(LINE, 0.55)
  walls ??= drawWalls()
  pen.stroke(walls)
  for (const body of scene.mapped) paintOne(pen, body, body.rat === me)
  pen.restore()
}

// Each wall once: the right and the lower one of each cell, and the frame.
function drawWalls(): Path2D {
  const path = new Path2D()
  path.rect(0, 0, WIDTH, HEIGHT)
  for (let at = 0; at < WIDTH * HEIGHT; at++) {
    const [x, y] = [at % WIDTH, Math.floor(at / WIDTH)]
    for (const side of FACINGS) {
      if (isOpen(at, side) || (side !== 1 && side !== 3)) continue
      path.moveTo(x + 1, y + 1)
      if (side === 1) path.lineTo(x, y + 1)
      else path.lineTo(x + 1, y)
    }
  }
  return path
}

function paintCone(pen: CanvasRenderingContext2D, { eye, rat }: Scene): void {
  if (!rat) return
  const light = pen.createRadialGradient(eye.x, eye.y, 0, eye.x, eye.y, 5)
  light.addColorStop(0, css(LINE, 0.22))
  light.addColorStop(1, css(LINE, 0))
  const ahead = eye.angle - Math.PI / 2
  pen.fillStyle = light
  pen.beginPath()
  pen.moveTo(eye.x, eye.y)
  pen.arc(eye.x, eye.y, 5, ahead - 0.5, ahead + 0.5)
  pen.fill()
}

function paintOne(pen: CanvasRenderingContext2D, body: Body, mine: boolean): void {
  const colour = colourOf(body.rat)
  pen.save()
  pen.translate(body.x, body.y)
  pen.rotate(body.angle)
  pen.fillStyle = css(mine && body.kind === 'rat' ? [255, 255, 255] : colour)
  pen.beginPath()
  if (body.kind === 'missile') pen.arc(0, 0, 0.17, 0, 2 * Math.PI)
  else {
    const size = mine ? 0.58 : 0.46
    pen.moveTo(0, -size)
    pen.lineTo(size * 0.85, size * 0.8)
    pen.lineTo(0, size * 0.4)
    pen.lineTo(-size * 0.85, size * 0.8)
  }
  pen.fill()
  pen.restore()
}
