/** The board on a canvas: all of it, as large as there is room. */

import type { ObjectHandle, Vec2 } from 'holdfast'
import { HEIGHT, INKS, type Pointer, type StrokeHandle, WIDTH } from './strokes.ts'

const PEN = 5

function scaleOf({ clientWidth, clientHeight }: HTMLCanvasElement): number {
  return Math.min(clientWidth / WIDTH, clientHeight / HEIGHT)
}

/** Where on the board a pointer is. */
export function placeOn(canvas: HTMLCanvasElement, event: PointerEvent): Vec2 {
  const { left, top, width, height } = canvas.getBoundingClientRect()
  const scale = scaleOf(canvas)
  const x = (event.clientX - left - (width - WIDTH * scale) / 2) / scale
  const y = (event.clientY - top - (height - HEIGHT * scale) / 2) / scale
  return [Math.min(WIDTH, Math.max(0, x)), Math.min(HEIGHT, Math.max(0, y))]
}

/** Draws all of it anew. */
export function draw(
  canvas: HTMLCanvasElement,
  strokes: readonly StrokeHandle[],
  pointers: readonly ObjectHandle<typeof Pointer.schema.fields>[],
): void {
  const dots = devicePixelRatio
  const [width, height] = [canvas.clientWidth * dots, canvas.clientHeight * dots]
  // A canvas that gets its size is empty.
  Object.assign(canvas, { width, height })
  const pen = canvas.getContext('2d')!
  const scale = scaleOf(canvas) * dots
  pen.translate((width - WIDTH * scale) / 2, (height - HEIGHT * scale) / 2)
  pen.scale(scale, scale)
  pen.fillStyle = '#fffdf8'
  pen.fillRect(0, 0, WIDTH, HEIGHT)
  Object.assign(pen, { lineWidth: PEN, lineCap: 'round', lineJoin: 'round' })
  for (const { state } of strokes) {
    pen.strokeStyle = INKS[state.ink]
    pen.stroke(pathOf(state.points))
  }
  for (const { state, mine } of pointers) {
    if (mine) continue
    pen.fillStyle = INKS[state.ink]
    pen.globalAlpha = 0.5
    pen.fill(circleAt(state.at))
    pen.globalAlpha = 1
  }
}

function pathOf(points: readonly Vec2[]): Path2D {
  const path = new Path2D()
  const [[x, y] = [0, 0]] = points
  path.moveTo(x, y)
  // A stroke of one point is a dot.
  for (const [left, top] of points) path.lineTo(left, top)
  return path
}

function circleAt([x, y]: Vec2): Path2D {
  const path = new Path2D()
  path.arc(x, y, 2 * PEN, 0, 7)
  return path
}
