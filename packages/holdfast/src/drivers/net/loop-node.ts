/**
 * The loop of a Node process: time and randomness.
 *
 * Node counts its timers in whole milliseconds from the start of the current loop turn, while `now`
 * has fractions, so a timer may fire up to a millisecond before its instant. A machine that is
 * woken early finds nothing due and asks for the same instant again, so we never wake it early: a
 * timer that fired too soon is set once more for the rest. The price is at most about a millisecond
 * of lateness, which the machines expect of any loop. Spinning through that rest would be more
 * exact, but would occupy a core under pacing.
 *
 * `set` is called for nearly every packet and mostly moves the instant later, so a timer that is
 * already due earlier is left running and corrected when it fires.
 */

import { randomFillSync } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { assert, type Millis } from '../../machine.ts'
import type { Alarm, Loop } from '../../ports.ts'

/** The longest wait given to one timer, in milliseconds; a longer alarm takes several. */
const WAIT_MAX = 2 ** 30

/** The loop of this process. Its alarms keep the process alive while they are set. */
export function createNodeLoop(): Loop {
  return {
    now: () => performance.now(),
    random: (count) => randomFillSync(new Uint8Array(count)),
    soon: (run) => queueMicrotask(run),
    alarm: (run) => new NodeAlarm(run),
  }
}

class NodeAlarm implements Alarm {
  readonly #run: () => void
  /** When the alarm fires; Infinity for never. */
  #at: Millis = Infinity
  /** When the present timer fires; Infinity if there is none. */
  #due: Millis = Infinity
  #timer: NodeJS.Timeout | null = null
  #immediate: NodeJS.Immediate | null = null

  constructor(run: () => void) {
    this.#run = run
  }

  /** An instant of Infinity is the same as `cancel`. */
  set(at: Millis): void {
    assert(!Number.isNaN(at), 'an alarm needs an instant')
    if (at === Infinity) return this.cancel()
    this.#at = at
    if (at < this.#due) this.#wait()
  }

  cancel(): void {
    this.#at = Infinity
    this.#disarm()
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#immediate !== null) clearImmediate(this.#immediate)
    this.#timer = null
    this.#immediate = null
    this.#due = Infinity
  }

  #wait(): void {
    this.#disarm()
    const now = performance.now()
    if (this.#at <= now) {
      // An immediate comes after the sockets had their turn; a timer of zero takes a millisecond.
      this.#due = -Infinity
      this.#immediate = setImmediate(this.#fire)
      return
    }
    const wait = Math.min(Math.ceil(this.#at - now), WAIT_MAX)
    this.#due = now + wait
    this.#timer = setTimeout(this.#fire, wait)
  }

  #fire = (): void => {
    this.#timer = null
    this.#immediate = null
    this.#due = Infinity
    if (performance.now() < this.#at) return this.#wait()
    this.#at = Infinity
    this.#run()
  }
}
