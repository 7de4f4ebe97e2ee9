/**
 * What moves, the same for all contenders: objects in a square, as things in games move. A third
 * goes in circles of several radii, a third wanders and takes another direction every 1 to 3
 * seconds, a third goes straight; who meets a wall bounces off it. Speeds are constant.
 *
 * A place is a function of (seed, object, tick), also between two ticks: every process knows the
 * truth at every time.
 */

import * as prng from '../../packages/holdfast/src/faults/prng.ts'

/** Ticks of the server in a second. */
export const HZ = 20
/** One tick, in ms. */
export const TICK_MS: number = 1000 / HZ
/** Objects on one unit of area: the square grows with their number. */
const DENSITY = 1 / 9
/** So many objects are visible where not all are. */
export const VISIBLE = 100
/** Least and largest speed, in units a second. */
export const SPEED: readonly [number, number] = [2, 8]
const FOCUS_SPEED = 1.5
const TURN_S = [1, 3] as const
/** Of circles. */
export const RADIUS: readonly [number, number] = [2, 8]

/** Where something is, and how it moves: units and units a second. */
export interface Place {
  x: number
  y: number
  vx: number
  vy: number
  /** Its heading: -pi to pi. */
  turn: number
  /** How fast that turns, in radians a second. */
  spin: number
}

/** Fills in where it is at a tick, which may lie between two. */
export type Path = (tick: number, into: Place) => Place

/** A place to fill in. */
export function place(): Place {
  return { x: 0, y: 0, vx: 0, vy: 0, turn: 0, spin: 0 }
}

/** The side of the square for so many objects. */
export function sideOf(objects: number): number {
  return Math.sqrt(objects / DENSITY)
}

/** Within this distance of a client's focus are about VISIBLE objects. */
export const SIGHT: number = Math.sqrt(VISIBLE / DENSITY / Math.PI)

/** The ways of all objects. */
export function paths(seed: number, objects: number): Path[] {
  const side = sideOf(objects)
  return Array.from({ length: objects }, (_, index) => {
    const draw = prng.create(`${seed} object ${index}`)
    const speed = prng.between(draw, ...SPEED)
    if (index % 3 === 0) return circle(draw, speed, side)
    return wander(draw, speed, side, index % 3 === 1)
  })
}

/** What a client looks at: it wanders slowly, and keeps its view within the walls if it can. */
export function focus(seed: number, objects: number, client: number): Path {
  const side = sideOf(objects)
  const margin = Math.min(SIGHT, side / 2 - 1)
  const inner = wander(prng.create(`${seed} focus ${client}`), FOCUS_SPEED, side - 2 * margin, true)
  return (tick, into) => {
    inner(tick, into)
    into.x += margin
    into.y += margin
    return into
  }
}

function circle(draw: prng.Prng, speed: number, side: number): Path {
  const radius = Math.min(prng.between(draw, ...RADIUS), side / 4)
  const [left, top] = [
    prng.between(draw, radius, side - radius),
    prng.between(draw, radius, side - radius),
  ]
  const phase = prng.between(draw, 0, 2 * Math.PI)
  const way = prng.next(draw) < 0.5 ? 1 : -1
  const rate = (way * speed) / radius / HZ
  return (tick, into) => {
    const at = phase + rate * tick
    const [cos, sin] = [Math.cos(at), Math.sin(at)]
    into.x = left + radius * cos
    into.y = top + radius * sin
    into.vx = -way * speed * sin
    into.vy = way * speed * cos
    into.turn = Math.atan2(into.vy, into.vx)
    into.spin = rate * HZ
    return into
  }
}

/** A straight stretch on a plane without walls. */
interface Leg {
  from: number
  x: number
  y: number
  angle: number
}

// It goes on an endless plane, which is then folded at the walls.
function wander(draw: prng.Prng, speed: number, side: number, turns: boolean): Path {
  const start = [prng.between(draw, 0, side), prng.between(draw, 0, side)] as const
  const legs: Leg[] = [{ from: 0, x: start[0], y: start[1], angle: heading(draw) }]
  let ends = turns ? lasts(draw) : Infinity
  let current = 0
  return (tick, into) => {
    while (tick >= ends) {
      const last = legs.at(-1)!
      const [x, y] = along(last, speed, ends)
      legs.push({ from: ends, x, y, angle: heading(draw) })
      ends += lasts(draw)
    }
    while (current + 1 < legs.length && legs[current + 1]!.from <= tick) current++
    while (current > 0 && legs[current]!.from > tick) current--
    const leg = legs[current]!
    const [x, y] = along(leg, speed, tick)
    into.x = folded(x, side)
    into.y = folded(y, side)
    into.vx = speed * Math.cos(leg.angle) * way(x, side)
    into.vy = speed * Math.sin(leg.angle) * way(y, side)
    into.turn = Math.atan2(into.vy, into.vx)
    into.spin = 0
    return into
  }
}

function heading(draw: prng.Prng): number {
  return prng.between(draw, -Math.PI, Math.PI)
}

// Directions change between ticks as well: nobody's hand waits for a server.
function lasts(draw: prng.Prng): number {
  return prng.between(draw, ...TURN_S) * HZ
}

function along(leg: Leg, speed: number, tick: number): [number, number] {
  const way = (speed / HZ) * (tick - leg.from)
  return [leg.x + way * Math.cos(leg.angle), leg.y + way * Math.sin(leg.angle)]
}

function folded(at: number, side: number): number {
  const rest = ((at % (2 * side)) + 2 * side) % (2 * side)
  return rest < side ? rest : 2 * side - rest
}

function way(at: number, side: number): number {
  return ((at % (2 * side)) + 2 * side) % (2 * side) < side ? 1 : -1
}
