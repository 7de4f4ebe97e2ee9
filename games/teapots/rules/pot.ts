/**
 * How a pot glides: it is pushed where its player wants to go, its spout turns there or where it
 * is aimed, and it slides on until the cloth has slowed it down. It bounces off what it meets.
 */

import type { Vec2 } from 'holdfast'
import { POT_RADIUS, touches } from './arena.ts'
import { add, along, clamp, distance, dot, length, scale, subtract, turnTo, unit } from './plane.ts'

/** One step of the world, in milliseconds: every pot is moved at this rate by its owner. */
export const STEP_MS: number = 1000 / 60
/** How hard a pot is pushed, in units per second per second. */
export const PUSH = 23
/** How much of its speed a pot loses in a second: e to the minus of that is left. */
export const DRAG = 2.1
/** As fast as pushing makes a pot. */
export const SPEED_MAX: number = PUSH / DRAG
/** As fast as a blow makes a pot, in units a second: never faster. */
export const SPEED_LIMIT = 15
/** As fast as a spout turns, in radians a second. */
export const SPIN_MAX = 11
/** How eagerly a spout turns to where it should point. */
const EAGER = 14
/** How much of its speed a pot keeps when it bounces off a thing, and off another pot. */
const BOUNCE = 0.55
const BUMP = 0.8

/** A pot as its owner moves it. */
export interface Body {
  pos: Vec2
  /** In units a second. */
  vel: Vec2
  /** Where the spout points, in radians. */
  aim: number
  /** How fast it turns, in radians a second. */
  spin: number
}

/** What a player wants just now. */
export interface Intent {
  /** Which way, at most one long. */
  move: Vec2
  /** Where to point the spout; null lets it follow the way. */
  aim: number | null
  /** Whether the trigger is held. */
  fire: boolean
}

/** A player who wants nothing. */
export const IDLE: Intent = { move: [0, 0], aim: null, fire: false }

/** Another pot as it is seen. */
export interface Other {
  pos: Vec2
  vel: Vec2
}

/** A pot that stands still, its spout to the middle. */
export function bodyAt(pos: Vec2): Body {
  return { pos, vel: [0, 0], aim: Math.atan2(-pos[1], -pos[0]), spin: 0 }
}

/** One step of STEP_MS. */
export function step(body: Body, intent: Intent, others: readonly Other[]): Body {
  const seconds = STEP_MS / 1000
  const wish = length(intent.move) > 1 ? unit(intent.move) : intent.move
  const pushed = scale(along(body.vel, wish, PUSH * seconds), Math.exp(-DRAG * seconds))
  const bumped = bump({ pos: body.pos, vel: pushed }, others)
  const vel = limited(bumped.vel)
  const moved = settle({ pos: along(bumped.pos, vel, seconds), vel })
  return { ...moved, ...turn(body, wish, intent.aim, seconds) }
}

function limited(vel: Vec2): Vec2 {
  const speed = length(vel)
  return speed > SPEED_LIMIT ? scale(vel, SPEED_LIMIT / speed) : vel
}

function turn(
  body: Body,
  wish: Vec2,
  aim: number | null,
  seconds: number,
): Pick<Body, 'aim' | 'spin'> {
  const wanted = aim ?? (length(wish) > 0.2 ? Math.atan2(wish[1], wish[0]) : body.aim)
  const spin = clamp(turnTo(body.aim, wanted) * EAGER, -SPIN_MAX, SPIN_MAX)
  return { aim: body.aim + spin * seconds, spin }
}

// Each owner moves its own pot only: it takes half of what two pots overlap, the other does too.
function bump(body: Other, others: readonly Other[]): Other {
  let { pos, vel } = body
  for (const other of others) {
    const apart = distance(pos, other.pos)
    const depth = 2 * POT_RADIUS - apart
    if (depth <= 0) continue
    const normal: Vec2 = apart === 0 ? [1, 0] : unit(subtract(pos, other.pos))
    pos = along(pos, normal, depth / 2)
    const closing = dot(subtract(vel, other.vel), normal)
    if (closing < 0) vel = along(vel, normal, -closing * BUMP)
  }
  return { pos, vel }
}

function settle(body: Other): Other {
  let { pos, vel } = body
  for (const { depth, normal } of touches(pos, POT_RADIUS)) {
    pos = along(pos, normal, depth)
    const into = dot(vel, normal)
    if (into < 0) vel = along(vel, normal, -into * (1 + BOUNCE))
  }
  return { pos, vel }
}

/** What a blow does to a pot: it is pushed along, no faster than a pot can be. */
export function struck(body: Body, push: Vec2): Body {
  return { ...body, vel: limited(add(body.vel, push)) }
}
