/**
 * Machines as numbers, for scopes in which the same few thousand states of one machine come
 * back in millions of combinations.
 *
 * A state of a machine is kept once and known by its number; what a verb makes of it is
 * computed once for each state and input, and looked up from then on. So a global state is a
 * few numbers, and the checker copies and hashes no more than those. This is sound because a
 * verb is a function of its state and its input: that is what a machine is.
 *
 * Values are told apart by all that is in them (words.ts), with Maps and Sets in their order.
 */

import { hashNumbers } from '../../packages/sim/src/checker/hash.ts'
import { wordsOf } from './words.ts'

/** Values by number, each once. */
export interface Interned<Value> {
  readonly values: Value[]
  /** By number: all that is in the value, and another value with the same hash, or -1. */
  readonly words: Int32Array[]
  readonly others: number[]
  /** The last that has the hash. */
  readonly numbers: Map<number, number>
}

/** Nothing so far. */
export function create<Value>(): Interned<Value> {
  return { values: [], words: [], others: [], numbers: new Map() }
}

/** The number of a value, which is not changed from now on. */
export function numberOf<Value>(interned: Interned<Value>, value: Value): number {
  const { values, words, others, numbers } = interned
  const made = wordsOf(value)
  const hash = hashNumbers(made, made.length)
  const last = numbers.get(hash) ?? -1
  for (let known = last; known >= 0; known = others[known]!) {
    if (areSame(words[known]!, made)) return known
  }
  const number = values.push(value) - 1
  words.push(made.slice())
  others.push(last)
  numbers.set(hash, number)
  return number
}

/** The value of a number; not to be changed. */
export function valueOf<Value>(interned: Interned<Value>, number: number): Value {
  const value = interned.values[number]
  if (value === undefined) throw new RangeError(`no value has number ${number}`)
  return value
}

/** Numbers of what no step changes any more: each is looked into once, for what tells it apart. */
export function numbering<Value extends object>(
  essenceOf: (value: Value) => unknown,
): (value: Value) => number {
  const kept = create<unknown>()
  const numbers = new WeakMap<Value, number>()
  return (value) => {
    const known = numbers.get(value)
    if (known !== undefined) return known
    const number = numberOf(kept, essenceOf(value))
    numbers.set(value, number)
    return number
  }
}

function areSame(one: Int32Array, other: Int32Array): boolean {
  if (one.length !== other.length) return false
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false
  return true
}
