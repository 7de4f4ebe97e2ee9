/** Key letters of peers, which the mailbox itself handles once their signatures are checked. */

import * as keys from '../machine/keys.ts'
import type { Mailbox, MailOut } from '../machine/mailbox.ts'
import type { Curves } from '../../../holdfast/src/ports.ts'
import { compute, type CurveAnswer } from './connections.ts'
import { Unhandled } from './handlers.ts'

/** Whether the signatures of a key letter are valid; null while being checked. */
interface Verdict {
  about: string
  isRight: boolean | null
}

const MALFORMED = 'it is about a key, and malformed'
const UNSIGNED = 'it is about a key, which not both the old one and the new one have signed'

export class KeyLetters {
  readonly #curves: Curves
  readonly #wake: (peer: string) => void
  readonly #verdicts = new Map<string, Verdict>()

  /** @param wake  called when the waiting key letter of a peer can be handled */
  constructor(curves: Curves, wake: (peer: string) => void) {
    this.#curves = curves
    this.#wake = wake
  }

  /** Handles a key letter. @returns why it took no effect, or not yet; null if it did */
  handle(box: Mailbox, peer: string, body: Uint8Array, out: MailOut): Unhandled | null {
    const letter = keys.readKeyLetter(body)
    if (!letter) return new Unhandled(true, MALFORMED)
    const checks = keys.checksOf(box, peer, letter)
    if (checks.length === 0) return null
    const verdict = this.#verdictOf(peer, checks)
    if (verdict.isRight === null) {
      return new Unhandled(false, 'the signatures of a letter about its key are being checked')
    }
    this.#verdicts.delete(peer)
    if (!verdict.isRight) return new Unhandled(true, UNSIGNED)
    keys.rekey(box, peer, letter, out)
    return null
  }

  #verdictOf(peer: string, checks: readonly keys.Check[]): Verdict {
    const about = checks
      .flatMap(({ key, message, signature }) => [...key, ...message, ...signature])
      .join()
    const known = this.#verdicts.get(peer)
    if (known?.about === about) return known
    const verdict: Verdict = { about, isRight: null }
    this.#verdicts.set(peer, verdict)
    let left = checks.length
    let isWaiting = false
    const done = (answer: CurveAnswer): void => {
      if (answer !== true) verdict.isRight = false
      else if (--left === 0) verdict.isRight ??= true
      if (verdict.isRight !== null && isWaiting) this.#wake(peer)
    }
    for (const check of checks) compute(this.#curves, { kind: 'check', ...check }, done)
    isWaiting = true
    return verdict
  }
}
