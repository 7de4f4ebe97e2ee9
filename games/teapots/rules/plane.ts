/** Points and directions on the tray: x to the right, y towards who looks at it. */

import type { Vec2 } from 'holdfast'

/** A whole turn. */
export const TURN: number = 2 * Math.PI

export function add(left: Vec2, right: Vec2): Vec2 {
  return [left[0] + right[0], left[1] + right[1]]
}

export function subtract(left: Vec2, right: Vec2): Vec2 {
  return [left[0] - right[0], left[1] - right[1]]
}

export function scale(vector: Vec2, by: number): Vec2 {
  return [vector[0] * by, vector[1] * by]
}

/** From a point so far along a direction. */
export function along(from: Vec2, way: Vec2, by: number): Vec2 {
  return [from[0] + way[0] * by, from[1] + way[1] * by]
}

export function dot(left: Vec2, right: Vec2): number {
  return left[0] * right[0] + left[1] * right[1]
}

export function length(vector: Vec2): number {
  return Math.hypot(vector[0], vector[1])
}

export function distance(left: Vec2, right: Vec2): number {
  return Math.hypot(left[0] - right[0], left[1] - right[1])
}

/** The same direction, one long; nothing stays nothing. */
export function unit(vector: Vec2): Vec2 {
  const long = length(vector)
  return long === 0 ? [0, 0] : [vector[0] / long, vector[1] / long]
}

/** The direction of an angle: 0 is to the right, a quarter turn is towards who looks. */
export function wayOf(angle: number): Vec2 {
  return [Math.cos(angle), Math.sin(angle)]
}

export function angleOf(way: Vec2): number {
  return Math.atan2(way[1], way[0])
}

/** The short way round from one angle to another: from -π up to π. */
export function turnTo(from: number, to: number): number {
  const turn = (to - from) % TURN
  if (turn > Math.PI) return turn - TURN
  return turn < -Math.PI ? turn + TURN : turn
}

/** What a wall with this normal throws back. */
export function mirror(way: Vec2, normal: Vec2): Vec2 {
  return along(way, normal, -2 * dot(way, normal))
}

/** The point of a segment that is nearest to another point. */
export function nearestOn(a: Vec2, b: Vec2, point: Vec2): Vec2 {
  const way = subtract(b, a)
  const square = dot(way, way)
  if (square === 0) return a
  const share = dot(subtract(point, a), way) / square
  return along(a, way, Math.min(1, Math.max(0, share)))
}

export function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}
