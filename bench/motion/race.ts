/** One path, sampled, sent over a bad line, shown by all methods, and compared with the truth. */

import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import { FRAME_MS } from '../../packages/holdfast/src/motion/motion.ts'
import { quantise, schema, valueOf, vec2 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import { METHODS, type Range, type Sample, type Viewer } from './methods.ts'
import { type PathName, PATHS, type Step, STEPS } from './paths.ts'

const LOSS = 0.02
const ONE_WAY_MS = [60, 100] as const
// What is shown before there are some samples is not judged.
const WARM_MS = 1_000

/** How well one method did. */
export interface Score {
  /** Distances to the truth, frame by frame. */
  errors: number[]
  /** Sums of squared second differences, of what was shown and of the truth. */
  jerk: number
  truthJerk: number
}

/** All methods on one path. @param range what the field's type says of its places */
export function race(
  path: PathName,
  rate: number,
  seed: number,
  seconds: number,
  range: Range,
): Map<string, Score> {
  const chance = prng.create(seed)
  const steps = PATHS[path](chance, seconds)
  const samples = sent(steps, rate, chance)
  const found = new Map<string, Score>()
  for (const [name, create] of Object.entries(METHODS)) {
    found.set(name, watched(create(range), steps, samples))
  }
  return found
}

// As a game's type would have it on the wire.
const Wire = schema({ place: vec2(-2048, 2048, 0.01), velocity: vec2(-20, 20, 0.05) })

function sent(steps: readonly Step[], rate: number, chance: prng.Prng): Sample[] {
  const samples: Sample[] = []
  for (let at = 0; at < steps.length; at += STEPS / rate) {
    const [x, y, vx, vy] = steps[at]!
    const state = valueOf(Wire, quantise(Wire, { place: [x, y], velocity: [vx, vy] }))
    const madeAt = (at / STEPS) * 1000
    const comesAt = madeAt + prng.between(chance, ...ONE_WAY_MS)
    if (prng.chance(chance, LOSS)) continue
    samples.push({ madeAt, comesAt, ...state })
  }
  return samples.toSorted((a, b) => a.comesAt - b.comesAt)
}

function watched(viewer: Viewer, steps: readonly Step[], samples: readonly Sample[]): Score {
  const score: Score = { errors: [], jerk: 0, truthJerk: 0 }
  const places: (readonly [number, number])[] = []
  const truths: (readonly [number, number])[] = []
  const end = (steps.length / STEPS) * 1000 - ONE_WAY_MS[1]
  let next = 0
  let newest = -1
  for (let now = WARM_MS / 2; now < end; now += FRAME_MS) {
    for (; samples[next] && samples[next]!.comesAt <= now; next++) {
      // What was overtaken is ignored, as by its number.
      if (samples[next]!.madeAt <= newest) continue
      newest = samples[next]!.madeAt
      viewer.take(samples[next]!)
    }
    places.push(viewer.show(now))
    truths.push(truthAt(steps, now))
    if (now < WARM_MS) continue
    score.errors.push(distance(places.at(-1)!, truths.at(-1)!))
    score.jerk += bend(places)
    score.truthJerk += bend(truths)
  }
  return score
}

function truthAt(steps: readonly Step[], now: number): [number, number] {
  const at = (now / 1000) * STEPS
  const from = steps[Math.floor(at)]!
  const to = steps[Math.min(steps.length - 1, Math.floor(at) + 1)]!
  const share = at - Math.floor(at)
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]
}

function distance(left: readonly [number, number], right: readonly [number, number]): number {
  return Math.hypot(left[0] - right[0], left[1] - right[1])
}

function bend(places: readonly (readonly [number, number])[]): number {
  const [a, b, c] = places.slice(-3) as [[number, number], [number, number], [number, number]]
  return (a[0] - 2 * b[0] + c[0]) ** 2 + (a[1] - 2 * b[1] + c[1]) ** 2
}
