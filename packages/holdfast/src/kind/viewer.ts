/** How one member sees moving objects: the warping factor, and their latency by stage. */

import { badValue, type Millis } from '../machine.ts'
import * as ages from '../motion/ages.ts'

export class Viewer {
  /** The factor for all types; null for that of each type. */
  factor: number | null = null
  readonly ages: ages.Ages = ages.create()

  /** Data made at that session time arrived. @param found  its age at each stage up to here */
  received(madeAt: Millis, found: readonly Millis[]): void {
    for (const [at, age] of found.entries()) ages.note(this.ages, ages.STAGES[at]!, madeAt, age)
  }

  /** Data made at that session time is shown for the first time. */
  shown(madeAt: Millis, now: Millis): void {
    ages.note(this.ages, 'shown', madeAt, now - madeAt)
  }

  figures(): Record<ages.Stage, ages.AgeFigures> {
    const all = ages.STAGES.map((stage) => [stage, ages.figures(this.ages[stage])] as const)
    return Object.fromEntries(all) as Record<ages.Stage, ages.AgeFigures>
  }

  /** Sets the factor. @throws HoldfastError code `bad-value` */
  warp(factor: number | null): void {
    this.factor = factor === null ? null : checkFactor('the warping factor', factor)
  }
}

/** Checks a factor. @throws HoldfastError code `bad-value` */
export function checkFactor(what: string, factor: number): number {
  if (factor >= 0 && factor < 1) return factor
  throw badValue(`${what} is from 0 to below 1: ${String(factor)}`)
}
