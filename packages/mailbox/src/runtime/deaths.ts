/**
 * Deaths of the process while it handled a letter, as far as they are known: how often, durably. A
 * handler that ends its process cannot report that it failed; the next process does that.
 */

import { toBytes, toValue, type Values } from './values.ts'

/** A key of the library's own: keys of users have no NUL. */
const DIED = '\0died'

/** For each peer: which letter, and how often. */
type Record = { [peer: string]: { n: number; times: number } }

/** See the head of this file. */
export class Deaths {
  readonly #values: Values

  constructor(values: Values) {
    this.#values = values
  }

  /** The process died while it handled letter n of that peer. */
  add(peer: string, n: number): void {
    this.#write({ ...this.#read(), [peer]: { n, times: this.of(peer, n) + 1 } })
  }

  /** How often the process died while it handled letter n of that peer. */
  of(peer: string, n: number): number {
    const death = this.#read()?.[peer]
    return death?.n === n ? death.times : 0
  }

  /** Forgets deaths in letters of that peer that have taken effect since. */
  forget(peer: string, heard: number): void {
    const known = this.#read()
    if (!known?.[peer] || known[peer].n > heard) return
    const { [peer]: _gone, ...others } = known
    this.#write(Object.keys(others).length > 0 ? others : null)
  }

  #read(): Record | null {
    const bytes = this.#values.get(DIED)
    return bytes && (toValue(bytes) as Record)
  }

  #write(record: Record | null): void {
    this.#values.set(DIED, record && toBytes(record))
  }
}
