/**
 * Queues blocked by a failing letter. A bad program is likelier than a bad letter, and skipping the
 * letter would break the order. So the letter is retried with backoff until it works, its owner
 * sets it aside, or `onPoison` does.
 *
 * A handler that kills its process cannot report the failure. The next process does, so crashes are
 * durable.
 */

import { HoldfastError, type Millis } from '../../../holdfast/src/machine.ts'
import * as mailbox from '../machine/mailbox.ts'
import type { Draft, BlockedQueue } from './draft.ts'
import { AsyncHandler } from './handlers.ts'
import { toBytes, toValue, type Values } from './values.ts'

/** A reserved key: user keys have no NUL. */
const DIED = '\0died'

/** By peer: the letter in which processes crashed, and how often. */
type Crashes = { [peer: string]: { n: number; times: number } }

/** Processes crashed so often in a letter that it must wait before its next attempt. */
export class HandlerCrash extends Error {
  readonly tries: number

  constructor(crashes: number, tries: number) {
    super(`the process ended while it was handled: ${crashes} times`)
    this.tries = tries
  }
}

export class BlockedQueues {
  /** The blocked letter of each peer, with the reason. */
  readonly #stopped = new Map<string, BlockedQueue>()
  /** Letters with crashes whose wait happened in this process. */
  readonly #waited = new Map<string, number>()
  readonly #values: Values

  constructor(values: Values) {
    this.#values = values
  }

  why(peer: string): string | null {
    const stopped = this.#stopped.get(peer)
    return stopped ? `letter ${stopped.n}: ${stopped.why}` : null
  }

  unblock(peer: string): void {
    this.#stopped.delete(peer)
    this.#waited.delete(peer)
  }

  noteCrash(peer: string, n: number): void {
    this.#write({ ...this.#read(), [peer]: { n, times: this.crashes(peer, n) + 1 } })
  }

  crashes(peer: string, n: number): number {
    const death = this.#read()?.[peer]
    return death?.n === n ? death.times : 0
  }

  /** Forgets crashes in letters of a peer that have taken effect since. */
  forget(peer: string, heard: number): void {
    const known = this.#read()
    if (!known?.[peer] || known[peer].n > heard) return
    const { [peer]: _gone, ...others } = known
    this.#write(Object.keys(others).length > 0 ? others : null)
  }

  #read(): Crashes | null {
    const bytes = this.#values.get(DIED)
    return bytes && (toValue(bytes) as Crashes)
  }

  #write(crashes: Crashes | null): void {
    this.#values.set(DIED, crashes && toBytes(crashes))
  }

  /** @returns the error for its crashes; null if it may be handled once more */
  afterCrashes(box: mailbox.Mailbox, peer: string, n: number): Error | null {
    const crashes = this.crashes(peer, n)
    const tries = mailbox.peerOf(box, peer).tries + crashes
    const { triesMax, onPoison } = box.limits
    if (crashes === 0 || tries < triesMax) return null
    const crash = new HandlerCrash(crashes, tries)
    if (onPoison === 'setAside') return new HoldfastError('failed', crash.message)
    if (this.#waited.get(peer) === n) return null
    this.#waited.set(peer, n)
    return crash
  }

  failed(
    draft: Draft,
    box: mailbox.Mailbox,
    now: Millis,
    { peer, n }: { peer: string; n: number },
    error: Error,
  ): void {
    const { message: why } = error
    if (error instanceof HandlerCrash) {
      const ms = mailbox.waitAfter(error.tries)
      mailbox.postpone(box, now, peer, ms)
      return this.#stop(draft, { peer, n, why, tries: error.tries, ms })
    }
    draft.events.push({ kind: 'threw', peer, n, why })
    const known = mailbox.peerOf(box, peer)
    const crashes = this.crashes(peer, n)
    const tries = 1 + known.tries + crashes
    if (error instanceof AsyncHandler) {
      known.retryAt = Infinity
      return this.#stop(draft, { peer, n, why, tries, ms: null })
    }
    // A full outbox is not the fault of this letter.
    const isFull = error instanceof HoldfastError && error.code === 'outbox-full'
    if (isFull) return mailbox.postpone(box, now, peer)
    mailbox.failed(box, now, peer, why, draft.out, crashes)
    if (known.heard >= n) this.unblock(peer)
    else if (tries >= box.limits.triesMax) {
      this.#stop(draft, { peer, n, why, tries, ms: known.retryAt - now })
    }
  }

  #stop({ events }: Draft, stopped: BlockedQueue): void {
    this.#stopped.set(stopped.peer, stopped)
    events.push({ kind: 'stopped', ...stopped })
  }
}
