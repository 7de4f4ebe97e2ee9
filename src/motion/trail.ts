/**
 * Where a moving thing is by now, by the samples that came of it.
 *
 * The goal goes on from the newest sample by its velocity (T50). We do better than a straight
 * line: when the last samples agree on how the velocity changes, the goal changes it further,
 * round a bend or faster or slower. They agree on the smaller of two changes in a row, and on
 * none if the two point opposite ways, so a bounce is not taken for a bend.
 *
 * The goal never goes further than a velocity would in `reach`, and comes to a gentle stop there;
 * and never out of the range of its field.
 *
 * All numbers of an object stand in one row: two for each place in the plane, one for each place
 * on a line or angle. Times are session time in ms, velocities are per second.
 */

import type { Millis } from '../machine.ts'

/** What is followed: a place in the plane, a place on a line, or an angle in radians. */
export type TrackKind = 'plane' | 'line' | 'turn'

/** One place, and between which numbers it stays. */
export interface Track {
  readonly kind: TrackKind
  readonly min: number
  readonly max: number
}

/** No sample is extrapolated further than this. */
export const REACH_MS: Millis = 250
// The stop begins so long before the reach and is complete so long after it.
const STOP_MS: Millis = 50
// Between samples nearer than this a change of velocity is mostly rounding.
const SPAN_MIN: Millis = 40
// Between samples further apart than this anything may have happened.
const SPAN_MAX: Millis = 500
// What is slower than this has no direction.
const SLOW = 1e-6
// How much more the newer of two changes may be than the older.
const GAIN = 1.5

/** What is known of one object's motion. */
export interface Trail {
  readonly tracks: readonly Track[]
  readonly reach: Millis
  /** Whether samples may agree on a bend. */
  readonly bends: boolean
  /** When the newest sample was made; NaN before the first. */
  sampledAt: Millis
  readonly position: Float64Array
  readonly velocity: Float64Array
  /** On what changes the samples agree: of a plane radians and speed a second, else velocity. */
  readonly bend: Float64Array
  /** The newest change alone. */
  readonly change: Float64Array
  /** The velocity from which the next change is measured, and when it was. */
  readonly basis: Float64Array
  basisAt: Millis
  /** What `aim` found: where it should be shown, and how it moves on from there. */
  readonly goal: Float64Array
  readonly pace: Float64Array
}

/**
 * Nothing came yet.
 *
 * @param reach  longer only for examples with long delays, and where others reckon
 * @param bends  false where others reckon: a bend hangs on samples that some of them did not get
 */
export function create(
  tracks: readonly Track[],
  reach: Millis = REACH_MS,
  bends: boolean = true,
): Trail {
  const size = tracks.reduce((sum, { kind }) => sum + widthOf(kind), 0)
  const row = (): Float64Array => new Float64Array(size)
  return {
    tracks,
    reach,
    bends,
    sampledAt: NaN,
    position: row(),
    velocity: row(),
    bend: row(),
    change: row(),
    basis: row(),
    basisAt: NaN,
    goal: row(),
    pace: row(),
  }
}

/** How many numbers a track has. */
export function widthOf(kind: TrackKind): number {
  return kind === 'plane' ? 2 : 1
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
  let at = 0
  for (const { kind } of trail.tracks) {
    const from = basis[at]!
    const to = velocity[at]!
    if (kind === 'plane') {
      const fromY = basis[at + 1]!
      const toY = velocity[at + 1]!
      const turn = Math.atan2(from * toY - fromY * to, from * to + fromY * toY)
      agree(trail, at++, turn / seconds)
      agree(trail, at++, (Math.hypot(to, toY) - Math.hypot(from, fromY)) / seconds)
    } else agree(trail, at++, (to - from) / seconds)
  }
}

function agree({ bend, change }: Trail, at: number, newest: number): void {
  const before = change[at]!
  change[at] = newest
  const least = Math.min(Math.abs(newest), GAIN * Math.abs(before))
  bend[at] = newest * before > 0 ? Math.sign(newest) * least : 0
}

/** Finds `goal` and `pace` for that instant, which lies behind the newest sample. */
export function aim(trail: Trail, now: Millis): void {
  const past = Math.max(0, now - trail.sampledAt)
  const stop = Math.min(STOP_MS, trail.reach)
  const spent = past - (trail.reach - stop)
  let seconds = past / 1000
  let rate = 1
  if (spent > 0) {
    // Slower and slower, so that the way is that of `reach` when it stands.
    rate = Math.max(0, 1 - spent / (2 * stop))
    seconds = (trail.reach - stop * rate * rate) / 1000
  }
  let at = 0
  for (const track of trail.tracks) {
    if (track.kind === 'plane') aimPlane(trail, at, seconds, rate)
    else aimLine(trail, at, seconds, rate)
    const end = at + widthOf(track.kind)
    for (; at < end; at++) if (track.kind !== 'turn') keepWithin(trail, at, track)
  }
}

function aimLine(
  { position, velocity, bend, goal, pace }: Trail,
  at: number,
  seconds: number,
  rate: number,
): void {
  const gained = bend[at]! * seconds
  goal[at] = position[at]! + (velocity[at]! + gained / 2) * seconds
  pace[at] = (velocity[at]! + gained) * rate
}

// Along an arc, faster or slower, but not back: what brakes comes to rest.
function aimPlane(
  { position, velocity, bend, goal, pace }: Trail,
  at: number,
  seconds: number,
  rate: number,
): void {
  const x = velocity[at]!
  const y = velocity[at + 1]!
  if (bend[at] === 0 && bend[at + 1] === 0) {
    goal[at] = position[at]! + x * seconds
    goal[at + 1] = position[at + 1]! + y * seconds
    pace[at] = x * rate
    pace[at + 1] = y * rate
    return
  }
  const speed = Math.hypot(x, y)
  const angle = bend[at]! * seconds
  const gain = bend[at + 1]!
  const moving = gain * seconds < -speed ? -speed / gain : seconds
  const length = (speed + (gain * moving) / 2) * moving
  const scale = speed > SLOW ? length / speed : 0
  const ahead = Math.abs(angle) < 1e-6 ? 1 : Math.sin(angle) / angle
  const aside = Math.abs(angle) < 1e-6 ? angle / 2 : (1 - Math.cos(angle)) / angle
  goal[at] = position[at]! + (x * ahead - y * aside) * scale
  goal[at + 1] = position[at + 1]! + (y * ahead + x * aside) * scale
  const left = speed > SLOW ? (rate * Math.max(0, speed + gain * moving)) / speed : 0
  pace[at] = (x * Math.cos(angle) - y * Math.sin(angle)) * left
  pace[at + 1] = (y * Math.cos(angle) + x * Math.sin(angle)) * left
}

function keepWithin({ goal, pace }: Trail, at: number, { min, max }: Track): void {
  if (goal[at]! >= min && goal[at]! <= max) return
  goal[at] = Math.min(max, Math.max(min, goal[at]!))
  pace[at] = 0
}
