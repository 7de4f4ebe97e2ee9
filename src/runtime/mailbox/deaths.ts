/**
 * In which letters the process died, as far as that is known: how often, durably. A handler that
 * ends its process cannot say that it failed; who comes after it does.
 */

import type { MailChange } from '../../ports.ts'
import type { Values } from './transaction.ts'
import { toBytes, toValue } from './values.ts'

/** A key of our own, for those of users have no NUL. */
const DIED = '\0died'

/** By peer: which letter, and how often. */
type Record = { [peer: string]: { n: number; times: number } }

/** See the head of this file. */
export class Deaths {
  readonly #values: Values

  constructor(values: Values) {
    this.#values = values
  }

  /** The process died in letter n of that peer. */
  add(peer: string, n: number, changes: MailChange[]): void {
    this.#write({ ...this.#read(), [peer]: { n, times: this.of(peer, n) + 1 } }, changes)
  }

  /** How often it did. */
  of(peer: string, n: number): number {
    const death = this.#read()?.[peer]
    return death?.n === n ? death.times : 0
  }

  /** Letters of that peer up to a number have taken effect. */
  forget(peer: string, heard: number, changes: MailChange[]): void {
    const known = this.#read()
    if (!known?.[peer] || known[peer].n > heard) return
    const { [peer]: _gone, ...others } = known
    this.#write(Object.keys(others).length > 0 ? others : null, changes)
  }

  #read(): Record | null {
    const bytes = this.#values.get(DIED)
    return bytes && (toValue(bytes) as Record)
  }

  #write(record: Record | null, changes: MailChange[]): void {
    const value = record && toBytes(record)
    this.#values.set(DIED, value)
    changes.push({ kind: 'set', key: DIED, value })
  }
}
