/** What there is to tell when we are back: since when we were away, and what became of us. */

import type { Millis } from '../machine.ts'
import type { Healing } from './events.ts'

/** See the head of this file. */
export class Absence {
  #since: Millis = 0
  #same = true
  #lost = 0

  /** We are out of touch since then. */
  begin(since: Millis): void {
    this.#since = since
  }

  /** We came in again, as the same player or not; so many of our operations the session lost. */
  returned(isSame: boolean, lost: number): void {
    this.#same &&= isSame
    this.#lost += lost
  }

  /** We are back. @param resent  operations that were asked for again */
  end(now: Millis, resent: number): Healing {
    const healing = { awayMs: now - this.#since, same: this.#same, resent, lost: this.#lost }
    this.#since = this.#lost = 0
    this.#same = true
    return healing
  }
}
