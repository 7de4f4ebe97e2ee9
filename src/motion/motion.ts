/**
 * One moving object as one viewer shows it: samples come late and now and then, frames come all
 * the time, and what is shown neither jumps nor lags.
 *
 * All numbers of an object stand in one row: two for each place in the plane, one for each place
 * on a line or angle. Times are session time in ms, velocities are per second.
 */

import type { Millis } from '../machine.ts'

/** What is followed: a place in the plane, a place on a line, or an angle in radians. */
export type TrackKind = 'plane' | 'line' | 'turn'

/** No sample is extrapolated further than this; then what is shown stands still. */
export const REACH_MS: Millis = 250
/** The frame for which a factor is given. */
export const FRAME_MS: Millis = 1000 / 60

/** The motion of one object. */
export interface Motion {
  readonly tracks: readonly TrackKind[]
  /** How far a sample is extrapolated. */
  readonly reach: Millis
  /** When the newest sample was made; NaN before the first. */
  sampledAt: Millis
  readonly position: Float64Array
  readonly velocity: Float64Array
  /** When `shown` was true; NaN before the first look. */
  shownAt: Millis
  readonly shown: Float64Array
  /** What `shown` lacks to the goal. */
  readonly error: Float64Array
}

/** Nothing is known yet. */
export function create(tracks: readonly TrackKind[], reach: Millis = REACH_MS): Motion {
  const size = tracks.reduce((sum, kind) => sum + widthOf(kind), 0)
  return {
    tracks,
    reach,
    sampledAt: NaN,
    position: new Float64Array(size),
    velocity: new Float64Array(size),
    shownAt: NaN,
    shown: new Float64Array(size),
    error: new Float64Array(size),
  }
}

/** How many numbers a track has. */
export function widthOf(kind: TrackKind): number {
  return kind === 'plane' ? 2 : 1
}

/** A sample came. `motion.position` and `motion.velocity` are to be filled by the caller. */
export function take(motion: Motion, now: Millis, sampledAt: Millis): void {
  void now
  motion.sampledAt = sampledAt
}

/**
 * What is to be shown now, in `motion.shown`.
 *
 * @param factor  what share of an error is left after a 60th of a second
 * @param snap  an error beyond it is a teleport
 */
export function look(motion: Motion, now: Millis, factor: number, snap: number): void {
  const { position, velocity, shown, shownAt } = motion
  const since = Math.min(motion.reach, Math.max(0, now - motion.sampledAt)) / 1000
  const kept = factor ** ((now - shownAt) / FRAME_MS)
  let at = 0
  for (const kind of motion.tracks) {
    const end = at + widthOf(kind)
    for (; at < end; at++) {
      const goal = position[at]! + velocity[at]! * since
      const error = shown[at]! + (velocity[at]! * (now - shownAt)) / 1000 - goal
      shown[at] = Math.abs(error) < snap ? goal + error * kept : goal
    }
  }
  motion.shownAt = now
}
