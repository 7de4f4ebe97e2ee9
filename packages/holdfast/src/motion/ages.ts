/**
 * Latency by stage: how old data is at each stage of its path, against session time (T73). A stage
 * keeps its newest samples in a ring and counts them all.
 */

import type { Millis } from '../machine.ts'

/** The stages, in the order of the path from an owner over the primary to a viewer. */
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

/** The samples of one stage. */
export interface Ring {
  /** How many samples there were. */
  count: number
  /** When the sample was at that stage, in session time; the n-th sample at n % RECENT_MAX. */
  readonly at: Float64Array
  /** Age of each sample. */
  readonly age: Float64Array
}

/** The samples of all stages. */
export type Ages = Readonly<Record<Stage, Ring>>

/** One measurement: at session time `at` data was `age` old. */
export interface AgeSample {
  /** Session time of the measurement, in ms. */
  readonly at: Millis
  /** How old the data was, in ms. */
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

/** No samples. */
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

/** Notes that data made at `madeAt` was so old when it came to a stage. */
export function note(ages: Ages, stage: Stage, madeAt: Millis, age: Millis): void {
  const ring = ages[stage]
  const place = ring.count++ % RECENT_MAX
  ring.at[place] = madeAt + age
  ring.age[place] = age
}

/** The figures of one stage. */
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
