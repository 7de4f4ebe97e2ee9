/**
 * The loop of a Node process: time and randomness.
 *
 * Node counts timers in whole milliseconds from the start of the loop turn, so a timer may fire up
 * to a millisecond before its instant. Such a timer is set again for the rest: alarms are up to a
 * millisecond late, never early.
 *
 * `set` is called for nearly every packet and mostly moves the instant later, so a timer that is
 * due earlier keeps running and is corrected when it fires.
 */

import { randomFillSync } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { assert, type Millis } from '../../machine.ts'
import type { Alarm, Loop } from '../../ports.ts'

/** Longest wait of one timer, in milliseconds; a longer alarm takes several. */
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
  /** When the current timer fires; Infinity if there is none. */
  #due: Millis = Infinity
  #timer: NodeJS.Timeout | null = null
  #immediate: NodeJS.Immediate | null = null

  constructor(run: () => void) {
    this.#run = run
  }

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
      // An immediate runs after the sockets' turn; a timer of zero takes a millisecond.
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
