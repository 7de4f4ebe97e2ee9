/**
 * The way of a sugar cube: a pure function of how it was thrown and of the session's time, so
 * everybody sees the same way, bounce for bounce, without a word on the wire about it.
 *
 * A cube slides in straight legs and loses a share of its speed each second. Its place is found
 * by how far it has come. What it is thrown with is rounded to what the wire can say, so that
 * who threw it and who heard of it start from the same numbers.
 */

import type { Vec2 } from 'holdfast'
import { CUBE_RADIUS, isClear, meets, POT_RADIUS, TRAY_RADIUS } from './arena.ts'
import { along, distance, length, mirror, TURN, wayOf } from './plane.ts'

/** Speed of a cube when it leaves, in units a second. */
export const THROW_SPEED = 25
/** What it loses in a second: e to the minus of that is left. */
export const SLOWING = 0.75
/** How long a cube flies at most, in milliseconds. */
export const FLIGHT_MS = 1_700
/** A cube breaks at the bounce after so many. */
export const BOUNCES_MAX = 4
/** How near a cube must come to a pot's middle to hit it. */
export const HIT_RADIUS: number = POT_RADIUS + CUBE_RADIUS
/** Shortest time between two throws of one pot, in milliseconds. */
export const THROW_MS = 240
/** Cubes of one pot: what flies or is broken is not in the bowl. */
export const CUBES_MAX = 4

/** Steps of a place and of an angle on the wire; places are exact in steps of a power of two. */
export const PLACE_STEP: number = 1 / 64
export const AIM_BITS = 12

/** How a cube was thrown. */
export interface Throw {
  /** When, in whole milliseconds of session time; names the throw among those of its player. */
  at: number
  pos: Vec2
  /** Its direction, in radians. */
  aim: number
}

interface Leg {
  from: Vec2
  way: Vec2
  /** How far the cube had come when this leg began. */
  start: number
}

/** The whole way of one cube. */
export interface Flight {
  legs: readonly Leg[]
  /** How long it lasts, in milliseconds: until the cube is out of breath, or breaks. */
  ms: number
}

/** A throw in the numbers that the wire can say. */
export function rounded(at: number, pos: Vec2, aim: number): Throw {
  const steps = 2 ** AIM_BITS
  const place = ((Math.round((aim / TURN) * steps) % steps) + steps) % steps
  return {
    at: Math.max(1, Math.round(at)),
    pos: [roundPlace(pos[0]), roundPlace(pos[1])],
    aim: (place / steps) * TURN,
  }
}

function roundPlace(value: number): number {
  return Math.round(value / PLACE_STEP) * PLACE_STEP
}

/** How far a cube comes in so many milliseconds. */
export function reach(ms: number): number {
  return (THROW_SPEED / SLOWING) * (1 - Math.exp((-SLOWING * ms) / 1000))
}

/** How many milliseconds a cube takes to come so far; Infinity if it never does. */
export function timeFor(far: number): number {
  const left = 1 - (far * SLOWING) / THROW_SPEED
  return left <= 0 ? Infinity : (-1000 / SLOWING) * Math.log(left)
}

/** The way of a cube. */
export function trace({ pos, aim }: Pick<Throw, 'pos' | 'aim'>): Flight {
  const legs: Leg[] = []
  const farthest = reach(FLIGHT_MS)
  let leg: Leg = { from: pos, way: wayOf(aim), start: 0 }
  for (;;) {
    legs.push(leg)
    const met = meets(leg.from, leg.way, CUBE_RADIUS, farthest - leg.start)
    if (!met) return { legs, ms: FLIGHT_MS }
    const start = leg.start + met.by
    if (legs.length > BOUNCES_MAX) return { legs, ms: Math.min(FLIGHT_MS, timeFor(start)) }
    leg = { from: along(leg.from, leg.way, met.by), way: mirror(leg.way, met.normal), start }
  }
}

/** A cube on its way. */
export interface Place {
  pos: Vec2
  way: Vec2
  /** How often it has bounced. */
  bounces: number
  /** In units a second. */
  speed: number
}

/** Where a cube is so many milliseconds after it was thrown. */
export function placeAt({ legs, ms: lasts }: Flight, ms: number): Place {
  const flown = Math.min(lasts, Math.max(0, ms))
  const far = reach(flown)
  let bounces = legs.length - 1
  while (bounces > 0 && legs[bounces]!.start > far) bounces--
  const { from, way, start } = legs[bounces]!
  const speed = THROW_SPEED * Math.exp((-SLOWING * flown) / 1000)
  return { pos: along(from, way, far - start), way, bounces, speed }
}

/** When a cube bounces, in milliseconds after it was thrown. */
export function bounceTimes({ legs }: Flight): number[] {
  return legs.slice(1).map(({ start }) => timeFor(start))
}

/** Where to point to meet a pot that goes on as it goes; null if it is out of reach. */
export function lead(from: Vec2, target: Vec2, vel: Vec2): { aim: number; at: Vec2 } | null {
  let at = target
  for (let i = 0; i < 4; i++) {
    const ms = timeFor(distance(from, at))
    if (ms > FLIGHT_MS) return null
    at = along(target, vel, ms / 1000)
  }
  return { aim: Math.atan2(at[1] - from[1], at[0] - from[0]), at }
}

/** Whether a cube gets from here to there without a bounce. */
export function sees(from: Vec2, to: Vec2): boolean {
  return isClear(from, to, CUBE_RADIUS)
}

/** Whether a cube can be thrown from there at all. */
export function isOnTray(pos: Vec2): boolean {
  return length(pos) <= TRAY_RADIUS - POT_RADIUS + 2 * PLACE_STEP
}
