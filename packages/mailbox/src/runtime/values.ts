/** The values of a mailbox, and their encoding, as of letter bodies: JSON, or raw bytes. */

import { badValue } from '../../../holdfast/src/machine.ts'
import { readKeyLetter } from '../machine/keys.ts'
import type { MailChange, MailStore } from '../../../holdfast/src/ports.ts'
import { toJson } from '../../../holdfast/src/wire/text/json.ts'
import { toHex } from '../../../holdfast/src/wire/bytes.ts'

/** What letters and keys hold: a plain JSON value, or bytes. */
export type MailValue = unknown

/** The value if it can be encoded; `never` for what JSON lacks, such as functions. */
export type Carried<Value> = Value extends Uint8Array
  ? Value
  : Value extends symbol | bigint | undefined | ((...args: never[]) => unknown)
    ? never
    : Value extends object
      ? { readonly [Name in keyof Value]: Carried<Value[Name]> }
      : Value

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const BYTES = 0
const JSON_TEXT = 1
// 2 is an envelope (letters.ts).
const TYPED = 3

export function toBytes(value: MailValue): Uint8Array {
  const isBytes = value instanceof Uint8Array
  const content = isBytes ? value : encoder.encode(textOf(value))
  const bytes = new Uint8Array(content.length + 1)
  bytes[0] = isBytes ? BYTES : JSON_TEXT
  bytes.set(content, 1)
  return bytes
}

function textOf(value: MailValue): string {
  try {
    return toJson(value)
  } catch (error) {
    throw badValue(`a letter or a value is what JSON has: ${String(error)}`)
  }
}

/** Encodes the body of a typed letter; the name has at most 255 bytes. */
export function toTyped(name: string, body: MailValue): Uint8Array {
  const called = encoder.encode(name)
  const content = encoder.encode(textOf(body))
  const bytes = new Uint8Array(2 + called.length + content.length)
  bytes.set([TYPED, called.length])
  bytes.set(called, 2)
  bytes.set(content, 2 + called.length)
  return bytes
}

/** The type name in a body; null for none. */
export function typeNameOf(bytes: Uint8Array): string | null {
  return bytes[0] === TYPED ? decoder.decode(bytes.subarray(2, 2 + (bytes[1] ?? 0))) : null
}

/** A body for display: its value, and its type name or null. */
export function readLetter(bytes: Uint8Array): { type: string | null; body: MailValue } {
  const about = readKeyLetter(bytes)
  if (about) return { type: null, body: `a new key: ${toHex(about.now.key)}` }
  return { type: typeNameOf(bytes), body: toValue(bytes) }
}

/** Decodes a value; bytes of another kind are returned as bytes. */
export function toValue(bytes: Uint8Array): MailValue {
  if (bytes[0] !== JSON_TEXT && bytes[0] !== TYPED) return bytes.slice(1)
  const text = decoder.decode(bytes.subarray(bytes[0] === TYPED ? 2 + (bytes[1] ?? 0) : 1))
  try {
    return JSON.parse(text) as MailValue
  } catch {
    return text
  }
}

/** Keys with a prefix, sorted, after some writes; null removes a key. */
export function keysWith(
  known: readonly string[],
  writes: ReadonlyMap<string, unknown>,
  prefix: string,
): string[] {
  const keys = new Set(known)
  for (const [key, value] of writes) {
    if (!key.startsWith(prefix)) continue
    if (value === null) keys.delete(key)
    else keys.add(key)
  }
  return [...keys].toSorted()
}

const CACHE_MAX = 10_000

/** The values of one mailbox: the stored ones, with this turn's changes. */
export class Values {
  readonly #store: MailStore
  /** Written in this turn, not yet durable. */
  readonly #fresh = new Map<string, Uint8Array | null>()
  readonly #cache = new Map<string, Uint8Array | null>()

  constructor(store: MailStore) {
    this.#store = store
  }

  get(key: string): Uint8Array | null {
    for (const known of [this.#fresh, this.#cache]) {
      const value = known.get(key)
      if (value !== undefined) return value
    }
    const value = this.#store.get(key)
    this.#remember(key, value)
    return value
  }

  set(key: string, value: Uint8Array | null): void {
    this.#fresh.set(key, value)
  }

  get changes(): MailChange[] {
    return [...this.#fresh].map(([key, value]) => ({ kind: 'set', key, value }))
  }

  keys(prefix: string): string[] {
    const keys = keysWith(this.#store.keys(prefix), this.#fresh, prefix)
    return keys.filter((key) => !key.startsWith('\0'))
  }

  /** Ends a turn, whose writes are durable or dropped. */
  end(isDurable: boolean): void {
    if (isDurable) for (const [key, value] of this.#fresh) this.#remember(key, value)
    else this.#cache.clear()
    this.#fresh.clear()
  }

  #remember(key: string, value: Uint8Array | null): void {
    if (this.#cache.size >= CACHE_MAX) this.#cache.clear()
    this.#cache.set(key, value)
  }
}
