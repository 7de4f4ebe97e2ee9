/**
 * Deep copies of plain data, fast enough for a copy at every edge of a state space.
 *
 * A state is a tree of numbers, strings, booleans, null, undefined, arrays, plain objects, Map, Set
 * and typed arrays. The shallow copies (`{...object}`, `slice`) are the engine's fast paths; only
 * values that contain further containers are walked. A reference that occurs twice becomes two
 * copies: states that rely on identity are not trees and are not supported.
 */

import { isRules } from '../../../holdfast/src/machine.ts'
import { notPlain } from './hash.ts'

type Bag = Record<string, unknown>

/** A copy that shares nothing. @throws HoldfastError 'bad-value' if it is not plain data */
export function clone<Value>(value: Value): Value {
  return copy(value) as Value
}

function copy(value: unknown): unknown {
  return isContainer(value) ? copyContainer(value) : value
}

// Most values in a state are numbers and booleans, which need no copy.
function isContainer(value: unknown): value is object {
  const type = typeof value
  if (type === 'number' || type === 'boolean') return false
  if (type === 'object') return value !== null
  if (type === 'function' || type === 'bigint' || type === 'symbol') notPlain(type)
  return false
}

function copyContainer(value: object): unknown {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype) return copyObject(value as Bag)
  if (Array.isArray(value)) return copyArray(value as unknown[])
  if (value instanceof Map) return copyMap(value as Map<unknown, unknown>)
  if (value instanceof Set) return copySet(value as Set<unknown>)
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    // Works for every kind, and copies where a Buffer's own slice would share memory.
    return Uint8Array.prototype.slice.call(value)
  }
  if (prototype === null) {
    return Object.assign(Object.create(null) as Bag, copyObject(value as Bag))
  }
  if (isRules(value)) return value
  return notPlain(value.constructor.name)
}

function copyArray(value: readonly unknown[]): unknown[] {
  const made = value.slice()
  for (let i = 0; i < made.length; i++) {
    const item = made[i]
    if (isContainer(item)) made[i] = copyContainer(item)
  }
  return made
}

function copyObject(value: Bag): Bag {
  const made: Bag = { ...value }
  for (const key in made) {
    const item = made[key]
    if (isContainer(item)) made[key] = copyContainer(item)
  }
  return made
}

function copyMap(value: ReadonlyMap<unknown, unknown>): Map<unknown, unknown> {
  const made = new Map<unknown, unknown>()
  // Most are empty, and checking is faster than iterating over nothing.
  if (value.size > 0) for (const [key, item] of value) made.set(copy(key), copy(item))
  return made
}

function copySet(value: ReadonlySet<unknown>): Set<unknown> {
  const made = new Set<unknown>()
  if (value.size > 0) for (const item of value) made.add(copy(item))
  return made
}
