/**
 * How a pot carries itself: it leans when it is pushed, sways when it is hit, rattles its lid
 * when it boils, topples, and comes down from above when it is filled. Most of it is a pure
 * function of session time, so that all windows show the same; only the swaying is each one's own.
 */

import type { Vec2 } from 'holdfast'

/** What sways, in radians over the two axes, and its speed. Plain data. */
export interface Gait {
  lean: [x: number, y: number]
  speed: [x: number, y: number]
  vel: Vec2
  /** Which way it topples. */
  falls: Vec2
}

/** How much a push makes a pot lean, in radians for each unit per second squared. */
const LEAN = 0.011
const LEAN_MAX = 0.3
/** How stiff the swaying is, and how soon it ends. */
const STIFF = 190
const DAMP = 11
/** How long toppling takes, and coming down. */
export const FALL_MS = 520
export const LAND_MS = 420
/** From how high a pot comes down, in units. */
const DROP_HEIGHT = 7
/** How far a pot lies over, in radians. */
const LYING = 1.66

/** A pot that stands still. */
export function createGait(): Gait {
  return { lean: [0, 0], speed: [0, 0], vel: [0, 0], falls: [1, 0] }
}

/** Lets it sway for so long. @param vel  how it moves now */
export function sway(gait: Gait, vel: Vec2, seconds: number): void {
  const dt = Math.min(0.05, seconds)
  if (dt <= 0) return
  for (const axis of [0, 1] as const) {
    const push = (vel[axis] - gait.vel[axis]) / dt
    const wanted = Math.max(-LEAN_MAX, Math.min(LEAN_MAX, -push * LEAN))
    // Two half steps, so that a slow frame does not shake it to pieces.
    for (let half = 0; half < 2; half++) {
      const pull = (wanted - gait.lean[axis]) * STIFF - gait.speed[axis] * DAMP
      gait.speed[axis] += (pull * dt) / 2
      gait.lean[axis] += (gait.speed[axis] * dt) / 2
    }
  }
  gait.vel = [vel[0], vel[1]]
}

/** It was hit by something that came this way. */
export function knock(gait: Gait, way: Vec2): void {
  gait.speed[0] += way[0] * 5.5
  gait.speed[1] += way[1] * 5.5
  gait.falls = way
}

/** How a pot stands, lies or comes down. */
export interface Pose {
  /** How far it lies over, in radians. */
  over: number
  /** How high above the cloth. */
  up: number
  /** How flat it is pressed: 1 is as it is. */
  squash: number
  /** How far on its way its lid is that was thrown off: 0 sits on the pot, 1 lies beside. */
  lidOff: number
}

/** A pot that waits for its player breathes. @param seconds  on any clock */
export function doze(seconds: number): Pose {
  return { over: 0, up: 0, squash: 0.94 + 0.025 * Math.sin(1.7 * seconds), lidOff: 0 }
}

/** @param ago  milliseconds since it was filled, or since it toppled */
export function poseOf(stands: boolean, ago: number): Pose {
  if (!stands) {
    const share = Math.min(1, Math.max(0, ago / FALL_MS))
    return { over: LYING * bounce(share), up: 0, squash: 1, lidOff: Math.min(1, ago / 620) }
  }
  const share = Math.min(1, Math.max(0, ago / LAND_MS))
  const up = DROP_HEIGHT * (1 - share) * (1 - share * share)
  const since = ago - LAND_MS
  const squash =
    since > 0 && since < 500 ? 1 - 0.2 * Math.exp(-since / 90) * Math.cos(since / 38) : 1
  return { over: 0, up, squash, lidOff: 0 }
}

// Falls faster and faster, then bounces back a little.
function bounce(share: number): number {
  const hit = 0.62
  if (share < hit) return (share / hit) ** 2
  const rest = (share - hit) / (1 - hit)
  return 1 - 0.16 * 4 * rest * (1 - rest)
}

/** How high a cube hops, so long after it was thrown and with so long to go. */
export function hop(ms: number, left: number): number {
  let from = 0
  let long = 430
  let height = 1.25
  // It starts in the middle of a hop, at the height of a spout.
  let at = ms + 160
  while (at > from + long && height > 0.12) {
    from += long
    long *= 0.8
    height *= 0.6
  }
  const share = Math.min(1, (at - from) / long)
  at = 4 * height * share * (1 - share)
  return 0.3 + Math.max(0, at) * Math.min(1, left / 200 + 0.2)
}
