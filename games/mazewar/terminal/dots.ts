/**
 * Dots that are finer than the cells of a terminal: the signs of Braille have two by four each, so
 * a line on a screen of 80 columns has 160 dots from left to right. A cell has one ink: that of the
 * brightest that was drawn there.
 */

import { type Area, type TerminalBuffer, put } from './buffer.ts'

/** Dots of a part of a buffer. */
export interface Dots {
  readonly area: Area
  readonly wide: number
  readonly high: number
  /** Bits of each cell's sign. */
  readonly bits: Uint8Array
  /** How bright each cell is, 0 to 1. */
  readonly lights: Float32Array
}

const BRAILLE = 0x2800
// What a line that comes from far away may be off.
const HAIR = 1e-6
// The bit of a dot, by line and column of its cell.
const BITS: readonly (readonly [number, number])[] = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
]

/** None are set. */
export function createDots(area: Area): Dots {
  const size = area.columns * area.lines
  const [wide, high] = [area.columns * 2, area.lines * 4]
  return { area, wide, high, bits: new Uint8Array(size), lights: new Float32Array(size) }
}

/** One dot; beside the area there are none. */
export function dot(dots: Dots, x: number, y: number, light: number): void {
  const [column, line] = [Math.floor(x), Math.floor(y)]
  if (column < 0 || line < 0 || column >= dots.wide || line >= dots.high) return
  const i = (line >> 2) * dots.area.columns + (column >> 1)
  dots.bits[i]! |= BITS[line & 3]![column & 1]!
  dots.lights[i] = Math.max(dots.lights[i]!, light)
}

/** A line from place to place, however far beside the area it ends. */
export function line(
  dots: Dots,
  from: readonly [number, number],
  to: readonly [number, number],
  light: number,
): void {
  const clipped = clip(from, to, dots)
  if (!clipped) return
  const [x, y, right, down] = clipped
  const steps = Math.max(1, Math.ceil(Math.max(Math.abs(right), Math.abs(down))))
  for (let i = 0; i <= steps; i++) {
    dot(dots, x + (right * i) / steps + HAIR, y + (down * i) / steps + HAIR, light)
  }
}

// The part of a line inside, as a place and a way; after Liang and Barsky.
function clip(
  [x, y]: readonly [number, number],
  to: readonly [number, number],
  { wide, high }: Dots,
): readonly [number, number, number, number] | null {
  const [right, down] = [to[0] - x, to[1] - y]
  let [from, until] = [0, 1]
  for (const [way, room] of [
    [-right, x],
    [right, wide - 1 - x],
    [-down, y],
    [down, high - 1 - y],
  ] as const) {
    if (way === 0 && room < 0) return null
    if (way < 0) from = Math.max(from, room / way)
    else if (way > 0) until = Math.min(until, room / way)
  }
  if (from > until) return null
  return [x + from * right, y + from * down, (until - from) * right, (until - from) * down]
}

/** Puts the signs on the buffer. @param inkOf  the colour of a light */
export function show(dots: Dots, buffer: TerminalBuffer, inkOf: (light: number) => number): void {
  const { left, top, columns } = dots.area
  for (let i = 0; i < dots.bits.length; i++) {
    const bits = dots.bits[i]!
    if (bits === 0) continue
    const sign = String.fromCodePoint(BRAILLE + bits)
    put(buffer, left + (i % columns), top + Math.floor(i / columns), sign, inkOf(dots.lights[i]!))
  }
}
