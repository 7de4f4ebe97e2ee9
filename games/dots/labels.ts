/** Where the names of dots are written: below them, or where others are, further off or above. */

import type { Vec2 } from 'holdfast'

/** A dot, in pixels, and its name. */
export interface Label {
  readonly x: number
  readonly y: number
  readonly text: string
}

/** The height of a line of text, in pixels. */
export const HEIGHT = 16
/** From the middle of a dot to the foot of its name, in pixels. */
const BELOW = 29
const ABOVE = 21
/** How many lines further a name goes at most. */
const LINES = 8

/**
 * Where the middle of the foot of each label is. None lies over another, unless there are more at
 * one place than the lines around it.
 *
 * @param widths  of the labels, in pixels
 * @param size    of the field
 */
export function place(
  labels: readonly Label[],
  widths: readonly number[],
  [width, height]: Vec2,
): Vec2[] {
  const taken: { left: number; right: number; foot: number }[] = []
  return labels.map(({ x, y }, at) => {
    const half = widths[at]! / 2 + 4
    const middle = Math.max(half, Math.min(width - half, x))
    const feet = Array.from({ length: LINES }, (_, line) => [
      y + BELOW + line * HEIGHT,
      y - ABOVE - line * HEIGHT,
    ]).flat()
    const inside = feet.filter((foot) => foot >= HEIGHT && foot <= height - 4)
    const isFree = (foot: number): boolean =>
      taken.every((other) => {
        const apart = Math.abs(other.foot - foot) >= HEIGHT
        return apart || other.right <= middle - half || other.left >= middle + half
      })
    const foot = inside.find(isFree) ?? inside[0] ?? y
    taken.push({ left: middle - half, right: middle + half, foot })
    return [middle, foot]
  })
}
