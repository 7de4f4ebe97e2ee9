/**
 * Warping as the source has it (T52), to be compared with: each frame what is shown moves on by
 * its own velocity, and then part of the way to the goal, in velocity too.
 *
 *     W = F W + (1 - F) G
 *
 * F is meant for a frame of a 60th of a second; for another it is raised to the power of its
 * length, so that any rate of frames shows the same. One number: of a place each by itself.
 */

import type { Millis } from '../machine.ts'
import { FRAME_MS } from './motion.ts'

/** What is shown: a place, and its velocity a second. */
export interface Warp {
  place: number
  velocity: number
}

/**
 * One frame.
 *
 * @param goal  where the newest data, extrapolated, has it at the end of the frame
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
