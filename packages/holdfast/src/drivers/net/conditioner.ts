/**
 * Network conditions for the datagrams of one process, in real or virtual time. `faults/` decides
 * as it does for the simulated network.
 *
 * `rtt` is added to the carrier's own delay, half each way: if only one end is conditioned, both
 * its sending and its receiving are, so that the whole trip counts.
 */

import * as faults from '../../faults/conditions.ts'
import * as prng from '../../faults/prng.ts'
import type { Millis } from '../../machine.ts'
import type { Alarm, Loop } from '../../ports.ts'

/** Most datagrams held back; more are dropped and counted. */
export const CONDITIONER_QUEUE_MAX = 8192

type Deliver = (bytes: Uint8Array) => void

interface Held {
  at: Millis
  bytes: Uint8Array
  deliver: Deliver
}

/** Conditions that may change while datagrams pass. */
export class Conditioner {
  readonly counters = {
    /** Copies that were passed on. */
    passed: 0,
    lost: 0,
    duplicated: 0,
    /** Dropped because CONDITIONER_QUEUE_MAX waited. */
    overflowed: 0,
  }
  /** Whether datagrams pass unchanged. */
  quiet: boolean
  readonly #loop: Loop
  readonly #alarm: Alarm
  readonly #seed: number | string | null
  #chance: prng.Prng | null = null
  #conditions: faults.Conditions
  #isClosed = false
  /** The next to go is at the end, so that taking it out moves nothing. */
  readonly #held: Held[] = []

  /** @param seed  drawn from the loop by default @throws HoldfastError 'bad-value' */
  constructor(loop: Loop, conditions: Partial<faults.Conditions>, seed: number | null = null) {
    this.#loop = loop
    this.#alarm = loop.alarm(() => this.#release())
    this.#seed = seed
    this.#conditions = faults.verify(conditions)
    this.quiet = faults.isPerfect(this.#conditions)
  }

  current(): Readonly<faults.Conditions> {
    return this.#conditions
  }

  /** Applies to datagrams from now on. @throws HoldfastError 'bad-value' */
  change(conditions: Partial<faults.Conditions>): void {
    this.#conditions = faults.verify(conditions)
    this.quiet = faults.isPerfect(this.#conditions)
  }

  /** Delivers a datagram once, twice or never, at once or later. @param path  its direction */
  pass(path: faults.Path, bytes: Uint8Array, deliver: Deliver): void {
    for (const delay of this.quiet ? [0] : this.#decide(path)) {
      // A datagram without delay keeps the carrier's own order and cost.
      if (delay > 0) this.#hold(delay, bytes.slice(), deliver)
      else {
        this.counters.passed += 1
        deliver(bytes)
      }
    }
  }

  /** Drops what waits, and holds nothing any more. */
  close(): void {
    this.#isClosed = true
    this.#held.length = 0
    this.#alarm.cancel()
  }

  #decide(path: faults.Path): Millis[] {
    // Created late: perfect conditions draw no random numbers.
    this.#chance ??= prng.create(this.#seed ?? this.#loop.random(8).join())
    const { copies } = faults.fate(this.#conditions, this.#chance, path)
    if (copies.length === 0) this.counters.lost += 1
    if (copies.length > 1) this.counters.duplicated += 1
    return copies
  }

  #hold(delay: Millis, bytes: Uint8Array, deliver: Deliver): void {
    const held = this.#held
    if (this.#isClosed) return
    if (held.length >= CONDITIONER_QUEUE_MAX) {
      this.counters.overflowed += 1
      return
    }
    const at = this.#loop.now() + delay
    // The first place whose datagram goes no later: equal instants keep the order of sending.
    let low = 0
    let high = held.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (held[middle]!.at > at) low = middle + 1
      else high = middle
    }
    held.splice(low, 0, { at, bytes, deliver })
    if (low === held.length - 1) this.#alarm.set(at)
  }

  #release(): void {
    const now = this.#loop.now()
    // `deliver` may add datagrams that are due as well, but they never leave within this call.
    for (let left = this.#held.length; left > 0; left--) {
      const next = this.#held.at(-1)
      if (next === undefined || next.at > now) break
      this.#held.pop()
      this.counters.passed += 1
      next.deliver(next.bytes)
    }
    const next = this.#held.at(-1)
    if (next !== undefined) this.#alarm.set(next.at)
  }
}
