/**
 * The tray: a round one with a rim, and what stands on it. Everything that stands is a capsule,
 * a segment with a radius; what is round has a segment of no length.
 */

import type { Vec2 } from 'holdfast'
import { along, distance, dot, length, nearestOn, scale, subtract, unit, wayOf } from './plane.ts'

/** From the middle to the rim, in units; a pot is about two and a half wide. */
export const TRAY_RADIUS = 16
/** How far a pot reaches. */
export const POT_RADIUS = 1.2
/** How far a cube reaches. */
export const CUBE_RADIUS = 0.32

/** What stands on the tray. */
export interface Obstacle {
  kind: 'cake' | 'cup' | 'bowl' | 'jug' | 'macaron' | 'spoon'
  a: Vec2
  b: Vec2
  radius: number
}

function round(kind: Obstacle['kind'], at: Vec2, radius: number): Obstacle {
  return { kind, a: at, b: at, radius }
}

/** All that stands on the tray. */
export const OBSTACLES: readonly Obstacle[] = [
  round('cake', [0, 0], 2.7),
  round('cup', [-8.2, -4.9], 1.9),
  round('cup', [8.2, 4.9], 1.9),
  round('bowl', [7.6, -6], 1.5),
  round('jug', [-7.6, 6], 1.4),
  round('macaron', [0.8, -6.7], 1.05),
  round('macaron', [-1, 6.9], 1.05),
  { kind: 'spoon', a: [-4.9, -10.4], b: [0.4, -11.6], radius: 0.45 },
  { kind: 'spoon', a: [4.9, 10.4], b: [-0.4, 11.6], radius: 0.45 },
]

const SPOTS_COUNT = 12

/** Where pots are put down: a ring of places near the rim, clear of everything. */
export const SPOTS: readonly Vec2[] = Array.from({ length: SPOTS_COUNT }, (_, i) =>
  scale(wayOf(((i + 0.5) / SPOTS_COUNT) * 2 * Math.PI), 13.6),
)

/** Something that is touched: how deep, and which way is out. */
export interface Touch {
  depth: number
  normal: Vec2
}

/** What a disc touches on the tray, deepest first. */
export function touches(at: Vec2, radius: number): Touch[] {
  const found: Touch[] = []
  const out = length(at) + radius - TRAY_RADIUS
  if (out > 0) found.push({ depth: out, normal: scale(unit(at), -1) })
  for (const { a, b, radius: reach } of OBSTACLES) {
    const near = nearestOn(a, b, at)
    const depth = reach + radius - distance(near, at)
    if (depth > 0) found.push({ depth, normal: awayFrom(near, at) })
  }
  return found.sort((left, right) => right.depth - left.depth)
}

// In the very middle of a thing any way out is as good as another, but it must be one.
function awayFrom(near: Vec2, at: Vec2): Vec2 {
  const way = unit(subtract(at, near))
  return way[0] === 0 && way[1] === 0 ? [1, 0] : way
}

/** Where a straight way first meets something, if it does before `max`. */
export interface Meeting {
  by: number
  normal: Vec2
}

/** What a disc meets first on a straight way over the tray. @param way  one long */
export function meets(from: Vec2, way: Vec2, radius: number, max: number): Meeting | null {
  let first = max
  let normal: Vec2 | null = null
  const rim = rimAhead(from, way, TRAY_RADIUS - radius)
  if (rim < first) {
    first = rim
    normal = scale(unit(along(from, way, rim)), -1)
  }
  for (const { a, b, radius: reach } of OBSTACLES) {
    const by = capsuleAhead(from, way, a, b, reach + radius)
    if (by >= first) continue
    first = by
    const at = along(from, way, by)
    normal = unit(subtract(at, nearestOn(a, b, at)))
  }
  return normal && { by: first, normal }
}

/** Whether a disc gets from one place to another in a straight line. */
export function isClear(from: Vec2, to: Vec2, radius: number): boolean {
  const way = subtract(to, from)
  return meets(from, unit(way), radius, length(way)) === null
}

// From within the circle to its edge.
function rimAhead(from: Vec2, way: Vec2, radius: number): number {
  const along_ = dot(from, way)
  const root = along_ * along_ - dot(from, from) + radius * radius
  return root <= 0 ? Infinity : Math.max(0, Math.sqrt(root) - along_)
}

function capsuleAhead(from: Vec2, way: Vec2, a: Vec2, b: Vec2, radius: number): number {
  const ends = Math.min(circleAhead(from, way, a, radius), circleAhead(from, way, b, radius))
  const axis = unit(subtract(b, a))
  if (axis[0] === 0 && axis[1] === 0) return ends
  const side: Vec2 = [-axis[1], axis[0]]
  const towards = dot(way, side)
  const off = dot(subtract(from, a), side)
  // Only the side that faces us can be met, and only on the way to it.
  if (off * towards >= 0 || Math.abs(off) < radius) return ends
  const by = (Math.abs(off) - radius) / Math.abs(towards)
  const place = dot(subtract(along(from, way, by), a), axis)
  return place >= 0 && place <= distance(a, b) ? Math.min(ends, by) : ends
}

function circleAhead(from: Vec2, way: Vec2, centre: Vec2, radius: number): number {
  const off = subtract(from, centre)
  const along_ = dot(off, way)
  // What we move away from is behind us, also if we touch it.
  if (along_ >= 0) return Infinity
  const root = along_ * along_ - dot(off, off) + radius * radius
  return root <= 0 ? Infinity : Math.max(0, -along_ - Math.sqrt(root))
}

/** The place of the ring that is farthest from all these. */
export function farthestSpot(others: readonly Vec2[], prefer: number): number {
  let best = ((prefer % SPOTS.length) + SPOTS.length) % SPOTS.length
  let bestRoom = -1
  for (let i = 0; i < SPOTS.length; i++) {
    const spot = (best + i) % SPOTS.length
    const room = Math.min(TRAY_RADIUS * 2, ...others.map((at) => distance(at, SPOTS[spot]!)))
    if (room > bestRoom + 1e-9) [best, bestRoom] = [spot, room]
  }
  return best
}
