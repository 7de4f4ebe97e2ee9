/** A line between the two ends, whatever carries it. */

import type { Side } from './words.ts'

/** Takes a message. The bytes are valid only during the call. */
export type Came = (bytes: Uint8Array) => void

/** One end of an open line. */
export interface Line {
  /** Sends one message at once. */
  send(bytes: Uint8Array): void
  /** Sends this message as often as it can; null ends it. */
  flood(bytes: Uint8Array | null): void
}

/** How the two ends talk while they open a line. */
export class Talk {
  readonly side: Side
  readonly tell: (word: unknown) => void
  readonly #words: unknown[] = []
  #heard: (word: unknown) => void = (word) => this.#words.push(word)

  constructor(side: Side, tell: (word: unknown) => void) {
    this.side = side
    this.tell = tell
  }

  /** The other end told a word. */
  take(word: unknown): void {
    this.#heard(word)
  }

  /** Takes all words from now on, and those that came already. */
  on(heard: (word: unknown) => void): void {
    this.#heard = heard
    for (const word of this.#words.splice(0)) heard(word)
  }

  /** The next word. */
  hear(): Promise<unknown> {
    if (this.#words.length > 0) return Promise.resolve(this.#words.shift())
    return new Promise((resolve) => {
      this.#heard = (word) => {
        this.#heard = (later) => this.#words.push(later)
        resolve(word)
      }
    })
  }
}
