/** Short words to this player alone: who was first, why a move was refused. */

/** How long one stands, in milliseconds, and how many at once. */
const TOAST_MS = 4_000
const TOASTS_MAX = 3

/** One of them. */
export interface Toast {
  readonly id: number
  readonly text: string
  /** Whose doing it was; 0 for nobody's. */
  readonly player: number
  readonly at: number
}

/** See the head of this file. */
export class Toasts {
  readonly #changed: () => void
  #all: readonly Toast[] = []
  #count = 0

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Those that stand now, oldest first. */
  get now(): readonly Toast[] {
    const now = performance.now()
    return this.#all.filter(({ at }) => now - at < TOAST_MS)
  }

  /** How many there were. */
  get count(): number {
    return this.#count
  }

  /** The newest there was. */
  get last(): string {
    return this.#all.at(-1)?.text ?? ''
  }

  /** Says it; what stands already is only said longer. */
  say(text: string, player: number = 0): void {
    const others = this.#all.filter((each) => each.text !== text)
    this.#all = [...others, { id: this.#count++, text, player, at: performance.now() }]
    this.#all = this.#all.slice(-TOASTS_MAX)
    this.#changed()
  }
}
