/** How much of what there was before us has come. */

import type { Face } from '../kind/kind.ts'

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

  /** Objects that there were as they began to come, or have come by now; null if nobody said. */
  get total(): number | null {
    const said = [...this.#faces.values()].flatMap(({ total }) => total ?? [])
    return said.length > 0 ? Math.max(this.loaded, ...said) : null
  }

  /** Whether it is time to tell that all of it has, which is told once. */
  look(): boolean {
    if (this.#told || !this.complete) return false
    this.#told = true
    return true
  }
}
