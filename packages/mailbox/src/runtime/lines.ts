/**
 * Lines of letters that stand, because the first one fails: a bad program is likelier than a bad
 * letter, and whoever handles the next ones first breaks their order. So it is tried again, less
 * and less often, until it works, its owner sets it aside, or `onPoison` does.
 */

import { HoldfastError, type Millis } from '../../../holdfast/src/machine.ts'
import * as mailbox from '../machine/mailbox.ts'
import type { Draft, Stopped } from './draft.ts'
import { AsyncHandler } from './handlers.ts'

/** The process died in that letter so often that it waits before it is handled once more. */
export class Died extends Error {
  /** How often it was tried, so far. */
  readonly tries: number

  constructor(deaths: number, tries: number) {
    super(`the process ended while it was handled: ${deaths} times`)
    this.tries = tries
  }
}

/** See the head of this file. */
export class Lines {
  /** What stands at each peer, and why. */
  readonly #stopped = new Map<string, Stopped>()
  /** Letters in which a process died, that have waited in this one. */
  readonly #waited = new Map<string, number>()

  /** Why letters of a peer wait, a sentence; null if they do not. */
  why(peer: string): string | null {
    const stopped = this.#stopped.get(peer)
    return stopped ? `letter ${stopped.n}: ${stopped.why}` : null
  }

  /** The first letter of a peer took effect, or was set aside. */
  goesOn(peer: string): void {
    this.#stopped.delete(peer)
    this.#waited.delete(peer)
  }

  /**
   * A letter in which processes died.
   *
   * @returns how that counts; null if it is to be handled: another process may die of it then
   */
  afterDeaths(box: mailbox.Mailbox, peer: string, n: number, deaths: number): Error | null {
    const tries = mailbox.peerOf(box, peer).tries + deaths
    const { triesMax, onPoison } = box.limits
    if (deaths === 0 || tries < triesMax) return null
    const died = new Died(deaths, tries)
    if (onPoison === 'setAside') return new HoldfastError('failed', died.message)
    if (this.#waited.get(peer) === n) return null
    this.#waited.set(peer, n)
    return died
  }

  /**
   * A letter failed.
   *
   * @param deaths  how often processes died in it, beside its tries
   */
  failed(
    draft: Draft,
    box: mailbox.Mailbox,
    now: Millis,
    { peer, n, deaths }: { peer: string; n: number; deaths: number },
    error: Error,
  ): void {
    const { message: why } = error
    if (error instanceof Died) {
      const ms = mailbox.waitAfter(error.tries)
      mailbox.postpone(box, now, peer, ms)
      return this.#stop(draft, { peer, n, why, tries: error.tries, ms })
    }
    draft.events.push({ kind: 'threw', peer, n, why })
    const known = mailbox.peerOf(box, peer)
    const tries = 1 + known.tries + deaths
    if (error instanceof AsyncHandler) {
      known.retryAt = Infinity
      return this.#stop(draft, { peer, n, why, tries, ms: null })
    }
    // An outbox that the letter's handler posts to is full: that is no fault of this letter.
    const isFull = error instanceof HoldfastError && error.code === 'outbox-full'
    if (isFull) return mailbox.postpone(box, now, peer)
    mailbox.failed(box, now, peer, why, draft.out, deaths)
    if (known.heard >= n) this.goesOn(peer)
    else if (tries >= box.limits.triesMax) {
      this.#stop(draft, { peer, n, why, tries, ms: known.retryAt - now })
    }
  }

  #stop({ events }: Draft, stopped: Stopped): void {
    this.#stopped.set(stopped.peer, stopped)
    events.push({ kind: 'stopped', ...stopped })
  }
}
