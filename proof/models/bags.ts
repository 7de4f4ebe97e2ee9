/**
 * Bags as numbers: what lies together in no order is kept once, and what it is with one more or
 * one less is looked up.
 */

import * as pairs from '../../packages/sim/src/checker/pairs.ts'

/** All contents that some bag has had. */
export interface Bags {
  /** By the number of a bag, sorted; numbers as the model has them. */
  readonly items: (readonly number[])[]
  readonly order: (one: number, other: number) => number
  readonly numbers: Map<string, number>
  readonly more: pairs.Pairs
  readonly less: pairs.Pairs
}

/** The number of the bag with nothing in it. */
export const EMPTY = 0

/** The empty bag alone. @param order 0 of the same alone, so that what is equal stands alike */
export function create(order: Bags['order']): Bags {
  const [more, less] = [pairs.create(), pairs.create()]
  return { items: [[]], order, numbers: new Map([['', EMPTY]]), more, less }
}

/** The bag with one more in it. */
export function add(bags: Bags, bag: number, item: number): number {
  const known = pairs.find(bags.more, bag, item)
  if (known >= 0) return known
  const items = bags.items[bag]!
  const at = items.findIndex((other) => bags.order(item, other) < 0)
  const made = items.toSpliced(at < 0 ? items.length : at, 0, item)
  return pairs.keep(bags.more, bag, item, numberOf(bags, made))
}

/** The bag with one less of what is in it. */
export function remove(bags: Bags, bag: number, item: number): number {
  const known = pairs.find(bags.less, bag, item)
  if (known >= 0) return known
  const items = bags.items[bag]!
  const made = items.toSpliced(items.indexOf(item), 1)
  return pairs.keep(bags.less, bag, item, numberOf(bags, made))
}

/** The bag with what `stays` of it. */
export function filter(bags: Bags, bag: number, stays: (item: number) => boolean): number {
  return numberOf(bags, bags.items[bag]!.filter(stays))
}

function numberOf({ items, numbers }: Bags, made: readonly number[]): number {
  const text = made.join()
  const known = numbers.get(text)
  if (known !== undefined) return known
  numbers.set(text, items.length)
  return items.push(made) - 1
}
