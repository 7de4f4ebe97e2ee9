/**
 * The kinds of values that a state is made of.
 *
 * A value is held quantised: as whole numbers, each with its count of bits, and texts and bytes as
 * strings. What is quantised is canonical: its value, quantised again, is the same. So two sides
 * that hold equal values hold equal numbers, and a change is what changes a number.
 */

import { badValue } from '../machine.ts'
import { type BitReader, type BitWriter, failBits, readBits, writeBits } from './bits.ts'
import {
  bitsFor,
  createCircle,
  createScale,
  numberAt,
  placeOf,
  readPlace,
  type Scale,
} from './scale.ts'

/** The kinds of values. */
export type FieldKind =
  | 'ranged'
  | 'vec2'
  | 'vec3'
  | 'angle'
  | 'quaternion'
  | 'integer'
  | 'bool'
  | 'text'
  | 'bytes'

/**
 * A state as it stands on the wire: whole numbers, and texts and bytes as strings, bytes with one
 * character each. Plain data.
 */
export type Quantised = (number | string)[]

/** One kind of value. */
export interface Field<Value, Kind extends FieldKind = FieldKind> {
  readonly kind: Kind
  /** Says all that both sides must agree on; part of the schema's fingerprint. */
  readonly text: string
  /** Between which numbers a value stays, where that is so. */
  readonly min?: number
  readonly max?: number
  /** The steps of a kind that is one number in steps. */
  readonly scale?: Scale
  /** Where it is several numbers in steps: the scale of each. */
  readonly axes?: Scale
  readonly initial: Value
  /** Places in a quantised state. */
  readonly size: number
  /** Most bits that it is written in. */
  readonly bits: number
  /** @throws HoldfastError `bad-value` with what is wanted; `into` may be partly written */
  quantise(value: Value, into: Quantised, at: number): void
  /** The value of what was quantised; arrays are frozen. */
  valueAt(from: Quantised, at: number): Value
  write(writer: BitWriter, from: Quantised, at: number): void
  /** A malformed value makes the reader fail. */
  read(reader: BitReader, into: Quantised, at: number): void
}

/** Two numbers, as an array. */
export type Vec2 = readonly [x: number, y: number]
/** Three numbers, as an array. */
export type Vec3 = readonly [x: number, y: number, z: number]
/** An orientation, as an array. Its length is 1, but any above 0 is taken. */
export type Quaternion = readonly [x: number, y: number, z: number, w: number]

/** Longest text of a field, in bytes of UTF-8. */
export const TEXT_MAX = 255
/** Most bytes of a field of bytes. */
export const BYTES_MAX = 512

/** A number from min to max, in steps. @throws HoldfastError `bad-value` above 32 bits */
export function ranged(min: number, max: number, step: number): Field<number, 'ranged'> {
  const initial = Math.min(max, Math.max(min, 0))
  const one = stepped(
    'ranged',
    `ranged ${min} ${max} ${step}`,
    createScale(min, max, step),
    initial,
  )
  return { ...one, min, max }
}

/** A direction in radians, 0 to 2π, in so many bits; any angle is taken round the circle. */
export function angle(bits: number): Field<number, 'angle'> {
  if (!Number.isInteger(bits) || bits < 1 || bits > 24) {
    throw badValue(`an angle takes 1 to 24 bits: ${bits}`)
  }
  return stepped('angle', `angle ${bits}`, createCircle(bits), 0)
}

function stepped<Kind extends FieldKind>(
  kind: Kind,
  text: string,
  scale: Scale,
  initial: number,
): Field<number, Kind> {
  const { steps, bits } = scale
  return {
    kind,
    text,
    scale,
    initial,
    size: 1,
    bits,
    quantise: (value, into, at) => {
      into[at] = placeOf(scale, finite(value))
    },
    valueAt: (from, at) => numberAt(scale, from[at] as number),
    write: (writer, from, at) => writeBits(writer, from[at] as number, bits),
    read: (reader, into, at) => {
      into[at] = readPlace(reader, steps, bits)
    },
  }
}

/** Two numbers from min to max, in steps. @throws HoldfastError `bad-value` as `ranged` */
export function vec2(min: number, max: number, step: number): Field<Vec2, 'vec2'> {
  return vector('vec2', 2, 'two numbers [x, y]', createScale(min, max, step))
}

/** Three numbers from min to max, in steps. @throws HoldfastError `bad-value` as `ranged` */
export function vec3(min: number, max: number, step: number): Field<Vec3, 'vec3'> {
  return vector('vec3', 3, 'three numbers [x, y, z]', createScale(min, max, step))
}

function vector<Value extends readonly number[], Kind extends FieldKind>(
  kind: Kind,
  size: number,
  wanted: string,
  scale: Scale,
): Field<Value, Kind> {
  const { min, max, step, steps, bits } = scale
  const zero = Math.min(max, Math.max(min, 0))
  return {
    kind,
    text: `${kind} ${min} ${max} ${step}`,
    axes: scale,
    min,
    max,
    initial: frozen<Value>(Array.from({ length: size }, () => zero)),
    size,
    bits: size * bits,
    quantise: (value, into, at) => {
      checkLength(value, size, wanted)
      for (let i = 0; i < size; i++) into[at + i] = placeOf(scale, finite(value[i]))
    },
    valueAt: (from, at) => {
      const value: number[] = []
      for (let i = 0; i < size; i++) value.push(numberAt(scale, from[at + i] as number))
      return frozen<Value>(value)
    },
    write: (writer, from, at) => {
      for (let i = 0; i < size; i++) writeBits(writer, from[at + i] as number, bits)
    },
    read: (reader, into, at) => {
      for (let i = 0; i < size; i++) into[at + i] = readPlace(reader, steps, bits)
    },
  }
}

/**
 * An orientation, in 2 bits and so many for each of three components (smallest three): which
 * component is the largest, and the others in steps of 1 / (√2 L) with L = 2^(bits - 1) - 1. q and
 * -q are one value; what comes back has the largest component positive. Off by at most a step and
 * a half in each component.
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

// In whole numbers a component of 1/√2 is `limit`, so the squares of all four add up to 2 limit².
function largestSquared(from: Quantised, at: number, limit: number): number {
  let left = 2 * limit * limit
  for (let i = 1; i < 4; i++) left -= (from[at + i] as number) ** 2
  return left
}

// The i-th of the others comes before the largest, so at equal size it would be the largest.
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
  if (by === 0) throw badValue(`must have a length above 0: ${shown(value)}`)
  // Divided first: a square of the number itself might be too large or too small for a double.
  let squares = 0
  for (let i = 0; i < 4; i++) squares += (value[i]! / by) ** 2
  const unit = (Math.SQRT2 * limit) / Math.sqrt(squares)
  into[at] = largest
  for (let i = 1; i < 4; i++) {
    const place = Math.round((value[i <= largest ? i - 1 : i]! / by) * unit)
    into[at + i] = Math.min(limit, Math.max(-limit, place)) + 0
  }
  settle(into, at, limit)
}

// Rounded up, another may have become the largest: it goes towards zero until it is not.
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

function integer(bits: number, signed: boolean): Field<number, 'integer'> {
  const min = signed ? -(2 ** (bits - 1)) : 0
  const max = min + 2 ** bits - 1
  return {
    kind: 'integer',
    text: `${signed ? 'i' : 'u'}${bits}`,
    initial: 0,
    size: 1,
    bits,
    quantise: (value, into, at) => {
      // Minus zero is zero.
      into[at] = Math.min(max, Math.max(min, Math.round(finite(value)))) + 0
    },
    valueAt: (from, at) => from[at] as number,
    write: (writer, from, at) => writeBits(writer, (from[at] as number) - min, bits),
    read: (reader, into, at) => {
      into[at] = readBits(reader, bits) + min
    },
  }
}

/** A whole number from 0 to 255. */
export const u8: Field<number, 'integer'> = integer(8, false)
/** A whole number from 0 to 65,535. */
export const u16: Field<number, 'integer'> = integer(16, false)
/** A whole number from 0 to 4,294,967,295. */
export const u32: Field<number, 'integer'> = integer(32, false)
/** A whole number from -128 to 127. */
export const i8: Field<number, 'integer'> = integer(8, true)
/** A whole number from -32,768 to 32,767. */
export const i16: Field<number, 'integer'> = integer(16, true)

/** True or false, in one bit. */
export const bool: Field<boolean, 'bool'> = {
  kind: 'bool',
  text: 'bool',
  initial: false,
  size: 1,
  bits: 1,
  quantise: (value, into, at) => {
    if (typeof value !== 'boolean') throw badValue(`must be true or false: ${shown(value)}`)
    into[at] = value ? 1 : 0
  },
  valueAt: (from, at) => from[at] === 1,
  write: (writer, from, at) => writeBits(writer, from[at] as number, 1),
  read: (reader, into, at) => {
    into[at] = readBits(reader, 1)
  },
}

const encoder = new TextEncoder()
// A mark at the beginning is part of a text like any other.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Text of at most so many bytes of UTF-8. Half a surrogate pair becomes U+FFFD. */
export function text(max: number): Field<string, 'text'> {
  if (!Number.isInteger(max) || max < 1 || max > TEXT_MAX) {
    throw badValue(`a text takes 1 to ${TEXT_MAX} bytes: ${max}`)
  }
  return {
    kind: 'text',
    text: `text ${max}`,
    initial: '',
    size: 1,
    bits: 8 + 8 * max,
    quantise: (value, into, at) => {
      if (typeof value !== 'string') throw badValue(`must be a text: ${shown(value)}`)
      const encoded = encoder.encode(value)
      if (encoded.length > max) throw badValue(`takes ${max} bytes: ${encoded.length}`)
      into[at] = decoder.decode(encoded)
    },
    valueAt: (from, at) => from[at] as string,
    write: (writer, from, at) => writeRun(writer, encoder.encode(from[at] as string), 8),
    read: (reader, into, at) => {
      into[at] = decoded(reader, readRun(reader, max, 8))
    },
  }
}

function decoded(reader: BitReader, run: Uint8Array): string {
  try {
    return decoder.decode(run)
  } catch {
    failBits(reader)
    return ''
  }
}

/**
 * At most so many bytes, for what a game encodes itself. Each look at them gives an array of one's
 * own: change them by setting another.
 */
export function bytes(max: number): Field<Uint8Array, 'bytes'> {
  if (!Number.isInteger(max) || max < 1 || max > BYTES_MAX) {
    throw badValue(`a field of bytes takes 1 to ${BYTES_MAX}: ${max}`)
  }
  const lengthBits = bitsFor(max)
  return {
    kind: 'bytes',
    text: `bytes ${max}`,
    initial: new Uint8Array(0),
    size: 1,
    bits: lengthBits + 8 * max,
    quantise: (value, into, at) => {
      if (!(value instanceof Uint8Array)) {
        throw badValue(`must be a Uint8Array: ${shown(value)}`)
      }
      if (value.length > max) throw badValue(`takes ${max} bytes: ${value.length}`)
      into[at] = String.fromCharCode(...value)
    },
    valueAt: (from, at) => runOf(from[at] as string),
    write: (writer, from, at) => writeRun(writer, runOf(from[at] as string), lengthBits),
    read: (reader, into, at) => {
      into[at] = String.fromCharCode(...readRun(reader, max, lengthBits))
    },
  }
}

function runOf(characters: string): Uint8Array {
  return Uint8Array.from(characters, (one) => one.charCodeAt(0))
}

function writeRun(writer: BitWriter, run: Uint8Array, lengthBits: number): void {
  writeBits(writer, run.length, lengthBits)
  for (const byte of run) writeBits(writer, byte, 8)
}

function readRun(reader: BitReader, max: number, lengthBits: number): Uint8Array {
  const run = new Uint8Array(readPlace(reader, max, lengthBits))
  for (let i = 0; i < run.length; i++) run[i] = readBits(reader, 8)
  return run
}

function frozen<Value extends readonly number[]>(value: number[]): Value {
  return Object.freeze(value) as unknown as Value
}

function finite(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw badValue(`must be a finite number: ${shown(value)}`)
  }
  return value
}

function checkLength(value: readonly number[], size: number, wanted: string): void {
  if (!Array.isArray(value) || value.length !== size) {
    throw badValue(`must be ${wanted}: ${shown(value)}`)
  }
}

const SHOWN_MAX = 80

/** Any value in a sentence, never long. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN_MAX))
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value).slice(0, SHOWN_MAX)
  try {
    return JSON.stringify(value).slice(0, SHOWN_MAX)
  } catch {
    return 'an object'
  }
}
