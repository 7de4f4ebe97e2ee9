/**
 * Warping as in the paper (T52), for comparison: each frame the shown place moves by its own
 * velocity, and then part of the way to the goal, in velocity too.
 *
 *     W = F W + (1 - F) G
 *
 * F is meant for a frame of a 60th of a second; for another length it is raised to the power of
 * that length in such frames, so that any frame rate shows the same. Each coordinate is warped by
 * itself.
 */

import type { Millis } from '../../packages/holdfast/src/machine.ts'
import { FRAME_MS } from '../../packages/holdfast/src/motion/motion.ts'

/** The shown place, and its velocity per second. */
export interface Warp {
  place: number
  velocity: number
}

/**
 * One frame.
 *
 * @param goal  the place that the newest data, extrapolated, gives for the end of the frame
 * @param goalVelocity  the velocity of that data
 * @param factor  F, from 0 (no warping) to below 1
 */
export function step(
  warp: Warp,
  goal: number,
  goalVelocity: number,
  frame: Millis,
  factor: number,
): void {
  const kept = factor ** (frame / FRAME_MS)
  warp.place = kept * (warp.place + (warp.velocity * frame) / 1000) + (1 - kept) * goal
  warp.velocity = kept * warp.velocity + (1 - kept) * goalVelocity
}
