/** Letters that were posted under a key of the caller's: which number each got, durably. */

import { badValue } from '../../machine.ts'
import type { MailChange } from '../../ports.ts'
import type { Values } from './transaction.ts'
import { toBytes, toValue } from './values.ts'

/** How many keys are remembered, the newest ones. */
export const KEYS_MAX = 100_000
const NAME_MAX = 200

// Keys of the library's own: keys of users have no NUL. The ring shows which one is the oldest.
const nameOf = (to: string, key: string): string => `\0key ${to} ${key}`
const placeOf = (place: number): string => `\0key# ${place}`
const COUNT = '\0keys'

/** See the head of this file. */
export class PostKeys {
  readonly #values: Values
  readonly #most: number

  constructor(values: Values, most = KEYS_MAX) {
    this.#values = values
    this.#most = most
  }

  /**
   * The number of the letter posted under that key; null for none. @throws HoldfastError
   * `bad-value`
   */
  find(to: string, key: string): number | null {
    if (typeof key !== 'string' || key === '' || key.length > NAME_MAX || key.includes('\0')) {
      throw badValue(`the key of a post has 1 to ${NAME_MAX} characters: ${JSON.stringify(key)}`)
    }
    return this.#read(nameOf(to, key)) as number | null
  }

  /** Remembers a key, and forgets the oldest one over the limit. */
  add(to: string, key: string, n: number, changes: MailChange[]): void {
    const count = ((this.#read(COUNT) as number | null) ?? 0) + 1
    const place = placeOf(count % this.#most)
    const oldest = this.#read(place) as string | null
    if (oldest !== null) this.#write(oldest, null, changes)
    this.#write(place, nameOf(to, key), changes)
    this.#write(nameOf(to, key), n, changes)
    this.#write(COUNT, count, changes)
  }

  #read(name: string): unknown {
    const bytes = this.#values.get(name)
    return bytes ? toValue(bytes) : null
  }

  #write(key: string, value: unknown, changes: MailChange[]): void {
    const bytes = value === null ? null : toBytes(value)
    this.#values.set(key, bytes)
    changes.push({ kind: 'set', key, value: bytes })
  }
}
