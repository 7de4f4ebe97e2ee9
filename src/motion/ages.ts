/**
 * How old data is at each stage of its way, against session time (T73). A stage keeps its newest
 * samples in a ring and counts them all.
 */

import type { Millis } from '../machine.ts'

/** The stages, in the order of the way from an owner by the primary to a viewer. */
export const STAGES = [
  'clientSend',
  'serverReceive',
  'serverSend',
  'clientReceive',
  'shown',
] as const
/** One of them. */
export type Stage = (typeof STAGES)[number]
/** Samples that a stage keeps. */
export const RECENT_MAX = 512

/** The samples of one stage. */
export interface Ring {
  /** How many there were. */
  count: number
  /** When the sample was at that stage, in session time; the n-th sample at n % RECENT_MAX. */
  readonly at: Float64Array
  /** How old it was. */
  readonly age: Float64Array
}

/** What was measured. */
export type Ages = Readonly<Record<Stage, Ring>>

/** One measurement: at that session time data was so old. */
export interface AgeSample {
  /** Session time of the measurement, in ms. */
  readonly at: Millis
  /** How old the data was, in ms. */
  readonly age: Millis
}

/** One stage in figures. */
export interface AgeFigures {
  /** Samples since the session was joined. */
  readonly count: number
  /** Of the recent samples; NaN while there are none. */
  readonly mean: Millis
  /** Of the recent samples; NaN while there are none. */
  readonly p99: Millis
  /** The last 512 at most, oldest first. */
  readonly recent: readonly AgeSample[]
}

/** Nothing was measured. */
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

/** Data made at `madeAt` was so old when it came to a stage. */
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
