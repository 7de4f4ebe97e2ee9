/**
 * What an eye in the maze sees, as flat figures that a painter only has to draw: one-point
 * corridors, as they were drawn in the 1970s, but exact from any place and at any angle, so that
 * steps and turns can be shown on their way.
 *
 * One looks through windows. The cell of the eye is seen in full; through an open side of a cell
 * the next one is seen, as far as the window goes that this side leaves; a wall fills its window
 * and ends the look. So what is found never overlaps, and needs no sorting.
 *
 * A cell is 1 by 1 and as high as WALL; x goes right and y down, as on the map. On the screen 0 is
 * in the middle, and 1 is half of its height. A depth is given as `near`, one by the distance,
 * for that goes evenly from one end of a wall to the other.
 */

import { CELLS, columnOf, type Facing, FACINGS, HEIGHT, isOpen } from '../rules/maze.ts'
import { leftOf, lineOf, rightOf, WIDTH } from '../rules/maze.ts'

/** A place and a direction in the maze; angle 0 is up on the map, a quarter turn is right. */
export interface Pose {
  readonly x: number
  readonly y: number
  readonly angle: number
}

/** Where a wall ends on the screen: at a corner, where it goes on, or behind something nearer. */
export type End = 'corner' | 'seam' | 'hidden'

/** The part of a wall that is seen: a strip that is as high as its nearness says. */
export interface Panel {
  readonly left: number
  readonly right: number
  readonly leftNear: number
  readonly rightNear: number
  readonly leftEnd: End
  readonly rightEnd: End
  /** From 0, edgewise, to 1, full face: painters shade by it. */
  readonly face: number
}

/** Something that stands in a cell. */
export interface Thing extends Pose {
  readonly key: string
}

/** How it is seen. */
export interface Seen<T extends Thing> {
  readonly thing: T
  readonly x: number
  readonly near: number
  /** How far it is turned to the right from looking at us, in radians. */
  readonly turn: number
  /** Strips of the screen in which it is not hidden, from left to right. */
  readonly windows: readonly (readonly [left: number, right: number])[]
}

/** All that is seen. */
export interface Sight<T extends Thing> {
  readonly panels: readonly Panel[]
  /** Farthest first. */
  readonly seen: readonly Seen<T>[]
}

/** Half the height of a wall. */
export const WALL = 0.42
/** How far behind the middle of its cell an eye is. */
export const SETBACK = 0.44
/** Size on the screen of what is 1 wide at a distance of 1. */
export const FOCUS = 1.75

const NEAREST = 1e-4
const HAIR = 1e-9
const DEPTH_MAX = WIDTH + HEIGHT

type Point = readonly [x: number, y: number]
type Windows = Map<number, [number, number][]>
interface Look {
  readonly eye: Pose
  readonly sin: number
  readonly cos: number
  readonly panels: Panel[]
  readonly windows: Windows
}

/** The middle of a cell. */
export function middleOf(at: number): Point {
  return [columnOf(at) + 0.5, lineOf(at) + 0.5]
}

/** Up 0, right a quarter turn, down half a turn, left three quarters. */
export function angleOf(facing: Facing): number {
  return [0, Math.PI, 1.5 * Math.PI, Math.PI / 2][facing]!
}

/** The eye of who stands there. */
export function eyeOf({ x, y, angle }: Pose): Pose {
  return { x: x - SETBACK * Math.sin(angle), y: y + SETBACK * Math.cos(angle), angle }
}

/** What is seen from there. @param aspect  width of the screen by its height */
export function look<T extends Thing>(eye: Pose, aspect: number, things: readonly T[]): Sight<T> {
  const [sin, cos] = [Math.sin(eye.angle), Math.cos(eye.angle)]
  const view: Look = { eye, sin, cos, panels: [], windows: new Map() }
  const at = cellOf(eye)
  if (at !== null) through(view, at, -aspect, aspect, 0)
  const seen = things.flatMap((thing) => find(view, thing) ?? [])
  return { panels: view.panels, seen: seen.toSorted((one, other) => one.near - other.near) }
}

function cellOf({ x, y }: Pose): number | null {
  const at = Math.floor(y) * WIDTH + Math.floor(x)
  return x >= 0 && x < WIDTH && at >= 0 && at < CELLS ? at : null
}

// All of a cell that is seen through a window.
function through(view: Look, at: number, left: number, right: number, depth: number): void {
  const known = view.windows.get(at)
  if (known) known.push([left, right])
  else view.windows.set(at, [[left, right]])
  if (depth > DEPTH_MAX) return
  for (const side of FACINGS) {
    const strip = project(view, at, side)
    if (!strip) continue
    const [from, to] = [Math.max(left, strip.left), Math.min(right, strip.right)]
    if (to - from <= HAIR) continue
    if (isOpen(at, side)) through(view, at + [-WIDTH, WIDTH, -1, 1][side]!, from, to, depth + 1)
    else view.panels.push(cut(strip, at, side, from, to))
  }
}

interface Strip {
  readonly left: number
  readonly right: number
  readonly leftNear: number
  readonly rightNear: number
  /** Whether its ends are its own, and not those of what is before the eye. */
  readonly whole: readonly [left: boolean, right: boolean]
  readonly face: number
}

// The side of a cell on the screen, as from inside; null if it is not before the eye.
function project(view: Look, at: number, side: Facing): Strip | null {
  const [one, other] = ends(at, side).map((point) => seenFrom(view, point)) as [Point, Point]
  if (one[1] < NEAREST && other[1] < NEAREST) return null
  const [first, last] = [clip(one, other), clip(other, one)]
  const [left, right] = [(FOCUS * first[0]) / first[1], (FOCUS * last[0]) / last[1]]
  if (right - left <= HAIR) return null
  const [leftNear, rightNear] = [1 / first[1], 1 / last[1]]
  const face = Math.abs(other[0] - one[0])
  return { left, right, leftNear, rightNear, face, whole: [first === one, last === other] }
}

// Left and right end of a side, for who looks at it from inside the cell.
function ends(at: number, side: Facing): readonly [Point, Point] {
  const [x, y] = [columnOf(at), lineOf(at)]
  const corners: readonly Point[] = [
    [x, y],
    [x + 1, y],
    [x + 1, y + 1],
    [x, y + 1],
  ]
  const first = [0, 2, 3, 1][side]!
  return [corners[first]!, corners[(first + 1) % 4]!]
}

// To the right of the eye, and before it.
function seenFrom({ eye, sin, cos }: Look, [x, y]: Point): Point {
  const [dx, dy] = [x - eye.x, y - eye.y]
  return [dx * cos + dy * sin, dx * sin - dy * cos]
}

function clip(point: Point, other: Point): Point {
  if (point[1] >= NEAREST) return point
  const share = (NEAREST - point[1]) / (other[1] - point[1])
  return [point[0] + share * (other[0] - point[0]), NEAREST]
}

function cut(strip: Strip, at: number, side: Facing, left: number, right: number): Panel {
  const near = (x: number): number =>
    strip.leftNear +
    ((x - strip.left) / (strip.right - strip.left)) * (strip.rightNear - strip.leftNear)
  const ownLeft = strip.whole[0] && left <= strip.left + HAIR
  const ownRight = strip.whole[1] && right >= strip.right - HAIR
  return {
    left,
    right,
    leftNear: near(left),
    rightNear: near(right),
    leftEnd: ownLeft ? endOf(at, side, leftOf(side)) : 'hidden',
    rightEnd: ownRight ? endOf(at, side, rightOf(side)) : 'hidden',
    face: strip.face,
  }
}

// A wall goes on as a wall of the next cell, or there is a corner.
function endOf(at: number, side: Facing, along: Facing): End {
  if (!isOpen(at, along)) return 'corner'
  return isOpen(at + [-WIDTH, WIDTH, -1, 1][along]!, side) ? 'corner' : 'seam'
}

function find<T extends Thing>(view: Look, thing: T): Seen<T> | null {
  const at = cellOf(thing)
  const windows = at === null ? undefined : view.windows.get(at)
  const [right, before] = seenFrom(view, [thing.x, thing.y])
  if (!windows || before < 0.1) return null
  const toEye = Math.atan2(view.eye.x - thing.x, thing.y - view.eye.y)
  return {
    thing,
    x: (FOCUS * right) / before,
    near: 1 / before,
    turn: wrap(thing.angle - toEye),
    windows: join(windows),
  }
}

// Windows that touch are one.
function join(windows: readonly [number, number][]): [number, number][] {
  const joined: [number, number][] = []
  for (const [left, right] of windows.toSorted((one, other) => one[0] - other[0])) {
    const last = joined.at(-1)
    if (last && left <= last[1] + 1e-6) last[1] = Math.max(last[1], right)
    else joined.push([left, right])
  }
  return joined
}

/** The same angle from -π to π. */
export function wrap(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI))
}
