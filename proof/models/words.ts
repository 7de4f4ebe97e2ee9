/**
 * Plain data written out as a run of 32-bit words, so that equal words mean equal data: for each
 * value a tag with its length, then its content. In contrast to a hash (sim/hash.ts) nothing is
 * left out, and Maps and Sets count in their order: what is kept once under its words
 * (interned.ts) may depend on that.
 */

import { isRules } from '../../packages/holdfast/src/machine.ts'

const WORDS_FIRST = 4_096
/** The low bits of a tag's word hold a length, a small number or a constant. */
const LOW = 0x0fffffff
const tagOf = {
  double: 1 << 28,
  text: 2 << 28,
  constant: 3 << 28,
  array: 4 << 28,
  object: 5 << 28,
  end: 6 << 28,
  map: 7 << 28,
  set: 8 << 28,
  typed: 9 << 28,
} as const

const double = new Float64Array(1)
const halves = new Int32Array(double.buffer)

// One buffer serves all calls: nothing else is called while it is in use.
let words = new Int32Array(WORDS_FIRST)
let at = 0
// Names of fields are few, and come again and again.
const names = new Map<string, number>()

/**
 * All of a value. Good until the next call.
 *
 * @throws TypeError for what is no plain data
 */
export function wordsOf(value: unknown): Int32Array {
  at = 0
  put(value)
  return words.subarray(0, at)
}

function push(word: number): void {
  if (at === words.length) {
    const grown = new Int32Array(at * 2)
    grown.set(words)
    words = grown
  }
  words[at++] = word
}

function put(value: unknown): void {
  switch (typeof value) {
    case 'number':
      return putNumber(value)
    case 'string':
      return putText(value)
    case 'boolean':
      return push(value ? tagOf.constant | 1 : tagOf.constant)
    case 'undefined':
      return push(tagOf.constant | 2)
    case 'object':
      return value === null ? push(tagOf.constant | 3) : putContainer(value)
    case 'bigint':
    case 'function':
    case 'symbol':
      throw new TypeError(`this is no plain data: ${typeof value}`)
  }
}

function putNumber(value: number): void {
  const whole = value | 0
  if (whole === value && whole >= 0 && whole <= LOW) return push(whole)
  if (Number.isNaN(value)) return push(tagOf.constant | 5)
  double[0] = value
  push(tagOf.double)
  push(halves[0]!)
  push(halves[1]!)
}

function putText(value: string): void {
  const { length } = value
  push(tagOf.text | length)
  for (let i = 0; i < length; i += 2) {
    push(value.charCodeAt(i) | (i + 1 < length ? value.charCodeAt(i + 1) << 16 : 0))
  }
}

function putContainer(value: object): void {
  if (Array.isArray(value)) {
    push(tagOf.array | value.length)
    for (let i = 0; i < value.length; i++) put(value[i])
  } else if (Object.getPrototypeOf(value) === Object.prototype) putObject(value as Bag)
  else if (value instanceof Map) putMap(value as Map<unknown, unknown>)
  else if (value instanceof Set) {
    push(tagOf.set | value.size)
    for (const item of value as Set<unknown>) put(item)
  } else if (ArrayBuffer.isView(value)) putTyped(value as unknown as TypedArray)
  // The rules of a machine are the same in all its states.
  else if (isRules(value)) push(tagOf.constant | 4)
  else putObject(value as Bag)
}

function putMap(value: ReadonlyMap<unknown, unknown>): void {
  push(tagOf.map | value.size)
  for (const [key, item] of value) {
    put(key)
    put(item)
  }
}

type Bag = Record<string, unknown>
type TypedArray = ArrayLike<number> & { readonly BYTES_PER_ELEMENT: number }

function putTyped(value: TypedArray): void {
  push(tagOf.typed | value.length)
  push(value.BYTES_PER_ELEMENT)
  for (let i = 0; i < value.length; i++) putNumber(value[i]!)
}

function putObject(value: Bag): void {
  // The count comes last: counting first would walk the names twice.
  let count = 0
  push(tagOf.object)
  for (const name in value) {
    push(numberOf(name))
    put(value[name])
    count++
  }
  push(tagOf.end | count)
}

function numberOf(name: string): number {
  const known = names.get(name)
  if (known !== undefined) return known
  names.set(name, names.size)
  return names.size - 1
}
