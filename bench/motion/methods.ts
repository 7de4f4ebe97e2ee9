/** Ways to show a thing whose samples come late and now and then. */

import * as motion from '../../packages/holdfast/src/motion/motion.ts'
import { REACH_MS } from '../../packages/holdfast/src/motion/trail.ts'
import { step, type Warp } from '../../test/motion/warp.ts'

/** What came: made then, there and so fast. */
export interface Sample {
  madeAt: number
  comesAt: number
  place: readonly [number, number]
  velocity: readonly [number, number]
}

/** One viewer of one thing. Times are in ms. */
export interface Viewer {
  take(sample: Sample): void
  show(now: number): readonly [number, number]
}

/** Between which numbers a place stays, if that is known. */
export interface Range {
  min: number
  max: number
}

/** The factor at which methods are compared. */
export const FACTOR = 0.8
/** How far behind interpolation shows. */
export const BUFFER_MS = 150

function newest(): Viewer {
  let last: Sample | null = null
  return { take: (sample) => void (last = sample), show: () => last!.place }
}

function interpolation(): Viewer {
  const kept: Sample[] = []
  return {
    take: (sample) => {
      kept.push(sample)
      if (kept.length > 60) kept.shift()
    },
    show: (now) => {
      const then = now - BUFFER_MS
      const at = kept.findLastIndex(({ madeAt }) => madeAt <= then)
      const from = kept[Math.max(0, at)]!
      const to = kept[at + 1] ?? from
      const share = to === from ? 0 : (then - from.madeAt) / (to.madeAt - from.madeAt)
      return mixed(from.place, to.place, Math.max(0, share))
    },
  }
}

function extrapolated({ madeAt, place, velocity }: Sample, now: number): [number, number] {
  const seconds = Math.min(REACH_MS, Math.max(0, now - madeAt)) / 1000
  return [place[0] + velocity[0] * seconds, place[1] + velocity[1] * seconds]
}

function extrapolation(): Viewer {
  let last: Sample | null = null
  return { take: (sample) => void (last = sample), show: (now) => extrapolated(last!, now) }
}

// By its own velocity, as the source says, or by that of the newest data.
function sourceWarp(isOwn: boolean): Viewer {
  let last: Sample | null = null
  let warps: Warp[] | null = null
  let shownAt = 0
  return {
    take: (sample) => void (last = sample),
    show: (now) => {
      const goal = extrapolated(last!, now)
      warps ??= goal.map((place, axis) => ({ place, velocity: last!.velocity[axis]! }))
      for (const [axis, warp] of warps.entries()) {
        if (!isOwn) warp.velocity = last!.velocity[axis]!
        step(warp, goal[axis]!, last!.velocity[axis]!, now - shownAt, FACTOR)
      }
      shownAt = now
      return [warps[0]!.place, warps[1]!.place]
    },
  }
}

function ours(range: Range): Viewer {
  const moving = motion.create([{ kind: 'plane', ...range }])
  return {
    take: ({ madeAt, comesAt, place, velocity }) => {
      moving.came.position.set(place)
      moving.came.velocity.set(velocity)
      motion.addSample(moving, comesAt, madeAt, FACTOR, Infinity)
    },
    show: (now) => {
      motion.look(moving, now, FACTOR)
      return [moving.shown[0]!, moving.shown[1]!]
    },
  }
}

function mixed(
  from: readonly [number, number],
  to: readonly [number, number],
  share: number,
): [number, number] {
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]
}

/** The source's warp, to which ours is compared. */
export const SOURCE = `the source's warp, F = ${FACTOR}`
/** Ours. */
export const OURS = 'ours, F = 0.8'
/** All methods. */
export const METHODS: Readonly<Record<string, (range: Range) => Viewer>> = {
  'snap to newest': newest,
  [`interpolation, ${BUFFER_MS} ms`]: interpolation,
  extrapolation,
  [SOURCE]: () => sourceWarp(true),
  '  by the newest velocity': () => sourceWarp(false),
  [OURS]: ours,
}
