/**
 * How a lump of sugar slides: pots push it, it scrapes over the cloth until it lies still, and
 * it bounces a little off the rim, off what stands on the tray and off other lumps.
 *
 * A lump is a box with round edges. A pot touches the box itself, so a push beside its middle
 * turns it; everything else touches the circle round it. Its owner moves it, at the rate of pots.
 * A lump that nothing touches comes to rest exactly: then there is nothing more to tell of it.
 */

import type { Vec2 } from 'holdfast'
import { POT_RADIUS, touches, TRAY_RADIUS } from './arena.ts'
import { along, clamp, distance, dot, length, scale, subtract, TURN, unit } from './plane.ts'
import { type Body, type Other, STEP_MS } from './pot.ts'

/** From the middle of a lump to a side, and how round its edges are. */
export const LUMP_HALF = 0.78
export const LUMP_EDGE = 0.18
/** The circle by which a lump touches all but pots. */
export const LUMP_RADIUS = 0.9
/** What the cloth takes of its speed, in units a second per second, and of its turning. */
export const SCRAPE = 8
const SPIN_SCRAPE = 9
/** As fast as a lump slides, in units a second, and turns, in radians a second: never faster. */
export const SLIDE_MAX = 15
export const LUMP_SPIN_MAX = 11
/** How much of a blow comes back from a pot, from a thing, and from another lump. */
const BOUNCE_POT = 0.25
const BOUNCE = 0.4
/** What comes together more slowly does not bounce, in units a second. */
const GENTLE = 1.2
/** So much two things may overlap without being pushed apart, in units: or they never lie still. */
const SLACK = 0.01
/** What a pot that pushes gives way of what they overlap, and what it loses of their blow. */
const YIELD = 0.5
const WEIGHT = 0.22
/** How hard a lump is to turn. */
const INERTIA = 0.5

/** A lump as its owner moves it. */
export interface Lump {
  pos: Vec2
  /** In units a second. */
  vel: Vec2
  /** How it lies, in radians. */
  turn: number
  /** How fast it turns, in radians a second. */
  spin: number
}

/** Where lumps lie at first, clear of everything. The place in the list tells one from another. */
export const HOMES: readonly Vec2[] = [
  [4.6, 0.6],
  [-4.6, -0.6],
  [3.2, -9.6],
  [-3.2, 9.6],
  [10.4, -1.2],
  [-10.4, 1.2],
]

/** A lump where it lies at first. Any number has a home. */
export function lumpAt(home: number): Lump {
  const pos = HOMES[home % HOMES.length]!
  return { pos, vel: [0, 0], turn: (home * 1.1) % TURN, spin: 0 }
}

/** Whether it lies still. */
export function rests({ vel, spin }: Pick<Lump, 'vel' | 'spin'>): boolean {
  return vel[0] === 0 && vel[1] === 0 && spin === 0
}

/** Whether it is to be put back: it is off the tray, or nowhere. */
export function isOff({ pos }: Pick<Lump, 'pos'>): boolean {
  return !(length(pos) <= TRAY_RADIUS)
}

/** Where a pot touches a lump: how deep, and which way the pot gets out. */
export interface Push {
  depth: number
  normal: Vec2
  /** From the middle of the lump to where it is touched. */
  arm: Vec2
}

/** How a disc touches a lump; null if it does not. */
export function pushOf(
  { pos, turn }: Pick<Lump, 'pos' | 'turn'>,
  at: Vec2,
  radius: number,
): Push | null {
  if (distance(pos, at) > radius + 2 * LUMP_HALF) return null
  const core = LUMP_HALF - LUMP_EDGE
  const local = turned(subtract(at, pos), -turn)
  const near: Vec2 = [clamp(local[0], -core, core), clamp(local[1], -core, core)]
  const off = subtract(local, near)
  const far = length(off)
  const inside = far === 0
  const out = inside ? nearestSide(local) : scale(off, 1 / far)
  const sunk = inside ? core - Math.max(Math.abs(local[0]), Math.abs(local[1])) : -far
  const depth = LUMP_EDGE + radius + sunk
  if (depth <= 0) return null
  const touched = along(near, out, LUMP_EDGE)
  return { depth, normal: turned(out, turn), arm: turned(touched, turn) }
}

function nearestSide([x, y]: Vec2): Vec2 {
  return Math.abs(x) > Math.abs(y) ? [x < 0 ? -1 : 1, 0] : [0, y < 0 ? -1 : 1]
}

function turned([x, y]: Vec2, by: number): Vec2 {
  const [cos, sin] = [Math.cos(by), Math.sin(by)]
  return [x * cos - y * sin, x * sin + y * cos]
}

/**
 * One step of STEP_MS. What lies still and is not touched stays the very same.
 *
 * @param pots  all of them, as they are seen
 * @param lumps  all others, as they are seen
 */
export function slide(lump: Lump, pots: readonly Other[], lumps: readonly Other[]): Lump {
  let next = lump
  for (const pot of pots) next = pushed(next, pot)
  for (const other of lumps) next = knocked(next, other)
  const isTouched = next !== lump
  if (!isTouched && rests(lump)) return lump
  return limited(settled(moved(scraped(next))))
}

// The lump gives way wholly, for the pot that pushes it is the heavier one by far.
function pushed(lump: Lump, pot: Other): Lump {
  const push = pushOf(lump, pot.pos, POT_RADIUS)
  if (!push || push.depth <= SLACK) return lump
  const { depth, normal, arm } = push
  const pos = along(lump.pos, normal, -(depth - SLACK / 2))
  const there: Vec2 = [lump.vel[0] - lump.spin * arm[1], lump.vel[1] + lump.spin * arm[0]]
  const closing = dot(subtract(there, pot.vel), normal)
  if (closing <= 0) return { ...lump, pos }
  const lever = arm[0] * normal[1] - arm[1] * normal[0]
  const share = 1 / (1 + (lever * lever) / INERTIA)
  const blow = -closing * (1 + (closing > GENTLE ? BOUNCE_POT : 0)) * share
  const vel = along(lump.vel, normal, blow)
  return { ...lump, pos, vel, spin: lump.spin + (lever * blow) / INERTIA }
}

// Each owner moves its own lump only: half of what two overlap, and half of their blow.
function knocked(lump: Lump, other: Other): Lump {
  const apart = distance(lump.pos, other.pos)
  const depth = 2 * LUMP_RADIUS - apart
  if (depth <= SLACK) return lump
  const normal: Vec2 = apart === 0 ? [1, 0] : unit(subtract(lump.pos, other.pos))
  const pos = along(lump.pos, normal, (depth - SLACK / 2) / 2)
  const closing = -dot(subtract(lump.vel, other.vel), normal)
  if (closing <= 0) return { ...lump, pos }
  const vel = along(lump.vel, normal, (closing * (1 + bounceAt(closing))) / 2)
  return { ...lump, pos, vel }
}

function bounceAt(closing: number): number {
  return closing > GENTLE ? BOUNCE : 0
}

function limited(lump: Lump): Lump {
  const speed = length(lump.vel)
  const vel = speed > SLIDE_MAX ? scale(lump.vel, SLIDE_MAX / speed) : lump.vel
  return { ...lump, vel, spin: clamp(lump.spin, -LUMP_SPIN_MAX, LUMP_SPIN_MAX) }
}

function scraped(lump: Lump): Lump {
  const seconds = STEP_MS / 1000
  const speed = length(lump.vel)
  const left = Math.max(0, speed - SCRAPE * seconds)
  const turns = Math.max(0, Math.abs(lump.spin) - SPIN_SCRAPE * seconds)
  return {
    ...lump,
    vel: left === 0 ? [0, 0] : scale(lump.vel, left / speed),
    spin: turns === 0 ? 0 : Math.sign(lump.spin) * turns,
  }
}

function moved(lump: Lump): Lump {
  const seconds = STEP_MS / 1000
  const turn = (lump.turn + lump.spin * seconds) % TURN
  return { ...lump, pos: along(lump.pos, lump.vel, seconds), turn: turn < 0 ? turn + TURN : turn }
}

function settled(lump: Lump): Lump {
  let { pos, vel } = lump
  for (const { depth, normal } of touches(pos, LUMP_RADIUS)) {
    pos = along(pos, normal, depth)
    const closing = -dot(vel, normal)
    if (closing > 0) vel = along(vel, normal, closing * (1 + bounceAt(closing)))
  }
  return { ...lump, pos, vel }
}

/** A pot after it pushed these lumps: they are light, but not nothing. */
export function slowed(pot: Body, lumps: readonly Lump[]): Body {
  let { pos, vel } = pot
  for (const lump of lumps) {
    const push = pushOf(lump, pos, POT_RADIUS)
    if (!push || push.depth <= SLACK) continue
    pos = along(pos, push.normal, push.depth * YIELD)
    const closing = dot(subtract(lump.vel, vel), push.normal)
    if (closing > 0) vel = along(vel, push.normal, closing * WEIGHT)
  }
  return { ...pot, pos, vel }
}
