/**
 * What moves from cell to cell is shown on its way: from where it is shown to where it is now, in
 * the time of a slot, so that who runs seems to run evenly. What is suddenly far away is there.
 */

import { type Pose, wrap } from './sight.ts'

/** How long a step takes to be shown, and a turn, in milliseconds. */
const STEP_MS = 190
const TURN_MS = 150
/** What moves further than so many cells was put there. */
const JUMP = 2.2

/** Plain data. */
export interface Glide {
  readonly from: Pose
  readonly to: Pose
  readonly movedAt: number
  readonly turnedAt: number
}

/** It stands there. */
export function stand(to: Pose): Glide {
  return { from: to, to, movedAt: -Infinity, turnedAt: -Infinity }
}

/** It is to be there; the same glide if it is on its way to there. */
export function aim(glide: Glide, to: Pose, now: number): Glide {
  const moves = to.x !== glide.to.x || to.y !== glide.to.y
  const turns = to.angle !== glide.to.angle
  if (!moves && !turns) return glide
  if (Math.hypot(to.x - glide.to.x, to.y - glide.to.y) > JUMP) return stand(to)
  const shown = poseAt(glide, now)
  const from = {
    x: moves ? shown.x : glide.from.x,
    y: moves ? shown.y : glide.from.y,
    angle: turns ? shown.angle : glide.from.angle,
  }
  const movedAt = moves ? now : glide.movedAt
  return { from, to, movedAt, turnedAt: turns ? now : glide.turnedAt }
}

/** Where it is shown. */
export function poseAt({ from, to, movedAt, turnedAt }: Glide, now: number): Pose {
  const moved = share(now - movedAt, STEP_MS)
  const turned = share(now - turnedAt, TURN_MS)
  const eased = turned * turned * (3 - 2 * turned)
  return {
    x: from.x + (to.x - from.x) * moved,
    y: from.y + (to.y - from.y) * moved,
    angle: from.angle + wrap(to.angle - from.angle) * eased,
  }
}

function share(age: number, lasts: number): number {
  return Math.min(1, Math.max(0, age / lasts))
}
