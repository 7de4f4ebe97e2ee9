/**
 * A 53-bit hash of a whole state.
 *
 * The state is first serialized as 32-bit words: for each value a tag with its length, then its
 * content, so no two different values have the same words. Two 32-bit lanes with different
 * constants run over the words, and 53 bits of them are taken, as many as a number holds exactly.
 *
 * What counts as the same state:
 * - The insertion order of a Map or Set does not count. Entries are hashed one by one and the
 *   hashes added, which needs no sorting and works for keys of any kind. A machine whose behaviour
 *   depends on the order in a Map is therefore not checked in all orders.
 * - The order of an object's keys counts. All states come from the same code, so it is nearly
 *   always the same; where it is not, one state counts as two, which costs time and hides nothing.
 * - 0 and -0 are the same, and so are all NaN.
 *
 * States that are equally long lists of whole numbers need no tags: the numbers are the words
 * (`hashNumbers`).
 *
 * `wordsOf` gives the words themselves, for cells.ts: nothing is lost, and Maps and Sets count in
 * their order.
 *
 * Collisions hide states: of two different states with one hash, the second counts as seen. Among
 * n states the probability is about n² / 2^54: one in 18,000 for a million states, one in 180 for
 * ten million.
 */

import { badValue, isRules } from '../../../holdfast/src/machine.ts'

const WORDS_FIRST = 1024
/** The low 28 bits of a tag's word hold a length, a small number or a constant. */
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

// One buffer serves all calls: hashing is synchronous and calls no foreign code.
let words = new Int32Array(WORDS_FIRST)
let at = 0
/** Whether the words must lose nothing; names of fields are then numbers. */
let exact = false
const names = new Map<string, number>()
// The result of `run`: returning two numbers would cost more.
const lanes = new Int32Array(2)

/** The 53-bit hash of a value. @throws HoldfastError 'bad-value' if it is not plain data */
export function hash(value: unknown): number {
  at = 0
  put(value)
  run(words, 0, at)
  return bits53()
}

/**
 * All of a value, so that equal words mean equal data. Valid until the next call.
 *
 * @throws HoldfastError 'bad-value' if it is not plain data
 */
export function wordsOf(value: unknown): Int32Array {
  at = 0
  exact = true
  try {
    put(value)
  } finally {
    exact = false
  }
  return words.subarray(0, at)
}

/**
 * The 53-bit hash of the first numbers of a list. It is as good as `hash`, but the two must not be
 * compared.
 *
 * @param count  how many; the same for all lists that are compared
 */
export function hashNumbers(numbers: Int32Array, count: number): number {
  run(numbers, 0, count)
  return bits53()
}

// The first 53 bits of the two lanes.
function bits53(): number {
  return (lanes[0]! >>> 0) * 0x200000 + (lanes[1]! >>> 11)
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
      return notPlain(typeof value)
  }
}

function putNumber(value: number): void {
  // Small whole numbers, by far the most frequent, are one word: themselves, with tag 0.
  const whole = value | 0
  if (whole === value && whole >= 0 && whole <= LOW) {
    push(whole)
    return
  }
  double[0] = value
  push(tagOf.double)
  push(halves[0]!)
  push(halves[1]!)
}

function putText(value: string): void {
  const length = value.length
  push(tagOf.text | length)
  for (let i = 0; i < length; i += 2) {
    push(value.charCodeAt(i) | (i + 1 < length ? value.charCodeAt(i + 1) << 16 : 0))
  }
}

function putContainer(value: object): void {
  if (Array.isArray(value)) {
    push(tagOf.array | value.length)
    for (let i = 0; i < value.length; i++) put(value[i])
    return
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) putObject(value as Bag)
  else if (value instanceof Map) putMap(value as Map<unknown, unknown>)
  else if (value instanceof Set) putSet(value as Set<unknown>)
  else if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    putTyped(value as unknown as TypedArray)
  } else if (isRules(value)) push(tagOf.constant | 4)
  else notPlain(value.constructor.name)
}

type Bag = Record<string, unknown>
type TypedArray = ArrayLike<number> & { readonly constructor: { readonly name: string } }

function putObject(value: Bag): void {
  // The count comes last, because counting first would walk the keys twice. Keys are texts or
  // small numbers, so the end tag cannot be mistaken for one.
  let count = 0
  push(tagOf.object)
  for (const key in value) {
    if (exact) push(numberOf(key))
    else putText(key)
    put(value[key])
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

function putMap(value: ReadonlyMap<unknown, unknown>): void {
  if (exact) {
    push(tagOf.map | value.size)
    for (const [key, item] of value) {
      put(key)
      put(item)
    }
    return
  }
  const start = at
  let one = 0
  let two = 0
  for (const [key, item] of value) {
    put(key)
    put(item)
    run(words, start, at)
    at = start
    one = (one + lanes[0]!) | 0
    two = (two + lanes[1]!) | 0
  }
  putSums(tagOf.map, value.size, one, two)
}

function putSet(value: ReadonlySet<unknown>): void {
  if (exact) {
    push(tagOf.set | value.size)
    for (const item of value) put(item)
    return
  }
  const start = at
  let one = 0
  let two = 0
  for (const item of value) {
    put(item)
    run(words, start, at)
    at = start
    one = (one + lanes[0]!) | 0
    two = (two + lanes[1]!) | 0
  }
  putSums(tagOf.set, value.size, one, two)
}

function putSums(tag: number, size: number, one: number, two: number): void {
  push(tag | size)
  push(one)
  push(two)
}

function putTyped(value: TypedArray): void {
  push(tagOf.typed | value.length)
  putText(value.constructor.name)
  // Bytes are packed four to a word; other kinds are put as numbers.
  if (value instanceof Uint8Array) {
    for (let i = 0; i < value.length; i += 4) {
      push(value[i]! | (value[i + 1]! << 8) | (value[i + 2]! << 16) | (value[i + 3]! << 24))
    }
    return
  }
  for (let i = 0; i < value.length; i++) put(value[i])
}

/** Two independent lanes over some of the words, in the manner of MurmurHash3. */
function run(words: Int32Array, from: number, to: number): void {
  let one = 0x2f0b4c47
  let two = 0x1b56c4e9
  for (let i = from; i < to; i++) {
    const word = words[i]!
    let mixed = Math.imul(word, 0xcc9e2d51)
    mixed = Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
    one ^= mixed
    one = (Math.imul((one << 13) | (one >>> 19), 5) + 0xe6546b64) | 0
    mixed = Math.imul(word, 0x239b961b)
    mixed = Math.imul((mixed << 16) | (mixed >>> 16), 0x38b34ae5)
    two ^= mixed
    two = (Math.imul((two << 17) | (two >>> 15), 5) + 0x561ccd1b) | 0
  }
  one = (one + two) | 0
  two = (two + one) | 0
  one = scatter(one ^ (to - from))
  two = scatter(two)
  lanes[0] = one + two
  lanes[1] = two + (one << 1) + 1
}

function scatter(value: number): number {
  let mixed = value
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/** Rejects a value of a kind that no state may hold. @throws HoldfastError 'bad-value' */
export function notPlain(what: string): never {
  throw badValue(`a state holds plain data only: ${what}`)
}
