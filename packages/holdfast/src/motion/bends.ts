/**
 * How a velocity changes, and where a thing moves by that: on a line, in the plane, in space, in
 * orientation. This file is geometry on rows of numbers; trail.ts decides when to measure.
 */

import { turned } from './rotation.ts'

/** The rows of one object; trail.ts has them all. */
interface Rows {
  readonly position: Float64Array
  readonly velocity: Float64Array
  readonly bend: Float64Array
  readonly change: Float64Array
  readonly basis: Float64Array
  readonly goal: Float64Array
  readonly pace: Float64Array
}

/** Where the numbers of a track begin: in the rows of places, and in those of changes. */
interface At {
  readonly at: number
  readonly bendAt: number
}

// A velocity that is slower than this has no direction.
const SLOW = 1e-6
// The newer of two changes counts for at most so many times the older.
const GAIN = 1.5

/** Two changes of a number in a row agree on the smaller, and on none if they are opposite. */
export function agree({ bend, change }: Rows, at: number, newest: number): void {
  const before = change[at]!
  change[at] = newest
  const least = Math.min(Math.abs(newest), GAIN * Math.abs(before))
  bend[at] = newest * before > 0 ? Math.sign(newest) * least : 0
}

// Three numbers that are one vector agree on the direction of the newer change.
function agreeTogether(rows: Rows, at: number, x: number, y: number, z: number): void {
  const { bend, change } = rows
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

/** Measures how a velocity in the plane turned, and how its speed changed, per second. */
export function measurePlane(rows: Rows, { at, bendAt }: At, seconds: number): void {
  const { basis, velocity } = rows
  const from = basis[at]!
  const to = velocity[at]!
  const fromY = basis[at + 1]!
  const toY = velocity[at + 1]!
  // A thing at rest has no direction. Its dot product may be -0, whose angle from 0 is half a turn.
  const turn = Math.atan2(from * toY - fromY * to, from * to + fromY * toY + 0)
  agree(rows, bendAt, turn / seconds)
  agree(rows, bendAt + 1, (Math.hypot(to, toY) - Math.hypot(from, fromY)) / seconds)
}

/** The same in space: the turn is a vector along its axis. */
export function measureSpace(rows: Rows, { at, bendAt }: At, seconds: number): void {
  const { basis, velocity } = rows
  const [a, b, c] = [basis[at]!, basis[at + 1]!, basis[at + 2]!]
  const [d, e, f] = [velocity[at]!, velocity[at + 1]!, velocity[at + 2]!]
  const [x, y, z] = [b * f - c * e, c * d - a * f, a * e - b * d]
  const sine = Math.hypot(x, y, z)
  const angle = Math.atan2(sine, a * d + b * e + c * f)
  // A reversal is no bend: it has no axis.
  const share = sine < SLOW * SLOW ? 0 : angle / sine / seconds
  agreeTogether(rows, bendAt, x * share, y * share, z * share)
  agree(rows, bendAt + 3, (Math.hypot(d, e, f) - Math.hypot(a, b, c)) / seconds)
}

/** Measures how the three numbers of an angular velocity changed, per second. */
export function measureRotation(rows: Rows, { at, bendAt }: At, seconds: number): void {
  const by = (i: number): number => (rows.velocity[at + i]! - rows.basis[at + i]!) / seconds
  agreeTogether(rows, bendAt, by(0), by(1), by(2))
}

/** Extrapolates along a line, with the change of speed. */
export function aimLine(rows: Rows, { at, bendAt }: At, seconds: number, rate: number): void {
  const { position, velocity, bend, goal, pace } = rows
  const gained = bend[bendAt]! * seconds
  goal[at] = position[at]! + (velocity[at]! + gained / 2) * seconds
  pace[at] = (velocity[at]! + gained) * rate
}

/** How far along its path a thing comes, and what share of its velocity is left then. */
interface Way {
  readonly scale: number
  readonly left: number
}

// Speed may change, but not reverse: a thing that brakes comes to rest.
function wayOf(speed: number, gain: number, seconds: number, rate: number): Way {
  if (!(speed > SLOW)) return { scale: 0, left: 0 }
  const moving = gain * seconds < -speed ? -speed / gain : seconds
  const length = (speed + (gain * moving) / 2) * moving
  return { scale: length / speed, left: (rate * Math.max(0, speed + gain * moving)) / speed }
}

/** Extrapolates along an arc in the plane. */
export function aimPlane(rows: Rows, { at, bendAt }: At, seconds: number, rate: number): void {
  const { position, velocity, bend, goal, pace } = rows
  const x = velocity[at]!
  const y = velocity[at + 1]!
  if (bend[bendAt] === 0 && bend[bendAt + 1] === 0) return goStraight(rows, at, 2, seconds, rate)
  const { scale, left } = wayOf(Math.hypot(x, y), bend[bendAt + 1]!, seconds, rate)
  const angle = bend[bendAt]! * seconds
  const ahead = Math.abs(angle) < 1e-6 ? 1 : Math.sin(angle) / angle
  const aside = Math.abs(angle) < 1e-6 ? angle / 2 : (1 - Math.cos(angle)) / angle
  goal[at] = position[at]! + (x * ahead - y * aside) * scale
  goal[at + 1] = position[at + 1]! + (y * ahead + x * aside) * scale
  pace[at] = (x * Math.cos(angle) - y * Math.sin(angle)) * left
  pace[at + 1] = (y * Math.cos(angle) + x * Math.sin(angle)) * left
}

function goStraight(rows: Rows, at: number, width: number, seconds: number, rate: number): void {
  const { position, velocity, goal, pace } = rows
  for (let i = at; i < at + width; i++) {
    goal[i] = position[i]! + velocity[i]! * seconds
    pace[i] = velocity[i]! * rate
  }
}

/** Extrapolates along an arc in space: the velocity's component along the axis stays straight. */
export function aimSpace(rows: Rows, { at, bendAt }: At, seconds: number, rate: number): void {
  const { position, velocity, bend, goal, pace } = rows
  const turning = Math.hypot(bend[bendAt]!, bend[bendAt + 1]!, bend[bendAt + 2]!)
  const gain = bend[bendAt + 3]!
  if (turning === 0 && gain === 0) return goStraight(rows, at, 3, seconds, rate)
  const [x, y, z] = [velocity[at]!, velocity[at + 1]!, velocity[at + 2]!]
  const { scale, left } = wayOf(Math.hypot(x, y, z), gain, seconds, rate)
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

/** Extrapolates an orientation by an angular velocity, which may itself change. */
export function aimRotation(rows: Rows, { at, bendAt }: At, seconds: number, rate: number): void {
  const { position, velocity, bend, goal, pace } = rows
  const by = (i: number): number => {
    return (velocity[at + i]! + (bend[bendAt + i]! * seconds) / 2) * seconds
  }
  turned(position, at, by(0), by(1), by(2), goal, at)
  for (let i = 0; i < 3; i++)
    pace[at + i] = (velocity[at + i]! + bend[bendAt + i]! * seconds) * rate
}
