/**
 * Numbers in steps: a range is divided into places, and the number of a place is stored and sent.
 */

import { badValue } from '../../machine.ts'
import { type BitReader, BITS_MAX, failBits, readBits } from '../bits.ts'

export interface Scale {
  readonly min: number
  readonly max: number
  readonly step: number
  /** The highest place; the lowest is 0. */
  readonly steps: number
  /** The fewest bits that hold a place. */
  readonly bits: number
  /** The first place follows the last; then `steps` + 1 is a power of two. */
  readonly round: boolean
}

// Beyond this, neighbouring steps are the same double.
const PLACES_MAX = 2 ** 50

/** A range in steps. @throws HoldfastError `bad-value` if that needs more than 32 bits */
export function createScale(min: number, max: number, step: number): Scale {
  const steps = Math.round((max - min) / step)
  if (!(max > min) || !(step > 0) || !(steps < 2 ** BITS_MAX)) {
    throw badValue(`a range needs min < max and at most 32 bits: ${min} to ${max} by ${step}`)
  }
  if (!(Math.max(Math.abs(min), Math.abs(max)) / step <= PLACES_MAX)) {
    throw badValue(`steps are too small for numbers so large: ${min} to ${max} by ${step}`)
  }
  return { min, max, step, steps, bits: bitsFor(steps), round: false }
}

/** A full turn in radians, in `bits` bits. */
export function createCircle(bits: number): Scale {
  const places = 2 ** bits
  const max = 2 * Math.PI
  return { min: 0, max, step: max / places, steps: places - 1, bits, round: true }
}

/** The fewest bits that hold a number of at most 32 bits; at least 1. */
export function bitsFor(largest: number): number {
  return Math.max(1, 32 - Math.clz32(largest))
}

/** The place nearest to a finite number; beyond a range that is not round, its end. */
export function placeOf(scale: Scale, value: number): number {
  const place = Math.round((value - scale.min) / scale.step)
  if (scale.round) return place & scale.steps
  return Math.min(scale.steps, Math.max(0, place))
}

export function numberAt(scale: Scale, place: number): number {
  return scale.min + place * scale.step
}

/** Reads a place. One above the highest is malformed. */
export function readPlace(reader: BitReader, steps: number, bits: number): number {
  const place = readBits(reader, bits)
  return place <= steps ? place : failBits(reader)
}
