/** The pace of the world: whole steps, however unevenly one is called. */

import { STEP_MS } from './rules/pot.ts'

/** Steps that are caught up with; after a longer pause the world goes on from where it was. */
const STEPS_MAX = 15

/** See the head of this file. */
export class Pace {
  #steppedAt = NaN

  /** How many steps are due at this instant of a local clock, in ms; they count as made. */
  due(now: number): number {
    if (!(now - this.#steppedAt < STEPS_MAX * STEP_MS)) this.#steppedAt = now - STEP_MS
    let count = 0
    for (; now - this.#steppedAt >= STEP_MS; count++) this.#steppedAt += STEP_MS
    return count
  }

  /** How long ago the last step was, for who draws in between. */
  late(now: number): number {
    return now - this.#steppedAt
  }
}
