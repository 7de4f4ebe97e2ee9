/**
 * What was computed once of two numbers, looked up from then on: what a process makes of an input,
 * what it may do with what is left. Numbers stand for values that are kept once (interned.ts), so a
 * step of a model is a few lookups, without a text or a value made on the way.
 */

import * as pairs from '../../packages/sim/src/checker/pairs.ts'

/** Values by two numbers, each at least 0. */
export interface Memo<Value> {
  readonly values: Value[]
  readonly places: pairs.Pairs
}

/** Nothing so far. */
export function create<Value>(): Memo<Value> {
  return { values: [], places: pairs.create() }
}

/** What is known of the two, if anything is. */
export function find<Value>({ values, places }: Memo<Value>, a: number, b: number): Value | null {
  const at = pairs.find(places, a, b)
  return at < 0 ? null : values[at]!
}

/** From now on that is known of the two, of which nothing was. @returns the value */
export function keep<Value>(memo: Memo<Value>, a: number, b: number, value: Value): Value {
  pairs.keep(memo.places, a, b, memo.values.push(value) - 1)
  return value
}

/** What is computed of two numbers, once of each two. */
export function remembering<Value>(
  make: (a: number, b: number) => Value,
): (a: number, b: number) => Value {
  const memo = create<Value>()
  return (a, b) => find(memo, a, b) ?? keep(memo, a, b, make(a, b))
}
