/**
 * The trail of a moving object: extrapolates where it is now from the received samples.
 *
 * The goal continues from the newest sample at its velocity (T50). If the last samples agree on a
 * change of velocity (a bend, acceleration or braking), the goal continues that change too. They
 * agree on the smaller of two successive changes, and on none if the two are opposite, so a bounce
 * is not a bend.
 *
 * The goal never goes further than it would in `reach`, where it stops gently, and never leaves the
 * range of its field.
 *
 * All numbers of an object are in one row: two for a place in the plane, three in space, one on a
 * line or for an angle, four for an orientation, whose velocity uses three of them. Times are
 * session time in ms, velocities are per second.
 */

import type { Millis } from '../machine.ts'
import { turned } from './rotation.ts'

/** A place in the plane, in space or on a line; an angle in radians; a quaternion. */
export type TrackKind = 'plane' | 'space' | 'line' | 'turn' | 'rotation'

export interface Track {
  readonly kind: TrackKind
  readonly min: number
  readonly max: number
}

/** Where a track's numbers are: its places from `at` to `end`, its changes from `bendAt`. */
export interface Place {
  readonly at: number
  readonly end: number
  readonly bendAt: number
}

/** Lays the tracks out one after another; returns tracks that are laid out already as they are. */
export function layOut<Kind extends Track>(tracks: readonly Kind[]): readonly (Kind & Place)[] {
  if (tracks.every((track): track is Kind & Place => 'bendAt' in track)) return tracks
  let [end, bendAt] = [0, 0]
  return tracks.map((track) => {
    const place = { at: end, end: end + WIDTHS[track.kind], bendAt }
    end = place.end
    bendAt += CHANGES[track.kind]
    return { ...track, ...place }
  })
}

/** No sample is extrapolated further than this. */
export const REACH_MS: Millis = 250
// The stop begins this long before the reach, and is complete this long after it.
const STOP_MS: Millis = 50
// Between samples closer than this, a measured change of velocity is mostly rounding.
const SPAN_MIN: Millis = 40
// Between samples further apart than this, the motion may have changed in any way.
const SPAN_MAX: Millis = 500

export interface Trail {
  readonly tracks: readonly (Track & Place)[]
  readonly reach: Millis
  /** Whether the goal may follow a bend. */
  readonly bends: boolean
  /** When the newest sample was made; NaN before the first. */
  sampledAt: Millis
  readonly position: Float64Array
  readonly velocity: Float64Array
  /** Per second. Plane: radians and speed; space: a turn in radians, and speed; else velocity. */
  readonly bend: Float64Array
  /** The newest change alone. */
  readonly change: Float64Array
  /** The baseline velocity for the next change, and when it was sampled. */
  readonly basis: Float64Array
  basisAt: Millis
  /** The results of `aim`: the place to show, and its velocity. */
  readonly goal: Float64Array
  readonly pace: Float64Array
}

/**
 * Creates a trail without samples. `bends` is false for dead reckoning, which every member must
 * compute alike: a bend depends on samples that some members did not get.
 */
export function create(
  tracks: readonly Track[],
  reach: Millis = REACH_MS,
  bends: boolean = true,
): Trail {
  const row = (): Float64Array => new Float64Array(sumOf(tracks, WIDTHS))
  const changes = (): Float64Array => new Float64Array(sumOf(tracks, CHANGES))
  return {
    tracks: layOut(tracks),
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
  const { tracks, basis, velocity } = trail
  for (const track of tracks) {
    const { kind, at, bendAt } = track
    if (kind === 'plane') measurePlane(trail, track, seconds)
    else if (kind === 'space') measureSpace(trail, track, seconds)
    else if (kind === 'rotation') measureRotation(trail, track, seconds)
    else agree(trail, bendAt, (velocity[at]! - basis[at]!) / seconds)
  }
}

/** Computes `goal` and `pace` at `now`, which is later than the newest sample. */
export function aim(trail: Trail, now: Millis): void {
  const past = Math.max(0, now - trail.sampledAt)
  const spent = past - (trail.reach - STOP_MS)
  let seconds = past / 1000
  let rate = 1
  if (spent > 0) {
    // The rate falls linearly, so that the whole path is as long as that of `reach`.
    rate = Math.max(0, 1 - spent / (2 * STOP_MS))
    seconds = (trail.reach - STOP_MS * rate * rate) / 1000
  }
  for (const track of trail.tracks) {
    const { kind, end } = track
    if (kind === 'plane') aimPlane(trail, track, seconds, rate)
    else if (kind === 'space') aimSpace(trail, track, seconds, rate)
    else if (kind === 'rotation') aimRotation(trail, track, seconds, rate)
    else aimLine(trail, track, seconds, rate)
    if (kind === 'turn' || kind === 'rotation') continue
    for (let at = track.at; at < end; at++) keepWithin(trail, at, track)
  }
}

function keepWithin({ goal, pace }: Trail, at: number, { min, max }: Track): void {
  if (goal[at]! >= min && goal[at]! <= max) return
  goal[at] = Math.min(max, Math.max(min, goal[at]!))
  pace[at] = 0
}

// Changes of velocity, and extrapolation with them: on a line, in the plane, in space, and of
// orientations.

// A velocity below this has no direction.
const SLOW = 1e-6
// The newer of two changes counts for at most this many times the older.
const GAIN = 1.5

// Two successive changes of a number agree on the smaller, and on none if they are opposite.
function agree({ bend, change }: Trail, at: number, newest: number): void {
  const before = change[at]!
  change[at] = newest
  const least = Math.min(Math.abs(newest), GAIN * Math.abs(before))
  bend[at] = newest * before > 0 ? Math.sign(newest) * least : 0
}

// The same for a vector of three numbers, in the direction of the newer change.
function agreeTogether({ bend, change }: Trail, at: number, x: number, y: number, z: number): void {
  const before = Math.hypot(change[at]!, change[at + 1]!, change[at + 2]!)
  const same = x * change[at]! + y * change[at + 1]! + z * change[at + 2]!
  const newest = Math.hypot(x, y, z)
  const share = same > 0 ? Math.min(1, (GAIN * before) / newest) : 0
  change[at] = x
  change[at + 1] = y
  change[at + 2] = z
  bend[at] = x * share
  bend[at + 1] = y * share
  bend[at + 2] = z * share
}

// Measures how a velocity in the plane turned, and how its speed changed, per second.
function measurePlane(trail: Trail, { at, bendAt }: Place, seconds: number): void {
  const { basis, velocity } = trail
  const from = basis[at]!
  const to = velocity[at]!
  const fromY = basis[at + 1]!
  const toY = velocity[at + 1]!
  // An object at rest has no direction. Its dot product may be -0, for which atan2 is half a turn.
  const turn = Math.atan2(from * toY - fromY * to, from * to + fromY * toY + 0)
  agree(trail, bendAt, turn / seconds)
  agree(trail, bendAt + 1, (Math.hypot(to, toY) - Math.hypot(from, fromY)) / seconds)
}

// The same in space: the turn is a vector along its axis.
function measureSpace(trail: Trail, { at, bendAt }: Place, seconds: number): void {
  const { basis, velocity } = trail
  const [a, b, c] = [basis[at]!, basis[at + 1]!, basis[at + 2]!]
  const [d, e, f] = [velocity[at]!, velocity[at + 1]!, velocity[at + 2]!]
  const [x, y, z] = [b * f - c * e, c * d - a * f, a * e - b * d]
  const sine = Math.hypot(x, y, z)
  const angle = Math.atan2(sine, a * d + b * e + c * f)
  // A reversal is no bend: it has no axis.
  const share = sine < SLOW * SLOW ? 0 : angle / sine / seconds
  agreeTogether(trail, bendAt, x * share, y * share, z * share)
  agree(trail, bendAt + 3, (Math.hypot(d, e, f) - Math.hypot(a, b, c)) / seconds)
}

function measureRotation(trail: Trail, { at, bendAt }: Place, seconds: number): void {
  const by = (i: number): number => (trail.velocity[at + i]! - trail.basis[at + i]!) / seconds
  agreeTogether(trail, bendAt, by(0), by(1), by(2))
}

function aimLine(trail: Trail, { at, bendAt }: Place, seconds: number, rate: number): void {
  const { position, velocity, bend, goal, pace } = trail
  const gained = bend[bendAt]! * seconds
  goal[at] = position[at]! + (velocity[at]! + gained / 2) * seconds
  pace[at] = (velocity[at]! + gained) * rate
}

// The distance along the path, and the share of the velocity that is left.
interface Travel {
  readonly scale: number
  readonly left: number
}

// Speed may change, but not reverse: an object that brakes comes to rest.
function travelOf(speed: number, gain: number, seconds: number, rate: number): Travel {
  if (!(speed > SLOW)) return { scale: 0, left: 0 }
  const moving = gain * seconds < -speed ? -speed / gain : seconds
  const length = (speed + (gain * moving) / 2) * moving
  return { scale: length / speed, left: (rate * Math.max(0, speed + gain * moving)) / speed }
}

function aimPlane(trail: Trail, { at, bendAt }: Place, seconds: number, rate: number): void {
  const { position, velocity, bend, goal, pace } = trail
  const x = velocity[at]!
  const y = velocity[at + 1]!
  if (bend[bendAt] === 0 && bend[bendAt + 1] === 0) return goStraight(trail, at, 2, seconds, rate)
  const { scale, left } = travelOf(Math.hypot(x, y), bend[bendAt + 1]!, seconds, rate)
  const angle = bend[bendAt]! * seconds
  const ahead = Math.abs(angle) < 1e-6 ? 1 : Math.sin(angle) / angle
  const aside = Math.abs(angle) < 1e-6 ? angle / 2 : (1 - Math.cos(angle)) / angle
  goal[at] = position[at]! + (x * ahead - y * aside) * scale
  goal[at + 1] = position[at + 1]! + (y * ahead + x * aside) * scale
  pace[at] = (x * Math.cos(angle) - y * Math.sin(angle)) * left
  pace[at + 1] = (y * Math.cos(angle) + x * Math.sin(angle)) * left
}

function goStraight(trail: Trail, at: number, width: number, seconds: number, rate: number): void {
  const { position, velocity, goal, pace } = trail
  for (let i = at; i < at + width; i++) {
    goal[i] = position[i]! + velocity[i]! * seconds
    pace[i] = velocity[i]! * rate
  }
}

// Extrapolates along an arc in space: the velocity's component along the axis stays straight.
function aimSpace(trail: Trail, { at, bendAt }: Place, seconds: number, rate: number): void {
  const { position, velocity, bend, goal, pace } = trail
  const turning = Math.hypot(bend[bendAt]!, bend[bendAt + 1]!, bend[bendAt + 2]!)
  const gain = bend[bendAt + 3]!
  if (turning === 0 && gain === 0) return goStraight(trail, at, 3, seconds, rate)
  const [x, y, z] = [velocity[at]!, velocity[at + 1]!, velocity[at + 2]!]
  const { scale, left } = travelOf(Math.hypot(x, y, z), gain, seconds, rate)
  const unit = turning === 0 ? 0 : 1 / turning
  const [i, j, k] = [bend[bendAt]! * unit, bend[bendAt + 1]! * unit, bend[bendAt + 2]! * unit]
  const along = i * x + j * y + k * z
  const side = [j * z - k * y, k * x - i * z, i * y - j * x]
  const axis = [i * along, j * along, k * along]
  const angle = turning * seconds
  const ahead = angle < 1e-6 ? 1 : Math.sin(angle) / angle
  const aside = angle < 1e-6 ? angle / 2 : (1 - Math.cos(angle)) / angle
  for (let n = 0; n < 3; n++) {
    const across = velocity[at + n]! - axis[n]!
    goal[at + n] = position[at + n]! + scale * (axis[n]! + across * ahead + side[n]! * aside)
    pace[at + n] = left * (axis[n]! + across * Math.cos(angle) + side[n]! * Math.sin(angle))
  }
}

// Extrapolates an orientation by an angular velocity, which may itself change.
function aimRotation(trail: Trail, { at, bendAt }: Place, seconds: number, rate: number): void {
  const { position, velocity, bend, goal, pace } = trail
  const by = (i: number): number => {
    return (velocity[at + i]! + (bend[bendAt + i]! * seconds) / 2) * seconds
  }
  turned(position, at, by(0), by(1), by(2), goal, at)
  for (let i = 0; i < 3; i++)
    pace[at + i] = (velocity[at + i]! + bend[bendAt + i]! * seconds) * rate
}
