/**
 * Lines of letters that stand, because the first one fails: a bad program is likelier than a bad
 * letter, and whoever handles the next ones first breaks their order. So it is tried again, less
 * and less often, until it works, its owner sets it aside, or `onPoison` does.
 *
 * A handler that ends its process cannot report that it failed; the next process does, so deaths
 * are remembered durably.
 */

import { HoldfastError, type Millis } from '../../../holdfast/src/machine.ts'
import * as mailbox from '../machine/mailbox.ts'
import type { Draft, Stopped } from './draft.ts'
import { AsyncHandler } from './handlers.ts'
import { toBytes, toValue, type Values } from './values.ts'

/** A key of the library's own: keys of users have no NUL. */
const DIED = '\0died'

/** For each peer: in which letter processes died, and how often. */
type Deaths = { [peer: string]: { n: number; times: number } }

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
  readonly #values: Values

  constructor(values: Values) {
    this.#values = values
  }

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

  /** A process died while it handled letter n of that peer. */
  died(peer: string, n: number): void {
    this.#write({ ...this.#read(), [peer]: { n, times: this.deaths(peer, n) + 1 } })
  }

  /** How often processes died while they handled letter n of that peer. */
  deaths(peer: string, n: number): number {
    const death = this.#read()?.[peer]
    return death?.n === n ? death.times : 0
  }

  /** Forgets deaths in letters of that peer that have taken effect since. */
  forget(peer: string, heard: number): void {
    const known = this.#read()
    if (!known?.[peer] || known[peer].n > heard) return
    const { [peer]: _gone, ...others } = known
    this.#write(Object.keys(others).length > 0 ? others : null)
  }

  #read(): Deaths | null {
    const bytes = this.#values.get(DIED)
    return bytes && (toValue(bytes) as Deaths)
  }

  #write(deaths: Deaths | null): void {
    this.#values.set(DIED, deaths && toBytes(deaths))
  }

  /** @returns how deaths in it count; null if it is handled: another process may die of it then */
  afterDeaths(box: mailbox.Mailbox, peer: string, n: number): Error | null {
    const deaths = this.deaths(peer, n)
    const tries = mailbox.peerOf(box, peer).tries + deaths
    const { triesMax, onPoison } = box.limits
    if (deaths === 0 || tries < triesMax) return null
    const died = new Died(deaths, tries)
    if (onPoison === 'setAside') return new HoldfastError('failed', died.message)
    if (this.#waited.get(peer) === n) return null
    this.#waited.set(peer, n)
    return died
  }

  failed(
    draft: Draft,
    box: mailbox.Mailbox,
    now: Millis,
    { peer, n }: { peer: string; n: number },
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
    const deaths = this.deaths(peer, n)
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
