/** Bodies of letters and values of keys as bytes: plain values as JSON, and bytes as they are. */

import { HoldfastError } from '../../machine.ts'
import { toJson } from '../../wire/json.ts'

/** What a letter carries and a key holds: a plain value (what JSON has), or bytes. */
export type MailValue = unknown

/** A value, if it can be carried; `never` for what JSON does not have, such as functions. */
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

/** A value as bytes. @throws HoldfastError `bad-value` for what JSON does not have */
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
    throw new HoldfastError('bad-value', `a letter or a value is what JSON has: ${String(error)}`)
  }
}

/** The value of such bytes; bytes of another kind are given as they are. */
export function toValue(bytes: Uint8Array): MailValue {
  if (bytes[0] !== JSON_TEXT) return bytes.slice(1)
  const text = decoder.decode(bytes.subarray(1))
  try {
    return JSON.parse(text) as MailValue
  } catch {
    return text
  }
}
