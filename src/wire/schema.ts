/**
 * The state of an object, field by field: what a game names once and every side encodes alike.
 *
 *     const Dot = schema({ pos: vec2(0, 100, 0.1), hue: u8 })
 *
 * Numbers are quantised to the step the game asks for and stand in as few bits as that needs;
 * types are inferred. A value outside its range is clamped, for a game's physics overshoots;
 * one that is no number at all throws and names its field.
 */

import {
  type BitReader,
  bitsAreDone,
  type BitWriter,
  BITS_MAX,
  createBitReader,
  createBitWriter,
  finishBits,
  readBits,
  writeBits,
} from './bits.ts'
import { fingerprint } from './digest.ts'

/** The kinds of values. */
export type FieldKind = 'ranged' | 'vec2' | 'angle' | 'integer' | 'bool' | 'text'

/** One kind of value. */
export interface Field<Value, Kind extends FieldKind = FieldKind> {
  readonly kind: Kind
  /** Says all that both sides must agree on; part of the schema's fingerprint. */
  readonly text: string
  /** Between which numbers a value stays, where that is so. */
  readonly min?: number
  readonly max?: number
  readonly initial: Value
  write(writer: BitWriter, value: Value): void
  read(reader: BitReader): Value
}

/** Named fields. */
export type Fields = Record<string, Field<unknown>>
/** The values of named fields. A state never changes: a new one takes its place. */
export type StateOf<F extends Fields> = {
  [Name in keyof F]: F[Name] extends Field<infer Value> ? Value : never
}

/** Two numbers, as an array. */
export type Vec2 = readonly [x: number, y: number]

/** Most fields of one type. */
export const FIELDS_MAX = 64
/** Longest text of a field, in bytes of UTF-8. */
export const TEXT_MAX = 255

/** A number from min to max, in steps. @throws RangeError if that needs more than 32 bits */
export function ranged(min: number, max: number, step: number): Field<number, 'ranged'> {
  const steps = Math.round((max - min) / step)
  const bits = Math.max(1, Math.ceil(Math.log2(steps + 1)))
  if (!(max > min) || !(step > 0) || bits > BITS_MAX) {
    throw new RangeError(`a range needs min < max and at most 32 bits: ${min} to ${max} by ${step}`)
  }
  return {
    kind: 'ranged',
    text: `ranged ${min} ${max} ${step}`,
    min,
    max,
    initial: Math.min(max, Math.max(min, 0)),
    write: (writer, value) => {
      const place = Math.round((finite(value) - min) / step)
      writeBits(writer, Math.min(steps, Math.max(0, place)), bits)
    },
    read: (reader) => {
      const place = readBits(reader, bits)
      if (place > steps) reader.failed = true
      return min + place * step
    },
  }
}

/** Two numbers from min to max, in steps. */
export function vec2(min: number, max: number, step: number): Field<Vec2, 'vec2'> {
  const one = ranged(min, max, step)
  return {
    kind: 'vec2',
    text: `vec2 ${min} ${max} ${step}`,
    min,
    max,
    initial: Object.freeze([one.initial, one.initial] as const),
    write: (writer, value) => {
      if (!Array.isArray(value) || value.length !== 2) {
        throw new RangeError(`must be two numbers [x, y]: ${JSON.stringify(value)}`)
      }
      one.write(writer, value[0] as number)
      one.write(writer, value[1] as number)
    },
    read: (reader) => Object.freeze([one.read(reader), one.read(reader)] as const),
  }
}

/** A direction in radians, 0 to 2π, in so many bits; any angle is taken round the circle. */
export function angle(bits: number): Field<number, 'angle'> {
  if (!Number.isInteger(bits) || bits < 1 || bits > 24) {
    throw new RangeError(`an angle takes 1 to 24 bits: ${bits}`)
  }
  const steps = 2 ** bits
  const turn = 2 * Math.PI
  return {
    kind: 'angle',
    text: `angle ${bits}`,
    initial: 0,
    write: (writer, value) => {
      const place = Math.round((finite(value) / turn) * steps) % steps
      writeBits(writer, (place + steps) % steps, bits)
    },
    read: (reader) => (readBits(reader, bits) / steps) * turn,
  }
}

function integer(bits: number): Field<number, 'integer'> {
  return {
    kind: 'integer',
    text: `u${bits}`,
    initial: 0,
    write: (writer, value) => writeBits(writer, value, bits),
    read: (reader) => readBits(reader, bits),
  }
}

/** An integer from 0 to 255. */
export const u8: Field<number, 'integer'> = integer(8)
/** An integer from 0 to 65535. */
export const u16: Field<number, 'integer'> = integer(16)
/** An integer from 0 to 2^32 - 1. */
export const u32: Field<number, 'integer'> = integer(32)

/** True or false, in one bit. */
export const bool: Field<boolean, 'bool'> = {
  kind: 'bool',
  text: 'bool',
  initial: false,
  write: (writer, value) => writeBits(writer, value ? 1 : 0, 1),
  read: (reader) => readBits(reader, 1) === 1,
}

/** Text of at most so many bytes of UTF-8. */
export function text(max: number): Field<string, 'text'> {
  if (!Number.isInteger(max) || max < 1 || max > TEXT_MAX) {
    throw new RangeError(`a text takes 1 to ${TEXT_MAX} bytes: ${max}`)
  }
  return {
    kind: 'text',
    text: `text ${max}`,
    initial: '',
    write: (writer, value) => {
      const bytes = new TextEncoder().encode(value)
      if (bytes.length > max) throw new RangeError(`takes ${max} bytes: ${bytes.length}`)
      writeBits(writer, bytes.length, 8)
      for (const byte of bytes) writeBits(writer, byte, 8)
    },
    read: (reader) => readText(reader, max),
  }
}

function readText(reader: BitReader, max: number): string {
  const length = readBits(reader, 8)
  if (length > max) reader.failed = true
  const bytes = new Uint8Array(reader.failed ? 0 : length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = readBits(reader, 8)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    reader.failed = true
    return ''
  }
}

function finite(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new RangeError(`must be a finite number: ${String(value)}`)
  }
  return value
}

/** A type's fields, ready to encode. */
export interface Schema<F extends Fields> {
  readonly fields: F
  /** Says all that both sides must agree on. */
  readonly text: string
}

/** Names the fields of a type. @throws RangeError with more than 64 fields, or none */
export function schema<F extends Fields>(fields: F): Schema<F> {
  const names = Object.keys(fields)
  if (names.length === 0 || names.length > FIELDS_MAX) {
    throw new RangeError(`a type has 1 to ${FIELDS_MAX} fields: ${names.length}`)
  }
  const said = names.map((name) => `${name}: ${fields[name]!.text}`)
  return { fields, text: `{ ${said.join(', ')} }` }
}

/** The state that a type starts from. */
export function initialState<F extends Fields>(type: Schema<F>): StateOf<F> {
  const entries = Object.entries(type.fields).map(([name, field]) => [name, field.initial])
  return Object.freeze(Object.fromEntries(entries)) as StateOf<F>
}

/** The state with some fields changed. It keeps no array that the caller may write to. */
export function changed<F extends Fields>(
  state: StateOf<F>,
  patch: Partial<StateOf<F>>,
): StateOf<F> {
  const next: Record<string, unknown> = { ...state, ...patch }
  for (const [name, value] of Object.entries(patch)) {
    if (Array.isArray(value)) next[name] = Object.freeze([...(value as unknown[])])
  }
  return Object.freeze(next) as StateOf<F>
}

/** The whole state as bytes. @throws RangeError that names the field, the limit and the value */
export function encodeState<F extends Fields>(type: Schema<F>, state: StateOf<F>): Uint8Array {
  const writer = createBitWriter()
  for (const [name, field] of Object.entries(type.fields)) {
    try {
      field.write(writer, state[name])
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new RangeError(`field ${name}: ${why}`)
    }
  }
  return finishBits(writer)
}

/** The state of exactly these bytes, or null. */
export function decodeState<F extends Fields>(
  type: Schema<F>,
  bytes: Uint8Array,
): StateOf<F> | null {
  const reader = createBitReader(bytes)
  const state: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(type.fields)) state[name] = field.read(reader)
  return bitsAreDone(reader) ? (Object.freeze(state) as StateOf<F>) : null
}

/** What tells two builds of a game apart: the texts of all their types. */
export function schemaFingerprint(texts: string[]): number {
  return fingerprint(texts.join('\n'))
}
