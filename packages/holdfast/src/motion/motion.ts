/**
 * Smooths one moving object for one viewer. Samples come late and at intervals, but frames are
 * drawn continuously, and the shown place must neither jump nor lag for long.
 *
 * The shown place is the goal plus an error. A new sample moves the goal, and the difference in
 * place and velocity becomes the error, so the shown motion continues. The error decays like a
 * critically damped spring. The paper's formula changes the velocity at once and then smooths; this
 * one changes it gradually, and its goal is closer to the true motion.
 *
 * The factor F keeps its meaning: 0 shows the goal itself, and the integral of an error over time
 * is as in the paper. The error depends on time alone, so every frame rate shows the same.
 *
 * The error of an orientation is the shorter turn from the goal to the shown orientation.
 */

import type { Millis } from '../machine.ts'
import { keepNear, turnBetween, turned } from './rotation.ts'
import * as trails from './trail.ts'
import type { Track, Trail } from './trail.ts'

/** The frame length to which a factor applies. */
export const FRAME_MS: Millis = 1000 / 60

// With a first push of PUSH times the stiffness, the error's integral is (2 - PUSH) / STIFFNESS of
// an exponential's. This ratio must be 1.
const STIFFNESS = 1.75
const PUSH = 0.25

export interface Motion {
  readonly trail: Trail
  /** The caller of `addSample` fills this. */
  readonly came: { readonly position: Float64Array; readonly velocity: Float64Array }
  /** The session time of `shown`; NaN before the first look. */
  shownAt: Millis
  readonly shown: Float64Array
  /** The shown place minus the goal, and its change per second. */
  readonly error: Float64Array
  readonly drift: Float64Array
}

/** Creates a motion without samples. `reach` and `bends` are those of a trail. */
export function create(tracks: readonly Track[], reach?: Millis, bends?: boolean): Motion {
  const trail = trails.create(tracks, reach, bends)
  const row = (): Float64Array => new Float64Array(trail.goal.length)
  return {
    trail,
    came: { position: row(), velocity: row() },
    shownAt: NaN,
    shown: row(),
    error: row(),
    drift: row(),
  }
}

/**
 * Adds the sample in `motion.came`. While session time is unknown (NaN) it is only stored.
 *
 * @param snap  an error beyond this distance is a teleport, shown at once
 */
export function addSample(
  motion: Motion,
  now: Millis,
  sampledAt: Millis,
  factor: number,
  snap: number,
): void {
  const { trail, came, error, drift } = motion
  const wasShown = now >= motion.shownAt
  if (wasShown) look(motion, now, factor)
  else motion.shownAt = NaN
  for (let at = 0; at < drift.length; at++) drift[at]! += trail.pace[at]!
  trails.append(trail, sampledAt, came.position, came.velocity)
  trails.aim(trail, now)
  const push = PUSH * stiffnessOf(factor)
  for (let at = 0; at < drift.length; at++) drift[at]! -= trail.pace[at]!
  compare(motion)
  roundTurns(trail, error, -Math.PI)
  if (!wasShown || factor === 0 || isBeyond(motion, snap)) {
    error.fill(0)
    drift.fill(0)
  } else for (let at = 0; at < error.length; at++) drift[at]! -= push * error[at]!
}

/**
 * Computes the place to show now, in `motion.shown`. The first call shows the goal.
 * @param factor  in [0, 1): approximately the share of an error that is left after FRAME_MS
 */
export function look(motion: Motion, now: Millis, factor: number): void {
  const { trail, shown, error } = motion
  trails.aim(trail, now)
  if (factor === 0) {
    error.fill(0)
    motion.drift.fill(0)
  } else if (now > motion.shownAt) decay(motion, (now - motion.shownAt) / 1000, factor)
  compose(motion)
  roundTurns(trail, shown, 0)
  motion.shownAt = now
}

// Sets the error: the difference from the goal to the shown place.
function compare({ trail, shown, error }: Motion): void {
  const { goal, tracks } = trail
  for (const { kind, at, end } of tracks) {
    if (kind === 'rotation') turnBetween(goal, at, shown, at, error, at)
    else for (let i = at; i < end; i++) error[i] = shown[i]! - goal[i]!
  }
}

const orientation = new Float64Array(4)

function compose({ trail, shown, error }: Motion): void {
  const { goal, tracks } = trail
  for (const { kind, at, end } of tracks) {
    if (kind === 'rotation') {
      turned(goal, at, error[at]!, error[at + 1]!, error[at + 2]!, orientation, 0)
      keepNear(shown, at, orientation, 0)
      shown.set(orientation, at)
    } else for (let i = at; i < end; i++) shown[i] = goal[i]! + error[i]!
  }
}

function stiffnessOf(factor: number): number {
  return (STIFFNESS * -Math.log(factor) * 1000) / FRAME_MS
}

function decay({ error, drift }: Motion, seconds: number, factor: number): void {
  const stiffness = stiffnessOf(factor)
  const left = Math.exp(-stiffness * seconds)
  for (let at = 0; at < error.length; at++) {
    const pull = (drift[at]! + stiffness * error[at]!) * seconds
    error[at] = (error[at]! + pull) * left
    drift[at] = (drift[at]! - stiffness * pull) * left
  }
}

// Wraps angles into one turn from `first`, so that an error is the shorter arc.
function roundTurns({ tracks }: Trail, row: Float64Array, first: number): void {
  const turn = 2 * Math.PI
  for (const { kind, at } of tracks) {
    if (kind === 'turn') row[at]! -= turn * Math.floor((row[at]! - first) / turn)
  }
}

function isBeyond({ trail, error }: Motion, snap: number): boolean {
  for (const { kind, at, end } of trail.tracks) {
    if (kind === 'turn' || kind === 'rotation') continue
    let squares = 0
    for (let place = at; place < end; place++) squares += error[place]! ** 2
    if (Math.sqrt(squares) > snap) return true
  }
  return false
}
