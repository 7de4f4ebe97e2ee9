/**
 * The trail of a moving thing: where it is now, computed from the samples that came.
 *
 * The goal continues from the newest sample by its velocity (T50). It is better than a straight
 * line: when the last samples agree on how the velocity changes, the goal goes on changing it,
 * round a bend or faster or slower. They agree on the smaller of two changes in a row, and on none
 * if the two have opposite directions, so a bounce does not count as a bend.
 *
 * The goal never goes further than its velocity would in `reach`, where it comes to a gentle stop;
 * and it never leaves the range of its field.
 *
 * All numbers of an object are in one row: two for each place in the plane, three for each in
 * space, one for each place on a line or angle, four for each orientation, whose velocity uses
 * three of its four. Times are session time in ms, velocities are per second.
 */

import type { Millis } from '../machine.ts'
import * as bends from './bends.ts'

/**
 * The kinds of tracks: a place in the plane, in space or on a line, an angle in radians, or an
 * orientation as a quaternion.
 */
export type TrackKind = 'plane' | 'space' | 'line' | 'turn' | 'rotation'

/** One track, and the range of its numbers. */
export interface Track {
  readonly kind: TrackKind
  readonly min: number
  readonly max: number
}

/** No sample is extrapolated further than this. */
export const REACH_MS: Millis = 250
// The stop begins so long before the reach and is complete so long after it.
const STOP_MS: Millis = 50
// Between samples nearer than this a measured change of velocity is mostly rounding.
const SPAN_MIN: Millis = 40
// Between samples further apart than this the motion may have changed in any way.
const SPAN_MAX: Millis = 500

/** The state of one object's motion. */
export interface Trail {
  readonly tracks: readonly Track[]
  readonly reach: Millis
  /** Whether samples may agree on a bend. */
  readonly bends: boolean
  /** When the newest sample was made; NaN before the first. */
  sampledAt: Millis
  readonly position: Float64Array
  readonly velocity: Float64Array
  /**
   * The change on which the samples agree, per second: in the plane radians and speed, in space a
   * turn in radians and speed, else velocity.
   */
  readonly bend: Float64Array
  /** The newest change alone. */
  readonly change: Float64Array
  /** The velocity from which the next change is measured, and when it was sampled. */
  readonly basis: Float64Array
  basisAt: Millis
  /** The results of `aim`: the place to be shown, and its velocity. */
  readonly goal: Float64Array
  readonly pace: Float64Array
}

/**
 * No samples yet.
 *
 * @param reach  above STOP_MS; longer than REACH_MS only for examples with long delays, and where
 *   others extrapolate too
 * @param bends  false where others extrapolate too: a bend depends on samples that some of them did
 *   not get
 */
export function create(
  tracks: readonly Track[],
  reach: Millis = REACH_MS,
  bends: boolean = true,
): Trail {
  const row = (): Float64Array => new Float64Array(sumOf(tracks, WIDTHS))
  const changes = (): Float64Array => new Float64Array(sumOf(tracks, CHANGES))
  return {
    tracks,
    reach,
    bends,
    sampledAt: NaN,
    position: row(),
    velocity: row(),
    bend: changes(),
    change: changes(),
    basis: row(),
    basisAt: NaN,
    goal: row(),
    pace: row(),
  }
}

// How many numbers a track has, and how many describe the change of its velocity.
const WIDTHS: Counts = { plane: 2, space: 3, line: 1, turn: 1, rotation: 4 }
const CHANGES: Counts = { plane: 2, space: 4, line: 1, turn: 1, rotation: 3 }

type Counts = Readonly<Record<TrackKind, number>>

function sumOf(tracks: readonly Track[], counts: Counts): number {
  return tracks.reduce((sum, { kind }) => sum + counts[kind], 0)
}

/** How many numbers a track has. */
export function widthOf(kind: TrackKind): number {
  return WIDTHS[kind]
}

/** A newer sample came. */
export function append(
  trail: Trail,
  sampledAt: Millis,
  position: Float64Array,
  velocity: Float64Array,
): void {
  trail.sampledAt = sampledAt
  trail.position.set(position)
  trail.velocity.set(velocity)
  if (!trail.bends) return
  const span = sampledAt - trail.basisAt
  if (span >= 0 && span < SPAN_MIN) return
  if (span >= SPAN_MIN && span <= SPAN_MAX) measure(trail, span / 1000)
  else {
    trail.bend.fill(0)
    trail.change.fill(0)
  }
  trail.basis.set(velocity)
  trail.basisAt = sampledAt
}

function measure(trail: Trail, seconds: number): void {
  const { basis, velocity } = trail
  const place = { at: 0, bendAt: 0 }
  for (const { kind } of trail.tracks) {
    const { at, bendAt } = place
    if (kind === 'plane') bends.measurePlane(trail, place, seconds)
    else if (kind === 'space') bends.measureSpace(trail, place, seconds)
    else if (kind === 'rotation') bends.measureRotation(trail, place, seconds)
    else bends.agree(trail, bendAt, (velocity[at]! - basis[at]!) / seconds)
    place.at += WIDTHS[kind]
    place.bendAt += CHANGES[kind]
  }
}

/** Computes `goal` and `pace` for that instant, which is later than the newest sample. */
export function aim(trail: Trail, now: Millis): void {
  const past = Math.max(0, now - trail.sampledAt)
  const spent = past - (trail.reach - STOP_MS)
  let seconds = past / 1000
  let rate = 1
  if (spent > 0) {
    // The rate falls evenly, so that the path at the stop is as long as that of `reach`.
    rate = Math.max(0, 1 - spent / (2 * STOP_MS))
    seconds = (trail.reach - STOP_MS * rate * rate) / 1000
  }
  const place = { at: 0, bendAt: 0 }
  for (const track of trail.tracks) {
    const { kind } = track
    if (kind === 'plane') bends.aimPlane(trail, place, seconds, rate)
    else if (kind === 'space') bends.aimSpace(trail, place, seconds, rate)
    else if (kind === 'rotation') bends.aimRotation(trail, place, seconds, rate)
    else bends.aimLine(trail, place, seconds, rate)
    const end = place.at + WIDTHS[kind]
    const ranged = kind !== 'turn' && kind !== 'rotation'
    if (ranged) for (let at = place.at; at < end; at++) keepWithin(trail, at, track)
    place.at = end
    place.bendAt += CHANGES[kind]
  }
}

function keepWithin({ goal, pace }: Trail, at: number, { min, max }: Track): void {
  if (goal[at]! >= min && goal[at]! <= max) return
  goal[at] = Math.min(max, Math.max(min, goal[at]!))
  pace[at] = 0
}
