/** Which objects a client is to see: those within SIGHT of its focus, found by a grid. */

import { focus, place, SIGHT, sideOf } from './workload.ts'
import type { Path } from './workload.ts'
import type { Setting } from './words.ts'

const CELL = SIGHT / 2

/** Who sees what, at one tick after the other. */
export class Interest {
  readonly #focuses: Path[]
  readonly #cells: number[][]
  readonly #across: number
  readonly #middle = place()

  constructor(setting: Setting) {
    const { clients, objects, seed } = setting
    this.#focuses = Array.from({ length: clients }, (_, client) => focus(seed, objects, client))
    this.#across = Math.max(1, Math.ceil(sideOf(objects) / CELL))
    this.#cells = Array.from({ length: this.#across ** 2 }, () => [])
  }

  /** Takes where all objects are now. */
  sort(places: readonly { x: number; y: number }[]): void {
    for (const cell of this.#cells) cell.length = 0
    for (const [object, { x, y }] of places.entries()) {
      this.#cells[this.#at(y) * this.#across + this.#at(x)]!.push(object)
    }
  }

  #at(along: number): number {
    return Math.min(this.#across - 1, Math.max(0, Math.floor(along / CELL)))
  }

  /** The objects that this client is to see. */
  of(client: number, tick: number, places: readonly { x: number; y: number }[]): Set<number> {
    const { x, y } = this.#focuses[client]!(tick, this.#middle)
    const found = new Set<number>()
    for (let row = this.#at(y - SIGHT); row <= this.#at(y + SIGHT); row++) {
      for (let column = this.#at(x - SIGHT); column <= this.#at(x + SIGHT); column++) {
        for (const object of this.#cells[row * this.#across + column]!) {
          const other = places[object]!
          if ((other.x - x) ** 2 + (other.y - y) ** 2 < SIGHT ** 2) found.add(object)
        }
      }
    }
    return found
  }
}
