/** How much of what there was before us has come. */

import type { Face } from './kind.ts'

/** See the head of this file. */
export class Coming {
  readonly #faces: ReadonlyMap<number, Face>
  /** The log has come. */
  caughtUp = false
  #isComplete = false
  #told = false

  constructor(faces: ReadonlyMap<number, Face>) {
    this.#faces = faces
  }

  /** Whether all of it has. */
  get complete(): boolean {
    const faces = [...this.#faces.values()]
    this.#isComplete ||= this.caughtUp && faces.every((face) => face.arrived !== false)
    return this.#isComplete
  }

  /** Objects that have. */
  get loaded(): number {
    return [...this.#faces.values()].reduce((sum, { loaded = 0 }) => sum + loaded, 0)
  }

  /** Whether it is time to tell that all of it has, which is told once. */
  look(): boolean {
    if (this.#told || !this.complete) return false
    this.#told = true
    return true
  }
}
