/**
 * Effects elsewhere: handlers that take their time. A letter waits with its line until its effect
 * has settled; then a turn acknowledges it, or counts that it failed.
 *
 *     turn: its turn comes │ durable │ the handler runs ··· settles │ turn: done │ durable, acked
 *     a crash here          again      again, the same id             again        it has happened
 *
 * One runs at a time, whoever sent its letter, so a handler may use one connection of a database.
 * What is known of an effect is in memory alone: a process that dies does it again.
 */

import type { Millis } from '../../../holdfast/src/machine.ts'
import { HoldfastError } from '../../../holdfast/src/machine.ts'
import type { Alarm, Loop } from '../../../holdfast/src/ports.ts'
import type { Draft } from './draft.ts'
import { Unhandled } from './handlers.ts'

/** Default time for one attempt. */
export const EFFECT_MS: Millis = 60_000

/** Why a letter waits whose effect is under way. */
const AT_WORK = 'its handler is at work'

/** An effect of a letter. */
export interface Effect {
  readonly peer: string
  /** The name of the letter. */
  readonly id: string
  /** Time for it. */
  readonly ms: Millis
  run(signal: AbortSignal): unknown
}

interface Running {
  readonly effect: Effect
  readonly abort: AbortController
  readonly settled: () => void
  alarm: Alarm | null
  /** Undefined until it has settled; null if all went well. */
  outcome: Error | null | undefined
}

/** See the head of this file. */
export class Effects {
  readonly #loop: Loop
  readonly #wake: (peer: string) => void
  /** That of the first letter of each peer, until the letter is done. */
  readonly #ofPeers = new Map<string, Running>()
  #waiting: Running[] = []
  #running: Running | null = null
  #isClosed = false

  /** @param wake  is called when the effect of a peer's first letter has settled */
  constructor(loop: Loop, wake: (peer: string) => void) {
    this.#loop = loop
    this.#wake = wake
  }

  /**
   * What became of the effect of a peer's first letter. One that is not known begins when the turn
   * is durable, for those of letters before it are then.
   *
   * @returns Unhandled until it has settled; null if all went well, or why it failed
   */
  outcome({ promises }: Draft, effect: Effect): Error | null {
    const known = this.#ofPeers.get(effect.peer)
    if (known?.effect.id !== effect.id) {
      promises.push({ keep: () => this.#begin(effect), break: () => {} })
      return new Unhandled(false, AT_WORK)
    }
    if (known.outcome === undefined) return new Unhandled(false, AT_WORK)
    promises.push({ keep: () => this.#forget(known), break: () => {} })
    return known.outcome
  }

  /** Does an effect, after those that wait. @returns why it failed; null if all went well */
  once(effect: Effect): Promise<Error | null> {
    if (this.#isClosed) return Promise.resolve(new Error('the mailbox is closed'))
    return new Promise((resolve) => {
      const running = this.#add(effect, () => resolve(running.outcome!))
    })
  }

  /** The first letter of a peer was set aside. */
  drop(peer: string): void {
    const known = this.#ofPeers.get(peer)
    if (!known) return
    this.#forget(known)
    known.abort.abort(new Error('its letter was set aside'))
    this.#settle(known, new Error('its letter was set aside'))
  }

  /** Ends all; what they do from now on counts for nothing. */
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

  /** What settles after its time, or was dropped, counts for nothing. */
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
