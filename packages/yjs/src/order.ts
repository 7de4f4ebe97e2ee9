/** The order in which Yjs integrates the structs of an update: each after those that it names. */

import * as Y from 'yjs'
import { NOWHERE, type Place, Places, type Struct } from './places.ts'

/** Deepest nesting of types in types, and of arrays and objects in a value. */
export const DEPTH_MAX = 64

/** The structs of one client in an update, in order; the document has none of them. */
export interface Run {
  readonly structs: Struct[]
  /** Where those are that were integrated. */
  readonly places: Place[]
  /** How many were looked at. */
  taken: number
}

const GAPS = 'it builds on changes that are not in the document'

export class Order {
  readonly #doc: Y.Doc
  readonly #runs: ReadonlyMap<number, Run>
  readonly #states = new Map<number, number>()
  readonly #places: Places
  /** Whether it sets a key of a map, which deletes what the key had. */
  isKeyed = false

  constructor(doc: Y.Doc, runs: ReadonlyMap<number, Run>) {
    this.#doc = doc
    this.#runs = runs
    this.#places = new Places(doc, (id) => this.#find(id))
  }

  /** The clock that a client has come to. */
  stateOf(client: number): number {
    return this.#states.get(client) ?? Y.getState(this.#doc.store, client)
  }

  /**
   * Goes through all structs as Yjs does: the highest client first, and the next struct of another
   * client when one is missing.
   *
   * @returns why that does not work, or null
   */
  settle(): string | null {
    const runs = [...this.#runs].toSorted(([one], [other]) => other - one).map(([, run]) => run)
    const stack: Struct[] = []
    for (const run of runs) {
      while (stack.length > 0 || run.taken < run.structs.length) {
        const struct = stack.pop() ?? run.structs[run.taken++]!
        const { client, clock } = struct.id
        // One before it waits for this one, or for one that waits for it.
        if (clock !== this.stateOf(client)) return GAPS
        const missing = needsOf(struct).find((id) => id.clock >= this.stateOf(id.client))
        if (missing) {
          const other = this.#runs.get(missing.client)
          if (missing.client === client || !other || other.taken === other.structs.length)
            return GAPS
          stack.push(struct, other.structs[other.taken++]!)
          continue
        }
        const why = this.#integrate(struct)
        if (why !== null) return why
      }
    }
    return null
  }

  #integrate(struct: Struct): string | null {
    const { client, clock } = struct.id
    const place = struct instanceof Y.Item ? this.#places.placeOf(struct) : NOWHERE
    if (typeof place === 'string') return place
    if (place.level > DEPTH_MAX) return `it nests types more than ${DEPTH_MAX} deep`
    this.isKeyed ||= place.key !== null
    this.#runs.get(client)!.places.push(place)
    this.#states.set(client, clock + struct.length)
    if (place === NOWHERE) return null
    return this.#places.put(struct as Y.Item, place)
  }

  /** A struct that is in the document, or before in the update. */
  #find({ client, clock }: Y.ID): { struct: Struct; place: Place | null } {
    const { store } = this.#doc
    if (clock < Y.getState(store, client)) {
      const structs = store.clients.get(client)!
      return { struct: structs[Y.findIndexSS(structs, clock)]!, place: null }
    }
    const { structs, places } = this.#runs.get(client)!
    const at = indexOf(structs, clock)
    return { struct: structs[at]!, place: places[at]! }
  }
}

// The struct that has a clock, by bisection.
function indexOf(structs: readonly Struct[], clock: number): number {
  let low = 0
  let high = structs.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (structs[middle]!.id.clock <= clock) low = middle
    else high = middle - 1
  }
  return low
}

function needsOf(struct: Struct): Y.ID[] {
  if (!(struct instanceof Y.Item)) return []
  const { origin, rightOrigin, parent } = struct
  return [origin, rightOrigin, parent].filter((one) => one instanceof Y.ID)
}
