/** How much of what there was before us has come. */

/** A face whose things come by themselves, behind the log: objects. */
export interface Loading {
  /** False while some of what there is already is still on its way to a member that joins. */
  readonly arrived: boolean
  /** How many have come. */
  readonly loaded: number
  /** How many will, as far as somebody said; null if nobody did. */
  readonly total: number | null
}

/** See the head of this file. */
export class Coming {
  readonly #loading: () => Loading | undefined
  /** The log has come. */
  caughtUp = false
  #isComplete = false
  #told = false

  /** @param loading  undefined where nothing comes but the log */
  constructor(loading: () => Loading | undefined) {
    this.#loading = loading
  }

  /** Whether all of it has. */
  get complete(): boolean {
    this.#isComplete ||= this.caughtUp && (this.#loading()?.arrived ?? true)
    return this.#isComplete
  }

  /** Objects that have. */
  get loaded(): number {
    return this.#loading()?.loaded ?? 0
  }

  /** Objects that there were as they began to come, or have come by now; null if nobody said. */
  get total(): number | null {
    const total = this.#loading()?.total ?? null
    return total === null ? null : Math.max(this.loaded, total)
  }

  /** Whether it is time to tell that all of it has, which is told once. */
  look(): boolean {
    if (this.#told || !this.complete) return false
    this.#told = true
    return true
  }
}
