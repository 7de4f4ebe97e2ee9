/**
 * External effects: async handlers. A letter blocks its queue until its effect has settled; then a
 * turn acknowledges it, or counts a failure.
 *
 *     turn: its turn comes │ durable │ the handler runs ··· settles │ turn: done │ durable, acked
 *     a crash here          again      again, the same id             again        it has happened
 *
 * One effect runs at a time over all senders, so a handler may use a single database connection.
 * Effects are tracked in memory only: after a crash the next process runs them again.
 */

import { type Millis, HoldfastError } from '../../../holdfast/src/machine.ts'
import type { Alarm, Loop } from '../../../holdfast/src/ports.ts'
import type { Draft } from './draft.ts'
import { Unhandled } from './handlers.ts'

/** Default time limit of one attempt. */
export const EFFECT_MS: Millis = 60_000

/** Why a letter with a running effect waits. */
const AT_WORK = 'its handler is at work'

export interface Effect {
  readonly peer: string
  /** The letter's id. */
  readonly id: string
  readonly ms: Millis
  run(signal: AbortSignal): unknown
}

interface Running {
  readonly effect: Effect
  readonly abort: AbortController
  readonly settled: () => void
  alarm: Alarm | null
  /** Undefined until it has settled; null on success. */
  outcome: Error | null | undefined
}

export class Effects {
  readonly #loop: Loop
  readonly #wake: (peer: string) => void
  /** The effect of each peer's first letter, until the letter is done. */
  readonly #ofPeers = new Map<string, Running>()
  #waiting: Running[] = []
  #running: Running | null = null
  #isClosed = false

  /** @param wake  called when the effect of a peer's first letter has settled */
  constructor(loop: Loop, wake: (peer: string) => void) {
    this.#loop = loop
    this.#wake = wake
  }

  /**
   * The outcome of the effect of a peer's first letter. A new effect starts once this turn is
   * durable, as the letters before it are then, too.
   *
   * @returns Unhandled until it has settled; null on success, or the error
   */
  outcome({ promises }: Draft, effect: Effect): Error | null {
    const known = this.#ofPeers.get(effect.peer)
    if (known?.effect.id !== effect.id) {
      promises.push({ resolve: () => this.#begin(effect) })
      return new Unhandled(false, AT_WORK)
    }
    if (known.outcome === undefined) return new Unhandled(false, AT_WORK)
    promises.push({ resolve: () => this.#forget(known) })
    return known.outcome
  }

  /** Runs an effect after those queued. @returns the error; null on success */
  once(effect: Effect): Promise<Error | null> {
    if (this.#isClosed) return Promise.resolve(new Error('the mailbox is closed'))
    return new Promise((resolve) => {
      const running = this.#add(effect, () => resolve(running.outcome!))
    })
  }

  /** Aborts the effect of a peer's first letter, which was set aside. */
  drop(peer: string): void {
    const known = this.#ofPeers.get(peer)
    if (!known) return
    this.#forget(known)
    known.abort.abort(new Error('its letter was set aside'))
    this.#settle(known, new Error('its letter was set aside'))
  }

  /** Aborts all effects and ignores their later outcomes. */
  close(): void {
    this.#isClosed = true
    const closed = new HoldfastError('store', 'the mailbox is closed')
    const all = [...(this.#running ? [this.#running] : []), ...this.#waiting]
    this.#waiting = []
    for (const running of all) {
      running.abort.abort(closed)
      this.#settle(running, closed)
    }
  }

  #begin(effect: Effect): void {
    const { peer, id } = effect
    const before = this.#ofPeers.get(peer)
    if (before?.effect.id === id) return
    const running = this.#add(effect, () => {
      if (this.#ofPeers.get(peer) === running) this.#wake(peer)
    })
    this.#ofPeers.set(peer, running)
  }

  #forget(known: Running): void {
    const { peer } = known.effect
    if (this.#ofPeers.get(peer) === known) this.#ofPeers.delete(peer)
  }

  #add(effect: Effect, settled: () => void): Running {
    const abort = new AbortController()
    const running: Running = { effect, abort, settled, alarm: null, outcome: undefined }
    this.#waiting.push(running)
    this.#loop.soon(() => this.#next())
    return running
  }

  #next(): void {
    if (this.#running || this.#isClosed) return
    const running = this.#waiting.shift()
    if (!running) return
    this.#running = running
    const { effect, abort } = running
    running.alarm = this.#loop.alarm(() => {
      const late = new Error(`its handler did not settle within ${effect.ms} ms`)
      abort.abort(late)
      this.#settle(running, late)
    })
    running.alarm.set(this.#loop.now() + effect.ms)
    void this.#run(running)
  }

  async #run(running: Running): Promise<void> {
    try {
      await running.effect.run(running.abort.signal)
      this.#settle(running, null)
    } catch (error) {
      this.#settle(running, error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** Records an outcome; ignored after a timeout or abort. */
  #settle(running: Running, outcome: Error | null): void {
    if (running.outcome !== undefined) return
    running.outcome = outcome
    running.alarm?.cancel()
    this.#waiting = this.#waiting.filter((one) => one !== running)
    if (this.#running === running) this.#running = null
    running.settled()
    this.#loop.soon(() => this.#next())
  }
}
