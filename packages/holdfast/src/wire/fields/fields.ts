/**
 * The kinds of values in a state.
 *
 * Values are held quantised: as whole numbers, each with its count of bits, and texts and bytes as
 * strings. Quantised values are canonical: quantising the value again gives the same. So equal
 * values are equal numbers on both sides, and a state has changed if a number has.
 */

import { badValue, misfit } from '../../machine.ts'
import { type BitReader, type BitWriter, failBits, readBits, writeBits } from '../bits.ts'
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
  | 'float'
  | 'bool'
  | 'oneOf'
  | 'text'
  | 'bytes'
  | 'optional'
  | 'list'
  | 'map'
  | 'struct'

/** Numbers, and strings: texts, bytes (a character each), lists and maps (`pack` of bits.ts). */
export type Quantised = (number | string)[]

/** One kind of value. */
export interface Field<Value, Kind extends FieldKind = FieldKind> {
  /** Which kind of field it is. */
  readonly kind: Kind
  /** Text of everything both sides must agree on; part of the schema's fingerprint. */
  readonly text: string
  /** The range of a value, if it has one. */
  readonly min?: number
  /** See `min`. */
  readonly max?: number
  /** The steps, for a kind that is one number in steps. */
  readonly scale?: Scale
  /** The scale of each number, for a kind that is several numbers in steps. */
  readonly axes?: Scale
  /** The value where none was given. */
  readonly initial: Value
  /** Places that the value takes in a quantised state. */
  readonly size: number
  /** Most bits of the written value. */
  readonly bits: number
  /** Depth of nested fields, this one included; 1 if not given. */
  readonly depth?: number
  /** The value contains bytes, which cannot be frozen: each read of a state returns a copy. */
  readonly copied?: boolean
  /**
   * For a field that holds others: converts another build's value by applying `each` to the values
   * in it and the fields that now hold them; a value of another kind stays as it is.
   */
  grown?(value: unknown, each: (field: Field<unknown>, value: unknown) => unknown): unknown
  /** @throws HoldfastError `bad-value` that names the wanted value; `into` may be partly written */
  quantise(value: Value, into: Quantised, at: number): void
  /** The value of quantised numbers; arrays are frozen. */
  valueAt(from: Quantised, at: number): Value
  /** Writes what was quantised. */
  write(writer: BitWriter, from: Quantised, at: number): void
  /** A malformed value makes the reader fail. */
  read(reader: BitReader, into: Quantised, at: number): void
}

/** Two numbers, as an array. */
export type Vec2 = readonly [x: number, y: number]
/** Three numbers, as an array. */
export type Vec3 = readonly [x: number, y: number, z: number]
/** An orientation, as an array. Its length is 1, but any above 0 is accepted. */
export type Quaternion = readonly [x: number, y: number, z: number, w: number]

/** Longest text of a field, in characters as `text` counts them. */
export const TEXT_MAX = 1_000
/** Most bytes of a field of bytes. */
export const BYTES_MAX = 1_000

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

/** A direction in radians, 0 to 2π, in `bits` bits; any angle wraps into the circle. */
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
      // `+ 0` turns -0 into 0.
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
/** A whole number from -2,147,483,648 to 2,147,483,647. */
export const i32: Field<number, 'integer'> = integer(32, true)

// The largest 32-bit float.
const FLOAT_MAX = (2 - 2 ** -23) * 2 ** 127

const floats = new DataView(new ArrayBuffer(4))

/**
 * A 32-bit float: about seven digits, magnitudes from 1.4e-45 to 3.4e38. `ranged` takes fewer bits
 * for a number that has a range.
 */
export const f32: Field<number, 'float'> = {
  kind: 'float',
  text: 'f32',
  initial: 0,
  size: 1,
  bits: 32,
  quantise: (value, into, at) => {
    const clamped = Math.min(FLOAT_MAX, Math.max(-FLOAT_MAX, finite(value)))
    into[at] = Math.fround(clamped) + 0
  },
  valueAt: (from, at) => from[at] as number,
  write: (writer, from, at) => {
    floats.setFloat32(0, from[at] as number)
    writeBits(writer, floats.getUint32(0), 32)
  },
  read: (reader, into, at) => {
    floats.setUint32(0, readBits(reader, 32))
    const value = floats.getFloat32(0)
    // -0 would be a second form of zero.
    into[at] = Number.isFinite(value) && !Object.is(value, -0) ? value : failBits(reader)
  },
}

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

/** Most words of one `oneOf`. */
export const WORDS_MAX = 256

// A word contains neither the separator of words nor the end of a field's text.
const WORD = /^[\p{L}\p{N}_.$-]{1,64}$/u

/**
 * One of these words, in the fewest bits that distinguish them; initially the first. A word
 * consists of letters, digits, `_`, `-`, `.` and `$`.
 *
 * @throws HoldfastError `bad-value` for an invalid or repeated word, or more than 256
 */
export function oneOf<const Word extends string>(
  first: Word,
  ...others: Word[]
): Field<Word, 'oneOf'> {
  const words = [first, ...others]
  const places = new Map(words.map((word, i) => [word, i]))
  const odd = words.find((word) => typeof word !== 'string' || !WORD.test(word))
  if (odd !== undefined || first === undefined) {
    throw badValue(`a word of oneOf is 1 to 64 letters, digits, _, -, . or $: ${shown(odd)}`)
  }
  if (places.size < words.length) throw badValue(`oneOf has each word once: ${shown(words)}`)
  if (words.length > WORDS_MAX)
    throw badValue(`oneOf has ${WORDS_MAX} words at most: ${words.length}`)
  const bits = bitsFor(words.length - 1)
  return {
    kind: 'oneOf',
    text: `oneOf ${words.join('/')}`,
    initial: first,
    size: 1,
    bits,
    quantise: (value, into, at) => {
      const place = places.get(value)
      if (place === undefined) {
        const why = `must be ${words.join(' or ')}: ${shown(value)}`
        throw typeof value === 'string' ? misfit(why) : badValue(why)
      }
      into[at] = place
    },
    valueAt: (from, at) => words[from[at] as number]!,
    write: (writer, from, at) => writeBits(writer, from[at] as number, bits),
    read: (reader, into, at) => {
      into[at] = readPlace(reader, words.length - 1, bits)
    },
  }
}

/** Encodes UTF-8. */
export const encoder: TextEncoder = new TextEncoder()
/** Decodes UTF-8, and throws on anything else; a leading byte order mark is part of the text. */
export const decoder: TextDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

// Most UTF-8 bytes of one UTF-16 unit; a surrogate pair takes four.
const BYTES_EACH = 3

// Up to this `max` a length takes eight bits, whether it counts characters or bytes.
const SHORT_MAX = 85

/**
 * Text of at most `max` characters, up to 1,000, counted as `length` in JavaScript and `maxlength`
 * of an HTML input count them: in UTF-16 units, of which an emoji takes two or more. An unpaired
 * surrogate becomes U+FFFD.
 *
 * @param bytes  most bytes of UTF-8, from `max` to three times `max` (default): fewer where the
 *   container must stay small, such as an object's state; non-ASCII text then fills it sooner
 * @throws HoldfastError `bad-value` for another `max` or other `bytes`
 */
export function text(max: number, bytes: number = BYTES_EACH * max): Field<string, 'text'> {
  if (!Number.isInteger(max) || max < 1 || max > TEXT_MAX) {
    throw badValue(`a text takes 1 to ${TEXT_MAX} characters: ${max}`)
  }
  if (!Number.isInteger(bytes) || bytes < max || bytes > BYTES_EACH * max) {
    throw badValue(
      `a text of ${max} characters takes ${max} to ${BYTES_EACH * max} bytes: ${bytes}`,
    )
  }
  // Lengths of short texts have always taken eight bits.
  const lengthBits = Math.max(8, bitsFor(bytes))
  return {
    kind: 'text',
    text: saysOfText(max, bytes),
    initial: '',
    size: 1,
    bits: lengthBits + 8 * bytes,
    quantise: (value, into, at) => {
      if (typeof value !== 'string') throw badValue(`must be a text: ${shown(value)}`)
      if (value.length > max) throw misfit(`takes ${max} characters: ${value.length}`)
      const encoded = encoder.encode(value)
      if (encoded.length > bytes) throw misfit(`takes ${bytes} bytes: ${encoded.length}`)
      into[at] = decoder.decode(encoded)
    },
    valueAt: (from, at) => from[at] as string,
    write: (writer, from, at) => writeRun(writer, encoder.encode(from[at] as string), lengthBits),
    read: (reader, into, at) => {
      const value = decoded(reader, readRun(reader, bytes, lengthBits))
      if (value.length > max) failBits(reader)
      into[at] = value
    },
  }
}

// Older builds counted bytes and write `text N`, as do the rooms they persisted. Up to SHORT_MAX
// their states equal ours, so ours is `text N` too; beyond, `text N` still means N bytes.
function saysOfText(max: number, bytes: number): string {
  const usual = max <= SHORT_MAX ? BYTES_EACH * max : max
  return bytes === usual ? `text ${max}` : `text ${max} ${bytes}`
}

/** The field that another build's `text max` without `bytes` means. */
export function textSaid(max: number): Field<string, 'text'> {
  return max <= SHORT_MAX ? text(max) : text(max, max)
}

/** Decodes UTF-8; invalid bytes make the reader fail. */
export function decoded(reader: BitReader, run: Uint8Array): string {
  try {
    return decoder.decode(run)
  } catch {
    failBits(reader)
    return ''
  }
}

/**
 * At most `max` bytes, up to 1,000, for data that a game encodes itself. Each read returns a new
 * array: change the field by setting another.
 */
export function bytes(max: number): Field<Uint8Array, 'bytes'> {
  if (!Number.isInteger(max) || max < 1 || max > BYTES_MAX) {
    throw badValue(`a field of bytes takes 1 to ${BYTES_MAX}: ${max}`)
  }
  const lengthBits = bitsFor(max)
  return {
    kind: 'bytes',
    text: `bytes ${max}`,
    copied: true,
    initial: new Uint8Array(0),
    size: 1,
    bits: lengthBits + 8 * max,
    quantise: (value, into, at) => {
      if (!(value instanceof Uint8Array)) {
        throw badValue(`must be a Uint8Array: ${shown(value)}`)
      }
      if (value.length > max) throw misfit(`takes ${max} bytes: ${value.length}`)
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

/** Writes bytes after their count, which takes `lengthBits` bits. */
export function writeRun(writer: BitWriter, run: Uint8Array, lengthBits: number): void {
  writeBits(writer, run.length, lengthBits)
  for (const byte of run) writeBits(writer, byte, 8)
}

/** Reads bytes after their count. A count above `max` is malformed. */
export function readRun(reader: BitReader, max: number, lengthBits: number): Uint8Array {
  const run = new Uint8Array(readPlace(reader, max, lengthBits))
  for (let i = 0; i < run.length; i++) run[i] = readBits(reader, 8)
  return run
}

export function frozen<Value extends readonly number[]>(value: number[]): Value {
  return Object.freeze(value) as unknown as Value
}

/** Checks a number. @throws HoldfastError `bad-value` for anything else, NaN and the infinities */
export function finite(value: unknown): number {
  if (Number.isFinite(value)) return value as number
  const why = `must be a finite number: ${shown(value)}`
  throw typeof value === 'number' ? misfit(why) : badValue(why)
}

/** @throws HoldfastError `bad-value` for anything but an array of that length */
export function checkLength(value: readonly number[], size: number, wanted: string): void {
  if (!Array.isArray(value) || value.length !== size) {
    throw badValue(`must be ${wanted}: ${shown(value)}`)
  }
}

const SHOWN_MAX = 80

/** Any value as a short text for a sentence. */
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

// Orientations.

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
