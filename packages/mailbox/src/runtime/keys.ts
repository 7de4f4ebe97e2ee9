/** Post keys: durably maps a caller's key to the letter posted under it. */

import { badValue, HoldfastError } from '../../../holdfast/src/machine.ts'
import { readLetter, toBytes, toValue, type Values } from './values.ts'
import { digest } from '../../../holdfast/src/wire/digest.ts'
import { toHex } from '../../../holdfast/src/wire/bytes.ts'

/** Most keys remembered; the oldest are forgotten. */
export const KEYS_MAX = 100_000
const NAME_MAX = 200

// Reserved keys: user keys have no NUL. The ring orders them by age.
const nameOf = (to: string, key: string): string => `\0key ${to} ${key}`
const placeOf = (place: number): string => `\0key# ${place}`
const COUNT = '\0keys'

/** The number and the digest of the body; older versions stored only the number. */
type Remembered = number | { readonly n: number; readonly body: string }

/** The letter of a key: its number, 0 if delayed, and its body. */
export interface Keyed {
  readonly n: number
  readonly body: Uint8Array
}

export class PostKeys {
  readonly #values: Values
  readonly #most: number

  constructor(values: Values, most = KEYS_MAX) {
    this.#values = values
    this.#most = most
  }

  /**
   * The number posted under a key; null if none.
   * @throws HoldfastError `bad-value`; `key-reused` for another body
   */
  find(to: string, key: string, body: Uint8Array): number | null {
    if (typeof key !== 'string' || key === '' || key.length > NAME_MAX || key.includes('\0')) {
      throw badValue(`the key of a post has 1 to ${NAME_MAX} characters: ${JSON.stringify(key)}`)
    }
    const known = this.#read(nameOf(to, key)) as Remembered | null
    if (known === null || typeof known === 'number') return known
    if (known.body === digestOf(body)) return known.n
    throw new HoldfastError(
      'key-reused',
      `the key ${JSON.stringify(key)} named another letter to ${to}` +
        `${known.n > 0 ? `, number ${known.n}` : ''}: a key is for one letter, of one body`,
    )
  }

  add(to: string, key: string, { n, body }: Keyed): void {
    const count = ((this.#read(COUNT) as number | null) ?? 0) + 1
    const place = placeOf(count % this.#most)
    const oldest = this.#read(place) as string | null
    if (oldest !== null) this.#write(oldest, null)
    this.#write(place, nameOf(to, key))
    this.#write(nameOf(to, key), { n, body: digestOf(body) })
    this.#write(COUNT, count)
  }

  #read(name: string): unknown {
    const bytes = this.#values.get(name)
    return bytes ? toValue(bytes) : null
  }

  #write(key: string, value: unknown): void {
    this.#values.set(key, value === null ? null : toBytes(value))
  }
}

/** The digest of a body, independent of the order of fields, which a database may vary. */
function digestOf(bytes: Uint8Array): string {
  const { type, body } = readLetter(bytes)
  const plain = body instanceof Uint8Array ? bytes : toBytes([type, sorted(body)])
  return toHex(digest(plain))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return { of: entries.map(([name, inner]) => [name, sorted(inner)]) }
}
