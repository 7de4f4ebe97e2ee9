/** An orientation field: the smallest three of its components. */

import { badValue, misfit } from '../../machine.ts'
import { failBits, readBits, writeBits } from '../bits.ts'
import {
  checkLength,
  type Field,
  finite,
  frozen,
  type Quantised,
  type Quaternion,
  shown,
} from './fields.ts'
import { readPlace } from './scale.ts'

/**
 * An orientation (smallest three): 2 bits name the largest component, and `bits` bits hold each of
 * the others, in steps of 1 / (√2 L) with L = 2^(bits - 1) - 1. q and -q are one value; the decoded
 * one has the largest component positive. Its error is at most a step and a half in each component.
 */
export function quaternion(bits: number): Field<Quaternion, 'quaternion'> {
  if (!Number.isInteger(bits) || bits < 2 || bits > 16) {
    throw badValue(`a quaternion takes 2 to 16 bits for each component: ${bits}`)
  }
  const limit = 2 ** (bits - 1) - 1
  return {
    kind: 'quaternion',
    text: `quaternion ${bits}`,
    initial: Object.freeze([0, 0, 0, 1] as const),
    size: 4,
    bits: 2 + 3 * bits,
    quantise: (value, into, at) => {
      checkLength(value, 4, 'four numbers [x, y, z, w]')
      quantiseRotation(value, limit, into, at)
    },
    valueAt: (from, at) => rotationAt(from, at, limit),
    write: (writer, from, at) => {
      writeBits(writer, from[at] as number, 2)
      for (let i = 1; i < 4; i++) writeBits(writer, (from[at + i] as number) + limit, bits)
    },
    read: (reader, into, at) => {
      into[at] = readBits(reader, 2)
      for (let i = 1; i < 4; i++) into[at + i] = readPlace(reader, 2 * limit, bits) - limit
      if (!isCanonical(into, at, limit)) failBits(reader)
    },
  }
}

// In whole numbers a component of 1/√2 is `limit`, so all four squares add up to 2 limit².
function largestSquared(from: Quantised, at: number, limit: number): number {
  let left = 2 * limit * limit
  for (let i = 1; i < 4; i++) left -= (from[at + i] as number) ** 2
  return left
}

// The i-th other component precedes the largest, so if equal it would be the largest itself.
function isTooLarge(from: Quantised, at: number, i: number, largest: number): boolean {
  const squared = (from[at + i] as number) ** 2
  return squared > largest || (squared === largest && i <= (from[at] as number))
}

function isCanonical(from: Quantised, at: number, limit: number): boolean {
  const largest = largestSquared(from, at, limit)
  for (let i = 1; i < 4; i++) if (isTooLarge(from, at, i, largest)) return false
  return true
}

function quantiseRotation(value: Quaternion, limit: number, into: Quantised, at: number): void {
  let largest = 0
  for (let i = 1; i < 4; i++) {
    if (Math.abs(finite(value[i])) > Math.abs(finite(value[largest]))) largest = i
  }
  const by = value[largest]!
  if (by === 0) throw misfit(`must have a length above 0: ${shown(value)}`)
  // Divided first, because a square might overflow or underflow a double.
  let squares = 0
  for (let i = 0; i < 4; i++) squares += (value[i]! / by) ** 2
  const unit = (Math.SQRT2 * limit) / Math.sqrt(squares)
  into[at] = largest
  for (let i = 1; i < 4; i++) {
    // At most `limit`, reached when as large as the largest; `+ 0` turns -0 into 0.
    into[at + i] = Math.round((value[i <= largest ? i - 1 : i]! / by) * unit) + 0
  }
  settle(into, at, limit)
}

// Rounding up may make another component the largest: it is lowered until it is not.
function settle(into: Quantised, at: number, limit: number): void {
  for (let i = 1; i < 4; i++) {
    let place = into[at + i] as number
    while (place !== 0 && isTooLarge(into, at, i, largestSquared(into, at, limit))) {
      place -= Math.sign(place)
      into[at + i] = place
    }
  }
}

function rotationAt(from: Quantised, at: number, limit: number): Quaternion {
  const one = 2 * limit * limit
  const value = [0, 0, 0, 0]
  const largest = from[at] as number
  value[largest] = Math.sqrt(largestSquared(from, at, limit) / one)
  for (let i = 1; i < 4; i++) {
    const place = from[at + i] as number
    value[i <= largest ? i - 1 : i] = Math.sign(place) * Math.sqrt((place * place) / one)
  }
  return frozen<Quaternion>(value)
}
