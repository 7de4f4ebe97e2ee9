/**
 * How much is drawn, so that frames stay fast. It starts with what the machine promises, goes
 * down quickly when frames are slow, and up slowly when there is room for a long while.
 */

/** One degree of quality. */
export interface Degree {
  /** Pixels of the picture for each CSS pixel, at most. */
  ratio: number
  shadows: boolean
  /** Sparks at once. */
  sparks: number
  /** Shortest time from one frame to the next, in milliseconds: what is left is for the duel. */
  apart: number
}

/** All degrees, from plain to fine. */
export const DEGREES: readonly Degree[] = [
  { ratio: 0.45, shadows: false, sparks: 60, apart: 48 },
  { ratio: 0.7, shadows: false, sparks: 120, apart: 0 },
  { ratio: 1, shadows: false, sparks: 220, apart: 0 },
  { ratio: 1, shadows: true, sparks: 300, apart: 0 },
  { ratio: 1.5, shadows: true, sparks: 400, apart: 0 },
  { ratio: 2, shadows: true, sparks: 500, apart: 0 },
]

/** A frame that takes longer is slow, in milliseconds. */
export const SLOW_MS = 25
/** A frame that takes less leaves room. */
export const FAST_MS = 17.4
/** Frames that are looked at together. */
export const WINDOW = 40
/** Windows with room before more is tried; each time that was too much it takes twice as many. */
export const PATIENCE = 6

/** What is known of the frames. Plain data. */
export interface Governor {
  degree: number
  /** No finer than this, because of who draws or who wishes so. */
  top: number
  frames: number
  sum: number
  room: number
  patience: number
}

/** Starts at this degree. */
export function createGovernor(degree: number, top: number = DEGREES.length - 1): Governor {
  return { degree, top, frames: 0, sum: 0, room: 0, patience: PATIENCE }
}

/** A frame took so long. @returns whether the degree changed */
export function took(governor: Governor, ms: number): boolean {
  // A pause is no slow frame: the window was hidden, or somebody looked elsewhere.
  if (ms > 1_000) return false
  const { apart } = DEGREES[governor.degree]!
  governor.sum += apart > 0 ? Math.max(0, ms - apart) : ms
  if (++governor.frames < WINDOW) return false
  const mean = governor.sum / governor.frames
  governor.frames = 0
  governor.sum = 0
  if (mean > SLOW_MS) return lower(governor, mean)
  governor.room = mean < FAST_MS ? governor.room + 1 : 0
  if (governor.room < governor.patience || governor.degree >= governor.top) return false
  governor.room = 0
  governor.degree++
  return true
}

function lower(governor: Governor, mean: number): boolean {
  governor.room = 0
  if (governor.degree === 0) return false
  governor.patience = Math.min(64, governor.patience * 2)
  governor.degree = Math.max(0, governor.degree - (mean > 2 * SLOW_MS ? 2 : 1))
  return true
}
