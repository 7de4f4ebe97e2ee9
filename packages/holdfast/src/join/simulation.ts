/**
 * A world that is stepped at a fixed rate by whoever serves: `session.simulate`.
 *
 * A tick is an instant of session time, and has its number from there: so the next server goes on
 * with the tick that is due, whoever died. Two servers agree on the time but for some milliseconds,
 * so a server steps nothing while its role is on the way to another, and the next one leaves out
 * the tick that is just due: no tick is stepped by both.
 * What a step changed is as safe as any change: objects in their newest form, the rest when it was
 * acknowledged. So the next server steps on from what everybody sees.
 */

import { badValue, type Millis } from '../machine.ts'
import type { Alarm } from '../ports.ts'
import type { MemberLoop } from '../runtime/member-loop.ts'
import { checkSync, checkOptions } from '../api/options.ts'
import { requireSync, type Report } from '../api/reports.ts'
import { shown } from '../wire/fields/fields.ts'
import { type Stop, stopping } from '../api/emitter.ts'

/** Most steps a second. */
export const HZ_MAX = 250
/** Longest time that is made up for. */
export const CATCH_UP_MAX: Millis = 60_000
const CATCH_UP_DEFAULT: Millis = 1_000
/** Whoever serves and does not know the time yet looks again after this. */
const UNTOLD_MS: Millis = 50
/** So near to its instant a tick is due: a clock in floats may never be there to the last bit. */
const NEAR_MS: Millis = 0.01

/** One step of a simulation. */
export interface SimulationStep {
  /** The number of this tick: one more than the last, unless some were skipped. */
  readonly tick: number
  /** Session time of this tick, in ms: `tick` times `ms`. */
  readonly now: Millis
  /** The length of a tick, in ms. */
  readonly ms: Millis
  /** How many ticks before this one were not stepped: more were due than `catchUp` has. */
  readonly skipped: number
}

/** What `simulate` takes besides. */
export interface SimulateOptions {
  /**
   * How much session time is made up for at most, in ms, when the process stood still: 0 to 60,000,
   * by default 1,000. What is beyond is skipped, and the next step is told.
   */
  readonly catchUp?: Millis
}

/** What a simulation needs of its session. */
export interface SimulationHost {
  /** Null once the session is over. */
  memberLoop(): MemberLoop | null
  /** Whether we serve just now, somebody else does, or our role is on its way to them. */
  role(): 'serves' | 'hands' | 'follows'
  report: Report
}

/** See the head of this file. */
export class Simulation {
  readonly #host: SimulationHost
  readonly #step: (step: SimulationStep) => void
  readonly #ms: Millis
  readonly #most: number
  #alarm: Alarm | null = null
  /** The last tick that was stepped or skipped; null while somebody else serves. */
  #last: number | null = null
  /** Somebody else served before. */
  #isNext = false
  #isOver = false
  #isStepping = false

  /** @throws HoldfastError `bad-value` */
  constructor(host: SimulationHost, hz: unknown, step: unknown, options: SimulateOptions) {
    if (typeof hz !== 'number' || !(hz > 0 && hz <= HZ_MAX)) {
      throw badValue(`simulate takes 1 to ${HZ_MAX} steps a second: ${shown(hz)}`)
    }
    checkSync('the step of simulate', step)
    checkOptions('simulate', options, ['catchUp'])
    const { catchUp = CATCH_UP_DEFAULT } = options
    if (!(catchUp >= 0 && catchUp <= CATCH_UP_MAX)) {
      throw badValue(`catchUp is 0 to ${CATCH_UP_MAX} ms: ${shown(catchUp)}`)
    }
    this.#host = host
    this.#step = step as (step: SimulationStep) => void
    this.#ms = 1_000 / hz
    this.#most = Math.max(1, Math.floor(catchUp / this.#ms))
  }

  /** Ends it. */
  readonly stop: Stop = stopping(() => {
    this.#isOver = true
    this.#alarm?.cancel()
  })

  /** Something changed: who serves, or that the time is known. */
  look(): void {
    const memberLoop = this.#host.memberLoop()
    if (this.#isOver || this.#isStepping || !memberLoop) return
    this.#alarm ??= memberLoop.loop.alarm(() => this.look())
    const role = this.#host.role()
    if (role === 'follows') {
      this.#last = null
      this.#isNext = true
    }
    if (role !== 'serves') return this.#alarm.cancel()
    const time = memberLoop.sessionTime()
    if (Number.isNaN(time)) return this.#alarm.set(memberLoop.loop.now() + UNTOLD_MS)
    this.#last ??= this.#tickAt(time) + (this.#isNext ? 1 : 0)
    this.#catchUp(this.#tickAt(time))
    this.#arm()
  }

  #tickAt(time: Millis): number {
    return Math.floor((time + NEAR_MS) / this.#ms)
  }

  #catchUp(due: number): void {
    let skipped = Math.max(0, due - this.#last! - this.#most)
    this.#last! += skipped
    this.#isStepping = true
    try {
      while (this.#last! < due && this.#goesOn()) {
        this.#last!++
        this.#run({ tick: this.#last!, now: this.#last! * this.#ms, ms: this.#ms, skipped })
        skipped = 0
      }
    } finally {
      this.#isStepping = false
    }
  }

  // A step may have handed over, or left.
  #goesOn(): boolean {
    return !this.#isOver && this.#host.memberLoop() !== null && this.#host.role() === 'serves'
  }

  #run(step: SimulationStep): void {
    const where = `the step of simulate`
    try {
      requireSync(where, this.#step(step) as unknown)
    } catch (error) {
      this.#host.report(error, where, this.#step)
    }
  }

  #arm(): void {
    const memberLoop = this.#host.memberLoop()
    if (this.#isOver || !memberLoop) return
    if (!this.#goesOn()) return this.look()
    const wait = (this.#last! + 1) * this.#ms - memberLoop.sessionTime()
    this.#alarm!.set(memberLoop.loop.now() + Math.max(0, wait))
  }
}
