/** Transactions of a turn: what one wrote and posted is in the draft whole, or not at all. */

import * as mailbox from '../machine/mailbox.ts'
import type { Draft } from './draft.ts'
import { Ended, checkLater, checkRoom, RESERVE } from './later.ts'
import type { Later } from './later.ts'
import { type Dated, type LetterOptions, toLetter } from './letters.ts'
import { type Desk, LetterTransaction, type Posted, type Transaction } from './transaction.ts'
import type { Values } from './values.ts'
import type { TurnsHost } from './handlers.ts'

/** Whose transactions these are; its mailbox may become another one. */
interface OfTurns {
  readonly box: mailbox.Mailbox
  readonly values: Values
  readonly later: Later
}

/** See the head of this file. */
export class Attempts {
  readonly #host: TurnsHost
  readonly #turns: OfTurns

  constructor(host: TurnsHost, turns: OfTurns) {
    this.#host = host
    this.#turns = turns
  }

  /** @returns the error it threw, or null; then its effects are in the draft @throws Ended */
  attempt(
    draft: Draft,
    letter: Ended['letter'],
    trace: string | null,
    act: (tx: Transaction) => void,
  ): Error | null {
    const tx = new LetterTransaction(this.#desk(trace))
    let error: Error | null = null
    try {
      act(tx)
    } catch (thrown) {
      error = thrown instanceof Error ? thrown : new Error(String(thrown))
    }
    const ended = this.#host.store.sql?.ended
    if (ended) throw new Ended(ended, letter)
    if (error) {
      tx.undo()
      return error
    }
    tx.keep()
    for (const post of tx.posts) this.#post(draft, post)
    return null
  }

  // Letters of handlers have room of their own, which was checked when they were posted.
  #post(draft: Draft, { to, body, due }: Posted): void {
    this.meets(draft, to)
    if (due === null) mailbox.add(this.#turns.box, to, body, draft.out)
    else this.#turns.later.add(due, { kind: 'post', peer: to, body })
  }

  /** Tells of a letter to somebody who was never seen, and is not expected: a name may be wrong. */
  meets({ events }: Draft, peer: string): void {
    const known = this.#turns.box.peers.get(peer)
    const isSeen = known && (known.heard > 0 || known.acked > 0 || known.key !== null)
    if (isSeen || this.#turns.box.listed?.has(peer) || this.#host.expects(peer)) return
    events.push({ kind: 'unseen', peer })
  }

  /** Puts the body of a letter into its envelope. @throws HoldfastError `bad-value` */
  seal(body: Uint8Array, options: LetterOptions, trace: string | null): Dated {
    return toLetter(this.#host.date?.() ?? null, body, options, trace)
  }

  #desk(trace: string | null): Desk {
    return {
      seal: (body, options) => this.seal(body, options, trace),
      store: this.#host.store,
      values: this.#turns.values,
      checkRoom: (to, letters, bytes) => checkRoom(this.#turns.box, to, letters, bytes, RESERVE),
      checkLater: (letters) => checkLater(this.#turns.later, letters),
    }
  }
}
