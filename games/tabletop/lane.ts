/** Updates under way: a session takes 64 of one player, and those beyond wait here in order. */

/** Less than a session takes, for actions go the same way. */
const LANE_MAX = 48

/** See the head of this file. */
export class Lane {
  #under = 0
  readonly #waiting: (() => void)[] = []

  /** Whether there is room for what need not be said, such as a step of a drag. */
  get isQuiet(): boolean {
    return this.#under < LANE_MAX / 2 && this.#waiting.length === 0
  }

  /** Whether nothing is under way, and nothing waits. */
  get isIdle(): boolean {
    return this.#under === 0 && this.#waiting.length === 0
  }

  /** Does it as soon as there is room. */
  async run<Value>(what: () => Promise<Value>): Promise<Value> {
    if (this.#under >= LANE_MAX) await new Promise<void>((go) => this.#waiting.push(go))
    this.#under++
    try {
      return await what()
    } finally {
      this.#under--
      this.#waiting.shift()?.()
    }
  }
}
