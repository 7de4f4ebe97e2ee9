/**
 * A simulation that the primary steps at a fixed rate: `session.simulate`.
 *
 * A tick is an instant of session time, which also numbers it, so the next primary continues with
 * the tick that is due. The clocks of two primaries differ by some milliseconds. So a primary does
 * not step while its role moves to another, and the new one skips the tick that is just due: no
 * tick is stepped twice. The changes of a step are committed like any other, so the next primary
 * starts from the state that all members see.
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
/** Most time that `catchUp` may be. */
export const CATCH_UP_MAX: Millis = 60_000
const CATCH_UP_DEFAULT: Millis = 1_000
/** A primary that does not know the time yet checks again after this. */
const UNTOLD_MS: Millis = 50
/** A tick is due this close to its instant, because float clocks round. */
const NEAR_MS: Millis = 0.01

/** One step of a simulation. */
export interface SimulationStep {
  /** The number of this tick: one more than the last, unless some were skipped. */
  readonly tick: number
  /** Session time of this tick, in ms: `tick` times `ms`. */
  readonly now: Millis
  /** The length of a tick, in ms. */
  readonly ms: Millis
  /** How many ticks before this one were skipped, because more were due than `catchUp` allows. */
  readonly skipped: number
}

/** Options of `simulate`. */
export interface SimulateOptions {
  /**
   * Most session time, in ms, that is caught up after the process was frozen: 0 to 60,000. Default
   * 1,000. Further ticks are skipped, and counted in `skipped` of the next step.
   */
  readonly catchUp?: Millis
}

export interface SimulationHost {
  /** Null once the session is over. */
  memberLoop(): MemberLoop | null
  /** Whether this member is primary, hands the role over, or follows another primary. */
  role(): 'serves' | 'hands' | 'follows'
  report: Report
}

export class Simulation {
  readonly #host: SimulationHost
  readonly #step: (step: SimulationStep) => void
  readonly #ms: Millis
  readonly #most: number
  #alarm: Alarm | null = null
  /** The last tick that was stepped or skipped; null while another member is primary. */
  #last: number | null = null
  /** Whether another member was primary before. */
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

  readonly stop: Stop = stopping(() => {
    this.#isOver = true
    this.#alarm?.cancel()
  })

  /** Steps what is due; called when the primary changed or the time became known. */
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
