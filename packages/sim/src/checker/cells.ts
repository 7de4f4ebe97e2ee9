/**
 * States whose parts come back in millions of combinations: each part, a cell, is kept once and
 * known by a number, so a search copies, hashes and stores a few numbers for each state.
 *
 * A state is a plain object whose fields are cells, or arrays of cells that have the same length in
 * all states. An action replaces cells and never changes one. A cell is plain data; a
 * cell that is an array (a queue of messages) is known by the numbers of its items, so replacing
 * it costs little.
 *
 * A verb of a machine is a function of its state and its input. `remember` runs it once for each
 * pair, which is where the speed comes from.
 *
 * Two values are the same cell if all their content is equal, with Maps and Sets in their order: a
 * verb may depend on that order. Content is compared, not a hash alone.
 */

import { hashNumbers, wordsOf } from './hash.ts'
import * as pairs from './pairs.ts'

/** The cells of one model. */
export interface Cells {
  readonly values: unknown[]
  /** By index: the content, and an earlier value with the same hash or -1. */
  readonly contents: Int32Array[]
  readonly others: number[]
  /** The last value with a hash. */
  readonly hashes: Map<number, number>
  readonly primitives: Map<unknown, number>
  readonly objects: Map<object, number>
  /** Objects that are equal to one that is kept. */
  readonly copies: WeakMap<object, number>
}

/** Small whole numbers are known by odd numbers, other values by even ones. */
const SMALL_MAX = 1 << 28
/** Begins the content of a list; no other content begins so. */
const LIST = -1

/** No cells yet. */
export function create(): Cells {
  return {
    values: [],
    contents: [],
    others: [],
    hashes: new Map(),
    primitives: new Map(),
    objects: new Map(),
    copies: new WeakMap(),
  }
}

/** The number of a value, which must not change from now on. */
export function numberOf(cells: Cells, value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value < SMALL_MAX && (value | 0) === value) {
    return value * 2 + 1
  }
  if (typeof value !== 'object' || value === null) return numberOfPrimitive(cells, value)
  const known = cells.objects.get(value) ?? cells.copies.get(value)
  if (known !== undefined) return known
  if (Array.isArray(value)) return numberOfList(cells, value)
  const words = wordsOf(value)
  const number = find(cells, value, words, words.length)
  if (cells.values[number >> 1] !== value) cells.copies.set(value, number)
  return number
}

/** The value of a number; it must not be changed. */
export function valueOf({ values }: Cells, number: number): unknown {
  return (number & 1) === 1 ? number >> 1 : values[number >> 1]
}

/** The one copy of a value. */
export function same<Value>(cells: Cells, value: Value): Value {
  return valueOf(cells, numberOf(cells, value)) as Value
}

/** The numbers of values that no step changes any more: each is examined once, by its essence. */
export function numbering<Value extends object>(
  essenceOf: (value: Value) => unknown,
): (value: Value) => number {
  const cells = create()
  const numbers = new WeakMap<Value, number>()
  return (value) => {
    const known = numbers.get(value)
    if (known !== undefined) return known
    const number = numberOf(cells, essenceOf(value))
    numbers.set(value, number)
    return number
  }
}

/** The same function, which runs once for each list of arguments. */
export function remember<Args extends unknown[], Result>(
  cells: Cells,
  make: (...args: Args) => Result,
): (...args: Args) => Result {
  const results: Result[] = []
  const last = pairs.create()
  // All arguments but the last two lead to a number each, from the left.
  const earlier = Array.from({ length: Math.max(0, make.length - 2) }, () => pairs.create())
  return (...args) => {
    let key = numberOf(cells, args[0])
    for (let i = 0; i < earlier.length; i++) {
      const table = earlier[i]!
      const number = numberOf(cells, args[i + 1])
      const known = pairs.find(table, key, number)
      key = known < 0 ? pairs.keep(table, key, number, table.count) : known
    }
    const number = args.length > 1 ? numberOf(cells, args[args.length - 1]) : 0
    const known = pairs.find(last, key, number)
    if (known >= 0) return results[known]!
    const result = make(...args)
    pairs.keep(last, key, number, results.push(result) - 1)
    return result
  }
}

type Fields = Record<string, unknown>

/** Where the cells of a state stand in a row of numbers. */
export interface Layout {
  readonly names: readonly string[]
  /** By field: how many cells it is an array of, or -1 for one cell. */
  readonly lengths: readonly number[]
  readonly width: number
  /** How many of the first numbers tell states apart. */
  readonly telling: number
}

/** The layout of all states that look like this one. */
export function layoutOf(
  state: Fields,
  arrays: readonly string[],
  aside: readonly string[],
): Layout {
  const names = [...Object.keys(state).filter((name) => !aside.includes(name)), ...aside]
  const lengthOf = (name: string): number =>
    arrays.includes(name) ? (state[name] as unknown[]).length : -1
  const widthOf = (some: readonly string[]): number =>
    some.reduce((sum, name) => sum + Math.abs(lengthOf(name)), 0)
  const telling = widthOf(names.slice(0, names.length - aside.length))
  return { names, lengths: names.map(lengthOf), width: widthOf(names), telling }
}

/** Writes the numbers of a state's cells; where a cell is as in `before`, its number there. */
export function write(
  cells: Cells,
  { names, lengths }: Layout,
  state: Fields,
  row: Int32Array,
  before: Fields,
  beforeRow: Int32Array,
): void {
  let at = 0
  for (let field = 0; field < names.length; field++) {
    const length = lengths[field]!
    const value = state[names[field]!]
    const old = before[names[field]!]
    if (length < 0) {
      row[at] = value === old ? beforeRow[at]! : numberOf(cells, value)
      at++
      continue
    }
    const list = value as unknown[]
    const oldList = old as unknown[]
    if (list.length !== length) throw new RangeError(`${names[field]} has another length`)
    for (let i = 0; i < length; i++, at++) {
      row[at] = list[i] === oldList[i] ? beforeRow[at]! : numberOf(cells, list[i])
    }
  }
}

/** The state of a row. */
export function read(cells: Cells, { names, lengths }: Layout, row: Int32Array): Fields {
  const state: Fields = {}
  let at = 0
  for (let field = 0; field < names.length; field++) {
    const length = lengths[field]!
    if (length < 0) state[names[field]!] = valueOf(cells, row[at++]!)
    else {
      const list: unknown[] = []
      for (let i = 0; i < length; i++) list.push(valueOf(cells, row[at++]!))
      state[names[field]!] = list
    }
  }
  return state
}

/** A copy in which cells can be replaced. */
export function copyOf({ names, lengths }: Layout, state: Fields): Fields {
  const copy = { ...state }
  for (let field = 0; field < names.length; field++) {
    const name = names[field]!
    if (lengths[field]! >= 0) copy[name] = (copy[name] as unknown[]).slice()
  }
  return copy
}

function numberOfPrimitive(cells: Cells, value: unknown): number {
  const known = cells.primitives.get(value)
  if (known !== undefined) return known
  const words = wordsOf(value)
  const number = keep(cells, value, words, words.length, -1)
  cells.primitives.set(value, number)
  return number
}

// Buffers that no list uses now: an item of a list may be a list.
const spare: Int32Array[] = []

function numberOfList(cells: Cells, list: readonly unknown[]): number {
  const count = list.length + 1
  const spared = spare.pop()
  const words = spared && spared.length >= count ? spared : new Int32Array(count * 2)
  words[0] = LIST
  for (let i = 0; i < list.length; i++) words[i + 1] = numberOf(cells, list[i])
  const number = find(cells, list, words, count)
  spare.push(words)
  return number
}

function find(cells: Cells, value: object, words: Int32Array, count: number): number {
  const hash = hashNumbers(words, count)
  const last = cells.hashes.get(hash) ?? -1
  for (let index = last; index >= 0; index = cells.others[index]!) {
    if (areSame(cells.contents[index]!, words, count)) return index * 2
  }
  cells.hashes.set(hash, cells.values.length)
  const number = keep(cells, value, words, count, last)
  cells.objects.set(value, number)
  return number
}

function keep(
  cells: Cells,
  value: unknown,
  words: Int32Array,
  count: number,
  other: number,
): number {
  cells.contents.push(words.slice(0, count))
  cells.others.push(other)
  return (cells.values.push(value) - 1) * 2
}

function areSame(known: Int32Array, words: Int32Array, count: number): boolean {
  if (known.length !== count) return false
  for (let i = 0; i < count; i++) if (known[i] !== words[i]) return false
  return true
}
