/**
 * Machines as numbers, for scopes in which the same few thousand states of one machine come
 * back in millions of combinations.
 *
 * A state of a machine is kept once and known by its number; what a verb makes of it is
 * computed once for each state and input, and looked up from then on. So a global state is a
 * few numbers, and the checker copies and hashes no more than those. This is sound because a
 * verb is a function of its state and its input: that is what a machine is.
 */

/** Values by number, each once. */
export interface Interned<Value> {
  readonly values: Value[]
  readonly numbers: Map<string, number>
}

/** Nothing so far. */
export function create<Value>(): Interned<Value> {
  return { values: [], numbers: new Map() }
}

/** The number of a value, which is not changed from now on. */
export function numberOf<Value>(interned: Interned<Value>, value: Value): number {
  const text = textOf(value)
  const known = interned.numbers.get(text)
  if (known !== undefined) return known
  const number = interned.values.length
  interned.values.push(value)
  interned.numbers.set(text, number)
  return number
}

/** The value of a number; not to be changed. */
export function valueOf<Value>(interned: Interned<Value>, number: number): Value {
  const value = interned.values[number]
  if (value === undefined) throw new RangeError(`no value has number ${number}`)
  return value
}

/** Plain data as a text; equal texts mean equal data, with Maps in their order. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (item instanceof Map) return ['map', ...(item as Map<unknown, unknown>)]
    if (item instanceof Set) return ['set', ...(item as Set<unknown>)]
    if (item instanceof Uint8Array) return String.fromCharCode(...item)
    return item === Infinity ? 'never' : item
  })
}
