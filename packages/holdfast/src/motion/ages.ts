/**
 * Latency by stage: the age of data at each stage of its path, by session time (T73). A stage keeps
 * its newest samples in a ring, and counts all.
 */

import type { Millis } from '../machine.ts'

/** The stages, in order of the path from an owner through the primary to a viewer. */
export const STAGES = [
  'clientSend',
  'serverReceive',
  'serverSend',
  'clientReceive',
  'shown',
] as const
/** The name of a stage. */
export type Stage = (typeof STAGES)[number]
/** Samples that a stage keeps. */
export const RECENT_MAX = 512

export interface Ring {
  /** Number of all samples. */
  count: number
  /** Session time of each sample; the n-th is at n % RECENT_MAX. */
  readonly at: Float64Array
  readonly age: Float64Array
}

export type Ages = Readonly<Record<Stage, Ring>>

/** One measurement of the age of data. */
export interface AgeSample {
  /** Session time of the measurement, in ms. */
  readonly at: Millis
  /** Age of the data, in ms. */
  readonly age: Millis
}

/** The figures of one stage. */
export interface AgeFigures {
  /** Samples since the session was joined. */
  readonly count: number
  /** Mean of the recent samples; NaN while there are none. */
  readonly mean: Millis
  /** 99th percentile of the recent samples; NaN while there are none. */
  readonly p99: Millis
  /** The last 512 at most, oldest first. */
  readonly recent: readonly AgeSample[]
}

export function create(): Ages {
  const ring = (): Ring => ({
    count: 0,
    at: new Float64Array(RECENT_MAX),
    age: new Float64Array(RECENT_MAX),
  })
  return {
    clientSend: ring(),
    serverReceive: ring(),
    serverSend: ring(),
    clientReceive: ring(),
    shown: ring(),
  }
}

/** Adds a sample: data made at `madeAt` reached a stage at that age. */
export function note(ages: Ages, stage: Stage, madeAt: Millis, age: Millis): void {
  const ring = ages[stage]
  const place = ring.count++ % RECENT_MAX
  ring.at[place] = madeAt + age
  ring.age[place] = age
}

export function figures({ count, at, age }: Ring): AgeFigures {
  const kept = Math.min(count, RECENT_MAX)
  const recent: AgeSample[] = []
  for (let n = count - kept; n < count; n++) {
    recent.push({ at: at[n % RECENT_MAX]!, age: age[n % RECENT_MAX]! })
  }
  const sorted = age.slice(0, kept).sort()
  return {
    count,
    mean: sorted.reduce((sum, one) => sum + one, 0) / kept,
    p99: sorted[Math.ceil(0.99 * kept) - 1] ?? NaN,
    recent,
  }
}
