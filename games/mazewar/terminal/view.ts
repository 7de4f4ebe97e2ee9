/** The view from the eye, in a terminal: lines of dots, shaded walls, eyeballs of half cells. */

import { blend, colourOf, GROUND, LINE, type Rgb } from '../view/colours.ts'
import { LOW } from '../view/canvas.ts'
import type { Body, Scene } from '../view/scene.ts'
import { FOCUS, look, type Panel, type Seen, WALL } from '../view/sight.ts'
import { createDots, type Dots, line, show } from './dots.ts'
import { type Area, type TerminalBuffer, put, write } from './buffer.ts'

/** Radius of an eyeball, in cells of the maze, and how far below the middle it floats. */
const BALL = 0.25
const SINKS = 0.06
const CEILING: Rgb = [10, 20, 20]
const FLOOR: Rgb = [15, 33, 29]

/** 24 bits. */
export function pack([red, green, blue]: Rgb): number {
  return (red << 16) | (green << 8) | blue
}

/** Draws a scene into a part of a buffer. */
export function paint(
  buffer: TerminalBuffer,
  area: Area,
  scene: Scene,
  nameOf: (rat: number) => string,
): void {
  const dots = createDots(area)
  const { panels, seen } = look(scene.eye, dots.wide / dots.high, scene.bodies)
  shade(buffer, dots, panels)
  for (const panel of panels) outline(dots, panel)
  show(dots, buffer, (light) => pack(blend(GROUND, LINE, light)))
  for (const one of seen) {
    if (one.thing.kind === 'missile') paintMissile(buffer, dots, one)
    else paintRat(buffer, dots, one, nameOf)
  }
}

// A place of the screen in dots: 1 is half the height.
function toDots(dots: Dots, x: number, y: number): readonly [number, number] {
  const unit = dots.high / 2
  return [dots.wide / 2 + x * unit - 0.5, unit + y * unit - 0.5]
}

function tall(near: number): number {
  return WALL * FOCUS * near
}

// What is behind the lines, cell by cell: a wall, the floor or the ceiling.
function shade(buffer: TerminalBuffer, dots: Dots, panels: readonly Panel[]): void {
  const { left, top, columns, lines } = dots.area
  const sorted = panels.toSorted((one, other) => one.left - other.left)
  let next = 0
  for (let column = 0; column < columns; column++) {
    const x = (2 * column + 1 - dots.wide / 2) / (dots.high / 2)
    while (next < sorted.length - 1 && sorted[next]!.right < x) next++
    const panel = sorted[next]
    const near = panel ? nearAt(panel, x) : 0
    const wall = blend(GROUND, LINE, (0.03 + 0.1 * near) * (0.55 + 0.45 * (panel?.face ?? 1)))
    for (let row = 0; row < lines; row++) {
      const y = (4 * row + 2) / (dots.high / 2) - 1
      const open = y < 0 ? blend(GROUND, CEILING, -y) : blend(GROUND, FLOOR, y)
      put(buffer, left + column, top + row, ' ', 0, pack(Math.abs(y) < tall(near) ? wall : open))
    }
  }
}

function nearAt({ left, right, leftNear, rightNear }: Panel, x: number): number {
  const share = right > left ? (x - left) / (right - left) : 0
  return Math.min(1, leftNear + Math.min(1, Math.max(0, share)) * (rightNear - leftNear))
}

function outline(dots: Dots, panel: Panel): void {
  const { left, right, leftNear, rightNear } = panel
  const light = lightAt((leftNear + rightNear) / 2)
  for (const side of [-1, 1]) {
    const from = toDots(dots, left, side * tall(leftNear))
    line(dots, from, toDots(dots, right, side * tall(rightNear)), light)
  }
  edge(dots, panel.leftEnd, left, leftNear)
  edge(dots, panel.rightEnd, right, rightNear)
}

function edge(dots: Dots, end: Panel['leftEnd'], x: number, near: number): void {
  if (end !== 'corner') return
  const from = toDots(dots, x, -tall(near))
  line(dots, from, toDots(dots, x, tall(near)), lightAt(near))
}

function lightAt(near: number): number {
  return Math.min(1, 0.3 + 0.8 * near)
}

function isSeen({ windows }: Seen<Body>, x: number): boolean {
  return windows.some(([left, right]) => x >= left && x <= right)
}

// The place of the screen that a column of cells is at.
function across(dots: Dots, column: number): number {
  return (2 * column + 1 - dots.wide / 2) / (dots.high / 2)
}

function paintMissile(buffer: TerminalBuffer, dots: Dots, one: Seen<Body>): void {
  const { left, top } = dots.area
  const [x, y] = toDots(dots, one.x, LOW * FOCUS * one.near)
  const [column, row] = [Math.round(x / 2 - 0.25), Math.round(y / 4 - 0.4)]
  const colour = pack(blend(colourOf(one.thing.rat), [255, 255, 255], 0.35))
  const reach = one.near > 0.8 ? 1 : 0
  for (let aside = -reach; aside <= reach; aside++) {
    const at = column + aside
    if (at < 0 || at >= dots.area.columns || !isSeen(one, across(dots, at))) continue
    const sign = aside === 0 ? (one.near > 0.3 ? '●' : '•') : '─'
    put(buffer, left + at, top + row, sign, colour)
  }
}

function paintRat(
  buffer: TerminalBuffer,
  dots: Dots,
  one: Seen<Body>,
  nameOf: (rat: number) => string,
): void {
  const { left, top, columns, lines } = dots.area
  const [x, y] = toDots(dots, one.x, SINKS * FOCUS * one.near)
  const radius = Math.max(1.4, (BALL * FOCUS * one.near * dots.high) / 2)
  const first = Math.max(0, Math.floor((x - radius) / 2))
  const last = Math.min(columns - 1, Math.floor((x + radius) / 2))
  for (let column = first; column <= last; column++) {
    if (!isSeen(one, across(dots, column))) continue
    for (let row = Math.max(0, Math.floor((y - radius) / 4)); row < lines; row++) {
      if (4 * row > y + radius) break
      const upper = ballAt(one, (2 * column + 1 - x) / radius, (4 * row + 1 - y) / radius)
      const lower = ballAt(one, (2 * column + 1 - x) / radius, (4 * row + 3 - y) / radius)
      half(buffer, left + column, top + row, upper, lower)
    }
  }
  if (1 / one.near > 7 || !isSeen(one, one.x)) return
  const name = nameOf(one.thing.rat)
  const start = Math.round(x / 2 - name.length / 2)
  const above = Math.floor((y - radius) / 4) - 1
  const room = Math.max(0, columns - Math.max(0, start))
  const ink = pack(colourOf(one.thing.rat))
  if (above >= 0) write(buffer, left + Math.max(0, start), top + above, name, ink, { width: room })
}

// An upper and a lower half of one cell.
function half(
  buffer: TerminalBuffer,
  x: number,
  y: number,
  upper: Rgb | null,
  lower: Rgb | null,
): void {
  if (upper && lower) put(buffer, x, y, '▀', pack(upper), pack(lower))
  else if (upper) put(buffer, x, y, '▀', pack(upper))
  else if (lower) put(buffer, x, y, '▄', pack(lower))
}

// The colour of an eyeball at a place of its disc; null beside it.
function ballAt(one: Seen<Body>, x: number, y: number): Rgb | null {
  const out = Math.hypot(x, y)
  if (out > 1) return null
  const colour = colourOf(one.thing.rat)
  const toUs = Math.cos(one.turn)
  if (toUs > -0.3) {
    const iris = Math.hypot((x + Math.sin(one.turn) * 0.78) / Math.max(0.3, Math.abs(toUs)), y)
    if (iris < 0.28) return [6, 10, 10]
    if (iris < 0.55) return blend(colour, [0, 0, 0], 0.2)
  } else if (out < 0.25) return blend(colour, [60, 10, 10], 0.6)
  if (out > 0.82) return colour
  const light = Math.hypot(x + 0.35, y + 0.35)
  return blend([250, 253, 250], blend([70, 92, 84], colour, 0.4), Math.min(1, light * 0.6))
}
